"""What measured figures depend on."""

from __future__ import annotations

import datetime
import importlib.metadata
import platform
from collections.abc import Sequence

from hipep.device import Device
from hipep.version import __version__

_PACKAGES = ("onnxruntime", "onnxruntime-gpu", "numpy", "torch")


def environment(devices: Sequence[Device], command: str) -> dict[str, str]:
    """Return devices, versions, date and command, in words.

    Parameters
    ----------
    devices : sequence of Device
        What was measured.
    command : str
        How to measure it again.

    Returns
    -------
    dict
    """
    facts = {entry.id: f"{entry.name} ({entry.arch})" for entry in devices}
    facts |= {"processor": processor(), "python": platform.python_version(), "hipep": __version__}
    facts |= {name: text for name in _PACKAGES if (text := _version(name))}
    return facts | {"date": datetime.date.today().isoformat(), "command": command}


def processor() -> str:
    """Return the name of the processor."""
    try:
        with open("/proc/cpuinfo") as file:
            names = [line.partition(":")[2] for line in file if line.startswith("model name")]
        return names[0].strip()
    except (OSError, IndexError):
        return platform.processor() or "unknown"


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""
