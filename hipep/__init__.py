"""hipep: an ONNX Runtime execution provider for AMD GPUs.

Nothing is registered, and ONNX Runtime is not imported, before it is needed.
"""

from __future__ import annotations

import importlib
import logging
from typing import TYPE_CHECKING, Any

from hipep.errors import (
    HipepError,
    HipError,
    HipOutOfMemory,
    NotOnGpu,
    OptionError,
    RegistrationError,
    UnsupportedNode,
)
from hipep.version import __version__

if TYPE_CHECKING:
    from hipep.api import (
        get_ep_name,
        get_ep_names,
        get_library_path,
        register,
        session_options,
    )
    from hipep.device import Device, devices
    from hipep.inference import InferenceSession
    from hipep.interop import bind_output, device_value, dlpack, to_numpy
    from hipep.report import PlacementReport
    from hipep.stats import RunStats

__all__ = [
    "Device",
    "HipError",
    "HipOutOfMemory",
    "HipepError",
    "InferenceSession",
    "NotOnGpu",
    "OptionError",
    "PlacementReport",
    "RegistrationError",
    "RunStats",
    "UnsupportedNode",
    "__version__",
    "bind_output",
    "device_value",
    "devices",
    "dlpack",
    "get_ep_name",
    "get_ep_names",
    "get_library_path",
    "register",
    "session_options",
    "to_numpy",
]

_HOMES = {
    "Device": "hipep.device",
    "InferenceSession": "hipep.inference",
    "PlacementReport": "hipep.report",
    "RunStats": "hipep.stats",
    "bind_output": "hipep.interop",
    "device_value": "hipep.interop",
    "devices": "hipep.device",
    "dlpack": "hipep.interop",
    "get_ep_name": "hipep.api",
    "get_ep_names": "hipep.api",
    "get_library_path": "hipep.api",
    "register": "hipep.api",
    "session_options": "hipep.api",
    "to_numpy": "hipep.interop",
}

logging.getLogger("hipep").addHandler(logging.NullHandler())


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'hipep' has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
