"""The exceptions: hierarchy, attributes, pickling, and what ONNX Runtime's become."""

import pickle

import pytest

from hipep import errors
from hipep.report import build_report


class OrtFailure(Exception):
    """Stands for what ONNX Runtime raises: an Exception with a code in its text."""


def ort_failure(code, name, text):
    return OrtFailure(f"[ONNXRuntimeError] : {code} : {name} : {text}")


@pytest.mark.parametrize(
    ("kind", "bases"),
    [
        (errors.HipepError, (RuntimeError,)),
        (errors.HipError, (errors.HipepError,)),
        (errors.HipOutOfMemory, (errors.HipError, MemoryError)),
        (errors.UnsupportedNode, (errors.HipepError, NotImplementedError)),
        (errors.NotOnGpu, (errors.HipepError,)),
        (errors.OptionError, (errors.HipepError, ValueError)),
        (errors.RegistrationError, (errors.HipepError,)),
    ],
)
def test_hierarchy(kind, bases):
    assert all(issubclass(kind, base) for base in bases)
    assert str(kind("what to do")) == "what to do"


def test_errors_survive_pickling():
    report = build_report("host", [], 0, "HipExecutionProvider")
    full = [
        errors.HipError("m", code=1, name="FAIL", call="c", node="n", device="amd:0"),
        errors.HipOutOfMemory("m", requested=5, free=3, code=1, device="amd:0"),
        errors.UnsupportedNode("m", node="n", op_type="TopK", reason="r"),
        errors.NotOnGpu("m", report=report),
        errors.OptionError("m"),
    ]
    for error in full:
        copy = pickle.loads(pickle.dumps(error))
        assert type(copy) is type(error)
        assert copy.args == error.args
        assert copy.__dict__ == error.__dict__


def test_own_errors_of_onnxruntime_are_left_alone():
    assert errors.from_ort(ort_failure(2, "INVALID_ARGUMENT", "Invalid rank"), "host") is None


@pytest.mark.parametrize(
    "reason", ["out of memory: 4096 bytes", "no room for 4096 bytes in guarded host memory"]
)
def test_out_of_memory_is_recognised(reason):
    text = f"hipep: TopK 'topk0' (float32[2,5]): {reason}"
    error = errors.from_ort(ort_failure(1, "FAIL", text), "amd:0")
    assert isinstance(error, errors.HipOutOfMemory)
    assert (error.requested, error.node, error.device) == (4096, "topk0", "amd:0")


def test_codes_choose_the_class():
    def translated(code, name):
        return errors.from_ort(ort_failure(code, name, "hipep: TopK 'a' ([2]): K = 9"), "host")

    assert type(translated(2, "INVALID_ARGUMENT")) is errors.HipepError
    unsupported = translated(9, "NOT_IMPLEMENTED")
    assert isinstance(unsupported, errors.UnsupportedNode)
    assert (unsupported.op_type, unsupported.node) == ("TopK", "a")
    assert unsupported.reason == "TopK 'a' ([2]): K = 9"
    failed = translated(1, "FAIL")
    assert isinstance(failed, errors.HipError)
    assert (failed.code, failed.name, failed.node) == (1, "FAIL", "a")
    assert str(failed) == "hipep: TopK 'a' ([2]): K = 9"
