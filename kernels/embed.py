"""Write a C++ file that holds device code as data.

`embed.py OUTPUT TABLE FILE...` defines the table TABLE of (module, bytes) that the runtime reads;
a module is a file's name without suffix. Code objects are ELF files, used as they lie: each begins
a page.
"""

import pathlib
import re
import sys

HEAD = """\
struct Image {
  const char* module;
  const void* bytes;
};
"""
IMAGE = """\
__asm__(".section .rodata\\n.balign 4096\\nimage_{label}:\\n.incbin \\"{path}\\"\\n.previous");
extern "C" const char image_{label}[] __attribute__((visibility("hidden")));
"""
TABLE = """\
extern "C" __attribute__((visibility("default"))) const Image {table}[] = {{
{rows}    {{nullptr, nullptr}},
}};
"""


def main(output: str, table: str, *files: str) -> None:
    paths = {pathlib.Path(file).stem: pathlib.Path(file).resolve() for file in files}
    labels = {module: re.sub(r"\W", "_", module) for module in paths}
    images = [IMAGE.format(label=labels[module], path=path) for module, path in paths.items()]
    rows = "".join(f'    {{"{module}", image_{label}}},\n' for module, label in labels.items())
    text = HEAD + "".join(images) + TABLE.format(table=table, rows=rows)
    pathlib.Path(output).write_text(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
