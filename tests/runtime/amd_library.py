"""A runtime library whose AMD kernels and HIP runtimes are stand-ins."""

import shutil
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from runtime_library import kernels_library, run

ROOT = Path(__file__).parents[2]
FAKE_SOURCE = ROOT / "tests" / "helpers" / "fake_hip.cc"

DAMAGED = "damaged.gfx1151"
# Kernels of two modules for two exact and one generic target, as the stand-in reads them.
IMAGES = {
    "first.gfx1151": "FAKE gfx1151\nscale 32\n",
    "first.gfx90a": "FAKE gfx90a\nscale 32\n",
    "first.gfx11-generic": "FAKE gfx11-generic\nscale 32\n",
    "second.gfx1151": "FAKE gfx1151\nwide 1000\n",
    "broken.gfx1151": "no code object",
    DAMAGED: "FAKE gfx1151\ndamaged 32\n",
}

# Gives memory back when libraries are unloaded at exit: later than all that HIP does then.
LATE = r"""
static void (*trim)(void*), *device;
void late(void (*t)(void*), void* d) { trim = t, device = d; }
__attribute__((destructor)) static void at_exit(void) { if (trim) trim(device); }
"""

PRELUDE = """
r = Runtime({kernels!r})

def fake():
    library = ctypes.CDLL(next(hip_copies()))
    library.fake_hip_take_log.restype = c_char_p
    return library

def hip_copies():
    for line in open("/proc/self/maps"):
        path = line.split(maxsplit=5)[-1].rstrip()
        if Path(path).name.startswith("libamdhip64.so"):
            yield path

def log(*calls):
    "What was called since the last time, only these calls if any are named."
    lines = fake().fake_hip_take_log().decode().splitlines()
    return [line for line in lines if not calls or line.split()[0] in calls]

def fail(call, result, at=1):
    fake().fake_hip_fail(call.encode(), at, result)

def open_amd(ordinal=0):
    device = r.open(ordinal=ordinal, backend=b"amd")
    log()
    return device

def refused(ordinal=0):
    assert r.device_open(b"amd", ordinal, 0, 0, byref(c_void_p())) == NO_DRIVER
    return r.error()

def resolve(device, module=b"first", name=b"scale", block=256):
    kernel, entry = Kernel(module, name, block), c_void_p()
    status = r.kernel_resolve(device, byref(kernel), byref(entry))
    return status, kernel, entry

def launch(stream, resolved, args=bytes(32), grid=3):
    status, kernel, entry = resolved
    assert status == OK, r.error()
    return r.launch(stream, byref(kernel), entry, grid, 1, 1, args, len(args))
"""


def compiler(*names):
    """Return the path of the first of these programs that is there."""
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        pytest.skip(f"none of {', '.join(names)} is there")
    return found


def build_folder(folder):
    """Fill a folder with the runtime library, its AMD kernels and HIP runtimes."""
    shutil.copy(kernels_library(), folder)
    build_images(folder)
    command = [
        compiler("gcc", "cc"),
        "-shared",
        "-fPIC",
        "-x",
        "c",
        "-",
        "-o",
        folder / "liblate.so",
    ]
    subprocess.run(command, input=LATE, text=True, check=True)
    build_hip(folder / "five" / "hip.so", "-DFAKE_HIP_5")
    install_default(folder)


def build_images(folder):
    """Make the library of AMD kernels as the build does, and damage one of them."""
    objects = folder / "objects"
    objects.mkdir()
    files = {objects / f"{name}.hsaco": text for name, text in IMAGES.items()}
    for path, text in files.items():
        path.write_text(text)
    outputs = [objects / "images.cc", objects / "images.bin", folder / "libhipep_amd.txt"]
    command = [sys.executable, ROOT / "kernels" / "embed.py", *outputs, "hipep_amd_images", "-"]
    subprocess.run([*command, *files], check=True)
    kept, whole = outputs[1].read_bytes(), zlib.compress(IMAGES[DAMAGED].encode(), 9)
    assert kept.count(whole) == 1
    outputs[1].write_bytes(kept.replace(whole, whole[:-1] + b"?"))
    build = [compiler("g++", "c++"), "-shared", "-fPIC", outputs[0]]
    subprocess.run([*build, "-o", folder / "libhipep_amd.so"], check=True)


def build_hip(path, *options):
    """Compile a stand-in for the HIP runtime."""
    path.parent.mkdir()
    command = [compiler("g++", "c++"), "-std=c++17", "-O1", "-shared", "-fPIC", *options]
    subprocess.run([*command, FAKE_SOURCE, "-o", path], check=True)


def install_default(folder):
    """Put HIP 7 where `run_amd` looks for it."""
    build_hip(folder / "seven" / "hip.so")
    install(folder, "default", "libamdhip64.so.7")


def install(folder, where, name, which="seven"):
    """Put a HIP runtime of that name into a folder; the folder's path."""
    path = folder / where
    path.mkdir(parents=True, exist_ok=True)
    shutil.copy(folder / which / "hip.so", path / name)
    return path


def run_amd(folder, code, libraries="default", kernels=None, **environment):
    """Run code in a process that finds the HIP runtime in that folder only; its output."""
    prelude = PRELUDE.format(kernels=str(kernels or folder / "libhipep_kernels.so"))
    paths = {"LD_LIBRARY_PATH": str(folder / libraries), "HIP_PATH": "", "ROCM_PATH": ""}
    return run(prelude + code, **{**paths, **environment})


def run_amd_session(folder, code, **environment):
    """Run code that makes sessions on the devices of the stand-in, with the built kernels."""
    return run_amd(folder, code, kernels=kernels_library(), **environment)
