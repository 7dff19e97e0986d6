"""``hipep env``: what is installed, what is loaded and what is missing; standard library only."""

from __future__ import annotations

import glob
import importlib
import importlib.metadata
import json
import os
import platform
import sys
from typing import Any

_LIBRARIES = ("libonnxruntime", "onnxruntime_pybind11_state", "libamdhip64", "libcuda")
_PACKAGES = ("onnxruntime", "numpy", "onnx", "ml_dtypes", "typer", "rich")
_FOLDERS = (
    "/opt/rocm*/lib",
    "/usr/lib/x86_64-linux-gnu",
    "/lib/x86_64-linux-gnu",
    "/usr/lib64",
    "/usr/local/lib",
)
_GPU_RUNTIMES = ("libamdhip64", "libcuda")
_DRIVER_VERSIONS = ("/sys/module/amdgpu/version", "/proc/driver/nvidia/version")
_DEVICE_FILES = ("/dev/kfd", "/dev/dri", "/dev/nvidiactl")


def gather() -> dict[str, Any]:
    """Collect everything that ``hipep env`` shows.

    Returns
    -------
    dict
    """
    facts: dict[str, Any] = {
        "python": f"{platform.python_version()} ({sys.executable})",
        "platform": platform.platform(),
        "packages": {name: _package(name) for name in _PACKAGES},
        "problems": [],
    }
    facts.update(_core_facts(facts["problems"]))
    facts["variables"] = {
        name: os.environ[name] for name in sorted(os.environ) if name.startswith("HIPEP_")
    }
    facts["device_files"] = {path: _access(path) for path in _DEVICE_FILES}
    loaded = _loaded()
    facts["libraries"] = {
        name: {"loaded": loaded[name], "installed": _installed(name)} for name in _LIBRARIES
    }
    facts["drivers"] = _drivers(loaded)
    for name, paths in loaded.items():
        if len(paths) > 1:
            facts["problems"].append(f"{len(paths)} copies of {name} are loaded")
    return facts


def show(as_json: bool = False) -> int:
    """Print the environment.

    Parameters
    ----------
    as_json : bool
        Print JSON instead of text.

    Returns
    -------
    int
        0, or 1 if hipep itself cannot be loaded.
    """
    facts = gather()
    print(json.dumps(facts, indent=2) if as_json else "\n".join(_lines(facts)))
    return 0 if facts["hipep"] else 1


def _package(name: str) -> str:
    try:
        module = importlib.import_module(name)
    except Exception as error:
        # A package that is there but cannot be loaded is what one looks for here.
        reason = f"cannot be imported: {error}"
        return "not installed" if isinstance(error, ModuleNotFoundError) else reason
    version = getattr(module, "__version__", None)
    if isinstance(version, str):
        return version
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "unknown version"


def _core_facts(problems: list[str]) -> dict[str, Any]:
    facts: dict[str, Any] = {"hipep": "", "library": "", "backends": {}}
    facts |= {"devices": [], "skipped": {}}
    try:
        core = importlib.import_module("hipep._core")
        runtime = importlib.import_module("hipep._runtime")
    except ImportError as error:
        problems.append(f"hipep cannot be loaded: {error}; reinstall it")
        return facts
    facts["hipep"] = core.EP_VERSION
    facts["library"] = core.__file__
    facts["kernels"] = runtime.kernel_library_path()
    facts["backends"] = {name: why or "usable" for name, why in runtime.backends().items()}
    facts["devices"] = runtime.devices()
    facts["skipped"] = runtime.skipped_devices()
    facts["minimum_onnxruntime"] = ".".join(map(str, core.MINIMUM_ORT))
    try:
        importlib.import_module("hipep.api").import_onnxruntime()
    except RuntimeError as error:
        problems.append(str(error))
    return facts


def _loaded() -> dict[str, list[str]]:
    try:
        with open("/proc/self/maps") as file:
            mapped = {line.split(maxsplit=5)[5].strip() for line in file if "/" in line}
    except OSError:
        mapped = set()
    return {
        name: sorted(path for path in mapped if os.path.basename(path).startswith(name + "."))
        for name in _LIBRARIES
    }


def _drivers(loaded: dict[str, list[str]]) -> list[str]:
    """Return the versions of kernel drivers, and the GPU runtimes that are loaded."""
    found = [path for name in _GPU_RUNTIMES for path in loaded[name]]
    for path in _DRIVER_VERSIONS:
        try:
            with open(path) as file:
                found.append(f"{path}: {file.readline().strip()}")
        except OSError:
            continue
    return found


def _installed(name: str) -> list[str]:
    folders = [*_FOLDERS, *os.environ.get("LD_LIBRARY_PATH", "").split(":")]
    for entry in sys.path:
        folders += [f"{entry}/onnxruntime/capi", f"{entry}/_rocm_sdk*/lib"]
    found = {
        os.path.realpath(path)
        for folder in folders
        if folder
        for path in glob.glob(f"{folder}/{name}.*")
        if ".so" in os.path.basename(path)
    }
    return sorted(found)


def _access(path: str) -> str:
    if not os.path.exists(path):
        return "missing"
    if not os.access(path, os.R_OK | os.W_OK):
        return "no permission (add the user to the groups render and video)"
    return "ok"


def _lines(facts: dict[str, Any]) -> list[str]:
    lines = [
        f"hipep        {facts['hipep'] or 'cannot be loaded'}",
        f"library      {facts['library'] or 'none'}",
        f"python       {facts['python']}",
        f"platform     {facts['platform']}",
    ]
    lines += [f"{name:<12} {text}" for name, text in facts["packages"].items()]
    lines += [f"{'driver':<12} {text}" for text in facts["drivers"]]
    for title in ("backends", "device_files", "variables"):
        if facts[title]:
            lines.append(f"\n{title.replace('_', ' ')}")
            lines += [f"  {name:<20} {text}" for name, text in facts[title].items()]
    lines.append("\ndevices")
    lines += [
        f"  {entry['id']:<10} {entry['name']} ({entry['arch']}, "
        f"{entry['memory_bytes'] / 2**30:.1f} GiB)"
        for entry in facts["devices"]
    ] or ["  none"]
    lines += [f"  {name:<10} cannot be used: {reason}" for name, reason in facts["skipped"].items()]
    lines.append("\nlibraries")
    for name, where in facts["libraries"].items():
        for state, paths in where.items():
            lines.append(f"  {name:<28} {state:<10} {', '.join(paths) or 'none'}")
    lines += [f"\nproblem: {problem}" for problem in facts["problems"]]
    return lines
