"""``hipep selftest``: what it runs, what it finds, and what it prints."""

import json

import pytest
from helpers.program import hipep

from hipep.device import select_device
from hipep.selftest import references, run
from hipep.selftest.builders import BUILDERS
from hipep.selftest.generic import by_schema
from hipep.selftest.run import lowering_rows, run_all

HOST = select_device("host")
# Making those of the onnx package takes seconds.
WITHOUT_NODE_CASES = "import hipep.selftest.run as run; run.node_cases = lambda operators: []"


def test_every_builder_is_of_a_row():
    assert BUILDERS.keys() <= {row["op_type"] for row in lowering_rows()}


def test_one_operator_passes():
    done = hipep("selftest", "--device", "host", "--op", "TopK")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "hipep selftest"
    (counts,) = [line.split() for line in lines if line.startswith("TopK")]
    assert int(counts[1]) > 100
    assert lines[-1] == f"0 of {counts[1]} models failed"
    for part in ("onnxruntime", "arch", "submit the smallest kernel, us", "copy within the device"):
        assert part in done.stdout
    assert "testing TopK-24" in done.stderr


def test_a_difference_fails(monkeypatch):
    monkeypatch.setitem(references.UNARY, "Relu", lambda x: x)
    (outcome,) = run_all(HOST, ["Relu"])
    differing = [
        text for text in outcome.failures if text.startswith("Relu-14 float32, x [3, 5]: ")
    ]
    (text,) = differing
    assert "output 0 beside numpy: element [0, 1] is 0.0 in place of -inf" in text
    # The cases of the onnx package have results of their own.
    assert 0 < len(outcome.failures) < outcome.cases


def test_without_a_builder_the_schema_decides(monkeypatch):
    monkeypatch.delitem(BUILDERS, "Relu")
    (outcome,) = run_all(HOST, ["Relu"])
    assert (outcome.failures, outcome.uncovered) == ([], [])
    assert outcome.cases > 10


def test_an_operator_without_cases_is_named(monkeypatch):
    (row, *_) = [row for row in lowering_rows() if row["op_type"] == "Relu"]
    foreign = {**row, "op_type": "Fused", "domain": "com.example"}
    monkeypatch.setattr(run, "lowering_rows", lambda: [foreign])
    monkeypatch.setattr(run, "node_cases", lambda operators: [])
    (outcome,) = run_all(HOST)
    assert (outcome.cases, outcome.uncovered) == (0, ["Fused: there are no cases"])


@pytest.mark.parametrize(
    ("op_type", "count"), [("Softmax", 1), ("Equal", 1), ("Conv", 1), ("Cast", 0), ("Where", 0)]
)
def test_schemas(op_type, count):
    assert len(list(by_schema(op_type, 13, "float32"))) == count


def test_failures_decide_the_exit_status():
    prelude = "from hipep.selftest import references; references.UNARY['Abs'] = lambda x: -x"
    prelude = f"{WITHOUT_NODE_CASES}; {prelude}"
    done = hipep("selftest", "--device", "host", "--op", "Abs", "--json", prelude=prelude)
    assert done.returncode == 1
    result = json.loads(done.stdout)
    assert not result["passed"]
    assert result["operators"][0]["failures"]
    assert result["environment"]["packages"]["onnxruntime"]


def test_the_program_can_do_without_typer():
    prelude = f"{WITHOUT_NODE_CASES}; sys.modules['typer'] = sys.modules['rich'] = None"
    done = hipep("selftest", "--device", "host", "--op", "Shape", prelude=prelude)
    assert done.returncode == 0, done.stderr
    assert "0 of " in done.stdout


@pytest.mark.parametrize(
    ("words", "prelude", "part"),
    [
        ("--device hosst", "", "did you mean 'host'?"),
        ("--op Nope", "", "hipep has no operator 'Nope'"),
        ("", "import sys; sys.modules['onnx'] = None", "install it: pip install 'hipep[cli]'"),
    ],
)
def test_errors(words, prelude, part):
    done = hipep("selftest", *words.split(), prelude=prelude)
    assert done.returncode == 1
    assert part in done.stderr
    assert done.stderr.count("\n") == 1
