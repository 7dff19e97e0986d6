"""The devices that hipep can run on."""

from __future__ import annotations

import difflib
import html
from dataclasses import asdict, dataclass
from typing import Any

from hipep.errors import HipError, OptionError


@dataclass(frozen=True, repr=False)
class Device:
    """One physical device.

    Attributes
    ----------
    id : str
        The name to pass as ``device=``: ``"amd:0"``, ``"host"``, ...
    backend : str
        ``"amd"``, ``"nvidia"`` or ``"host"``.
    ordinal : int
        The number among the devices of its backend.
    name, arch : str
        Product name, and instruction set such as ``"gfx1151"``.
    memory_bytes, compute_units, warp_size : int
        Sizes, as the driver states them.
    integrated : bool
        Whether the device shares its memory with the CPU.
    """

    id: str
    backend: str
    ordinal: int
    name: str
    arch: str
    memory_bytes: int
    compute_units: int
    warp_size: int
    integrated: bool

    @property
    def is_gpu(self) -> bool:
        """Whether this is a GPU rather than the host's own CPU."""
        return self.backend != "host"

    def to_dict(self) -> dict[str, Any]:
        """Return the attributes as a dictionary."""
        return asdict(self)

    def __str__(self) -> str:
        """Return the id."""
        return self.id

    def __repr__(self) -> str:
        """Show what tells devices apart."""
        return (
            f"Device(id={self.id!r}, name={self.name!r}, arch={self.arch!r}, "
            f"memory={self.memory_bytes / 2**30:.1f} GiB)"
        )

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{html.escape(key)}</th><td>{html.escape(str(value))}</td></tr>"
            for key, value in self.to_dict().items()
        )
        return f"<table>{rows}</table>"


def devices() -> list[Device]:
    """List the devices of this machine, GPUs first.

    Returns
    -------
    list of Device

    Examples
    --------
    >>> import hipep
    >>> hipep.devices()[-1].backend
    'host'
    """
    from hipep import _runtime

    try:
        found = [Device(**entry) for entry in _runtime.devices()]
    except RuntimeError as error:
        raise HipError(f"listing the devices failed: {error}") from error
    return sorted(found, key=lambda device: (not device.is_gpu, device.backend, device.ordinal))


def missing_backends() -> dict[str, str]:
    """Return the backends that cannot be used here, each with its reason."""
    from hipep import _runtime

    return {name: reason for name, reason in _runtime.backends().items() if reason}


def select_device(device: str | Device | None) -> Device:
    """Find the device that a ``device=`` argument means.

    Parameters
    ----------
    device : str, Device or None
        An id, or None or ``"auto"`` for the first GPU, or the host where there is none.

    Returns
    -------
    Device

    Raises
    ------
    OptionError
        If there is no such device; the message lists what there is.
    """
    available = devices()
    if device is None or device == "auto":
        return available[0]
    if isinstance(device, Device):
        device = device.id
    if not isinstance(device, str):
        raise OptionError(
            f"device must be an id such as 'amd:0' or 'host', a hipep.Device or None, not "
            f"{type(device).__name__}{_session_options_hint(device)}"
        )
    by_id = {entry.id: entry for entry in available}
    wanted = "host" if device == "host:0" else device
    if wanted in by_id:
        return by_id[wanted]
    raise OptionError(_no_such_device(device, available))


def _session_options_hint(device: object) -> str:
    if type(device).__name__ == "SessionOptions":
        return "; pass session options as sess_options="
    return ""


def _no_such_device(device: str, available: list[Device]) -> str:
    listed = ", ".join(f"{entry.id} ({entry.name})" for entry in available)
    message = f"there is no device {device!r}; this machine has: {listed}"
    reasons = missing_backends()
    backend = device.partition(":")[0]
    if backend in reasons:
        return f"{message}. {backend}: {reasons[backend]}"
    near = difflib.get_close_matches(device, [entry.id for entry in available] + ["auto"], 1)
    if near:
        return f"{message}; did you mean {near[0]!r}?"
    return message + "".join(f". {name}: {reason}" for name, reason in reasons.items())
