"""Write a C++ file that holds device code as data.

`embed.py OUTPUT TABLE FILE...` defines the table TABLE of (module, bytes) that the runtime reads;
a module is a file's name without suffix.
"""

import pathlib
import sys

HEAD = """\
struct Image {
  const char* module;
  const void* bytes;
};
"""
IMAGE = """\
__asm__(".section .rodata\\n.balign 64\\nimage_{module}:\\n.incbin \\"{path}\\"\\n.previous");
extern "C" const char image_{module}[] __attribute__((visibility("hidden")));
"""
TABLE = """\
extern "C" __attribute__((visibility("default"))) const Image {table}[] = {{
{rows}    {{nullptr, nullptr}},
}};
"""


def main(output: str, table: str, *files: str) -> None:
    paths = {pathlib.Path(file).stem: pathlib.Path(file).resolve() for file in files}
    images = [IMAGE.format(module=module, path=path) for module, path in paths.items()]
    rows = "".join(f'    {{"{module}", image_{module}}},\n' for module in paths)
    text = HEAD + "".join(images) + TABLE.format(table=table, rows=rows)
    pathlib.Path(output).write_text(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
