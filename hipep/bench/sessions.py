"""A session as one side of a comparison, in each of the ways to run it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hipep.api import import_onnxruntime
from hipep.bench.case import Feeds
from hipep.bench.measure import Work
from hipep.differences import Array
from hipep.errors import OptionError


class SessionWork:
    """A session of ONNX Runtime, with the means to put values into its memory.

    Parameters
    ----------
    session : onnxruntime.InferenceSession
    put : callable
        Takes an array; returns an OrtValue in the memory that inputs are bound in.
    allocate : callable
        Takes shape and type; returns an OrtValue for an output.
    """

    def __init__(
        self,
        session: Any,
        put: Callable[[Array], Any],
        allocate: Callable[[Sequence[int], Any], Any],
    ) -> None:
        self._session = session
        self._put = put
        self._allocate = allocate
        self._bindings: list[Any] = []

    def work(self, way: str, feeds: Sequence[Feeds]) -> Work:
        """Return what is timed."""
        session, count = self._session, len(feeds)
        if way == "run":
            return Work(lambda call: session.run(None, feeds[call % count]))
        bindings = self._bindings = self._bound(feeds)
        if way == "binding":
            return Work(lambda call: session.run_with_iobinding(bindings[call % count]))
        options = import_onnxruntime().RunOptions()
        options.add_run_config_entry("disable_synchronize_execution_providers", "1")
        # No graph, said outright: looking for an entry that is missing takes 30 microseconds.
        options.add_run_config_entry("gpu_graph_id", "-1")
        # A run that waits is behind the others in the stream; its outputs are its own.
        (last,) = self._bound(feeds[:1])
        return Work(
            lambda call: session.run_with_iobinding(bindings[call % count], options),
            lambda: session.run_with_iobinding(last),
        )

    def outputs(self, work: Work, way: str, number: int) -> list[Array]:
        """Return the results of one call in numpy."""
        result = work.call(number)
        if way == "run":
            return list(map(np.asarray, result))  # type: ignore[call-overload]
        if work.settle is not None:
            work.settle()
        return [np.array(value.numpy()) for value in self._bindings[number].get_outputs()]

    def close(self) -> None:
        """Let go of the session and of bound values."""
        self._bindings = []
        close = getattr(self._session, "close", None)
        if close is not None:
            close()
        self._session = None

    def _bound(self, feeds: Sequence[Feeds]) -> list[Any]:
        names = [output.name for output in self._session.get_outputs()]
        results = self._session.run(None, feeds[0])
        for name, array in zip(names, results, strict=True):
            if not isinstance(array, np.ndarray):
                raise OptionError(f"output {name!r} is no tensor: only --way run can be measured")
        outputs = {
            name: self._allocate(array.shape, array.dtype)
            for name, array in zip(names, results, strict=True)
        }
        bindings = []
        for entry in feeds:
            binding = self._session.io_binding()
            for name, array in entry.items():
                binding.bind_ortvalue_input(name, self._put(array))
            for name, value in outputs.items():
                binding.bind_ortvalue_output(name, value)
            bindings.append(binding)
        return bindings
