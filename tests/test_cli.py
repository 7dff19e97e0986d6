"""The command line program, run as users run it."""

import json
import subprocess
import sys

import numpy as np
import pytest
from helpers.program import hipep
from onnx import TensorProto, helper

VERBS = ("env", "ops", "inspect", "run", "bench", "selftest")


def write_model(path, *, with_strings=False):
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 5])
    outputs = [
        helper.make_tensor_value_info("v", TensorProto.FLOAT, ["n", 2]),
        helper.make_tensor_value_info("i", TensorProto.INT64, ["n", 2]),
    ]
    nodes = [helper.make_node("TopK", ["x", "k"], ["v", "i"], name="topk0")]
    inputs = [x]
    if with_strings:
        # No device computes on strings, so this node stays on the CPU for good.
        inputs.append(helper.make_tensor_value_info("s", TensorProto.STRING, [1]))
        outputs.append(helper.make_tensor_value_info("t", TensorProto.STRING, [1]))
        nodes.append(helper.make_node("StringConcat", ["s", "s"], ["t"], name="twice"))
    k = helper.make_tensor("k", TensorProto.INT64, [1], [2])
    graph = helper.make_graph(nodes, "g", inputs, outputs, [k])
    opsets = [helper.make_opsetid("", 20)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=9)
    path.write_bytes(model.SerializeToString())
    return path


@pytest.fixture
def model(tmp_path):
    return write_model(tmp_path / "m.onnx")


@pytest.fixture
def mixed(tmp_path):
    return write_model(tmp_path / "mixed.onnx", with_strings=True)


def test_module_is_the_same_program():
    done = subprocess.run(
        [sys.executable, "-m", "hipep", "--help"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    assert all(verb in done.stdout for verb in VERBS)


def test_env():
    done = hipep("env")
    assert done.returncode == 0, done.stderr
    assert "onnxruntime" in done.stdout
    assert "host" in done.stdout


def test_env_as_json():
    facts = json.loads(hipep("env", "--json").stdout)
    assert facts["backends"]["host"] == "usable"
    assert [entry["id"] for entry in facts["devices"]][-1].startswith("host")
    assert facts["libraries"]["onnxruntime_pybind11_state"]["loaded"]


def test_env_needs_the_standard_library_only():
    blocked = ["onnx", "onnxruntime", "numpy", "typer", "rich", "click", "ml_dtypes"]
    prelude = f"for name in {blocked!r}: sys.modules[name] = None"
    done = hipep("env", "--json", prelude=prelude)
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert facts["packages"]["onnxruntime"] == "not installed"
    assert any('pip install "onnxruntime>=' in problem for problem in facts["problems"])


def test_other_verbs_name_the_missing_extra():
    done = hipep("ops", prelude="sys.modules['typer'] = None")
    assert done.returncode == 2
    assert done.stderr == "hipep: ops needs typer: pip install 'hipep[cli]'\n"


def test_ops():
    rows = json.loads(hipep("ops", "--json").stdout)
    assert "TopK" in [row["op_type"] for row in rows]
    table = hipep("ops", "--md").stdout
    assert table.startswith("| operator | opset | dtypes | note |\n|---|---|---|---|\n")
    assert "| TopK |" in table
    assert "TopK" in hipep("ops").stdout


def test_inspect(model):
    done = hipep("inspect", model)
    assert done.returncode == 0, done.stderr
    assert "1/1 nodes on host" in done.stdout


def test_inspect_gives_reasons(mixed, tmp_path):
    page = tmp_path / "report.html"
    done = hipep("inspect", mixed, "--json", "--html", page)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["coverage"] == "1/2 nodes on host"
    (declined,) = report["declined"]
    assert declined["op_type"] == "StringConcat"
    assert declined["reason"]
    assert declined["names"] == ["twice"]
    assert "StringConcat" in page.read_text()


def test_run_with_a_file(model, tmp_path):
    x = np.array([[3, 1, 5, 2, 4], [0, 9, 8, 7, 6]], "float32")
    np.save(tmp_path / "x.npy", x)
    done = hipep("run", model, "--device", "host", "--input", f"x={tmp_path / 'x.npy'}", "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    values, indices = result["outputs"]
    assert values == {
        "name": "v",
        "type": "tensor(float)",
        "shape": [2, 2],
        "dtype": "float32",
        "values": [5.0, 4.0, 9.0, 8.0],
        "count": 4,
    }
    assert indices["values"] == [2, 4, 1, 2]
    assert result["placement"] == "all 1 nodes on host"
    assert result["stats"]["launches"] >= 1
    assert result["timing"]["runs"] == 1


def test_run_at_random(model):
    arguments = ("run", model, "--device", "host", "--random", "--dim", "n=3", "--repeat", "4")
    first, second = (json.loads(hipep(*arguments, "--json").stdout) for _ in range(2))
    assert first["outputs"] == second["outputs"]
    assert first["outputs"][0]["shape"] == [3, 2]
    assert first["timing"]["runs"] == 4
    other = json.loads(hipep(*arguments, "--seed", "1", "--json").stdout)
    assert other["outputs"] != first["outputs"]
    text = hipep(*arguments).stdout
    assert "all 1 nodes on host" in text
    assert "4 runs: median" in text


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("--device", "hosst", "--random"), "did you mean 'host'?"),
        (("--device", "host"), "no value for x tensor(float) ['n', 5]"),
        (("--device", "host", "--input", "y=a.npy"), "no input 'y'; it has x"),
        (("--device", "host", "--input", "x"), "--input takes NAME=FILE.npy"),
        (("--device", "host", "--input", "x=none.npy"), "is no .npy file"),
        (("--device", "host", "--random", "--dim", "n=a"), "must be a whole number"),
    ],
)
def test_run_fails_with_one_line(model, arguments, part):
    done = hipep("run", model, *arguments)
    assert done.returncode == 1
    assert part in done.stderr
    assert done.stderr.count("hipep: error: ") == 1
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("verb", ["inspect", "run"])
def test_missing_model(verb, tmp_path):
    done = hipep(verb, tmp_path / "no.onnx", "--json")
    assert done.returncode == 1
    assert "does not exist" in json.loads(done.stdout)["error"]["message"]
    assert "no.onnx" in done.stderr
    assert "Traceback" not in done.stderr


def test_strict_run_names_what_stays_on_the_cpu(mixed):
    done = hipep("run", mixed, "--device", "host", "--strict", "--random")
    assert done.returncode == 1
    assert "StringConcat x 1" in done.stderr
    assert "[twice]" in done.stderr


def test_unknown_verb():
    done = hipep("nope")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
