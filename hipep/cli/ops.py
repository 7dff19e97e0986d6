"""``hipep ops``: the operators, from the lowering table."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from hipep._lowering import LoweringRow

_HEADER = ("operator", "opset", "dtypes", "note")


def rows() -> list[tuple[str, str, str, str]]:
    """Return operator, opset, dtypes and note of each row of the lowering table."""
    return [
        (
            _qualified(row["domain"], row["op_type"]),
            _window(row["since"], row["until"]),
            ", ".join(row["dtypes"]),
            row["note"],
        )
        for row in _table()
    ]


def markdown(table: Iterable[tuple[str, ...]]) -> str:
    """Return rows as a Markdown table."""
    lines = [f"| {' | '.join(_HEADER)} |", "|" + "---|" * len(_HEADER)]
    for row in table:
        cells = (cell.replace("|", "\\|") for cell in row)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def show(console: Console, *, as_json: bool, as_markdown: bool) -> None:
    """Print the operators."""
    if as_json:
        print(json.dumps(_table(), indent=2))
    elif as_markdown:
        print(markdown(rows()))
    else:
        from rich.table import Table

        table = Table(*_HEADER)
        for row in rows():
            table.add_row(*row)
        console.print(table)


def _table() -> list[LoweringRow]:
    # The rows add themselves to the table when their modules are imported.
    importlib.import_module("hipep.ops")
    from hipep import _lowering

    return _lowering.table()


def _window(since: int, until: int) -> str:
    if since == until:
        return str(since)
    return f"{since}-{until}" if until else f"{since}+"


def _qualified(domain: str, op_type: str) -> str:
    return op_type if domain in ("", "ai.onnx") else f"{domain}.{op_type}"
