"""Random graphs of operators that hipep claims, with shapes and K known early, late or never.

Extents are symbols with a least value, so that one graph is valid for several sets of feeds.
"""

import numpy as np
from helpers.models import graph_model
from onnx import helper

# n, m, j of the inputs, and what K is made from.
EXTENTS = ((3, 7, 2), (1, 4, 3), (5, 16, 2), (2, 33, 4))
LEAST = {"n": 1, "m": 4, "j": 2}
MOST_K = 3


class RandomGraph:
    """Nodes, constants and the symbolic shapes of all values."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.nodes = []
        self.constants = {}
        self.least = dict(LEAST)
        self.values = {
            "x": ("float32", ("n", "m")),
            "y": ("float32", ("n", "m")),
            "z": ("int64", ("n", "m")),
            "c": ("int64", ("j",)),
        }
        steps = int(self.rng.integers(2, 11))
        kinds = [
            self.unary,
            self.binary,
            self.top_k,
            self.reduce,
            self.view,
            self.gather,
            self.cast,
        ]
        weights = np.array([3, 4, 4, 3, 4, 1, 1], float)
        while len(self.nodes) < steps:
            self.rng.choice(kinds, p=weights / weights.sum())()
        made = [name for name in self.values if name not in ("x", "y", "z", "c")]
        read = {name for node in self.nodes for name in node.input}
        extra = self.rng.random(len(made)) < 0.25
        self.outputs = [n for n, e in zip(made, extra, strict=True) if e or n not in read]
        self.rng.shuffle(self.outputs)

    def model(self):
        inputs = {name: self.values[name] for name in ("x", "y", "z", "c")}
        inputs = {name: (dtype, list(shape)) for name, (dtype, shape) in inputs.items()}
        return graph_model(self.nodes, inputs, self.outputs, self.constants, opset=20)

    def feeds(self, which):
        n, m, j = EXTENTS[which % len(EXTENTS)]
        rng = np.random.default_rng(which)
        return {
            "x": rng.integers(-20, 20, (n, m)).astype(np.float32),
            "y": rng.integers(-3, 3, (n, m)).astype(np.float32),
            "z": rng.integers(-9, 9, (n, m)),
            "c": rng.integers(0, MOST_K + 1, j),
        }

    # ---- Building -----------------------------------------------------------------------------

    def emit(self, op_type, inputs, *typed, **attributes):
        """Add a node with one output for each (dtype, shape); return their names."""
        names = [f"v{len(self.values) + i}" for i in range(len(typed))]
        node = helper.make_node(op_type, inputs, names, name=f"n{len(self.nodes)}", **attributes)
        self.nodes.append(node)
        self.values.update(zip(names, typed, strict=True))
        return names

    def constant(self, array):
        name = f"k{len(self.constants)}"
        self.constants[name] = np.asarray(array)
        return name

    def symbol(self, least):
        name = f"s{len(self.least)}"
        self.least[name] = least
        return name

    def minimum(self, extent):
        return self.least[extent] if isinstance(extent, str) else extent

    def pick(self, dtype=None, rank=0, nonempty=False):
        """A value, later ones rather than earlier ones; None if none fits."""
        fits = [
            name
            for name, (own, shape) in self.values.items()
            if (dtype is None or own == dtype)
            and len(shape) >= rank
            and not (nonempty and any(self.minimum(extent) < 1 for extent in shape))
        ]
        if not fits:
            return None
        return fits[int(len(fits) * self.rng.random() ** 0.6)]

    def unary(self):
        name = self.pick()
        dtype, shape = self.values[name]
        ops = ["Neg", "Abs", "Relu"] if dtype == "float32" else ["Neg", "Abs"]
        self.emit(self.rng.choice(ops), [name], (dtype, shape))

    def binary(self):
        a = self.pick()
        dtype, shape = self.values[a]
        fits = [
            name
            for name, (own, other) in self.values.items()
            if own == dtype
            and len(other) <= len(shape)
            and all(e in (1, s) for e, s in zip(other[::-1], shape[::-1], strict=False))
        ]
        b = self.rng.choice(fits)
        if self.rng.random() < 0.2:
            b = self.constant(np.array(self.rng.integers(-3, 4), dtype))
        operands = [a, b] if self.rng.random() < 0.5 else [b, a]
        op_type = self.rng.choice(["Add", "Sub", "Mul", "Min", "Max"])
        self.emit(op_type, operands, (dtype, shape))

    def run_time_k(self, x, extent):
        """K as (name, extent of the result)."""
        kind = self.rng.integers(0, 4)
        if kind == 0:
            k = int(self.rng.integers(0, min(MOST_K, self.minimum(extent)) + 1))
            return self.constant([k]), k
        if kind == 1:  # from a shape: known on the host
            (shape,) = self.emit("Shape", [x], ("int64", (len(self.values[x][1]),)))
            (last,) = self.emit("Gather", [shape, self.constant([-1])], ("int64", (1,)))
            least = min(MOST_K, self.minimum(extent))
            (k,) = self.emit("Min", [last, self.constant([MOST_K])], ("int64", (1,)))
            return k, self.symbol(least)
        if self.minimum(extent) < MOST_K:
            return None
        if kind == 2:  # computed on the device from an input
            (k,) = self.emit("ReduceMax", ["c"], ("int64", (1,)), keepdims=1)
            return k, self.symbol(0)
        source = self.pick("int64", nonempty=True)
        (most,) = self.emit("ReduceMin", [source], ("int64", ()), keepdims=0)
        (low,) = self.emit("Min", [most, self.constant(MOST_K)], ("int64", ()))
        (held,) = self.emit("Max", [low, self.constant(1)], ("int64", ()))
        (k,) = self.emit("Unsqueeze", [held, self.constant([0])], ("int64", (1,)))
        return k, self.symbol(1)

    def top_k(self):
        x = self.pick(rank=1)
        dtype, shape = self.values[x]
        made = self.run_time_k(x, shape[-1])
        if made is None:
            return
        k, extent = made
        shape = (*shape[:-1], extent)
        largest = int(self.rng.integers(0, 2))
        self.emit("TopK", [x, k], (dtype, shape), ("int64", shape), largest=largest)

    def reduce(self):
        x = self.pick(rank=1, nonempty=True)
        dtype, shape = self.values[x]
        axis = int(self.rng.integers(0, len(shape)))
        keepdims = int(self.rng.integers(0, 2))
        result = (*shape[:axis], *([1] if keepdims else []), *shape[axis + 1 :])
        if dtype == "float32" and self.rng.random() < 0.4:
            self.emit("ArgMax", [x], ("int64", result), axis=axis, keepdims=keepdims)
            return
        # Sums of floats depend on their order.
        ops = ["ReduceMax", "ReduceMin"] + (["ReduceSum"] if dtype == "int64" else [])
        axes = self.constant([axis])
        self.emit(self.rng.choice(ops), [x, axes], (dtype, result), keepdims=keepdims)

    def view(self):
        x = self.pick()
        dtype, shape = self.values[x]
        kind = self.rng.integers(0, 5)
        if kind == 0:
            self.emit("Identity", [x], (dtype, shape))
        elif kind == 1 and 0 < len(shape) < 4:
            axis = int(self.rng.integers(0, len(shape) + 1))
            result = (*shape[:axis], 1, *shape[axis:])
            self.emit("Unsqueeze", [x, self.constant([axis])], (dtype, result))
        elif kind == 2 and 1 in shape:
            axis = shape.index(1)
            result = shape[:axis] + shape[axis + 1 :]
            self.emit("Squeeze", [x, self.constant([axis])], (dtype, result))
        elif kind == 3:
            (whole,) = self.emit("Shape", [x], ("int64", (len(shape),)))
            self.emit("Reshape", [x, whole], (dtype, shape))
        elif all(self.minimum(extent) >= 1 for extent in shape):
            least = int(np.prod([self.minimum(extent) for extent in shape]))
            self.emit("Reshape", [x, self.constant([-1])], (dtype, (self.symbol(least),)))

    def gather(self):
        x = self.pick(rank=1)
        dtype, shape = self.values[x]
        if self.minimum(shape[0]) < 1:
            return
        self.emit("Gather", [x, self.constant([0, -1, 0])], (dtype, (3, *shape[1:])), axis=0)

    def cast(self):
        x = self.pick("int64")
        self.emit("Cast", [x], ("float32", self.values[x][1]), to=1)
