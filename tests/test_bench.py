"""``hipep bench``: the protocol, the checks before it, and the program."""

import csv
import json
import sys
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.models import node_model
from helpers.program import hipep

from hipep.bench.case import Case
from hipep.bench.comparison import Ratio, Timing
from hipep.bench.measure import Protocol, Work, measure
from hipep.bench.run import Bench
from hipep.bench.sides import Side, hipep_side
from hipep.bench.top_k import top_k_case, top_k_differences
from hipep.bench.torch_side import torch_side
from hipep.device import select_device
from hipep.errors import HipepError

SHORT = ("--rounds", "2", "--seconds", "0.001")


def test_sides_take_turns_in_both_orders():
    seen = []
    sides = {name: Work(lambda call, n=name: seen.append(n)) for name in "ab"}
    times = measure(sides, Protocol(rounds=2, seconds=0, calls=1))
    assert "".join(seen) == "aaaabbbb" + "ab" + "ba"
    assert {name: len(entry) for name, entry in times.items()} == {"a": 2, "b": 2}


def test_waiting_for_submitted_work_is_not_timed():
    work = Work(lambda call: None, lambda: time.sleep(0.01))
    (times,) = measure({"a": work}, Protocol(rounds=2, seconds=0, calls=4)).values()
    assert max(times) < 5000


def test_statistics():
    timing = Timing.of([4.0, 1.0, 2.0, 3.0])
    assert (timing.microseconds, timing.spread) == (2.5, 1.25)
    assert Ratio.of([1, 1, 1], [2, 2, 3]).verdict == "ahead"
    assert Ratio.of([2, 2, 3], [1, 1, 1]).verdict == "behind"
    level = Ratio.of([1, 2, 1, 2], [2, 1, 2, 1])
    assert (level.low, level.high, level.verdict) == (0.5, 2, "level")


@pytest.mark.parametrize(
    ("values", "indices", "text"),
    [
        ([3, 3], [2, 0], ""),
        ([3, 2], [0, 1], "values: element [0, 1] is 2.0 in place of 3.0 (1 of 2 differ)"),
        ([3, 3], [0, 0], "one comes twice"),
        ([3, 3], [0, 1], "values at the indices"),
        ([3, 3], [0, 7], "not within 3"),
    ],
)
def test_top_k_may_order_ties_as_it_likes(values, indices, text):
    feeds = {"x": np.array([[3, 2, 3]], "float32")}
    expected = [np.array([[3, 3]], "float32"), np.array([[0, 2]])]
    found = [np.array([values], "float32"), np.array([indices])]
    difference = top_k_differences(feeds, expected, found)
    assert text in difference if text else difference == ""


def side(name, add):
    def prepare(case):
        work = Work(lambda call: None)
        return SimpleNamespace(
            work=lambda way, feeds: work,
            outputs=lambda work, way, number: [np.ones(3, np.float32) + add],
            close=lambda: None,
        )

    return Side(name, "host", prepare)


def test_nothing_is_timed_if_results_differ():
    case = Case("case", b"", lambda generator: {"x": generator.random(3)})
    sides = [side("right", 0), side("near", 1e-6), side("wrong", 1)]
    bench = Bench(sides[:2], ["run"], Protocol(2, 0), 0, {"host": 1e9})
    assert [row.side for row in bench.rows(case)] == ["right", "near"]
    bench = Bench(sides, ["run"], Protocol(2, 0), 0, {"host": 1e9})
    with pytest.raises(HipepError, match=r"case: wrong and right differ.*element \[0\] is 2.0"):
        list(bench.rows(case))


class Tensor(np.ndarray):
    """What the bench asks of a tensor of torch."""

    def to(self, device):
        return self

    cpu = numpy = lambda self: self


def stand_in_for_torch(on_gpu, waits):
    def topk(x, k):
        order = np.argsort(-x, kind="stable")[..., :k]
        return np.take_along_axis(x, order, -1), order

    cuda = SimpleNamespace(is_available=lambda: on_gpu, synchronize=waits.append)
    return SimpleNamespace(
        set_num_threads=lambda count: None,
        set_grad_enabled=lambda enabled: None,
        from_numpy=lambda array: array.view(Tensor),
        cuda=cuda,
        topk=topk,
    )


@pytest.mark.parametrize("on_gpu", [False, True])
def test_torch(monkeypatch, on_gpu):
    waits = []
    monkeypatch.setitem(sys.modules, "torch", stand_in_for_torch(on_gpu, waits))
    host = select_device("host")
    device = replace(host, id="nvidia:1", backend="nvidia", ordinal=1) if on_gpu else host
    sides = [hipep_side(host, 1), torch_side(device, 1)]
    bench = Bench(sides, ["run", "binding", "submit"], Protocol(2, 0), 0, {"host": 1e9})
    rows = list(bench.rows(top_k_case((2, 9), 3, "float32")))
    assert [row.side for row in rows] == [
        "hipep host",
        f"torch {'cuda:1' if on_gpu else 'cpu'}",
    ] * 3
    assert set(waits) == ({"cuda:1"} if on_gpu else set())


def test_top_k(tmp_path):
    files = {name: tmp_path / f"bench.{name}" for name in ("json", "csv", "markdown")}
    words = [word for name, path in files.items() for word in (f"--{name}", path)]
    ways = ("--way", "run,binding,submit")
    done = hipep("bench", "--op", "top_k", "--widths", "8,64", "--k", "3", *ways, *SHORT, *words)
    assert done.returncode == 0, done.stderr
    measured = json.loads(files["json"].read_text())
    rows = measured["rows"]
    sides = {row["side"] for row in rows}
    assert len(rows) == 2 * 3 * len(sides)
    assert "CPU provider" in sides
    for row in rows:
        assert row["us"] > 0
        assert (row["verdict"] in ("ahead", "level", "behind")) == (row["ratio"] is not None)
        assert (row["copy_share"] is None) == (row["way"] == "submit")
    assert {row["bytes"] for row in rows} == {8 * 4 + 3 * 12, 64 * 4 + 3 * 12}
    assert [row["shape"] for row in measured["k_sources"]] == [[1, 8], [1, 64]]
    assert "copy on" in " ".join(measured["environment"])
    assert len(list(csv.DictReader(files["csv"].read_text().splitlines()))) == len(rows)
    written = files["markdown"].read_text()
    assert "| case | way | side | us | spread | ratio [95 %] | verdict |" in written
    assert "| row width | K | static K us | runtime K (host) us |" in written
    assert written.split() == done.stdout.split()


def test_a_peer_that_was_not_asked_for_may_lack_the_type():
    words = ("bench", "--op", "top_k", "--dtype", "uint16", "--devices", "host", *SHORT)
    done = hipep(*words)
    assert done.returncode == 0, done.stderr
    assert "left out: CPU provider cannot run top_k uint16 1x4096, K=50" in done.stderr
    assert "CPU provider" not in done.stdout
    done = hipep(*words, "--peers", "cpu")
    assert done.returncode == 1
    assert "error: CPU provider cannot run top_k uint16 1x4096, K=50" in done.stderr


@pytest.mark.parametrize("op", ["add", "reduce_sum"])
def test_operators(op):
    words = ("--op", op, "--shape", "2x3", "--dtype", "double", "--devices", "host", "--peers")
    done = hipep("bench", *words, "cpu", *SHORT)
    assert done.returncode == 0, done.stderr
    assert f"| {op} float64 2x3 | run | hipep host |" in done.stdout


def test_model(tmp_path):
    path = tmp_path / "m.onnx"
    constants = {"w": np.ones((5, 7), "float32")}
    path.write_bytes(node_model("MatMul", {"x": ("float32", ["n", 5])}, ["y"], constants))
    done = hipep("bench", path, "--dim", "n=3", "--devices", "host", *SHORT)
    assert done.returncode == 0, done.stderr
    assert "- placement: " in done.stdout
    assert "| m.onnx | binding | CPU provider |" in done.stdout
    done = hipep("bench", path, "--tolerance", "0", "--peers", "none", *SHORT)
    assert done.returncode == 0, done.stderr
    done = hipep("bench", path, "--dim", "m=3", *SHORT)
    assert "no symbolic axis 'm'; it has n" in done.stderr


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("", "either a MODEL or --op NAME"),
        ("no.onnx", "does not exist"),
        ("no.onnx --op add", "either a MODEL or --op NAME"),
        ("--op topk", "did you mean 'top_k'?"),
        ("--op top_k --shape 1x49", "K = 50 is more than the last extent of 1x49"),
        ("--op top_k --shape 1,9", "--shape takes numbers above 0 such as 1x4096, not '1,9'"),
        ("--op top_k --widths 64,0", "--widths takes numbers above 0"),
        ("--op top_k --dtype bool", "--dtype: 'bool' is none of float, double"),
        ("--op top_k --peers gpu", "--peers: 'gpu' is none of cpu, cuda, torch, none"),
        ("--op top_k --way walk", "--way: 'walk' is none of run, binding, submit"),
        ("--op top_k --devices hosst", "did you mean 'host'?"),
        ("--op top_k --csv no/where.csv", "cannot be written"),
    ],
)
def test_bad_input_is_one_error(words, part):
    done = hipep("bench", *words.split())
    assert done.returncode == 1
    assert part in done.stderr
    assert done.stderr.count("\n") == 1
