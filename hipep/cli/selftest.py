"""``hipep selftest``: every operator on a device beside the host, as a block for a report."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hipep.cli.env import gather
from hipep.device import Device, select_device
from hipep.errors import OptionError
from hipep.options import resolve
from hipep.selftest.floors import floors
from hipep.selftest.run import Outcome, lowering_rows, run_all
from hipep.small_models import import_onnx

_SHOWN = 3
_FACTS = ("hipep", "python", "platform")


@dataclass(frozen=True)
class Result:
    """What the self-test found."""

    device: Device
    facts: dict[str, Any]
    outcomes: list[Outcome]
    floors: dict[str, float]
    problem: str

    @property
    def failures(self) -> list[str]:
        """What differed or failed, of all operators."""
        return [text for outcome in self.outcomes for text in outcome.failures]

    def to_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return {
            "device": self.device.to_dict(),
            "environment": self.facts,
            "operators": [outcome.to_dict() for outcome in self.outcomes],
            "floors": self.floors,
            "floors_problem": self.problem,
            "passed": not (self.failures or self.problem),
        }


def main(words: Sequence[str]) -> int:
    """Run the verb without the packages of the command line program."""
    parser = argparse.ArgumentParser(prog="hipep selftest", description=__doc__)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--op", action="append", default=[])
    options = parser.parse_args(words)
    return show(options.device, options.op, as_json=options.json)


def show(device: str, operators: Sequence[str], *, as_json: bool) -> int:
    """Run the self-test and print the block.

    Parameters
    ----------
    device : str
    operators : sequence of str
        Those to test; all if empty.
    as_json : bool
        Print JSON instead of text.

    Returns
    -------
    int
        0, or 1 if anything differed or failed.
    """
    import_onnx()
    known = {row["op_type"] for row in lowering_rows()}
    for name in operators:
        if name not in known:
            raise OptionError(f"--op: hipep has no operator {name!r}; hipep ops lists them")
    result = _run(select_device(device), operators)
    print(json.dumps(result.to_dict(), indent=2) if as_json else "\n".join(_lines(result)))
    return 0 if result.to_dict()["passed"] else 1


def _run(device: Device, operators: Sequence[str]) -> Result:
    # Should a driver end the process, the last line says where.
    def progress(what: str) -> None:
        print(f"testing {what}", file=sys.stderr, flush=True)

    outcomes = run_all(device, operators, progress)
    measured, problem = {}, ""
    progress("launches and copies")
    try:
        measured = floors(device)
    except RuntimeError as error:
        problem = " ".join(str(error).split())
    return Result(device, gather(), outcomes, measured, problem)


def _lines(result: Result) -> list[str]:
    facts, device = result.facts, result.device
    lines = ["hipep selftest", *(f"{name:<14}{facts[name]}" for name in _FACTS)]
    lines += [f"{name:<14}{text}" for name, text in facts["packages"].items()]
    lines += [f"{name:<14}{value}" for name, value in device.to_dict().items()]
    if not device.is_gpu:
        options = resolve({})
        lines += [f"{name:<14}{options[name]}" for name in ("host_mode", "host_memory")]
    lines += [f"driver        {text}" for text in facts["drivers"]]
    lines += [f"variable      {name}={text}" for name, text in facts["variables"].items()]
    width = max(len(outcome.op_type) for outcome in result.outcomes) + 2
    lines += ["", f"{'operator':<{width}}{'models':>8}{'failed':>8}"]
    lines += [
        f"{outcome.op_type:<{width}}{outcome.cases:>8}{len(outcome.failures):>8}"
        for outcome in result.outcomes
    ]
    lines += ["", *(f"{name:<48}{value:>10.4g}" for name, value in result.floors.items())]
    if result.problem:
        lines.append(f"the floors could not be measured: {result.problem}")
    lines += _listed("not tried", [outcome.uncovered for outcome in result.outcomes])
    lines += _listed("failed", [outcome.failures for outcome in result.outcomes])
    count = sum(outcome.cases for outcome in result.outcomes)
    return [*lines, "", f"{len(result.failures)} of {count} models failed"]


def _listed(title: str, texts: list[list[str]]) -> list[str]:
    """List the first few of each operator."""
    if not any(texts):
        return []
    lines = ["", title]
    for own in texts:
        lines += [f"  {text}" for text in own[:_SHOWN]]
        if len(own) > _SHOWN:
            lines.append(f"  and {len(own) - _SHOWN} more of it: --json has all")
    return lines
