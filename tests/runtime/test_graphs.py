"""Graphs whose groups meet control flow, nodes of the CPU, and outputs in every role."""

import numpy as np
import onnxruntime as ort
import pytest
from helpers.compare import bits
from helpers.data import random
from helpers.models import graph_model, value_info
from helpers.strict import device_id, open_session
from onnx import ModelProto, TensorProto, helper

X = random("float32", (5, 8))
NODE = helper.make_node


def model_of(nodes, outputs, inputs=None, constants=None):
    inputs = {"x": ("float32", ["n", "m"])} if inputs is None else inputs
    return graph_model(nodes, inputs, outputs, constants, opset=20)


def on_the_cpu(model, feeds):
    session = ort.InferenceSession(model, providers=["CPUExecutionProvider"])
    return session.run(None, feeds)


def check(model, *all_feeds, strict=True):
    """The bits of the CPU provider, for all feeds, twice."""
    with open_session(model, strict=strict) as session:
        for _ in range(2):
            for feeds in all_feeds:
                expected = on_the_cpu(model, feeds)
                actual = session.run(None, feeds)
                assert [bits(np.asarray(a)) for a in actual] == [
                    bits(np.asarray(e)) for e in expected
                ]
        return session.report


# ---- Roles of outputs -------------------------------------------------------------------------

TOP_K = NODE("TopK", ["x", "k"], ["v", "i"], name="top_k")
K = {"k": np.array([3])}


@pytest.mark.parametrize("outputs", [["i"], ["v"], ["i", "v"], ["v", "i"]])
def test_outputs_in_any_order_and_number(outputs):
    check(model_of([TOP_K], outputs, constants=K), {"x": X}, {"x": X[:2]})


def test_output_read_inside_the_group_too():
    nodes = [TOP_K, NODE("Neg", ["v"], ["n"]), NODE("Add", ["n", "v"], ["zero"])]
    check(model_of(nodes, ["v", "zero", "i", "n"], constants=K), {"x": X})


def test_output_read_by_a_cpu_node():
    """onnxruntime re-orders the outputs of the group: the CPU's comes first."""
    nodes = [TOP_K, NODE("Neg", ["v"], ["n"]), NODE("Gelu", ["n"], ["g"])]
    for outputs in (["i", "g"], ["g", "i", "v"], ["g"]):
        check(model_of(nodes, outputs, constants=K), {"x": X}, strict=False)


VIEWS = [
    NODE("Identity", ["x"], ["same"]),
    NODE("Reshape", ["x", "flat"], ["line"]),
    NODE("Unsqueeze", ["line", "axis"], ["row"]),
    NODE("Squeeze", ["row", "axis"], ["back"]),
    NODE("Reshape", ["added", "flat"], ["added_line"]),
    NODE("Flatten", ["added"], ["added_flat"]),
    NODE("Identity", ["added_line"], ["added_twice"]),
]
VIEW_CONSTANTS = {"flat": np.array([-1]), "axis": np.array([0]), "c": np.arange(6.0)}


@pytest.mark.parametrize(
    "outputs",
    [
        ["same"],
        ["line", "same"],
        ["row", "line", "back"],
        ["added_line"],
        ["added_line", "added"],
        ["added", "added_line"],
        ["added_flat", "added_line", "added_twice"],
        ["added_twice", "added"],
        ["same", "added_twice", "row", "added_line", "back", "added_flat"],
    ],
)
def test_views_as_outputs(outputs):
    """Of inputs, of other outputs, of each other: all have memory of their own."""
    nodes = [NODE("Add", ["x", "x"], ["added"]), *VIEWS]
    check(model_of(nodes, outputs, constants=VIEW_CONSTANTS), {"x": X}, {"x": X[:1]})


def test_constants_as_outputs():
    nodes = [
        NODE("Reshape", ["c", "pair"], ["r"]),
        NODE("Identity", ["r"], ["same"]),
        NODE("Neg", ["x"], ["n"]),
    ]
    constants = {"c": np.arange(6.0), "pair": np.array([2, 3])}
    check(model_of(nodes, ["same", "n", "r"], constants=constants), {"x": X})


def test_host_values_as_outputs():
    nodes = [
        NODE("Shape", ["x"], ["shape"]),
        NODE("Gather", ["shape", "first"], ["n"]),
        NODE("Add", ["n", "n"], ["twice"]),
        NODE("Unsqueeze", ["twice", "axes"], ["wanted"]),
        NODE("Size", ["x"], ["size"]),
        NODE("Reshape", ["x", "shape"], ["y"]),
        NODE("Identity", ["shape"], ["again"]),
    ]
    constants = {"first": np.array(0), "axes": np.array([0])}
    outputs = ["y", "wanted", "size", "shape", "again", "n", "twice"]
    check(model_of(nodes, outputs, constants=constants), {"x": X}, {"x": X[:0]})


def test_two_outputs_made_alike():
    nodes = [NODE("Neg", ["x"], ["a"]), NODE("Neg", ["x"], ["b"]), NODE("Identity", ["a"], ["c"])]
    check(model_of(nodes, ["a", "b", "c"]), {"x": X})


def test_input_that_nobody_reads():
    inputs = {"unused": ("float32", [2]), "x": ("float32", ["n", "m"])}
    model = model_of([TOP_K], ["v", "i"], inputs, K)
    check(model, {"x": X, "unused": np.zeros(2, "float32")})


# ---- Beside nodes of the CPU ------------------------------------------------------------------


def test_groups_between_cpu_nodes():
    nodes = [
        NODE("Add", ["x", "x"], ["a"]),
        NODE("Gelu", ["a"], ["b"]),
        NODE("Relu", ["b"], ["c"]),
        NODE("Gelu", ["c"], ["d"]),
        NODE("TopK", ["d", "k"], ["v", "i"]),
        NODE("Sub", ["a", "c"], ["e"]),
    ]
    check(model_of(nodes, ["v", "i", "e", "b"], constants=K), {"x": X}, {"x": X[:4]}, strict=False)


def test_every_other_node_on_the_cpu():
    nodes, name = [], "x"
    for step in range(12):
        nodes.append(NODE("Gelu" if step % 2 else "Neg", [name], [f"y{step}"]))
        name = f"y{step}"
    check(model_of(nodes, [name, "y4", "y5"]), {"x": X}, {"x": X[:1]}, strict=False)


def test_diamond_around_a_cpu_node():
    nodes = [
        NODE("Neg", ["x"], ["a"]),
        NODE("Gelu", ["a"], ["b"]),
        NODE("Abs", ["a"], ["c"]),
        NODE("Add", ["b", "c"], ["y"]),
    ]
    check(model_of(nodes, ["y"]), {"x": X}, strict=False)


# ---- Control flow -----------------------------------------------------------------------------


def branch(nodes, output, dtype="float32", shape=None):
    return helper.make_graph(nodes, "branch", [], [value_info(output, dtype, shape)])


def if_node(then_nodes, else_nodes, output="y", condition="flag"):
    return NODE(
        "If",
        [condition],
        [output],
        name="if",
        then_branch=branch(then_nodes, "then"),
        else_branch=branch(else_nodes, "else"),
    )


IF_INPUTS = {"x": ("float32", ["n", "m"]), "flag": ("bool", [])}
IF_FEEDS = [{"x": x, "flag": np.array(flag)} for x in (X, X[:3]) for flag in (True, False)]


def test_bodies_of_an_if():
    node = if_node(
        [NODE("Add", ["x", "x"], ["t"]), NODE("Neg", ["t"], ["then"])],
        [NODE("Relu", ["x"], ["e"]), NODE("Identity", ["e"], ["else"])],
    )
    check(model_of([node], ["y"], IF_INPUTS), *IF_FEEDS, strict=False)


def test_branches_that_look_alike_are_told_apart_in_the_report():
    """Both have the name, the number of nodes and the output of the other."""
    nodes = [
        helper.make_node(
            "If",
            ["flag"],
            ["y"],
            name="if",
            then_branch=branch([NODE("Relu", ["x"], ["same"], name="first")], "same"),
            else_branch=branch([NODE("Neg", ["x"], ["same"], name="second")], "same"),
        )
    ]
    with open_session(model_of(nodes, ["y"], IF_INPUTS), strict=False) as session:
        placed = {(node.name, node.graph) for node in session.report.nodes if node.graph}
        assert placed == {("first", "if/then_branch"), ("second", "if/else_branch")}
        assert session.report.folded == []


def test_outer_values_in_a_body(capfd):
    """The If reads what nodes around it make: its bodies' inputs are edges of the graph."""
    nodes = [
        NODE("Neg", ["x"], ["outer"]),
        if_node(
            [NODE("Add", ["outer", "c"], ["then"])],
            [NODE("Mul", ["outer", "outer"], ["else"])],
        ),
        NODE("Add", ["y", "outer"], ["z"]),
        NODE("Abs", ["z"], ["w"]),
    ]
    model = model_of(nodes, ["w", "outer"], IF_INPUTS, {"c": np.float32(2.5)})
    report = check(model, *IF_FEEDS, strict=False)
    assert report.coverage == f"5/6 nodes on {device_id()}"
    assert report.folded == []
    assert "cannot be fused" not in capfd.readouterr().err


def test_k_from_an_if():
    nodes = [
        if_node([NODE("Identity", ["k3"], ["then"])], [NODE("Identity", ["k5"], ["else"])], "k"),
        NODE("TopK", ["x", "k"], ["v", "i"]),
    ]
    for graph in (nodes[0].attribute[0].g, nodes[0].attribute[1].g):
        graph.output[0].type.tensor_type.elem_type = TensorProto.INT64
    constants = {"k3": np.array([3]), "k5": np.array([5])}
    check(model_of(nodes, ["v", "i"], IF_INPUTS, constants), *IF_FEEDS, strict=False)


def test_nested_ifs():
    inner = if_node([NODE("Neg", ["x"], ["then"])], [NODE("Abs", ["t"], ["else"])], "inner")
    node = if_node(
        [NODE("Add", ["x", "x"], ["t"]), inner, NODE("Relu", ["inner"], ["then"])],
        [NODE("Identity", ["x"], ["else"])],
    )
    check(model_of([node], ["y"], IF_INPUTS), *IF_FEEDS, strict=False)


def loop_model():
    body = helper.make_graph(
        [
            NODE("Identity", ["going"], ["going_on"]),
            NODE("Add", ["state", "x"], ["sum"]),
            NODE("Gather", ["lengths", "step"], ["length"]),
            NODE("Unsqueeze", ["length", "axis"], ["k"]),
            NODE("TopK", ["sum", "k"], ["v", "i"]),
            NODE("ReduceMax", ["v"], ["most"], keepdims=0),
        ],
        "body",
        [value_info("step", "int64", []), value_info("going", "bool", []),
         value_info("state", "float32", None)],
        [value_info("going_on", "bool", []), value_info("sum", "float32", None),
         value_info("most", "float32", [])],
    )  # fmt: skip
    inputs = {"x": ("float32", ["n", "m"]), "trips": ("int64", []), "lengths": ("int64", ["t"])}
    constants = {"axis": np.array([0])}
    node = NODE("Loop", ["trips", "", "x"], ["last", "all"], name="loop", body=body)
    return model_of([node], ["last", "all"], inputs, constants)


def test_body_of_a_loop():
    feeds = [
        {"x": X, "trips": np.array(trips), "lengths": np.array([1, 3, 2, 8, 1, 4])}
        for trips in (0, 1, 6)
    ]
    check(loop_model(), *feeds, strict=False)


def test_string_values_pass_by():
    nodes = [TOP_K, NODE("Identity", ["s"], ["t"])]
    model = ModelProto.FromString(model_of(nodes, ["v", "i", "t"], constants=K))
    model.graph.input.append(helper.make_tensor_value_info("s", TensorProto.STRING, [1]))
    feeds = {"x": X, "s": np.array(["text"], object)}
    with open_session(model.SerializeToString(), strict=False) as session:
        assert session.run(None, feeds)[2].tolist() == ["text"]
