"""TopK on a device of hipep beside ONNX Runtime's CPU provider; see docs/performance.md."""

from __future__ import annotations

import argparse
import csv
import datetime
import json
import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from compare import Cell, Protocol, compare, geometric_mean, markdown, processor
from onnx import TensorProto, helper, numpy_helper

import hipep

WIDTHS = (64, 1024, 4096, 16384, 131072, 1048576)
COUNTS = (1, 8, 50, 256, 2048)
QUICK = [(64, 8), (4096, 50), (131072, 50)]
# Together more than the caches hold of a small row, so that no row is learnt.
ROTATED_BYTES = 16 << 20


def top_k_model(k: int) -> bytes:
    """Return a model of one TopK over the last axis."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", "width"])
    v = helper.make_tensor_value_info("v", TensorProto.FLOAT, ["rows", k])
    i = helper.make_tensor_value_info("i", TensorProto.INT64, ["rows", k])
    constant = numpy_helper.from_array(np.array([k], np.int64), "k")
    node = helper.make_node("TopK", ["x", "k"], ["v", "i"], name="top_k")
    graph = helper.make_graph([node], "top_k", [x], [v, i], [constant])
    opsets = [helper.make_opsetid("", 21)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()


class Sides:
    """The same model with hipep and with the CPU provider, one thread each."""

    def __init__(self, k: int, device: str) -> None:
        proto = top_k_model(k)
        self.ours = hipep.InferenceSession(
            proto, device=device, strict=True, sess_options=self._options()
        )
        self.peer = onnxruntime.InferenceSession(
            proto, self._options(), providers=["CPUExecutionProvider"]
        )

    @staticmethod
    def _options() -> Any:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        return options

    def check(self, rows: list[np.ndarray]) -> None:
        """Compare results before anything is timed; the CPU provider has no order for NaN."""
        for x in rows[:3]:
            if np.isnan(x).any():
                continue
            for ours, peer in zip(
                *(s.run(None, {"x": x}) for s in (self.ours, self.peer)), strict=True
            ):
                np.testing.assert_array_equal(ours, peer)

    def by_run(self, session: Any, rows: list[np.ndarray]) -> Callable[[int], object]:
        """Return a function that feeds numpy arrays and fetches numpy arrays."""
        feeds = [{"x": x} for x in rows]
        count = len(feeds)
        return lambda call: session.run(None, feeds[call % count])

    def by_binding(self, session: Any, rows: list[np.ndarray]) -> Callable[[int], object]:
        """Return a function that runs inputs and outputs which are bound."""
        k = session.get_outputs()[0].shape[1]
        shape = [rows[0].shape[0], k]
        bindings = []
        for x in rows:
            binding = session.io_binding()
            binding.bind_cpu_input("x", x)
            for name, dtype in (("v", np.float32), ("i", np.int64)):
                value = onnxruntime.OrtValue.ortvalue_from_shape_and_type(shape, dtype, "cpu")
                binding.bind_ortvalue_output(name, value)
            bindings.append(binding)
        count = len(bindings)
        return lambda call: session.run_with_iobinding(bindings[call % count])

    def compare(self, name: str, rows: list[np.ndarray], way: str, protocol: Protocol) -> Cell:
        """Measure one cell."""
        self.check(rows)
        make = self.by_binding if way == "binding" else self.by_run
        return compare(name, make(self.ours, rows), make(self.peer, rows), protocol)


def random_rows(width: int, height: int = 1) -> list[np.ndarray]:
    """Return arrays of random rows, many for small ones."""
    generator = np.random.default_rng(width)
    count = min(512, max(4, ROTATED_BYTES // (4 * width * height)))
    return [generator.standard_normal((height, width), np.float32) for _ in range(count)]


def worst_rows(width: int) -> dict[str, np.ndarray]:
    """Return rows that are bad for one algorithm or another."""
    generator = np.random.default_rng(0)
    two = generator.integers(0, 2, width).astype(np.float32)
    noise = generator.standard_normal(width, np.float32)
    return {
        "equal": np.full(width, 1.5, np.float32),
        "ascending": np.arange(width, dtype=np.float32),
        "two values": two,
        "denormals": noise * np.float32(1e-41),
        "NaN": np.where(two == 1, np.float32(math.nan), noise),
    }


def cells(device: str, way: str, quick: bool, protocol: Protocol) -> Iterator[Cell]:
    """Measure random rows of each width and K."""
    for k in COUNTS:
        widths = [w for w in WIDTHS if w >= k and (not quick or (w, k) in QUICK)]
        if not widths:
            continue
        sides = Sides(k, device)
        for width in widths:
            yield sides.compare(f"1x{width}, K={k}", random_rows(width), way, protocol)
        sides.ours.close()


def worst_cells(device: str, quick: bool, protocol: Protocol) -> Iterator[Cell]:
    """Measure the worst inputs, bound."""
    sides = Sides(50, device)
    for name, row in worst_rows(4096 if quick else 131072).items():
        rows = [row[None].copy() for _ in range(4)]
        yield sides.compare(f"1x{row.size}, K=50, {name}", rows, "binding", protocol)
    sides.ours.close()


def show(title: str, measured: Iterator[Cell], quiet: bool) -> list[Cell]:
    """Measure with progress on the error stream, and print a table."""
    done = []
    for cell in measured:
        done.append(cell)
        if not quiet:
            print(f"\r\033[K{title}: {cell.name}", end="", file=sys.stderr, flush=True)
    if not quiet:
        print("\r\033[K", end="", file=sys.stderr)
    print(f"### {title}\n\n{markdown(done, 'CPU provider')}\n")
    return done


def environment(device: str) -> dict[str, str]:
    """Return what the figures depend on."""
    (found,) = [entry for entry in hipep.devices() if entry.id == device]
    return {
        "device": f"{found.name} ({found.arch})",
        "processor": processor(),
        "hipep": hipep.__version__,
        "onnxruntime": onnxruntime.__version__,
        "date": datetime.date.today().isoformat(),
        "command": " ".join(["python", "benchmarks/bench_top_k.py", *sys.argv[1:]]),
    }


def main() -> int:
    """Run the program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="host")
    parser.add_argument("--quick", action="store_true", help="a few cells, short rounds")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.1, help="time of one round of one side")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--csv", type=Path, metavar="FILE")
    options = parser.parse_args()
    rounds, seconds = (3, 0.02) if options.quick else (options.rounds, options.seconds)
    protocol = Protocol(max(2, rounds), seconds)
    facts = environment(options.device)
    print("\n".join(f"- {name}: {text}" for name, text in facts.items()) + "\n")
    quiet = not sys.stderr.isatty()
    tables = {
        "Random rows, inputs and outputs bound": cells(
            options.device, "binding", options.quick, protocol
        ),
        "Random rows, session.run": cells(options.device, "run", options.quick, protocol),
        "Worst inputs, bound": worst_cells(options.device, options.quick, protocol),
    }
    results = {title: show(title, measured, quiet) for title, measured in tables.items()}
    for title, measured in results.items():
        print(f"{title}: geometric mean of the ratios {geometric_mean(measured):.2f}")
    records = [
        {"table": title, **cell.to_dict()} for title, table in results.items() for cell in table
    ]
    if options.json:
        options.json.write_text(json.dumps({"environment": facts, "cells": records}, indent=2))
    if options.csv:
        with options.csv.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(records[0]))
            writer.writeheader()
            writer.writerows(records)
    return 0


if __name__ == "__main__":
    sys.exit(main())
