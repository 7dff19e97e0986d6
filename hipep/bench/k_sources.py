"""What TopK costs by where its K comes from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hipep.bench.comparison import Timing
from hipep.bench.measure import Protocol, Work, measure
from hipep.bench.top_k import top_k_input, top_k_model
from hipep.device import Device
from hipep.inference import InferenceSession
from hipep.interop import device_value

_INPUTS = 64
SOURCES = ("static", "host", "device")


@dataclass(frozen=True)
class KRow:
    """One shape.

    Attributes
    ----------
    shape : tuple of int
    k : int
    static, host, device : Timing
        K is a constant, fed from numpy, or computed on the device from a value bound there.
    readbacks : int
        Reads from the device that the last of these takes.
    """

    shape: tuple[int, ...]
    k: int
    static: Timing
    host: Timing
    device: Timing
    readbacks: int

    @property
    def saved(self) -> float:
        """Microseconds that a constant saves beside a K of the device."""
        return self.device.microseconds - self.static.microseconds

    def to_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        times = {f"{name}_us": getattr(self, name).microseconds for name in SOURCES}
        spreads = {f"{name}_spread_us": getattr(self, name).spread for name in SOURCES}
        counts = {"saved_us": self.saved, "readbacks": self.readbacks}
        return {"shape": self.shape, "k": self.k, **times, **spreads, **counts}


def k_row(
    device: Device,
    shape: tuple[int, ...],
    k: int,
    dtype: str,
    protocol: Protocol,
    seed: int,
    progress: Callable[[], object] = lambda: None,
) -> KRow:
    """Measure one shape by ``session.run``: the other input and the outputs are in numpy."""
    generator = np.random.default_rng(seed)
    inputs = [top_k_input(shape, dtype, generator) for _ in range(_INPUTS)]
    number = np.array([k], np.int64)
    sessions = {
        "static": InferenceSession(top_k_model(shape, k, dtype), device=device, strict=True),
        "host": InferenceSession(top_k_model(shape, None, dtype), device=device, strict=True),
        "device": InferenceSession(
            top_k_model(shape, None, dtype, computed=True), device=device, strict=True
        ),
    }
    extra = {
        "static": {},
        "host": {"k": number},
        "device": {"k": device_value(number - 1, device=sessions["device"])},
    }
    works = {name: _work(sessions[name], inputs, extra[name]) for name in SOURCES}
    times = measure(works, protocol, progress)
    works["device"].call(0)
    readbacks = sessions["device"].stats.last.readbacks
    for session in sessions.values():
        session.close()
    static, host, on_device = (Timing.of(times[name]) for name in SOURCES)
    return KRow(shape, k, static, host, on_device, readbacks)


def _work(session: Any, inputs: list[Any], extra: dict[str, Any]) -> Work:
    feeds = [{"x": value, **extra} for value in inputs]
    return Work(lambda call: session.run(None, feeds[call % len(feeds)]))
