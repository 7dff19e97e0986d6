"""The placement report: counts, reasons, folded nodes and its forms."""

import json
import pickle
from html.parser import HTMLParser

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from hipep.model import ModelSource, explain_load_failure, top_k_problems
from hipep.report import build_report
from hipep.stats import RunStats, SessionStats

EP = "HipExecutionProvider"


def placed(name, op_type="Add", claimed=True, reason="", graph="", group=0, domain=""):
    return (name, op_type, domain, 13, graph, claimed, group if claimed else -1, reason)


def model_bytes(nodes, inputs, outputs, initializers=()):
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(initializers))
    opsets = [helper.make_opsetid("", 18)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString()


def value(name, shape=(2, 3), dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def top_k_model(axis=-1, k=1, name="topk0", shape=("N", 3, 4)):
    node = helper.make_node("TopK", ["x", "k"], ["v", "i"], name=name, axis=axis)
    outputs = [value("v", None), value("i", None, TensorProto.INT64)]
    constant = helper.make_tensor("k", TensorProto.INT64, [1], [k])
    return model_bytes([node], [value("x", shape)], outputs, [constant])


@pytest.fixture
def report():
    placements = [placed(f"add{i}") for i in range(3)]
    placements += [placed(f"conv{i}", "Conv", False, f"reason {i}") for i in range(20)]
    placements += [placed("gelu", "Gelu", False, "<no> row", domain="com.microsoft")]
    return build_report("amd:0", placements, 2, EP)


def test_counts_and_summary(report):
    assert report.coverage == "3/24 nodes on amd:0"
    assert report.on_device == 3
    assert report.summary() == (
        "3 of 24 nodes on amd:0; 21 on the CPU: Conv x 20 (reason 0), "
        "com.microsoft.Gelu x 1 (<no> row)"
    )
    assert "[conv0, conv1, " in report.summary(names=True)


def test_declined_nodes_are_aggregated(report):
    conv, gelu = report.declined
    assert (conv.op_type, conv.count, conv.reason) == ("Conv", 20, "reason 0")
    assert conv.names == [f"conv{i}" for i in range(16)]
    assert gelu.op_type == "com.microsoft.Gelu"


def test_full_coverage():
    report = build_report("host", [placed("a"), placed("b")], 1, EP)
    assert report.summary() == "all 2 nodes on host"
    assert report.declined == []
    assert "None." in report.to_html()


def test_model_without_nodes():
    report = build_report("host", [], 0, EP)
    assert report.coverage == "0/0 nodes on host"
    assert str(report)


def test_other_providers_are_named():
    placements = [placed("a"), placed("b", "Conv", False, "already assigned")]
    report = build_report("host", placements, 1, EP, assigned={("b", "Conv"): "OtherProvider"})
    assert report.nodes[1].ep == "OtherProvider"
    assert "1 on other providers: Conv" in report.summary()


def test_text(report):
    text = str(report)
    assert "reason 0" in text
    assert "add0    Add" in text
    assert all(line == line.rstrip() for line in text.splitlines())
    assert "... and 22 more nodes" in report.to_text(limit=2)
    assert repr(report) == "<PlacementReport 3/24 nodes on amd:0>"


def test_dictionary_is_json(report):
    data = json.loads(json.dumps(report.to_dict()))
    assert data["count"] == 24
    assert data["nodes"][3]["reason"] == "reason 0"
    assert data["declined"][0]["count"] == 20


def test_html_is_one_escaped_page(report):
    class Tags(HTMLParser):
        def __init__(self):
            super().__init__()
            self.seen = set()

        def handle_starttag(self, tag, attrs):
            self.seen.add(tag)
            assert not any(name in ("src", "href") for name, _ in attrs)

    page = report.to_html()
    parser = Tags()
    parser.feed(page)
    assert "table" in parser.seen
    assert "script" not in parser.seen
    assert "no" not in parser.seen
    assert "&lt;no&gt; row" in page
    assert report._repr_html_() == page


def test_report_survives_pickling(report):
    assert pickle.loads(pickle.dumps(report)) == report


def test_folded_nodes_are_listed(tmp_path):
    nodes = [
        helper.make_node("Identity", ["x"], ["a"], name="id"),
        helper.make_node("Add", ["a", "a"], ["b"], name="add"),
        helper.make_node("Relu", ["b"], ["y"]),
    ]
    path = tmp_path / "m.onnx"
    path.write_bytes(model_bytes(nodes, [value("x")], [value("y")]))
    source = ModelSource.of(path)
    report = build_report("host", [placed("add"), placed("", "Relu")], 1, EP, source=source)
    assert report.folded == [("id", "Identity")]
    assert "Identity x 1" in str(report)
    assert report.model == str(path)
    assert len(report.model_sha256) == 64


def test_nodes_inside_a_claimed_if_are_not_folded():
    def branch(name, op_type):
        node = helper.make_node(op_type, ["x"], [f"{name}_y"], name=f"{name}_node")
        return helper.make_graph([node], name, [], [value(f"{name}_y")])

    node = helper.make_node(
        "If",
        ["c"],
        ["y"],
        name="if0",
        then_branch=branch("t", "Relu"),
        else_branch=branch("e", "Neg"),
    )
    inputs = [value("c", (), TensorProto.BOOL), value("x")]
    source = ModelSource.of(model_bytes([node], inputs, [value("y")]))
    inside = build_report("host", [placed("if0", "If")], 1, EP, source=source)
    assert inside.folded == []
    outside = build_report("host", [placed("if0", "If", False, "no row")], 0, EP, source=source)
    assert outside.folded == [("t_node", "Relu"), ("e_node", "Neg")] or outside.folded == [
        ("e_node", "Neg"),
        ("t_node", "Relu"),
    ]


def test_unreadable_model_leaves_folded_unknown():
    report = build_report("host", [placed("a")], 1, EP, source=ModelSource.of(b"garbage"))
    assert report.folded is None
    assert "not known" in report.to_html()


@pytest.mark.parametrize(
    ("model", "parts"),
    [
        (top_k_model(axis=7), ["'topk0'", "axis 7", "[-3, 2]", "rank 3", "[N, 3, 4]"]),
        (top_k_model(axis=-4), ["axis -4", "rank 3"]),
        (top_k_model(axis=1, k=9), ["'topk0'", "K = 9", "[0, 3]", "axis 1"]),
        (top_k_model(axis=1, k=-1), ["K = -1"]),
        (top_k_model(axis=1, k=9, name=""), ["without a name, with output 'v'"]),
    ],
)
def test_bad_top_k_is_explained(model, parts):
    (problem,) = top_k_problems(ModelSource.of(model))
    assert all(part in problem for part in parts)


@pytest.mark.parametrize(("axis", "k"), [(0, 9), (-1, 4), (1, 0)])
def test_good_top_k_is_no_problem(axis, k):
    assert top_k_problems(ModelSource.of(top_k_model(axis, k))) == []


def test_bad_files_are_explained(tmp_path):
    def explained(path, text="x"):
        return explain_load_failure(ModelSource.of(path), text)

    empty, broken = tmp_path / "empty.onnx", tmp_path / "broken.onnx"
    empty.write_bytes(b"")
    broken.write_bytes(b"garbage")
    assert "does not exist" in explained(tmp_path / "no.onnx")
    assert "is a directory" in explained(tmp_path)
    assert "is empty" in explained(empty)
    assert "is not an ONNX model" in explained(broken, "Protobuf parsing failed.")
    assert str(broken) in explained(broken, "No Op registered for Nope")
    assert "given as 7 bytes" in explained(b"garbage")


def test_constant_k_is_found():
    tensor = numpy_helper.from_array(np.array([9], "int64"), "k")
    nodes = [
        helper.make_node("Constant", [], ["k"], value=tensor),
        helper.make_node("TopK", ["x", "k"], ["v", "i"], name="t"),
    ]
    outputs = [value("v", None), value("i", None, TensorProto.INT64)]
    (problem,) = top_k_problems(ModelSource.of(model_bytes(nodes, [value("x")], outputs)))
    assert "K = 9 is outside [0, 3]" in problem


def test_stats_show_what_is_not_zero():
    stats = RunStats.from_counters({"launches": 3, "h2d_bytes": 64, "later_counter": 1})
    assert repr(stats) == "RunStats(launches=3, h2d_bytes=64)"
    assert repr(RunStats()) == "RunStats()"
    assert (stats - RunStats(launches=1)).launches == 2
    assert len(stats.to_dict()) == 10
    with pytest.raises(AttributeError):
        stats.launches = 4


def test_stats_without_a_record_are_zero():
    assert SessionStats(None).last == RunStats()
    assert SessionStats(None).total == RunStats()
