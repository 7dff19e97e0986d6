"""How fast a device copies its own memory."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np

from hipep.api import import_onnxruntime
from hipep.device import Device
from hipep.interop import device_value

_LARGEST = 1 << 30
_LARGEST_ON_HOST = 1 << 28
_COPIES = 7


def copy_bandwidth(device: Device) -> float:
    """Measure a copy of a large buffer from the device to itself.

    Parameters
    ----------
    device : Device
        On the host the copy is numpy's.

    Returns
    -------
    float
        Bytes read and written in a second.
    """
    size = min(_LARGEST, device.memory_bytes // 16)
    if not device.is_gpu:
        size = min(size, _LARGEST_ON_HOST)
        source, target = np.ones(size, np.uint8), np.ones(size, np.uint8)
        return _rate(size, lambda: np.copyto(target, source))
    ort = import_onnxruntime()
    values = [device_value((size,), np.uint8, device) for _ in range(2)]
    return _rate(size, lambda: ort.copy_tensors(values[:1], values[1:]))


def _rate(size: int, copy: Callable[[], object]) -> float:
    copy()
    times = []
    for _ in range(_COPIES):
        start = time.perf_counter()
        copy()
        times.append(time.perf_counter() - start)
    return 2 * size / statistics.median(times)
