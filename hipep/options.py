"""The options of a session: one table, from which checking and the docs are derived."""

from __future__ import annotations

import difflib
import numbers
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hipep.errors import OptionError


@dataclass(frozen=True)
class Option:
    """One option.

    Attributes
    ----------
    name : str
        The keyword argument.
    kind : str
        ``"device"``, ``"choice"``, ``"int"``, ``"bytes"`` or ``"bool"``.
    default : object
        The value when neither argument nor environment gives one.
    help : str
        One sentence for the docs.
    choices : tuple of str
        The values of a choice.
    bounds : tuple of int
        The smallest and the largest value of an int or of bytes.
    environment : str
        The environment variable that mirrors it, or empty.
    """

    name: str
    kind: str
    default: Any
    help: str
    choices: tuple[str, ...] = ()
    bounds: tuple[int, int] = (0, 0)
    environment: str = ""

    @property
    def values(self) -> str:
        """The values it takes, in words."""
        if self.kind == "choice":
            return ", ".join(self.choices)
        if self.kind == "int":
            return f"{self.bounds[0]} to {self.bounds[1]}"
        if self.kind == "bytes":
            return "bytes, or text such as 4GiB or 500 MB"
        if self.kind == "bool":
            return "true, false"
        return "auto, host, host:1, amd:0, nvidia:0, ..."


OPTIONS = (
    Option(
        "device",
        "device",
        None,
        "Where to run. Unset or auto: the first GPU, or the host where there is none.",
    ),
    Option(
        "strict",
        "bool",
        False,
        "Refuse the model (NotOnGpu) if a node would run on the CPU.",
    ),
    Option(
        "placement",
        "choice",
        "all",
        "all: every node that hipep can run. auto: leave nodes to the CPU that do not pay for "
        "their copies (the default where no device is named and no GPU is there).",
        choices=("all", "auto"),
    ),
    Option(
        "host_mode",
        "choice",
        "serial",
        "How the host device runs kernels: serial is fast; faithful32 and faithful64 emulate "
        "the threads of a GPU with that warp size, for tests.",
        choices=("serial", "faithful32", "faithful64"),
        environment="HIPEP_HOST_MODE",
    ),
    Option(
        "host_memory",
        "choice",
        "plain",
        "Memory of the host device: plain shares the CPU's; guarded is unreadable from outside, "
        "so that a missing copy is found, for tests.",
        choices=("plain", "guarded"),
        environment="HIPEP_HOST_MEMORY",
    ),
    Option(
        "plan_cache_entries",
        "int",
        16,
        "Plans kept per group of nodes, one for each set of shapes.",
        bounds=(1, 1024),
    ),
    Option(
        "plan_cache_bytes",
        "int",
        8 * 2**20,
        "Bytes of plans kept per group of nodes.",
        bounds=(1, 2**40),
    ),
    Option(
        "memory_limit",
        "bytes",
        0,
        "Device memory that hipep may take from the driver while the session lives; 0: no limit. "
        "The sessions of a device share its memory: the smallest of their limits holds.",
        bounds=(0, 2**60),
    ),
    Option(
        "user_compute_stream",
        "int",
        0,
        "The handle (hipStream_t, CUstream) of a stream of the device to work on, which must be "
        "there as long as the session; runs then take turns. 0: streams of hipep's own.",
        bounds=(0, 2**63 - 1),
    ),
    Option(
        "graph_capture",
        "choice",
        "auto",
        "Start the kernels of a run by one call of the driver, once the run before had the same "
        "shapes and addresses. auto: where that is faster on the device; on: wherever a run "
        "starts two kernels or more in a row. With debug they are started one by one.",
        choices=("auto", "on", "off"),
    ),
    Option(
        "debug",
        "bool",
        False,
        "Log each launch with the path it took.",
        environment="HIPEP_DEBUG",
    ),
)

# Read once per process by the runtime itself: they describe the machine, not a session.
RUNTIME_VARIABLES = {
    "HIPEP_HOST_ISA": "Instruction set of the host kernels: v2, v3 or v4 of x86-64. "
    "Default: the best that the machine has.",
    "HIPEP_HOST_DEVICES": "How many host devices there are. Default: 1.",
}

_BY_NAME = {option.name: option for option in OPTIONS}
_TRUE = ("1", "true", "yes", "on")
_FALSE = ("0", "false", "no", "off", "")
_BYTES = re.compile(r"(?P<number>\d+(\.\d+)?)\s*((?P<unit>[kmgt])(?P<binary>i)?)?b?")
_ORT_ARGUMENTS = ("providers", "provider_options", "enable_fallback")


def resolve(
    given: Mapping[str, Any], environment: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Check options and fill in what is not given.

    An argument goes before its environment variable, which goes before the default.

    Parameters
    ----------
    given : mapping
        Options by name; None counts as not given.
    environment : mapping, optional
        Instead of ``os.environ``.

    Returns
    -------
    dict
        A value for every option. ``device`` is passed through.

    Raises
    ------
    OptionError
        For an unknown name or a value that does not fit.
    """
    variables = os.environ if environment is None else environment
    for name in given:
        if name not in _BY_NAME:
            raise OptionError(_unknown(name))
    values = {}
    for option in OPTIONS:
        value = given.get(option.name)
        if value is not None:
            values[option.name] = _check(option, value, option.name)
        elif option.environment and variables.get(option.environment):
            text = variables[option.environment]
            values[option.name] = _check(option, text, f"environment variable {option.environment}")
        else:
            values[option.name] = option.default
    return values


def to_strings(values: Mapping[str, Any]) -> dict[str, str]:
    """Write option values the way ONNX Runtime passes them on."""
    return {
        name: str(int(value)) if isinstance(value, bool) else str(value)
        for name, value in values.items()
    }


def markdown() -> str:
    """Return the table of options and environment variables for the docs."""
    lines = [
        "| option | values | default | environment variable | meaning |",
        "|---|---|---|---|---|",
    ]
    for option in OPTIONS:
        default = "auto" if option.kind == "device" else str(option.default).lower()
        variable = f"`{option.environment}`" if option.environment else ""
        lines.append(
            f"| `{option.name}` | {option.values} | {default} | {variable} | {option.help} |"
        )
    for variable, text in RUNTIME_VARIABLES.items():
        lines.append(f"| | | | `{variable}` | {text} |")
    return "\n".join(lines)


def _unknown(name: str) -> str:
    if name in _ORT_ARGUMENTS:
        return (
            f"{name!r} is not an option here: device= chooses the provider. To list providers "
            "yourself, pass hipep.session_options() to onnxruntime.InferenceSession"
        )
    near = difflib.get_close_matches(name, _BY_NAME, 1)
    if near:
        return f"unknown option {name!r}; did you mean {near[0]!r}?"
    return f"unknown option {name!r}; the options are {', '.join(_BY_NAME)}"


def _check(option: Option, value: Any, source: str) -> Any:
    return _CHECKS[option.kind](option, value, source)


def _check_device(option: Option, value: Any, source: str) -> Any:
    return value


def _check_bool(option: Option, value: Any, source: str) -> bool:
    text = str(value).strip().lower()
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise OptionError(f"{source} must be true or false (1 or 0), not {value!r}")


def _check_int(option: Option, value: Any, source: str) -> int:
    low, high = option.bounds
    number: int | None = None
    if not isinstance(value, (bool, float)):
        try:
            number = int(value)
        except (TypeError, ValueError):
            number = None
    if number is None or not low <= number <= high:
        raise OptionError(f"{source} must be a whole number from {low} to {high}, not {value!r}")
    return number


def _check_bytes(option: Option, value: Any, source: str) -> int:
    low, high = option.bounds
    number: int | None = None
    found = _BYTES.fullmatch(value.strip().lower()) if isinstance(value, str) else None
    if found is not None:
        base = 1024 if found["binary"] else 1000
        number = int(float(found["number"]) * base ** " kmgt".index(found["unit"] or " "))
    elif isinstance(value, numbers.Integral) and not isinstance(value, bool):
        number = int(value)
    if number is None or not low <= number <= high:
        raise OptionError(
            f"{source} must be a number of bytes, or text such as '4GiB' or '500 MB', not {value!r}"
        )
    return number


def _check_choice(option: Option, value: Any, source: str) -> str:
    text = str(value)
    if text in option.choices:
        return text
    message = f"{source} must be one of {', '.join(option.choices)}, not {value!r}"
    near = difflib.get_close_matches(text.lower(), option.choices, 1)
    raise OptionError(f"{message}; did you mean {near[0]!r}?" if near else message)


_CHECKS: dict[str, Callable[[Option, Any, str], Any]] = {
    "device": _check_device,
    "bool": _check_bool,
    "int": _check_int,
    "bytes": _check_bytes,
    "choice": _check_choice,
}
