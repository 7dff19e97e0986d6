"""Measured rows as tables."""

from __future__ import annotations

from collections.abc import Sequence

from hipep.bench.k_sources import KRow
from hipep.bench.parameters import written
from hipep.bench.run import Row

Table = tuple[tuple[str, ...], list[tuple[str, ...]]]

_ROW_HEADER = (
    "case",
    "way",
    "side",
    "us",
    "spread",
    "ratio [95 %]",
    "verdict",
    "GB/s",
    "of copy",
)
_K_HEADER = (
    "row width",
    "K",
    "static K us",
    "runtime K (host) us",
    "runtime K (device) us",
    "saved us",
    "readbacks",
)


def row_table(rows: Sequence[Row]) -> Table:
    """Return the header and the cells of rows."""
    return _ROW_HEADER, [_cells(row) for row in rows]


def k_table(rows: Sequence[KRow]) -> Table:
    """Return the header and the cells of rows about the source of K."""
    return _K_HEADER, [
        (
            str(row.shape[-1]) if set(row.shape[:-1]) <= {1} else written(row.shape),
            str(row.k),
            *(f"{t.microseconds:.2f} ± {t.spread:.2g}" for t in (row.static, row.host, row.device)),
            f"{row.saved:.2f}",
            str(row.readbacks),
        )
        for row in rows
    ]


def markdown(table: Table) -> str:
    """Return a table in Markdown."""
    header, rows = table
    lines = [f"| {' | '.join(header)} |", "|" + "---|" * len(header)]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(lines)


def _cells(row: Row) -> tuple[str, ...]:
    microseconds = row.timing.microseconds
    timed = row.way != "submit"
    return (
        row.case,
        row.way,
        row.side,
        f"{microseconds:.4g}",
        f"{row.timing.spread:.2g}",
        "" if row.ratio is None else str(row.ratio),
        "" if row.ratio is None else row.ratio.verdict,
        f"{row.bytes_moved / microseconds / 1e3:.3g}" if timed else "",
        f"{100 * row.copy_share:.3g} %" if row.copy_share is not None else "",
    )
