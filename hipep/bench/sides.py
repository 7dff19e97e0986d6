"""The sides of a comparison: devices of hipep, other providers, and torch."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from hipep.api import import_onnxruntime
from hipep.bench.case import Case, Feeds
from hipep.bench.measure import Work
from hipep.bench.sessions import SessionWork
from hipep.device import Device
from hipep.differences import Array
from hipep.errors import HipepError, OptionError
from hipep.inference import InferenceSession
from hipep.interop import device_value

WAYS = ("run", "binding", "submit")
PEERS = ("cpu", "cuda", "torch")


class Prepared(Protocol):
    """A case on one side."""

    def work(self, way: str, feeds: Sequence[Feeds]) -> Work:
        """Return what is timed, with inputs and outputs where that way has them."""

    def outputs(self, work: Work, way: str, number: int) -> list[Array]:
        """Return the results of one call in numpy."""

    def close(self) -> None:
        """Free what the side holds."""


@dataclass(frozen=True)
class Side:
    """Something that can run a case.

    Attributes
    ----------
    name : str
        What the tables call it.
    place : str
        The device of hipep whose memory it works in.
    prepare : callable
        Takes a case; may raise anything.
    required : bool
        Whether it is an error if it cannot run a case; it is left out there otherwise.
    """

    name: str
    place: str
    prepare: Callable[[Case], Prepared]
    required: bool = True


def hipep_side(device: Device, threads: int) -> Side:
    """Return a device of hipep."""

    def prepare(case: Case) -> Prepared:
        session = InferenceSession(
            case.model, device=device, strict=case.strict, sess_options=session_options(threads)
        )
        return SessionWork(
            session,
            lambda array: device_value(array, device=session),
            lambda shape, dtype: device_value(tuple(shape), dtype, session),
        )

    return Side(f"hipep {device.id}", device.id, prepare)


def peers(text: str | None, device: Device, threads: int, with_torch: bool) -> list[Side]:
    """Return the peers of a comparison.

    Parameters
    ----------
    text : str or None
        Names between commas; None for all that are installed and can run the case, ``"none"`` for
        none.
    device : Device
        The first device of hipep.
    threads : int
        Of the CPU's sides.
    with_torch : bool
        Whether the cases can be run by torch.

    Returns
    -------
    list of Side
    """
    if text == "none":
        return []
    names = PEERS if text is None else tuple(text.split(","))
    found = []
    for name in names:
        if name not in PEERS:
            raise OptionError(f"--peers: {name!r} is none of {', '.join(PEERS)}, none")
        problem = _problem(name, with_torch)
        if not problem:
            found.append(replace(_peer(name, device, threads), required=text is not None))
        elif text is not None:
            raise OptionError(f"--peers {name}: {problem}")
    return found


def _problem(name: str, with_torch: bool) -> str:
    if name == "cuda":
        available = import_onnxruntime().get_available_providers()
        if "CUDAExecutionProvider" not in available:
            return f"this onnxruntime has only {', '.join(available)}; install onnxruntime-gpu"
    if name == "torch":
        if not with_torch:
            return "torch runs operators (--op), not models"
        if importlib.util.find_spec("torch") is None:
            return "torch is not installed: pip install torch"
    return ""


def _peer(name: str, device: Device, threads: int) -> Side:
    if name == "torch":
        from hipep.bench.torch_side import torch_side

        return torch_side(device, threads)
    provider = {"cpu": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider"}[name]
    on_device = device.id if device.backend == "nvidia" else "nvidia:0"
    place = ("cpu", 0) if name == "cpu" else ("cuda", int(on_device.partition(":")[2]))

    def prepare(case: Case) -> Prepared:
        ort = import_onnxruntime()
        options = {"device_id": place[1]} if name == "cuda" else {}
        session = ort.InferenceSession(case.model, session_options(threads), [(provider, options)])
        if session.get_providers()[0] != provider:
            raise HipepError(f"onnxruntime could not load its {provider}")
        values = ort.OrtValue
        return SessionWork(
            session,
            lambda array: values.ortvalue_from_numpy(array, *place),
            lambda shape, dtype: values.ortvalue_from_shape_and_type(list(shape), dtype, *place),
        )

    label = {"cpu": "CPU provider", "cuda": "CUDA provider"}[name]
    return Side(label, "host" if name == "cpu" else on_device, prepare)


def session_options(threads: int) -> Any:
    """Return the options that all sessions have in common."""
    options = import_onnxruntime().SessionOptions()
    options.intra_op_num_threads = threads
    # Errors only: where nodes run is printed with the figures.
    options.log_severity_level = 3
    return options
