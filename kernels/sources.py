"""List the kernel sources of this folder, one `kind path` a line.

`sources.py --write FILE` prints the list and keeps it in FILE. `sources.py --check FILE`
fails if the list has changed since and renews FILE, so that the build is configured again.
"""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent
# A file is of the first kind that matches.
KINDS = {
    "system": "runtime/os_*.cc",
    "faithful": "runtime/fiber*.cc",
    "nvidia": "runtime/nvidia*.cc",
    "amd": "runtime/amd*.cc",
    "gpu": "runtime/gpu_*.cc",
    "runtime": "runtime/*.cc",
    "planner": "*.cc",
    "host": "host/*.cc",
    "device": "*.hip",
}


def sources() -> str:
    found = {}
    for kind, pattern in KINDS.items():
        for path in sorted(ROOT.glob(pattern)):
            found.setdefault(path.relative_to(ROOT).as_posix(), kind)
    return "".join(f"{kind} {path}\n" for path, kind in found.items())


def main(option: str, path: str) -> int:
    kept, listed = pathlib.Path(path), sources()
    changed = not kept.exists() or kept.read_text() != listed
    if changed:
        kept.write_text(listed)
    if option == "--write":
        print(listed, end="")
    elif changed:
        print("kernel sources were added or removed: run the build again", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
