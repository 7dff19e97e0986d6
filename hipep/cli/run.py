"""``hipep run``: one model, once or many times."""

from __future__ import annotations

import json
import statistics
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hipep.errors import HipepError, OptionError
from hipep.feeds import ort_value, parse_extents, random_input, split_pair

if TYPE_CHECKING:
    from hipep.inference import InferenceSession

_VALUES_SHOWN = 8
_WARM_UP = 3
_LONG_SECONDS = 2.0


@dataclass(frozen=True)
class Request:
    """The arguments of ``hipep run``."""

    model: Path
    device: str
    inputs: tuple[str, ...]
    random: bool
    seed: int
    dims: tuple[str, ...]
    repeat: int
    strict: bool


def show(request: Request, *, as_json: bool) -> None:
    """Run the model and print what came out."""
    from hipep.inference import InferenceSession

    files = dict(split_pair(text, "--input", "NAME=FILE.npy") for text in request.inputs)
    with InferenceSession(request.model, device=request.device, strict=request.strict) as session:
        feeds = make_feeds(session, files, request)
        outputs, times = _timed(session, feeds, request.repeat, quiet=as_json)
        names = [output.name for output in session.get_outputs()]
        result = {
            "model": str(request.model),
            "device": session.device.id,
            "placement": session.report.summary(),
            "outputs": [_describe(*entry) for entry in zip(names, outputs, strict=True)],
            "stats": session.stats.last.to_dict(),
            "timing": _timing(times),
        }
    print(json.dumps(result, indent=2) if as_json else _text(result))


def make_feeds(
    session: InferenceSession, files: dict[str, str], request: Request
) -> dict[str, Any]:
    """Read the inputs of a session from files, and make up the others if asked to.

    Returns
    -------
    dict
        An ``onnxruntime.OrtValue`` for each input.
    """
    inputs = {entry.name: entry for entry in session.get_inputs()}
    unknown = [name for name in files if name not in inputs]
    if unknown:
        raise OptionError(f"the model has no input {unknown[0]!r}; it has {', '.join(inputs)}")
    missing = [entry for name, entry in inputs.items() if name not in files]
    if missing and not request.random:
        listed = ", ".join(f"{entry.name} {entry.type} {entry.shape}" for entry in missing)
        raise OptionError(f"no value for {listed}; give --input NAME=FILE.npy or --random")
    extents = parse_extents(request.dims)
    generator = np.random.default_rng(request.seed)
    feeds = {name: ort_value(_read(path, name)) for name, path in files.items()}
    return feeds | {
        entry.name: ort_value(random_input(entry, generator, extents)) for entry in missing
    }


def _read(path: str, name: str) -> np.ndarray[Any, Any]:
    try:
        array = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise HipepError(f"input {name!r}: {path!r} is no .npy file ({error})") from error
    if not isinstance(array, np.ndarray):
        raise HipepError(f"input {name!r}: {path!r} holds several arrays; give one .npy file")
    return array


def _timed(
    session: InferenceSession, feeds: dict[str, Any], repeat: int, quiet: bool
) -> tuple[list[Any], list[float]]:
    outputs: list[Any] = []
    last = 0.0
    for _ in range(_WARM_UP if repeat > 1 else 0):
        start = time.perf_counter()
        outputs = session.run_with_ort_values(None, feeds)
        last = time.perf_counter() - start
    times = []
    long = repeat * last > _LONG_SECONDS and not quiet
    for _ in _progress(repeat) if long else range(repeat):
        start = time.perf_counter()
        outputs = session.run_with_ort_values(None, feeds)
        times.append(time.perf_counter() - start)
    return outputs, times


def _progress(repeat: int) -> Any:
    from rich.console import Console
    from rich.progress import track

    return track(range(repeat), "running", console=Console(stderr=True), transient=True)


def _timing(times: list[float]) -> dict[str, float | int]:
    ordered = sorted(times)
    return {
        "runs": len(times),
        "median_ms": statistics.median(ordered) * 1e3,
        "p90_ms": ordered[min(len(ordered) - 1, int(0.9 * len(ordered)))] * 1e3,
        "min_ms": ordered[0] * 1e3,
    }


def _describe(name: str, value: Any) -> dict[str, Any]:
    from hipep.interop import to_numpy

    if not value.is_tensor():
        return {"name": name, "type": value.data_type()}
    array = to_numpy(value)
    first = array.reshape(-1)[:_VALUES_SHOWN]
    shown = first.astype(np.float32) if first.dtype.name == "bfloat16" else first
    # JSON has no NaN and no infinity.
    values = [
        entry if not isinstance(entry, float) or np.isfinite(entry) else str(entry)
        for entry in shown.tolist()
    ]
    return {
        "name": name,
        "type": value.data_type(),
        "shape": list(array.shape),
        "dtype": array.dtype.name,
        "values": values,
        "count": int(array.size),
    }


def _text(result: dict[str, Any]) -> str:
    lines = [result["placement"]]
    for output in result["outputs"]:
        if "shape" not in output:
            lines.append(f"{output['name']}: {output['type']}")
            continue
        dots = ", ..." if output["count"] > len(output["values"]) else ""
        values = ", ".join(
            f"{entry:.6g}" if isinstance(entry, float) else str(entry) for entry in output["values"]
        )
        lines.append(f"{output['name']}: {output['dtype']} {output['shape']} [{values}{dots}]")
    counters = ", ".join(f"{name} {count}" for name, count in result["stats"].items() if count)
    lines.append(f"last run: {counters or 'nothing on the device'}")
    timing = result["timing"]
    if timing["runs"] > 1:
        lines.append(
            f"{timing['runs']} runs: median {timing['median_ms']:.3f} ms, "
            f"p90 {timing['p90_ms']:.3f} ms, min {timing['min_ms']:.3f} ms"
        )
    else:
        lines.append(f"1 run, without warm-up: {timing['median_ms']:.3f} ms")
    return "\n".join(lines)
