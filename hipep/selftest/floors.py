"""The least that launches and copies take on a device."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from hipep.api import import_onnxruntime
from hipep.bench.bandwidth import copy_bandwidth
from hipep.bench.measure import Protocol, measure
from hipep.bench.sessions import SessionWork
from hipep.device import Device
from hipep.inference import InferenceSession
from hipep.interop import device_value
from hipep.small_models import node_model

_SMALL, _LARGE = 4096, 1 << 26
_COPIES = 9


def floors(device: Device) -> dict[str, float]:
    """Measure the floors of a device.

    Parameters
    ----------
    device : Device

    Returns
    -------
    dict
        Microseconds, and GB/s where the name says so. The copies between host and device are left
        out where both are the same memory.
    """
    return _launches(device) | _copies(device)


def _launches(device: Device) -> dict[str, float]:
    feeds = [{"x": np.ones(1, np.float32)}]
    model = node_model("Relu", {"x": ("float32", [1])}, {"y": "float32"})
    names = {
        "submit": "submit the smallest kernel, us",
        "binding": "the same and wait, us",
        "run": "the same with numpy in and out, us",
    }
    with InferenceSession(model, device=device, strict=True) as session:
        work = SessionWork(
            session,
            lambda array: device_value(array, device=session),
            lambda shape, dtype: device_value(tuple(shape), dtype, session),
        )
        works = {way: work.work(way, feeds) for way in names}
        times = measure(works, Protocol(rounds=5, seconds=0.05))
        work.close()
    return {name: statistics.median(times[way]) for way, name in names.items()}


def _copies(device: Device) -> dict[str, float]:
    result = {}
    ort = import_onnxruntime()
    for size, label in ((_SMALL, "4 KiB"), (min(_LARGE, device.memory_bytes // 16), "large")):
        on_host = ort.OrtValue.ortvalue_from_numpy(np.ones(size, np.uint8))
        on_device = device_value((size,), np.uint8, device)
        if on_device.device_name() == "cpu":
            continue
        pairs = {"to": (on_host, on_device), "from": (on_device, on_host)}
        for direction, (source, target) in pairs.items():
            seconds = _seconds(partial(ort.copy_tensors, [source], [target]))
            result[f"copy {label} {direction} the device, us"] = seconds * 1e6
            if size != _SMALL:
                result[f"copy {label} {direction} the device, GB/s"] = size / seconds / 1e9
    result["copy within the device, read and write, GB/s"] = copy_bandwidth(device) / 1e9
    return result


def _seconds(copy: Callable[[], object]) -> float:
    copy()
    times = []
    for _ in range(_COPIES):
        start = time.perf_counter()
        copy()
        times.append(time.perf_counter() - start)
    return statistics.median(times)
