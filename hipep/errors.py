"""The exceptions that hipep raises."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hipep.report import PlacementReport

__all__ = [
    "HipError",
    "HipOutOfMemory",
    "HipepError",
    "NotOnGpu",
    "OptionError",
    "RegistrationError",
    "UnsupportedNode",
]


class HipepError(RuntimeError):
    """Base class of every error that hipep raises.

    Attributes
    ----------
    report : PlacementReport or None
        Where the nodes would have run, if placement was decided before the error.
    """

    report: PlacementReport | None = None


class HipError(HipepError):
    """A device or its driver refused or failed.

    Attributes
    ----------
    code : int or None
        The status number.
    name : str or None
        The name of the status, such as ``"OUT_OF_MEMORY"``.
    call : str or None
        The call that failed.
    node : str or None
        The node that was running.
    device : str or None
        The device, such as ``"amd:0"``.
    """

    def __init__(
        self,
        message: str = "",
        *,
        code: int | None = None,
        name: str | None = None,
        call: str | None = None,
        node: str | None = None,
        device: str | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.name = name
        self.call = call
        self.node = node
        self.device = device


class HipOutOfMemory(HipError, MemoryError):
    """The device has no memory left for a request.

    Attributes
    ----------
    requested, free : int or None
        Bytes asked for and bytes that were free, where known.
    """

    def __init__(
        self,
        message: str = "",
        *,
        requested: int | None = None,
        free: int | None = None,
        code: int | None = None,
        name: str | None = None,
        call: str | None = None,
        node: str | None = None,
        device: str | None = None,
    ) -> None:
        super().__init__(message, code=code, name=name, call=call, node=node, device=device)
        self.requested = requested
        self.free = free


class UnsupportedNode(HipepError, NotImplementedError):
    """A node that hipep cannot run.

    Attributes
    ----------
    node, op_type, reason : str or None
        The node's name, its operator and why it cannot run.
    """

    def __init__(
        self,
        message: str = "",
        *,
        node: str | None = None,
        op_type: str | None = None,
        reason: str | None = None,
    ) -> None:
        super().__init__(message)
        self.node = node
        self.op_type = op_type
        self.reason = reason


class NotOnGpu(HipepError):
    """A strict session was refused because nodes would run on the CPU; see ``report``."""

    def __init__(self, message: str = "", *, report: PlacementReport | None = None) -> None:
        super().__init__(message)
        self.report = report


class OptionError(HipepError, ValueError):
    """An option is unknown or has a value that does not fit."""


class RegistrationError(HipepError):
    """The execution provider could not be registered with ONNX Runtime."""


_ORT_PREFIX = re.compile(r"^\[ONNXRuntimeError\] : (\d+) : (\w+) : ", re.DOTALL)
_NODE = re.compile(r"hipep: ([\w.]+) '([^']*)'")
_OUT_OF_MEMORY = re.compile(
    r"out of (host |device )?memory|no (host )?memory|no room for|more than any device has"
)
_BYTES = re.compile(r"(\d+) bytes")
_FREE = re.compile(r"(\d+) of \d+ are free")
_LIMITED = re.compile(r"of the (\d+) bytes that memory_limit allows, (\d+) are taken")


def strip_ort_prefix(error: BaseException) -> str:
    """Return the text of an ONNX Runtime error without its code prefix."""
    return _ORT_PREFIX.sub("", str(error)).strip()


def _last_error() -> str:
    from hipep import _runtime

    return _runtime.last_error()


def from_ort(error: Exception, device: str, doing: str = "") -> HipepError | None:
    """Translate an error of hipep that came through ONNX Runtime.

    Parameters
    ----------
    error : Exception
        What ONNX Runtime raised.
    device : str
        The device of the session.
    doing : str
        What was going on, to begin the message with.

    Returns
    -------
    HipepError or None
        To be raised from `error`; None if the error is ONNX Runtime's own.
    """
    text = strip_ort_prefix(error)
    if text == "Allocation failed.":  # ONNX Runtime asked hipep for the memory of a value
        text = f"hipep: memory for a value: {_last_error()}"
    start = text.find("hipep: ")
    if start < 0:
        return None
    text = text[start:]
    message = f"{doing}: {text}" if doing else text
    prefix = _ORT_PREFIX.match(str(error))
    code, name = (int(prefix[1]), prefix[2]) if prefix else (None, type(error).__name__)
    found = _NODE.search(text)
    op_type, node = (found[1], found[2]) if found else (None, None)
    if name == "INVALID_ARGUMENT":
        return HipepError(message)
    if name == "NOT_IMPLEMENTED":
        reason = text.rpartition("hipep: ")[2]
        return UnsupportedNode(message, node=node, op_type=op_type, reason=reason)
    if _OUT_OF_MEMORY.search(text) is None:
        return HipError(message, code=code, name=name, node=node, device=device)
    requested = _BYTES.search(text)
    free, limited = _FREE.search(text), _LIMITED.search(text)
    return HipOutOfMemory(
        message,
        requested=int(requested[1]) if requested else None,
        free=int(free[1]) if free else int(limited[1]) - int(limited[2]) if limited else None,
        code=code,
        name="OUT_OF_MEMORY",
        node=node,
        device=device,
    )
