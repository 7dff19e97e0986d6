"""Report what the kernels of AMD code objects take: registers, shared memory, scratch, size.

`compile_report.py OBJECT...`: prints a table, one line for each kernel with the largest figures
over its targets, or one for each kernel and target with `--all`. Fails where a kernel spills
vector registers or uses scratch memory unless ALLOWED gives a reason. Scalar registers that do not
fit lie in lanes of vector registers, which costs no memory: they are listed only.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, fields, replace

# Kernel name pattern: why it may use scratch memory or spill.
ALLOWED: dict[str, str] = {}
FIELDS = {
    "vgpr": "vgpr_count",
    "sgpr": "sgpr_count",
    "shared": "group_segment_fixed_size",
    "scratch": "private_segment_fixed_size",
    "vgpr_spills": "vgpr_spill_count",
    "sgpr_spills": "sgpr_spill_count",
    "arguments": "kernarg_segment_size",
}


@dataclass
class Kernel:
    """What one kernel takes on one target; bytes, registers and spilled registers."""

    module: str
    target: str
    name: str
    code: int
    vgpr: int
    sgpr: int
    shared: int
    scratch: int
    vgpr_spills: int
    sgpr_spills: int
    arguments: int

    @property
    def excess(self) -> bool:
        return bool(self.scratch or self.vgpr_spills)

    @property
    def reason(self) -> str:
        return next((why for name, why in ALLOWED.items() if re.fullmatch(name, self.name)), "")


def readelf() -> str:
    for name in ("llvm-readelf", *(f"llvm-readelf-{version}" for version in range(24, 17, -1))):
        found = shutil.which(name) or shutil.which(name, path="/opt/rocm/llvm/bin")
        if found:
            return found
    sys.exit("compile_report.py needs llvm-readelf: install llvm or ROCm")


def read(tool: str, path: pathlib.Path) -> list[Kernel]:
    """Return what the code object `<module>.<target>.hsaco` says of its kernels."""
    module, _, target = path.stem.partition(".")
    command = [tool, "--notes", "--dyn-symbols", "--wide", str(path)]
    text = subprocess.run(command, text=True, capture_output=True, check=True).stdout
    functions = re.findall(r"^ *\d+: \w+ +(\d+) FUNC .* (\w+)$", text, re.MULTILINE)
    code = {name: int(size) for size, name in functions}
    kernels = []
    for block in re.split(r"^  - ", text, flags=re.MULTILINE)[1:]:
        values = dict(re.findall(r"^ *\.(\w+): +(\S+)$", block, re.MULTILINE))
        if "name" not in values:
            continue
        name = values["name"]
        figures = {field: int(values[key]) for field, key in FIELDS.items()}
        kernels.append(Kernel(module, target, name, code.get(name, 0), **figures))
    return kernels


def largest(kernels: list[Kernel]) -> list[Kernel]:
    """Merge the targets of each kernel: the largest of every figure."""
    merged: dict[tuple[str, str], Kernel] = {}
    for kernel in kernels:
        seen = merged.setdefault((kernel.module, kernel.name), replace(kernel, target="largest"))
        for field in ("code", *FIELDS):
            setattr(seen, field, max(getattr(seen, field), getattr(kernel, field)))
    return list(merged.values())


def table(kernels: list[Kernel]) -> str:
    heads = [field.name for field in fields(Kernel)]
    rows = [[str(getattr(kernel, head)) for head in heads] for kernel in kernels]
    widths = [max(len(row[i]) for row in [heads, *rows]) for i in range(len(heads))]
    lines = []
    for row in [heads, *rows]:
        cells = [
            cell.ljust(width) if i < 3 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("objects", nargs="+", type=pathlib.Path)
    parser.add_argument("--all", action="store_true", help="a line for each kernel and target")
    parser.add_argument("--output", type=pathlib.Path, help="also write the table to this file")
    options = parser.parse_args()
    tool = readelf()
    kernels = [kernel for path in options.objects for kernel in read(tool, path)]
    text = table(kernels if options.all else largest(kernels))
    print(text)
    if options.output:
        options.output.write_text(text + "\n")
    targets = len({kernel.target for kernel in kernels})
    size = sum(path.stat().st_size for path in options.objects)
    print(f"\n{len(kernels)} kernels on {targets} targets, {size / 1e6:.1f} MB")
    excess = [kernel for kernel in kernels if kernel.excess]
    unexplained = [kernel for kernel in excess if not kernel.reason]
    for kernel in unexplained:
        print(
            f"{kernel.name} on {kernel.target}: {kernel.scratch} bytes of scratch, "
            f"{kernel.vgpr_spills} vector and {kernel.sgpr_spills} scalar registers spilled",
            file=sys.stderr,
        )
    if unexplained:
        print("change these kernels, or give the reason in ALLOWED", file=sys.stderr)
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
