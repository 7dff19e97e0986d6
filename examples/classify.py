"""Say what kind of content files hold, with the file-type model of the magika package.

    python examples/classify.py README.md meson.build hipep/_core.pyx

The model gets a TopK of five classes at its end and runs on a device of hipep; the same model on
ONNX Runtime's CPU provider is timed beside it.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import hipep

TOP = 5
ROUNDS = 15
ROUND_SECONDS = 0.05


@dataclass(frozen=True)
class FileTypeModel:
    """The model of the magika package and how its inputs are made.

    Attributes
    ----------
    path : Path
        The ONNX file.
    labels : list of str
        The classes, in the order of the model's output.
    begin, end, block : int
        Bytes taken from both ends of a file, of blocks of this size.
    padding : int
        The token where a file has no byte.
    shortest : int
        Fewer bytes than this say too little.
    """

    path: Path
    labels: list[str]
    begin: int
    end: int
    block: int
    padding: int
    shortest: int

    @classmethod
    def installed(cls) -> FileTypeModel:
        """Find the model in the installed package, without importing it."""
        spec = importlib.util.find_spec("magika")
        folders = list(spec.submodule_search_locations or ()) if spec is not None else []
        found = sorted(Path(folders[0]).glob("models/*/model.onnx")) if folders else []
        if not found:
            raise SystemExit("the model is missing; install it: pip install magika")
        config = json.loads((found[-1].parent / "config.min.json").read_text())
        if config["mid_size"] or config["use_inputs_at_offsets"]:
            raise SystemExit(
                f"{found[-1]} wants inputs that this example does not make; "
                'install a version that it knows: pip install "magika ~= 1.0"'
            )
        return cls(
            path=found[-1],
            labels=config["target_labels_space"],
            begin=config["beg_size"],
            end=config["end_size"],
            block=config["block_size"],
            padding=config["padding_token"],
            shortest=config["min_file_size_for_dl"],
        )

    def tokens(self, path: Path) -> np.ndarray | None:
        """Return the model's input for a file, or None if the file says too little.

        The first and the last block without white space at the outer ends, each cut or padded to
        its length.
        """
        size = path.stat().st_size
        with path.open("rb") as file:
            first = file.read(self.block).lstrip()[: self.begin]
            file.seek(max(0, size - self.block))
            last = file.read(self.block).rstrip()[-self.end :]
        if size < self.shortest or len(first) < self.shortest:
            return None
        row = np.full(self.begin + self.end, self.padding, np.int32)
        row[: len(first)] = np.frombuffer(first, np.uint8)
        row[len(row) - len(last) :] = np.frombuffer(last, np.uint8)
        return row

    def with_top_classes(self, count: int) -> bytes:
        """Return the model with a TopK in place of its list of all probabilities."""
        model = onnx.load(self.path)
        graph = model.graph
        scores = graph.output[0].name
        graph.initializer.append(numpy_helper.from_array(np.array([count], np.int64), "top_count"))
        graph.node.append(
            helper.make_node("TopK", [scores, "top_count"], ["probability", "label"], name="top")
        )
        del graph.output[:]
        graph.output.extend(
            [
                helper.make_tensor_value_info("probability", TensorProto.FLOAT, ["files", count]),
                helper.make_tensor_value_info("label", TensorProto.INT64, ["files", count]),
            ]
        )
        onnx.checker.check_model(model)
        return model.SerializeToString()


def one_thread() -> Any:
    """Return session options for one thread, so that the comparison is like with like."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    # The placement is printed, so the warning that it is mixed is not needed.
    options.log_severity_level = 3
    return options


def median_times(sessions: dict[str, Any], feed: dict[str, np.ndarray]) -> dict[str, float]:
    """Return each session's microseconds per run: the median of rounds taken in turn."""
    start = time.perf_counter()
    for session in sessions.values():
        session.run(None, feed)
    once = (time.perf_counter() - start) / len(sessions)
    repeat = max(1, int(ROUND_SECONDS / once))
    rounds: dict[str, list[float]] = {name: [] for name in sessions}
    for number in range(ROUNDS):
        for name in reversed(sessions) if number % 2 else sessions:
            start = time.perf_counter()
            for _ in range(repeat):
                sessions[name].run(None, feed)
            rounds[name].append((time.perf_counter() - start) / repeat * 1e6)
    return {name: statistics.median(times) for name, times in rounds.items()}


def classify(files: list[Path], device: str) -> dict[str, Any]:
    """Classify files and time it.

    Parameters
    ----------
    files : list of Path
    device : str
        As for `hipep.InferenceSession`.

    Returns
    -------
    dict
        Classes by file, the placement and the times, ready for JSON.
    """
    model = FileTypeModel.installed()
    rows = {path: model.tokens(path) for path in files}
    known = [path for path, row in rows.items() if row is not None]
    result: dict[str, Any] = {"files": {str(path): [] for path in files}, "model": str(model.path)}
    if not known:
        return result
    proto = model.with_top_classes(TOP)
    feed = {"bytes": np.stack([rows[path] for path in known])}
    cpu = onnxruntime.InferenceSession(
        proto, one_thread(), providers=["CPUExecutionProvider"], enable_fallback=0
    )
    with hipep.InferenceSession(proto, device=device, sess_options=one_thread()) as session:
        probabilities, labels = session.run(["probability", "label"], feed)
        for path, row, chosen in zip(known, probabilities, labels, strict=True):
            result["files"][str(path)] = [
                {"label": model.labels[index], "probability": float(value)}
                for index, value in zip(chosen, row, strict=True)
            ]
        reference = cpu.run(["label"], feed)[0]
        result["same_top_as_cpu"] = bool((reference[:, 0] == labels[:, 0]).all())
        result["device"] = session.device.id
        result["placement"] = session.report.summary()
        result["stats"] = session.stats.last.to_dict()
        result["microseconds"] = median_times({"hipep": session, "cpu": cpu}, feed)
    return result


def show(result: dict[str, Any]) -> None:
    """Print a result as tables."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    table = Table("file", *(f"{place}." for place in range(1, TOP + 1)))
    for path, classes in result["files"].items():
        cells = [f"{entry['label']}\n{entry['probability']:.2%}" for entry in classes]
        table.add_row(path, *(cells or ["too short to tell"]))
    console.print(table)
    if "microseconds" not in result:
        return
    times = result["microseconds"]
    console.print(f"\nplacement: {result['placement']}\n", highlight=False, markup=False)
    count = sum(bool(classes) for classes in result["files"].values())
    console.print(
        f"{count} files in one batch, one thread, median of {ROUNDS} rounds in turn: "
        f"hipep on {result['device']} {times['hipep']:.0f} us, "
        f"ONNX Runtime's CPU provider {times['cpu']:.0f} us",
        highlight=False,
        markup=False,
    )


def main(arguments: list[str] | None = None) -> int:
    """Run the program."""
    parser = argparse.ArgumentParser(description="Say what kind of content files hold.")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--device", default="host", help="auto, host, amd:0, ... (default: host)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(arguments)
    missing = [str(path) for path in options.files if not path.is_file()]
    if missing:
        parser.error(f"not a file: {', '.join(missing)}")
    result = classify(options.files, options.device)
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        show(result)
    if not result.get("same_top_as_cpu", True):
        print("the first classes differ from those of the CPU provider", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
