"""Measure cases on all sides: first the results, then the times."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hipep.bench.case import Case, Feeds
from hipep.bench.comparison import Ratio, Timing
from hipep.bench.measure import Protocol, Work, measure
from hipep.bench.sides import Prepared, Side
from hipep.differences import Array
from hipep.errors import HipepError

# The inputs of one side are together more than caches hold of them, but not too many to bind.
_ROTATED_BYTES = {False: 1 << 26, True: 1 << 28}
_FEWEST_INPUTS, _MOST_INPUTS, _CHECKED_INPUTS = 4, 512, 3


@dataclass(frozen=True)
class Row:
    """One side of one case in one way.

    Attributes
    ----------
    case, way, side : str
        What was measured.
    timing : Timing
    ratio : Ratio or None
        The side beside the first device; None for that device itself.
    bytes_moved : int
        The least that has to be read and written.
    copy_share : float or None
        Bytes in that time, as a share of what a copy on the same device reads and writes; None
        where only submitting was timed, or a copy was not.
    """

    case: str
    way: str
    side: str
    timing: Timing
    ratio: Ratio | None
    bytes_moved: int
    copy_share: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return everything in one level, ready for JSON and CSV."""
        ratio = self.ratio
        return {
            "case": self.case,
            "way": self.way,
            "side": self.side,
            "us": self.timing.microseconds,
            "spread_us": self.timing.spread,
            "ratio": ratio and ratio.ratio,
            "ratio_low": ratio and ratio.low,
            "ratio_high": ratio and ratio.high,
            "verdict": ratio and ratio.verdict,
            "bytes": self.bytes_moved,
            "copy_share": self.copy_share,
        }


@dataclass(frozen=True)
class Bench:
    """What all cases have in common.

    Attributes
    ----------
    sides : sequence of Side
        The first is the one that others are compared with.
    ways : sequence of str
    protocol : Protocol
    seed : int
    copies : mapping
        Bytes that a copy reads and writes in a second, by the place of a side, where known.
    progress : callable
        Called after each round.
    notes : list of str
        Grows by the sides that were left out, each with its reason.
    """

    sides: Sequence[Side]
    ways: Sequence[str]
    protocol: Protocol
    seed: int
    copies: Mapping[str, float]
    progress: Callable[[], object] = lambda: None
    notes: list[str] = field(default_factory=list)

    def rows(self, case: Case) -> Iterator[Row]:
        """Measure a case in every way."""
        feeds = self._feeds(case)
        with ExitStack() as opened:
            prepared = self._prepared(case, feeds, opened)
            present = [side for side in self.sides if side.name in prepared]
            for way in self.ways:
                works = {}
                for name, entry in prepared.items():
                    with _named(name, case):
                        works[name] = entry.work(way, feeds)
                moved = _check(case, way, feeds, prepared, works)
                times = measure(works, self.protocol, self.progress)
                first = times[self.sides[0].name]
                for side in present:
                    yield self._row(case, way, side, first, times[side.name], moved)

    def _prepared(
        self, case: Case, feeds: Sequence[Feeds], opened: ExitStack
    ) -> dict[str, Prepared]:
        found = {}
        for side in self.sides:
            try:
                with _named(side.name, case):
                    prepared = side.prepare(case)
                    opened.callback(prepared.close)
                    way = self.ways[0]
                    prepared.outputs(prepared.work(way, feeds[:1]), way, 0)
            except HipepError as error:
                if side.required:
                    raise
                self.notes.append(f"left out: {error}")
            else:
                found[side.name] = prepared
        return found

    def _feeds(self, case: Case) -> list[Feeds]:
        generator = np.random.default_rng(self.seed)
        first = case.make_feeds(generator)
        size = max(1, sum(array.nbytes for array in first.values()))
        budget = _ROTATED_BYTES[any(side.place != "host" for side in self.sides)]
        count = min(_MOST_INPUTS, max(_FEWEST_INPUTS, budget // size))
        return [first, *(case.make_feeds(generator) for _ in range(count - 1))]

    def _row(
        self,
        case: Case,
        way: str,
        side: Side,
        first: Sequence[float],
        times: Sequence[float],
        moved: int,
    ) -> Row:
        timing = Timing.of(times)
        share = None
        if way != "submit" and side.place in self.copies:
            share = moved / (timing.microseconds * 1e-6) / self.copies[side.place]
        ratio = None if side is self.sides[0] else Ratio.of(first, times)
        return Row(case.name, way, side.name, timing, ratio, moved, share)


def _check(
    case: Case,
    way: str,
    feeds: Sequence[Feeds],
    prepared: Mapping[str, Prepared],
    works: Mapping[str, Work],
) -> int:
    """Compare results with the first side's, and return the bytes that a call moves."""
    moved = 0
    for number in range(_CHECKED_INPUTS):
        expected: list[Array] | None = None
        for name, entry in prepared.items():
            with _named(name, case):
                found = entry.outputs(works[name], way, number)
            if expected is None:
                expected = found
                moved = case.bytes_moved(feeds[number], found)
            elif text := case.differences(feeds[number], expected, found):
                first = next(iter(prepared))
                raise HipepError(
                    f"{case.name}: {name} and {first} differ, so nothing was timed: {text}"
                )
    return moved


@contextmanager
def _named(side: str, case: Case) -> Iterator[None]:
    """Say which side failed at what: peers raise what they like."""
    try:
        yield
    except HipepError:
        raise
    except Exception as error:
        text = " ".join(str(error).split())
        raise HipepError(
            f"{side} cannot run {case.name}: {type(error).__name__}: {text}"
        ) from error
