"""Find out how a clang compiles HIP device code here, and print the options it needs, one a line.

`device_libs.py CLANG FOLDER`: with a complete ROCm none are needed. With a distribution's packages
(HIP 5.2 headers and bitcode, a newer clang) the bitcode that newer targets and code objects need is
missing: it is generated into FOLDER, beside links to what is packaged.
"""

import pathlib
import subprocess
import sys

SHIM = pathlib.Path(__file__).resolve().parent / "hip52_clang_shim.h"
PACKAGED = ("/usr/lib/x86_64-linux-gnu/amdgcn/bitcode", "/usr/lib/amdgcn/bitcode")
ISA_VERSIONS = {
    "942": 9402,
    "9-4-generic": 9402,
    "950": 9500,
    "10-3-generic": 10300,
    **{f"110{minor}": 11000 + minor for minor in range(4)},
    **{f"115{minor}": 11500 + minor for minor in range(4)},
    "11-generic": 11003,
    "1200": 12000,
    "1201": 12001,
    "12-generic": 12000,
}
CONSTANT = """
__attribute__((visibility("protected"), weak)) extern const __constant int {symbol};
const __constant int {symbol} = {value};
"""
PROBE = """
#include <hip/hip_runtime.h>
extern "C" __global__ void probe(float* x) { x[threadIdx.x] = __shfl_xor(x[0], 1); }
"""


def compiles(clang: str, folder: pathlib.Path, options: list[str]) -> bool:
    command = [
        *(clang, "-x", "hip", "-std=c++17", "-O1", "--offload-arch=gfx1151"),
        *("--cuda-device-only", "--no-gpu-bundle-output", "-mcode-object-version=5"),
        *(*options, "-o", str(folder / "probe.hsaco"), "-"),
    ]
    done = subprocess.run(command, input=PROBE, text=True, capture_output=True, check=False)
    if done.returncode and options:
        print(done.stderr, file=sys.stderr)
    return done.returncode == 0


def generate(clang: str, path: pathlib.Path, symbol: str, value: int) -> None:
    command = [
        *(clang, "-x", "cl", "--target=amdgcn-amd-amdhsa", "-nogpulib"),
        *("-Xclang", "-mcode-object-version=none", "-emit-llvm", "-c", "-o", str(path), "-"),
    ]
    source = CONSTANT.format(symbol=symbol, value=value)
    subprocess.run(command, input=source, text=True, check=True)


def make_folder(clang: str, folder: pathlib.Path) -> bool:
    packaged = next((pathlib.Path(path) for path in PACKAGED if pathlib.Path(path).is_dir()), None)
    if packaged is None:
        print(f"no device libraries in {' or '.join(PACKAGED)}", file=sys.stderr)
        return False
    for path in packaged.glob("*.bc"):
        link = folder / path.name
        link.unlink(missing_ok=True)
        link.symlink_to(path)
    for name, value in ISA_VERSIONS.items():
        path = folder / f"oclc_isa_version_{name}.bc"
        if not path.exists():
            generate(clang, path, "__oclc_ISA_version", value)
    path = folder / "oclc_abi_version_600.bc"
    if not path.exists():
        generate(clang, path, "__oclc_ABI_version", 600)
    return True


def main(clang: str, folder_name: str) -> int:
    folder = pathlib.Path(folder_name)
    folder.mkdir(parents=True, exist_ok=True)
    if compiles(clang, folder, []):
        return 0
    if not make_folder(clang, folder):
        return 1
    options = [f"--rocm-device-lib-path={folder}", "-include", str(SHIM)]
    for name in ("hip.bc", "oclc_daz_opt_off.bc"):
        options += ["-Xclang", "-mlink-builtin-bitcode", "-Xclang", str(folder / name)]
    if not compiles(clang, folder, options):
        return 1
    print("\n".join(options))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
