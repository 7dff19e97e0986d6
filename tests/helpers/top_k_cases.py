"""Descriptions of TopK models and their data, for property tests and the fuzzer."""

import dataclasses

import numpy as np
from helpers import data
from helpers.compare import assert_top_k
from helpers.models import dtype_of, graph_model, is_float
from helpers.strict import StrictSession
from onnx import helper

K_SOURCES = ("constant", "static extent", "fed", "shape", "device")
KINDS = ("any bits", "near", "few distinct", "rising", "falling")
KINDS += ("mostly extreme", "extremes", "constant")
DIMS = ("static", "dynamic", "unknown rank")


@dataclasses.dataclass(frozen=True)
class TopKCase:
    """One TopK node, where its K comes from, and what it is fed with."""

    dtype: str
    shape: tuple[int, ...]
    axis: int
    k: int
    largest: int = 1
    is_sorted: int = 1
    k_source: str = "constant"
    kind: str = "any bits"
    dims: str = "static"
    seed: int = 0

    def x(self):
        """The data, of the kind that was asked for."""
        if self.kind == "any bits":
            return data.any_bits(self.dtype, self.shape, self.seed)
        if self.kind == "near":
            return data.random(self.dtype, self.shape, self.seed)
        generator = np.random.default_rng(self.seed)
        if self.kind == "few distinct":
            return generator.integers(0, 3, self.shape).astype(dtype_of(self.dtype))
        if self.kind in ("rising", "falling"):
            ramp = np.sort(data.random(self.dtype, self.shape, self.seed), axis=self.axis)
            return np.flip(ramp, self.axis).copy() if self.kind == "falling" else ramp
        if self.kind == "constant":
            return np.full(self.shape, 1, dtype_of(self.dtype))
        special = data.extremes(self.dtype)
        x = special[generator.integers(0, special.size, self.shape)]
        if self.kind == "mostly extreme":
            top = np.nan if is_float(self.dtype) else np.iinfo(self.dtype).max
            x = np.where(generator.random(self.shape) < 0.9, np.array(top, x.dtype), x)
        return x

    def model(self):
        """The serialised model."""
        shape = list(self.shape)
        if self.dims != "static":
            shape = None if self.dims == "unknown rank" else [f"d{i}" for i in range(len(shape))]
        inputs, constants = {"x": (self.dtype, shape)}, {}
        outputs = ["values", "indices"]
        nodes = []
        if self.k_source == "constant":
            constants["k"] = np.array([self.k])
        elif self.k_source == "shape":
            inputs["like"] = ("float32", ["n"])
            nodes = [helper.make_node("Shape", ["like"], ["k"])]
        elif self.k_source == "device":
            inputs["like"] = ("float32", ["n"])
            constants["one"] = np.array([1])
            nodes = [
                helper.make_node("ReduceMax", ["like"], ["most"], keepdims=0),
                helper.make_node("Cast", ["most"], ["long"], to=7),
                helper.make_node("Reshape", ["long", "one"], ["k"]),
            ]
        else:
            inputs["k"] = ("int64", [1])
        if self.k_source == "static extent":
            declared = [f"r{i}" for i in range(len(self.shape))]
            declared[self.axis] = self.k
            outputs = [("values", self.dtype, declared), ("indices", "int64", declared)]
        nodes.append(
            helper.make_node(
                "TopK", ["x", "k"], ["values", "indices"], name="node",
                axis=self.axis, largest=self.largest, sorted=self.is_sorted,
            )
        )  # fmt: skip
        return graph_model(nodes, inputs, outputs, constants)

    def feeds(self):
        """What the model is fed with."""
        feeds = {"x": self.x()}
        if self.k_source == "shape":
            feeds["like"] = np.zeros(self.k, np.float32)
        elif self.k_source == "device":
            feeds["like"] = np.array([self.k, 0], np.float32)
        elif self.k_source != "constant":
            feeds["k"] = np.array([self.k])
        return feeds

    def check(self):
        """Run the model twice on the tested device and compare with numpy."""
        feeds = self.feeds()
        runner = StrictSession(self.model())
        try:
            outputs = runner.run(feeds)
        finally:
            runner.session.close()
        assert_top_k(outputs, feeds["x"], self.k, self.axis, self.largest, self.is_sorted)
