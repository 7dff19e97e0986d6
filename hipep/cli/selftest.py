"""``hipep selftest``: every operator on a device beside the host, as a block for a report."""

from __future__ import annotations

import argparse
import faulthandler
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hipep.cli.env import gather
from hipep.device import Device, select_device
from hipep.errors import HipepError
from hipep.options import resolve
from hipep.selftest.floors import floors
from hipep.selftest.run import Outcome, run_all
from hipep.small_models import import_onnx

_FAILURES_SHOWN = 20
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

    @property
    def uncovered(self) -> list[str]:
        """What could not be tried."""
        return [text for outcome in self.outcomes for text in outcome.uncovered]

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
    options = parser.parse_args(words)
    return show(options.device, as_json=options.json)


def show(device: str, *, as_json: bool) -> int:
    """Run the self-test and print the block.

    Parameters
    ----------
    device : str
    as_json : bool
        Print JSON instead of text.

    Returns
    -------
    int
        0, or 1 if anything differed or failed.
    """
    import_onnx()
    # A driver that ends the process would leave no trace of where.
    faulthandler.enable()
    result = _run(select_device(device))
    print(json.dumps(result.to_dict(), indent=2) if as_json else "\n".join(_lines(result)))
    return 0 if result.to_dict()["passed"] else 1


def _run(device: Device) -> Result:
    outcomes = run_all(device, lambda op_type: print(f"testing {op_type}", file=sys.stderr))
    measured, problem = {}, ""
    try:
        print("measuring", file=sys.stderr)
        measured = floors(device)
    except (HipepError, RuntimeError) as error:
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
    lines += ["", f"{'operator':<22}{'models':>8}{'failed':>8}"]
    lines += [
        f"{outcome.op_type:<22}{outcome.cases:>8}{len(outcome.failures):>8}"
        for outcome in result.outcomes
    ]
    lines += ["", *(f"{name:<48}{value:>10.4g}" for name, value in result.floors.items())]
    if result.problem:
        lines.append(f"the floors could not be measured: {result.problem}")
    lines += _listed("not tried", result.uncovered) + _listed("failed", result.failures)
    count = sum(outcome.cases for outcome in result.outcomes)
    return [*lines, "", f"{len(result.failures)} of {count} models failed"]


def _listed(title: str, texts: list[str]) -> list[str]:
    if not texts:
        return []
    lines = ["", title, *(f"  {text}" for text in texts[:_FAILURES_SHOWN])]
    more = len(texts) - _FAILURES_SHOWN
    return [*lines, f"  and {more} more: --json has all"] if more > 0 else lines
