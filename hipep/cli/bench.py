"""``hipep bench``: devices of hipep beside other providers."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from hipep.bench.bandwidth import copy_bandwidth
from hipep.bench.case import Case
from hipep.bench.environment import environment
from hipep.bench.k_sources import KRow, k_row
from hipep.bench.measure import Protocol
from hipep.bench.model_case import model_case
from hipep.bench.operators import operator_cases
from hipep.bench.parameters import Parameters
from hipep.bench.run import Bench, Row
from hipep.bench.sides import WAYS, Side, hipep_side, peers
from hipep.bench.tables import Table, k_table, markdown, row_table
from hipep.device import Device, select_device
from hipep.device import devices as all_devices
from hipep.errors import OptionError
from hipep.feeds import parse_extents


@dataclass(frozen=True)
class Request:
    """The arguments of ``hipep bench``."""

    model: Path | None
    op: str | None
    shape: str
    k: str
    widths: str | None
    dtype: str
    dims: tuple[str, ...]
    integers_below: int
    tolerance: float | None
    devices: str
    peers: str | None
    ways: str
    rounds: int
    seconds: float
    threads: int
    seed: int
    json: Path | None
    csv: Path | None
    markdown: Path | None


@dataclass(frozen=True)
class Result:
    """What was measured."""

    facts: dict[str, str]
    rows: list[Row]
    k_rows: list[KRow]
    notes: list[str]


def show(request: Request) -> None:
    """Measure, print tables and write files."""
    _writable(request)
    result = measure_all(request)
    print("\n".join(f"- {name}: {text}" for name, text in result.facts.items()) + "\n")
    console = Console()
    for title, table in _tables(result):
        _print(console, title, table)
    for note in result.notes:
        print(f"hipep: {note}", file=sys.stderr)
    _write(request, result)


def measure_all(request: Request) -> Result:
    """Measure everything that was asked for."""
    devices = _devices(request.devices)
    ways = _ways(request.ways)
    cases, parameters, placement = _cases(request, devices[0])
    with_torch = all(case.torch is not None for case in cases)
    sides: list[Side] = [hipep_side(device, request.threads) for device in devices]
    sides += peers(request.peers, devices[0], request.threads, with_torch)
    protocol = Protocol(request.rounds, request.seconds)
    counted = parameters if request.op == "top_k" else None
    k_shapes = [(s, k) for k in counted.counts for s in counted.shapes] if counted else []
    places = {side.place for side in sides}
    copies = {entry.id: copy_bandwidth(entry) for entry in all_devices() if entry.id in places}
    steps = request.rounds * (len(cases) * len(ways) + len(k_shapes))
    with _progress(steps) as advance:
        bench = Bench(sides, ways, protocol, request.seed, copies, advance)
        rows = [row for case in cases for row in bench.rows(case)]
        k_rows = [
            k_row(devices[0], shape, k, parameters.dtype, protocol, request.seed, advance)
            for shape, k in k_shapes
        ]
    command = " ".join(["hipep", *sys.argv[1:]])
    facts = environment(devices, command) | {"threads": str(request.threads)}
    if placement:
        facts["placement"] = placement
    facts |= {f"copy on {place}": f"{rate / 1e9:.4g} GB/s" for place, rate in copies.items()}
    return Result(facts, rows, k_rows, list(dict.fromkeys(bench.notes)))


def _cases(request: Request, device: Device) -> tuple[Sequence[Case], Parameters, str]:
    parameters = Parameters.parse(request.shape, request.widths, request.k, request.dtype)
    if (request.model is None) == (request.op is None):
        raise OptionError("bench takes either a MODEL or --op NAME")
    if request.model is None:
        return operator_cases(request.op or "", parameters), parameters, ""
    extents = parse_extents(request.dims)
    case, placement = model_case(
        request.model, device, extents, request.integers_below, request.tolerance
    )
    return [case], parameters, placement


def _devices(text: str) -> list[Device]:
    return list(dict.fromkeys(select_device(name) for name in text.split(",")))


def _ways(text: str) -> list[str]:
    ways = list(dict.fromkeys(text.split(",")))
    for way in ways:
        if way not in WAYS:
            raise OptionError(f"--way: {way!r} is none of {', '.join(WAYS)}")
    return ways


def _writable(request: Request) -> None:
    """Find out before minutes are spent whether files can be written."""
    for path in (request.json, request.csv, request.markdown):
        if path is not None and not path.parent.is_dir():
            raise OptionError(f"{str(path)!r} cannot be written: its folder does not exist")


def _tables(result: Result) -> list[tuple[str, Table]]:
    tables = [("Times", row_table(result.rows))]
    if result.k_rows:
        tables.append(("Where K comes from", k_table(result.k_rows)))
    return tables


def _print(console: Console, title: str, table: Table) -> None:
    if not console.is_terminal:
        print(f"### {title}\n\n{markdown(table)}\n")
        return
    from rich.table import Table as Grid

    header, rows = table
    grid = Grid(*header, title=title)
    for row in rows:
        grid.add_row(*row)
    console.print(grid)


def _write(request: Request, result: Result) -> None:
    records = [row.to_dict() for row in result.rows]
    if request.json is not None:
        k_records = [row.to_dict() for row in result.k_rows]
        content = {
            "environment": result.facts,
            "rows": records,
            "k_sources": k_records,
            "notes": result.notes,
        }
        request.json.write_text(json.dumps(content, indent=2) + "\n")
    if request.csv is not None:
        with request.csv.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(records[0]))
            writer.writeheader()
            writer.writerows(records)
    if request.markdown is not None:
        facts = "\n".join(f"- {name}: {text}" for name, text in result.facts.items())
        parts = [f"### {title}\n\n{markdown(table)}" for title, table in _tables(result)]
        request.markdown.write_text("\n\n".join([facts, *parts]) + "\n")


@contextmanager
def _progress(steps: int) -> Iterator[Callable[[], object]]:
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("measuring", total=steps)
        yield lambda: progress.advance(task)
