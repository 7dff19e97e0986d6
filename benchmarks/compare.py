"""Measure two ways to do the same work in turn, and say which is faster."""

from __future__ import annotations

import platform
import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

RESAMPLES = 1000


@dataclass(frozen=True)
class Protocol:
    """How long a cell is measured.

    Attributes
    ----------
    rounds : int
        Paired rounds.
    seconds : float
        The time of one round of one side.
    calls : int
        The fewest calls in a round.
    """

    rounds: int = 9
    seconds: float = 0.1
    calls: int = 20


@dataclass(frozen=True)
class Cell:
    """One comparison.

    Attributes
    ----------
    name : str
        What was measured.
    ours, peer : float
        Microseconds: the median of the rounds' medians.
    ours_spread, peer_spread : float
        Half of the distance between the quartiles of the rounds.
    ratio, low, high : float
        Peer over ours, and its 95 % interval.
    """

    name: str
    ours: float
    ours_spread: float
    peer: float
    peer_spread: float
    ratio: float
    low: float
    high: float

    @property
    def verdict(self) -> str:
        """Whether ours is ``"ahead"``, ``"level"`` or ``"behind"``."""
        if self.low > 1:
            return "ahead"
        return "behind" if self.high < 1 else "level"

    def to_dict(self) -> dict[str, object]:
        """Return everything, ready for JSON."""
        return {**asdict(self), "verdict": self.verdict}


def compare(
    name: str,
    ours: Callable[[int], object],
    peer: Callable[[int], object],
    protocol: Protocol = Protocol(),
) -> Cell:
    """Measure two callables in turn.

    Parameters
    ----------
    name : str
        What is measured.
    ours, peer : callable
        Take the number of the call, to choose among inputs.
    protocol : Protocol

    Returns
    -------
    Cell
    """
    sides = {"ours": ours, "peer": peer}
    counts = {side: _calls(function, protocol) for side, function in sides.items()}
    times: dict[str, list[float]] = {side: [] for side in sides}
    for number in range(protocol.rounds):
        for side in reversed(sides) if number % 2 else sides:
            times[side].append(_round(sides[side], counts[side]))
    ratios = [peer / ours for ours, peer in zip(times["ours"], times["peer"], strict=True)]
    low, high = _interval(ratios)
    return Cell(
        name,
        statistics.median(times["ours"]),
        _spread(times["ours"]),
        statistics.median(times["peer"]),
        _spread(times["peer"]),
        statistics.median(ratios),
        low,
        high,
    )


def _calls(function: Callable[[int], object], protocol: Protocol) -> int:
    function(0)
    start = time.perf_counter()
    for call in range(3):
        function(call)
    once = (time.perf_counter() - start) / 3
    return max(protocol.calls, int(protocol.seconds / once))


def _round(function: Callable[[int], object], calls: int) -> float:
    """Return the median microseconds of one call, over batches long enough for the clock."""
    batch = max(1, calls // 20)
    samples = []
    call = 0
    while call < calls:
        start = time.perf_counter_ns()
        for _ in range(batch):
            function(call)
            call += 1
        samples.append((time.perf_counter_ns() - start) / batch / 1e3)
    return statistics.median(samples)


def _spread(values: Sequence[float]) -> float:
    low, _, high = statistics.quantiles(values, n=4)
    return (high - low) / 2


def _interval(ratios: Sequence[float]) -> tuple[float, float]:
    # The bootstrap of the median: no assumption about how times are distributed.
    generator = random.Random(0)
    medians = sorted(
        statistics.median(generator.choices(ratios, k=len(ratios))) for _ in range(RESAMPLES)
    )
    return medians[int(0.025 * RESAMPLES)], medians[int(0.975 * RESAMPLES)]


def markdown(cells: Sequence[Cell], peer: str) -> str:
    """Return cells as a Markdown table."""
    lines = [
        f"| case | hipep us | spread | {peer} us | spread | ratio [95 %] | verdict |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {cell.name} | {cell.ours:.3g} | {cell.ours_spread:.2g} | {cell.peer:.3g} "
        f"| {cell.peer_spread:.2g} | {cell.ratio:.2f} [{cell.low:.2f}, {cell.high:.2f}] "
        f"| {cell.verdict} |"
        for cell in cells
    ]
    return "\n".join(lines)


def geometric_mean(cells: Sequence[Cell]) -> float:
    """Return the geometric mean of the ratios."""
    return statistics.geometric_mean(cell.ratio for cell in cells)


def processor() -> str:
    """Return the name of the processor."""
    try:
        with open("/proc/cpuinfo") as file:
            names = [line.partition(":")[2] for line in file if line.startswith("model name")]
        return names[0].strip()
    except (OSError, IndexError):
        return platform.processor() or "unknown"
