"""Sessions whose runs are checked: nothing on the CPU, the same bits again, a steady state."""

import os

import numpy as np
import onnxruntime as ort
from helpers.compare import bits
from helpers.models import BFLOAT16

import hipep

_ONNX_BFLOAT16 = 16


def device_id():
    return os.environ.get("HIPEP_TEST_DEVICE", "host")


def host_memory():
    """What kind of memory the device has: GPUs have their own, as guarded host memory is."""
    if device_id() != "host":
        return "guarded"
    return os.environ.get("HIPEP_HOST_MEMORY", "plain")


# What a session on the device can be given as its memory: on the host there is a choice.
MEMORIES = ("plain", "guarded") if device_id() == "host" else ("device",)


def open_session(model, memory=None, strict=True, **options):
    """Return a session on the device; memory is one of MEMORIES, or the default."""
    options.update(memory_options(memory))
    return hipep.InferenceSession(model, device=device_id(), strict=strict, **options)


def memory_options(memory):
    return {"host_memory": memory} if memory in ("plain", "guarded") else {}


def host_mode():
    return os.environ.get("HIPEP_HOST_MODE", "serial")


class StrictSession:
    """A session on the tested device, none of whose nodes is on the CPU."""

    def __init__(self, model, **options):
        self.session = open_session(model, **options)
        assert self.session.report.declined == []
        described = [*self.session.get_inputs(), *self.session.get_outputs()]
        self._has_bfloat16 = any(value.type == "tensor(bfloat16)" for value in described)

    @property
    def stats(self):
        """The counters of the last run."""
        return self.session.stats.last

    def run(self, feeds):
        """Run twice and return the outputs; the second run is compared with the first."""
        first = self.run_once(feeds)
        launches = self.stats.launches
        second = self.run_once(feeds)
        assert [bits(array) for array in first] == [bits(array) for array in second]
        assert self.stats.launches == launches
        assert self.stats.plans_built == 0
        if host_memory() == "guarded":
            assert self.stats.device_allocations == 0
            assert self.stats.stream_syncs <= self.stats.readbacks + 1
        return second

    def run_once(self, feeds):
        """Run and return the outputs as arrays."""
        if not self._has_bfloat16:
            return [np.asarray(array) for array in self.session.run(None, feeds)]
        values = {name: _ort_value(array) for name, array in feeds.items()}
        outputs = self.session.run_with_ort_values(None, values)
        return [hipep.to_numpy(value) for value in outputs]


def _ort_value(array):
    array = np.ascontiguousarray(array).reshape(array.shape)
    if array.dtype != BFLOAT16:
        return ort.OrtValue.ortvalue_from_numpy(array)
    return ort.OrtValue.ortvalue_from_numpy_with_onnx_type(array.view(np.uint16), _ONNX_BFLOAT16)
