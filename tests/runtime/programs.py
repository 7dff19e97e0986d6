"""Programs run in a process of their own, whose end is part of the test."""

import os
import subprocess
import sys
import textwrap

PREAMBLE = """
import os, sys, threading, time
import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper

def top_k_model(k=2):
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", "m"])]
    outputs = [helper.make_empty_tensor_value_info(name) for name in "vi"]
    node = helper.make_node("TopK", ["x", "k"], ["v", "i"], name="top_k")
    constant = helper.make_tensor("k", TensorProto.INT64, [1], [k])
    graph = helper.make_graph([node], "g", inputs, outputs, [constant])
    opsets = [helper.make_opsetid("", 20)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString()

DEVICE = os.environ.get("HIPEP_TEST_DEVICE", "host")
X = np.array([[3, 1, 5, 2, 4], [0, 9, 8, 7, 6]], "float32")

def run(session):
    values, indices = session.run(None, {"x": X})
    assert values.tolist() == [[5, 4], [9, 8]], values
    assert indices.tolist() == [[2, 4], [1, 2]], indices
"""
IMPORT = "import hipep\n"


def run_program(body, *, preamble=PREAMBLE + IMPORT, timeout=120, **environment):
    """Run Python code; return what it printed to stdout and stderr. It must end with 0."""
    done = subprocess.run(
        [sys.executable, "-c", preamble + textwrap.dedent(body)],
        env=os.environ | environment,
        cwd="/",
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, f"{done.returncode}: {done.stdout}\n{done.stderr}"
    assert "Exception ignored" not in done.stderr, done.stderr
    return done.stdout, done.stderr
