"""The AMD driver, run on a stand-in for the HIP runtime that logs what it is asked for."""

import ctypes.util
import shutil
import subprocess
from pathlib import Path

import pytest
from amd_library import build_folder, compiler, install, run_amd

HELPERS = Path(__file__).parents[1] / "helpers"
KERNELS = HELPERS.parents[1] / "kernels"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("amd")
    build_folder(folder)
    if "this build has no amd" in run_amd(folder, 'print(r.backend_problem(b"amd").decode())'):
        pytest.skip("built without the AMD driver")
    return folder


# ---- The declarations ----


def test_declarations_agree_with_the_headers():
    headers = [Path("/usr/include"), Path("/opt/rocm/include")]
    found = [path for path in headers if (path / "hip" / "hip_runtime_api.h").exists()]
    if not found or not KERNELS.exists():
        pytest.skip("no HIP headers here")
    command = [compiler("g++", "c++"), "-std=c++17", "-fsyntax-only", HELPERS / "hip_headers.cc"]
    command += [f"-I{path}" for path in (KERNELS, KERNELS / "include", KERNELS / "runtime")]
    command += [f"-isystem{path}" for path in found if path != headers[0]]
    result = subprocess.run(command, text=True, capture_output=True, check=False)
    assert result.returncode == 0, result.stderr


# ---- Which HIP runtime ----


def test_the_loaders_path_comes_first(folder):
    other = install(folder, "rocm/lib", "libamdhip64.so.7").parent
    code = "open_amd(); print(*hip_copies())"
    path = run_amd(folder, code, HIP_PATH=str(other), ROCM_PATH=str(other))
    assert set(path.split()) == {str(folder / "default" / "libamdhip64.so.7")}


@pytest.mark.parametrize("variable", ["HIP_PATH", "ROCM_PATH"])
@pytest.mark.parametrize("name", ["libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so"])
def test_folders_that_variables_name(folder, tmp_path, variable, name):
    install(folder, tmp_path / "lib", name)
    environment = {variable: str(tmp_path)}
    path = run_amd(folder, "open_amd(); print(*hip_copies())", "nothing", **environment)
    assert set(path.split()) == {str(tmp_path / "lib" / name)}


def test_a_copy_that_is_loaded_already_is_taken(folder):
    torch = install(folder, "torch/lib", "libamdhip64.so") / "libamdhip64.so"
    code = f"ctypes.CDLL({str(torch)!r}); open_amd(); print(*hip_copies())"
    assert set(run_amd(folder, code).split()) == {str(torch)}


def test_two_copies_are_refused(folder):
    torch = install(folder, "torch/lib", "libamdhip64.so") / "libamdhip64.so"
    text = run_amd(folder, f"open_amd(); ctypes.CDLL({str(torch)!r}); print(refused())")
    assert "two copies of the HIP runtime" in text
    assert str(torch) in text
    assert str(folder / "default" / "libamdhip64.so.7") in text
    assert "before the first use of hipep" in text


@pytest.mark.parametrize(("which", "version"), [("five", 50221153), ("seven", 50731921)])
def test_hip_5_is_refused_by_name(folder, which, version):
    path = install(folder, which + "_loaded", "libamdhip64.so", which)
    text = run_amd(folder, "print(refused())", path, FAKE_HIP_VERSION=str(version))
    expected = f"libamdhip64.so is HIP 5.{version // 100000 % 100}, hipep needs HIP 6 or newer"
    assert expected in text
    assert "install ROCm 6" in text


def test_a_broken_runtime_says_what_it_lacks(folder, tmp_path):
    (tmp_path / "libamdhip64.so.7").write_text("no library")
    text = run_amd(folder, "print(refused())", tmp_path)
    if "HIP 5" not in text:  # another version is installed on this machine
        assert "cannot be loaded: libamdhip64.so.7" in text


def test_no_runtime_says_where_it_was_sought(folder):
    if ctypes.util.find_library("amdhip64") or Path("/opt/rocm/lib").exists():
        pytest.skip("a HIP runtime is installed here")
    text = run_amd(folder, "print(refused())", "nothing")
    for word in ("libamdhip64.so.7", "ROCM_PATH", "/opt/rocm", "install ROCm"):
        assert word in text


def test_no_kernels_and_no_device(folder, tmp_path):
    assert "no AMD GPU" in run_amd(folder, "print(refused())", FAKE_HIP_DEVICES="")
    kernels = shutil.copy(folder / "libhipep_kernels.so", tmp_path)
    text = run_amd(folder, f"r = Runtime({str(kernels)!r}); print(refused())")
    assert "kernels of the amd backend are missing" in text


# ---- Devices ----


def test_info(folder):
    code = """
i = r.info(open_amd())
print(i.backend.decode(), i.ordinal, i.name.decode(), i.arch.decode(), i.host_memory, i.warp_size,
      i.compute_units, i.max_block, i.integrated, i.shared_bytes, i.memory_bytes, sep="|")
"""
    features = {"FAKE_HIP_DEVICES": "gfx1151:sramecc-:xnack-", "FAKE_HIP_INTEGRATED": "1"}
    expected = "amd|0|Fake Radeon 0|gfx1151|1|32|20|1024|1|65536|1073741824"
    assert run_amd(folder, code, **features) == expected
    expected = "amd|0|AMD gfx90a|gfx90a|1|64|20|1024|0|65536|1073741824"
    assert run_amd(folder, code, FAKE_HIP_DEVICES="gfx90a", FAKE_HIP_NAME="") == expected


@pytest.mark.parametrize(
    ("arch", "target"),
    [
        ("gfx1151", "gfx1151"),
        ("gfx90a:sramecc+:xnack-", "gfx90a"),
        ("gfx1100", "gfx11-generic"),
        ("gfx1153", "gfx11-generic"),
    ],
)
def test_code_objects_of_the_architecture_or_its_family(folder, arch, target):
    code = "assert resolve(open_amd())[0] == OK, r.error(); print(*log('hipModuleLoadData'))"
    assert f"target={target}" in run_amd(folder, code, FAKE_HIP_DEVICES=arch)


@pytest.mark.parametrize("arch", ["gfx1030", "gfx942", "gfx1201", "gfx1170", "gfx803", ""])
def test_an_architecture_without_kernels(folder, arch):
    text = run_amd(folder, "print(refused())", FAKE_HIP_DEVICES=f"{arch}:xnack-")
    assert f"no kernels for amd:0 ({arch})" in text
    assert "gfx1151, gfx90a, gfx11-generic" in text
    assert "-Damd_archs" in text


def test_generic_code_objects_need_hip_6_3(folder):
    settings = {"FAKE_HIP_DEVICES": "gfx1100", "FAKE_HIP_VERSION": "60241133"}
    text = run_amd(folder, "print(refused())", **settings)
    assert "gfx11-generic, which HIP 6.2 does not load" in text
    settings["FAKE_HIP_VERSION"] = "60342131"
    run_amd(folder, "open_amd()", **settings)


def test_devices_without_kernels_keep_their_numbers(folder):
    code = """
assert r.backend_problem(b"amd") == b"" and r.device_count(b"amd") == 2
assert r.info(open_amd(1)).arch == b"gfx1151"
print(refused(0))
"""
    text = run_amd(folder, code, FAKE_HIP_DEVICES="gfx1036,gfx1151")
    assert "no kernels for amd:0 (gfx1036)" in text


def test_each_call_is_made_on_its_device_and_the_threads_own_is_kept(folder):
    code = """
first, second = open_amd(0), open_amd(1)
s, t = r.stream(first), r.stream(second)
k, l = resolve(first), resolve(second)
assert k[2].value != l[2].value
a, b = r.memory(first, 64), r.memory(second, 64)
assert log("hipModuleLoadData") == [f"hipModuleLoadData on={d} target=gfx1151" for d in (0, 1)]

def work():
    for stream, resolved, pointer in ((s, k, a), (t, l, b)):
        assert launch(stream, resolved) == OK, r.error()
        assert r.copy_async(stream, pointer, pointer, 64, 0) == OK

for own in (0, 1):
    fake().hipSetDevice(own)
    log()
    work()
    lines = log()
    used = [line.split()[1] for line in lines if "hipSetDevice" not in line]
    assert used == ["on=0", "on=0", "on=1", "on=1"], lines
    device = c_int32()
    fake().hipGetDevice(byref(device))
    assert device.value == own
thread = threading.Thread(target=work)
thread.start()
thread.join()
fake().hipSetDevice(1)
log()
for _ in range(100):
    launch(t, l)
assert not log("hipSetDevice")
"""
    run_amd(folder, code, FAKE_HIP_DEVICES="gfx1151,gfx1151")


# ---- Memory and copies ----
