"""The command line program ``hipep``."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

_EXTRA = ("typer", "rich", "click", "shellingham")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program.

    Parameters
    ----------
    arguments : sequence of str, optional
        Instead of ``sys.argv[1:]``.

    Returns
    -------
    int
        The exit status.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return _dispatch(words)
    except Exception as error:
        return _fail(words, error)


def _dispatch(words: list[str]) -> int:
    try:
        from hipep.cli.app import app
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in _EXTRA:
            raise
        return _without_extra(words, error.name or "")
    try:
        app(words, prog_name="hipep")
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    return 0


def _without_extra(words: list[str], missing: str) -> int:
    if words[:1] == ["env"] and set(words[1:]) <= {"--json"}:
        from hipep.cli.env import show

        return show(as_json="--json" in words)
    if words[:1] == ["selftest"]:
        from hipep.cli.selftest import main as selftest

        return selftest(words[1:])
    wanted = words[0] if words and not words[0].startswith("-") else "the command line"
    print(f"hipep: {wanted} needs {missing}: pip install 'hipep[cli]'", file=sys.stderr)
    return 2


def _fail(words: list[str], error: Exception) -> int:
    from hipep.errors import HipepError

    kind = type(error).__name__
    text = " ".join(str(error).split())
    line = text if isinstance(error, (HipepError, OSError)) and text else f"{kind}: {text}"
    if "--json" in words:
        print(json.dumps({"error": {"type": kind, "message": text}}, indent=2))
    print(f"hipep: error: {line}", file=sys.stderr)
    return 1
