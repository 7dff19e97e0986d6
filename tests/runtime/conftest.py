"""Runtimes, devices and streams for the tests of the runtime library."""

import shutil
from ctypes import byref, c_void_p

import pytest
from amd_library import install_default, run_amd_session
from runtime_library import (
    FAITHFUL32,
    FAITHFUL64,
    GUARDED,
    NO_DRIVER,
    PLAIN,
    SERIAL,
    Runtime,
    kernels_library,
)


@pytest.fixture(scope="module")
def runtime(tmp_path_factory):
    """A copy of the library: its devices and pools are apart from those of the sessions."""
    folder = tmp_path_factory.mktemp("runtime")
    library = kernels_library()
    for other in library.parent.glob("libhipep_*.so"):
        if other != library:
            (folder / other.name).symlink_to(other)
    return Runtime(shutil.copy(library, folder))


@pytest.fixture(params=[SERIAL, FAITHFUL32, FAITHFUL64], ids=["serial", "faithful32", "faithful64"])
def mode(runtime, request):
    device = c_void_p()
    status = runtime.device_open(b"host", 0, request.param, PLAIN, byref(device))
    if status == NO_DRIVER:
        pytest.skip(runtime.error())
    return request.param


@pytest.fixture(params=[PLAIN, GUARDED], ids=["plain", "guarded"])
def device(runtime, mode, request):
    device = runtime.open(mode, request.param)
    runtime.pool_trim(device)
    yield device
    runtime.set_current_stream(None)


@pytest.fixture(scope="session")
def hip_folder(tmp_path_factory):
    """A folder with a stand-in for the HIP runtime, on which sessions on amd:0 work."""
    folder = tmp_path_factory.mktemp("hip")
    install_default(folder)
    problem = run_amd_session(folder, 'print(r.backend_problem(b"amd").decode())')
    if problem:
        pytest.skip(problem)
    return folder


@pytest.fixture
def stream(runtime, device):
    stream = runtime.stream(device)
    yield stream
    runtime.stream_destroy(stream)


@pytest.fixture
def counted(runtime):
    """Call it for the differences since the test began or since its last call."""
    before = runtime.counted()

    def differences():
        now = runtime.counted()
        changed = {name: now[name] - before[name] for name in now if now[name] != before[name]}
        before.update(now)
        return changed

    return differences
