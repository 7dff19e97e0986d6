"""Registration with ONNX Runtime, and session options that select hipep."""

from __future__ import annotations

import atexit
import importlib
import logging
import os
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hipep import _core
from hipep.device import Device, missing_backends, select_device
from hipep.errors import HipepError, OptionError, RegistrationError
from hipep.options import OPTIONS, resolve, to_strings

logger = logging.getLogger("hipep")

_PIP_LINE = f'pip install "onnxruntime>={".".join(map(str, _core.MINIMUM_ORT))}"'
# Session configuration entries; ONNX Runtime hands those with this prefix to the provider.
_EP_PREFIX = f"ep.{_core.EP_NAME.lower()}."
_STRICT_ENTRY = "session.disable_cpu_ep_fallback"
# Our own note, so that session options can be used for several sessions.
_DEVICE_ENTRY = "hipep.device"

_lock = threading.Lock()
_registered = False


def get_library_path() -> str:
    """Return the path of the library to register with ONNX Runtime.

    Returns
    -------
    str
    """
    return os.path.abspath(_core.__file__)


def get_ep_name() -> str:
    """Return the name of the execution provider.

    Returns
    -------
    str
    """
    return _core.EP_NAME


def get_ep_names() -> list[str]:
    """Return the names of all execution providers in the library.

    Returns
    -------
    list of str
    """
    return [_core.EP_NAME]


def import_onnxruntime() -> Any:
    """Import ONNX Runtime and check its version.

    Returns
    -------
    module

    Raises
    ------
    RegistrationError
        If it is missing or too old; the message has the line that installs it.
    """
    try:
        onnxruntime = importlib.import_module("onnxruntime")
    except ImportError as error:
        raise RegistrationError(
            f"onnxruntime cannot be imported ({error}); install it: {_PIP_LINE}"
        ) from error
    version = str(getattr(onnxruntime, "__version__", "unknown"))
    found = re.match(r"(\d+)\.(\d+)", version)
    if found is None or (int(found[1]), int(found[2])) < _core.MINIMUM_ORT:
        minimum = ".".join(map(str, _core.MINIMUM_ORT))
        raise RegistrationError(
            f"hipep needs onnxruntime {minimum} or newer, this is {version}; update it: {_PIP_LINE}"
        )
    if not hasattr(onnxruntime, "register_execution_provider_library"):
        raise RegistrationError(
            f"onnxruntime {version} was built without plugin execution providers; "
            f"install another build: {_PIP_LINE}"
        )
    return onnxruntime


def register() -> None:
    """Register hipep with ONNX Runtime, once per process.

    Further calls do nothing. The library is unregistered at exit.

    Raises
    ------
    RegistrationError
        If ONNX Runtime is missing, too old or refuses the library.

    Examples
    --------
    >>> import hipep
    >>> hipep.register()
    """
    global _registered
    with _lock:
        if _registered:
            return
        onnxruntime = import_onnxruntime()
        library = get_library_path()
        if not os.path.isfile(library):
            raise RegistrationError(
                f"the library {library} is missing; reinstall it: "
                "pip install --force-reinstall --no-deps hipep"
            )
        _register_library(onnxruntime, library)
        _registered = True


def _register_library(onnxruntime: Any, library: str) -> None:
    # Policies such as PREFER_GPU would choose the host device wherever it is enumerated.
    _core.set_host_enumeration(True)
    try:
        onnxruntime.register_execution_provider_library(_core.EP_NAME, library)
    except Exception as error:
        if "already registered" not in str(error):
            raise RegistrationError(
                f"onnxruntime {onnxruntime.__version__} refused {library}: {error}"
            ) from error
        logger.info("%s was registered before, by other code", _core.EP_NAME)
    else:
        atexit.register(_unregister, onnxruntime)
    finally:
        _core.set_host_enumeration(False)


def _unregister(onnxruntime: Any) -> None:
    global _registered
    with _lock:
        _registered = False
        try:
            onnxruntime.unregister_execution_provider_library(_core.EP_NAME)
        except Exception as error:
            logger.debug("unregistering failed: %s", error)


@dataclass(frozen=True)
class Settings:
    """Checked options of one session.

    Attributes
    ----------
    device : Device
        Where it runs.
    explicit : bool
        Whether the caller named the device.
    values : dict
        Every option.
    """

    device: Device
    explicit: bool
    values: dict[str, Any]

    def provider_options(self) -> dict[str, str]:
        """Return the options that the provider itself reads."""
        own = {key: value for key, value in self.values.items() if key not in ("device", "strict")}
        return to_strings(own)


def settle(
    device: str | Device | None, options: Mapping[str, Any], sess_options: Any = None
) -> Settings:
    """Check the options of a session and choose its device.

    Parameters
    ----------
    device : str, Device or None
        As for `InferenceSession`.
    options : mapping
        The other options by name.
    sess_options : onnxruntime.SessionOptions, optional
        May carry options from an earlier use, which then stand for arguments not given.

    Returns
    -------
    Settings
    """
    given: dict[str, Any] = {} if sess_options is None else remembered(sess_options)
    given |= {name: value for name, value in options.items() if value is not None}
    device = given.pop("device", None) if device is None else device
    values = resolve(given)
    explicit = device is not None and device != "auto"
    chosen = select_device(device)
    if "placement" not in given and not (explicit or chosen.is_gpu or values["strict"]):
        values["placement"] = "auto"
    if values["strict"] and values["placement"] == "auto":
        raise OptionError(
            "strict=True needs placement='all': placement='auto' may leave nodes to the CPU"
        )
    if values["user_compute_stream"] and not chosen.is_gpu:
        raise OptionError(
            f"user_compute_stream is a stream of a GPU, and the device is {chosen.id!r}, which has "
            "no streams that others could make: leave it out, or name a GPU"
        )
    return Settings(chosen, explicit, values)


def find_ep_device(onnxruntime: Any, device: Device, host_memory: str) -> Any:
    """Find what ONNX Runtime lists for a device.

    Parameters
    ----------
    onnxruntime : module
    device : Device
    host_memory : str
        ``"plain"`` or ``"guarded"``: which of the host's two entries.

    Returns
    -------
    onnxruntime.OrtEpDevice
    """
    listed = [entry for entry in onnxruntime.get_ep_devices() if entry.ep_name == _core.EP_NAME]
    for entry in listed:
        metadata = entry.ep_metadata
        if metadata.get("hipep.device") == device.id and (
            device.is_gpu or metadata.get("hipep.memory") == host_memory
        ):
            return entry
    names = sorted({entry.ep_metadata.get("hipep.device", "?") for entry in listed})
    way_out = (
        f"its driver lists it, but onnxruntime does not ({missing_backends() or 'no reason known'})"
        if device.is_gpu
        else "the library was registered by other code: call hipep.register() before it"
    )
    raise HipepError(
        f"onnxruntime does not offer device {device.id!r}: {way_out}. "
        f"It offers: {', '.join(names) or 'none of hipep'}"
    )


def session_options(device: str | Device | None = None, *, base: Any = None, **options: Any) -> Any:
    """Make session options for a plain ``onnxruntime.InferenceSession``.

    Parameters
    ----------
    device : str, Device or None
        Where to run: None or ``"auto"`` for the first GPU, or the host where there is none.
    base : onnxruntime.SessionOptions, optional
        Options to add hipep to, instead of new ones.
    **options
        As for `InferenceSession`; ``hipep ops`` and the docs list them.

    Returns
    -------
    onnxruntime.SessionOptions

    Examples
    --------
    >>> import hipep, onnxruntime
    >>> so = hipep.session_options(device="host")
    """
    onnxruntime = import_onnxruntime()
    result = onnxruntime.SessionOptions() if base is None else base
    settings = settle(device, options, result)
    register()
    add_provider(onnxruntime, result, settings)
    return result


def remembered(sess_options: Any) -> dict[str, str]:
    """Return the options that session options already carry."""
    entries = {"device": _DEVICE_ENTRY, "strict": _STRICT_ENTRY}
    for option in OPTIONS:
        entries.setdefault(option.name, _EP_PREFIX + option.name)
    values = {name: _entry(sess_options, key) for name, key in entries.items()}
    return {name: value for name, value in values.items() if value}


def _entry(sess_options: Any, key: str) -> str:
    try:
        return str(sess_options.get_session_config_entry(key))
    except RuntimeError:
        return ""


def set_entry(sess_options: Any, key: str, value: str) -> None:
    """Write a configuration entry of session options, if it is not there as wanted."""
    # Writing an entry again, even with the same value, makes ONNX Runtime log a warning.
    if _entry(sess_options, key) != value:
        sess_options.add_session_config_entry(key, value)


def add_provider(onnxruntime: Any, sess_options: Any, settings: Settings, token: int = 0) -> None:
    """Add hipep to session options, or update it there.

    Parameters
    ----------
    onnxruntime : module
    sess_options : onnxruntime.SessionOptions
    settings : Settings
    token : int
        Identifies the session to the provider; 0 for none.
    """
    device, memory = settings.device, settings.values["host_memory"]
    options = settings.provider_options()
    if token or _entry(sess_options, _EP_PREFIX + "session_token"):
        options["session_token"] = str(token)
    before = remembered(sess_options)
    if "device" not in before:
        entry = find_ep_device(onnxruntime, device, memory)
        sess_options.add_provider_for_devices([entry], options)
    elif before["device"] == device.id and (device.is_gpu or before["host_memory"] == memory):
        for key, value in options.items():
            set_entry(sess_options, _EP_PREFIX + key, value)
    else:
        raise OptionError(
            f"these session options already select {before['device']!r} with host_memory="
            f"{before['host_memory']!r}; make new ones for {device.id!r} with {memory!r}"
        )
    set_entry(sess_options, _DEVICE_ENTRY, device.id)
    if settings.values["strict"] or "strict" in before:
        set_entry(sess_options, _STRICT_ENTRY, str(int(settings.values["strict"])))
