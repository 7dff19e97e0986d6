"""TopK on a device of hipep beside ONNX Runtime's CPU provider; see docs/performance.md."""

from __future__ import annotations

import argparse
import csv
import json
import math
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from hipep.bench.bandwidth import copy_bandwidth
from hipep.bench.case import Case
from hipep.bench.comparison import geometric_mean
from hipep.bench.environment import environment
from hipep.bench.measure import Protocol
from hipep.bench.run import Bench, Row
from hipep.bench.sides import hipep_side, peers
from hipep.bench.tables import markdown
from hipep.bench.top_k import top_k_case
from hipep.device import select_device

WIDTHS = (64, 1024, 4096, 16384, 131072, 1048576)
COUNTS = (1, 8, 50, 256, 2048)
QUICK = [(64, 8), (4096, 50), (131072, 50)]
HEADER = ("case", "hipep us", "spread", "CPU provider us", "spread", "ratio [95 %]", "verdict")


def random_cases(quick: bool) -> list[Case]:
    """Return random rows of each width and K."""
    pairs = [(width, k) for k in COUNTS for width in WIDTHS if width >= k]
    cases = [(top_k_case((1, width), k, "float32"), width, k) for width, k in pairs]
    return [
        replace(case, name=f"1x{width}, K={k}")
        for case, width, k in cases
        if not quick or (width, k) in QUICK
    ]


def worst_cases(quick: bool) -> list[Case]:
    """Return rows that are bad for one algorithm or another."""
    width = 4096 if quick else 131072
    case = top_k_case((1, width), 50, "float32")
    cases = []
    for name, row in worst_rows(width).items():
        renamed = replace(
            case, name=f"1x{width}, K=50, {name}", make_feeds=lambda _, x=row: {"x": x[None].copy()}
        )
        # The CPU provider has no order for NaN.
        ordered = not np.isnan(row).any()
        cases.append(renamed if ordered else replace(renamed, differences=lambda *_: ""))
    return cases


def worst_rows(width: int) -> dict[str, np.ndarray]:
    """Return one row for each way to be bad."""
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


def measured(title: str, bench: Bench, cases: list[Case]) -> Iterator[tuple[Row, Row]]:
    """Measure cases in one way, with progress on the error stream; both sides of each."""
    for case in cases:
        if sys.stderr.isatty():
            print(f"\r\033[K{title}: {case.name}", end="", file=sys.stderr, flush=True)
        ours, peer = bench.rows(case)
        yield ours, peer
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)


def cells(ours: Row, peer: Row) -> tuple[str, ...]:
    """Return both sides of a case as one row of a table."""
    times = [
        text
        for timing in (ours.timing, peer.timing)
        for text in (f"{timing.microseconds:.3g}", f"{timing.spread:.2g}")
    ]
    return (ours.case, *times, str(peer.ratio), peer.ratio.verdict)


def write(options: argparse.Namespace, facts: dict[str, str], records: list[dict]) -> None:
    """Write the files that were asked for."""
    if options.json:
        options.json.write_text(json.dumps({"environment": facts, "rows": records}, indent=2))
    if options.csv:
        with options.csv.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(records[0]))
            writer.writeheader()
            writer.writerows(records)


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
    device = select_device(options.device)
    sides = [hipep_side(device, 1), *peers("cpu", device, 1, with_torch=False)]
    copies = {place: copy_bandwidth(select_device(place)) for place in {s.place for s in sides}}
    command = " ".join(["python", "benchmarks/bench_top_k.py", *sys.argv[1:]])
    facts = environment([device], command)
    print("\n".join(f"- {name}: {text}" for name, text in facts.items()) + "\n")
    tables = {
        "Random rows, inputs and outputs bound": ("binding", random_cases(options.quick)),
        "Random rows, session.run": ("run", random_cases(options.quick)),
        "Worst inputs, bound": ("binding", worst_cases(options.quick)),
    }
    records, means = [], []
    for title, (way, cases) in tables.items():
        bench = Bench(sides, [way], Protocol(max(2, rounds), seconds), 0, copies)
        pairs = list(measured(title, bench, cases))
        table = markdown((HEADER, [cells(*pair) for pair in pairs]))
        print(f"### {title}\n\n{table}\n")
        mean = geometric_mean([peer.ratio for _, peer in pairs])
        means.append(f"{title}: geometric mean of the ratios {mean:.2f}")
        records += [{"table": title, **row.to_dict()} for pair in pairs for row in pair]
    print("\n".join(means))
    write(options, facts, records)
    return 0


if __name__ == "__main__":
    sys.exit(main())
