"""Write device code as data: a C++ file, the bytes that it includes, and a list for people.

`embed.py SOURCE BYTES MANIFEST TABLE TARGET FILE...` defines the table TABLE of modules that the
runtime reads (`struct Image`); a module is a file's name without suffix, and its bytes are a zlib
stream. MANIFEST has a line for each: module, target, bytes, bytes deflated. The target is what
follows the first dot of the module, or TARGET where there is none.
"""

import pathlib
import sys
import zlib

SOURCE = """\
#include <stddef.h>

struct Image {{
  const char* module;
  const void* deflated;
  size_t deflated_bytes, bytes;
}};
__asm__(".section .rodata\\nimages:\\n.incbin \\"{path}\\"\\n.previous");
extern "C" const char images[] __attribute__((visibility("hidden")));
extern "C" __attribute__((visibility("default"))) const Image {table}[] = {{
{rows}    {{nullptr, nullptr, 0, 0}},
}};
"""


def main(source: str, kept: str, manifest: str, table: str, target: str, *files: str) -> None:
    rows, lines, images = "", "module target bytes deflated\n", b""
    for path in map(pathlib.Path, files):
        data = path.read_bytes()
        deflated = zlib.compress(data, 9)
        rows += f'    {{"{path.stem}", images + {len(images)}, {len(deflated)}, {len(data)}}},\n'
        module, _, own_target = path.stem.partition(".")
        lines += f"{module} {own_target or target} {len(data)} {len(deflated)}\n"
        images += deflated
    pathlib.Path(kept).write_bytes(images)
    pathlib.Path(manifest).write_text(lines)
    path = pathlib.Path(kept).resolve()
    pathlib.Path(source).write_text(SOURCE.format(path=path, table=table, rows=rows))


if __name__ == "__main__":
    main(*sys.argv[1:])
