"""torch as one side of a comparison."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from hipep.bench.case import Case, Feeds
from hipep.bench.measure import Work
from hipep.bench.sides import Prepared, Side
from hipep.device import Device
from hipep.differences import Array
from hipep.errors import HipepError


class TorchWork:
    """A function of torch on one device."""

    def __init__(self, torch: Any, device: str, case: Case) -> None:
        if case.torch is None:
            raise HipepError("there is no equal of it in torch")
        self._torch, self._device, self._function = torch, device, case.torch
        self._tensors: list[list[Any]] = []

    def work(self, way: str, feeds: Sequence[Feeds]) -> Work:
        """Return what is timed."""
        torch, function, count = self._torch, self._function, len(feeds)
        if way == "run":
            arrays = [list(entry.values()) for entry in feeds]
            return Work(lambda call: self._through_numpy(arrays[call % count]))
        tensors = self._tensors = [[self._put(array) for array in f.values()] for f in feeds]
        if self._device == "cpu":
            return Work(lambda call: function(torch, *tensors[call % count]))

        def wait() -> None:
            torch.cuda.synchronize(self._device)

        if way == "submit":
            return Work(lambda call: function(torch, *tensors[call % count]), wait)

        def complete(call: int) -> None:
            function(torch, *tensors[call % count])
            wait()

        return Work(complete)

    def outputs(self, work: Work, way: str, number: int) -> list[Array]:
        """Return the results of one call in numpy."""
        if way == "run":
            return list(work.call(number))  # type: ignore[call-overload]
        return _arrays(self._function(self._torch, *self._tensors[number]))

    def close(self) -> None:
        """Let go of the tensors."""
        self._tensors = []

    def _put(self, array: Array) -> Any:
        return self._torch.from_numpy(array).to(self._device)

    def _through_numpy(self, arrays: Sequence[Array]) -> list[Array]:
        return _arrays(self._function(self._torch, *map(self._put, arrays)))


def torch_side(device: Device, threads: int) -> Side:
    """Return torch on the GPU if the device is one that torch has, else on the CPU."""
    torch = importlib.import_module("torch")
    if threads:
        torch.set_num_threads(threads)
    torch.set_grad_enabled(False)
    on_gpu = device.is_gpu and torch.cuda.is_available()
    name = f"cuda:{device.ordinal}" if on_gpu else "cpu"

    def prepare(case: Case) -> Prepared:
        return TorchWork(torch, name, case)

    return Side(f"torch {name}", device.id if on_gpu else "host", prepare)


def _arrays(tensors: Sequence[Any]) -> list[Array]:
    return [np.asarray(tensor.cpu().numpy()) for tensor in tensors]
