"""Measure several ways to do the same work in turn."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

# Calls between two waits of work that is only submitted: fewer than a driver's queue holds.
_SUBMITTED = 8


@dataclass(frozen=True)
class Protocol:
    """How long a cell is measured.

    Attributes
    ----------
    rounds : int
        Rounds, in each of which every side has its turn.
    seconds : float
        The time of one round of one side.
    calls : int
        The fewest calls in a round.
    """

    rounds: int = 9
    seconds: float = 0.1
    calls: int = 20


@dataclass(frozen=True)
class Work:
    """What is timed.

    Attributes
    ----------
    call : callable
        Takes the number of the call, to choose among inputs.
    settle : callable, optional
        Waits for what calls have only submitted; outside of the timed part.
    """

    call: Callable[[int], object]
    settle: Callable[[], object] | None = None


def measure(
    sides: Mapping[str, Work],
    protocol: Protocol = Protocol(),
    progress: Callable[[], object] = lambda: None,
) -> dict[str, list[float]]:
    """Measure sides in turn, in the reverse order in every other round.

    Parameters
    ----------
    sides : mapping
        Work by the name of its side.
    protocol : Protocol
    progress : callable
        Called after each round.

    Returns
    -------
    dict
        For each side the median microseconds of a call in each round.
    """
    counts = {name: _calls(work, protocol) for name, work in sides.items()}
    times: dict[str, list[float]] = {name: [] for name in sides}
    for number in range(protocol.rounds):
        for name in reversed(times) if number % 2 else times:
            times[name].append(_round(sides[name], counts[name]))
        progress()
    return times


def _calls(work: Work, protocol: Protocol) -> int:
    settle = work.settle or (lambda: None)
    work.call(0)
    settle()
    start = time.perf_counter()
    for call in range(3):
        work.call(call)
    settle()
    once = (time.perf_counter() - start) / 3
    return max(protocol.calls, int(protocol.seconds / once))


def _round(work: Work, calls: int) -> float:
    """Return the median over batches long enough for the clock."""
    batch = max(1, calls // 20)
    if work.settle is not None:
        batch = min(batch, _SUBMITTED)
    function, samples, call = work.call, [], 0
    while call < calls:
        start = time.perf_counter_ns()
        for _ in range(batch):
            function(call)
            call += 1
        samples.append((time.perf_counter_ns() - start) / batch / 1e3)
        if work.settle is not None:
            work.settle()
    return statistics.median(samples)
