"""``hipep inspect``: the placement of a model, and the reasons."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from hipep.errors import HipepError
from hipep.report import PlacementReport


def inspect_model(model: Path, device: str, placement: str) -> tuple[PlacementReport, str]:
    """Return the report of a model, and why it could not be loaded (empty if it was)."""
    from hipep.inference import InferenceSession

    try:
        with InferenceSession(model, device=device, placement=placement) as session:
            return session.report, ""
    except HipepError as error:
        # Placement comes before the checks that refuse a session, so there may be a report.
        if error.report is None or not error.report.nodes:
            raise
        return error.report, str(error)


def show(model: Path, *, device: str, placement: str, html: Path | None, as_json: bool) -> None:
    """Print the report of a model."""
    report, problem = inspect_model(model, device, placement)
    if html is not None:
        html.write_text(report.to_html(), encoding="utf-8")
    if as_json:
        print(json.dumps(report.to_dict() | {"problem": problem}, indent=2))
        return
    print(report.to_text())
    if html is not None:
        print(f"\nwritten: {html}")
    if problem:
        print(f"hipep: the session itself cannot be made: {problem}", file=sys.stderr)
