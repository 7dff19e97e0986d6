"""Say which of two measured sides is faster."""

from __future__ import annotations

import random
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass

_RESAMPLES = 1000


@dataclass(frozen=True)
class Timing:
    """One side of a cell.

    Attributes
    ----------
    microseconds : float
        The median of the rounds' medians.
    spread : float
        Half of the distance between the quartiles of the rounds.
    """

    microseconds: float
    spread: float

    @classmethod
    def of(cls, times: Sequence[float]) -> Timing:
        """Summarise the rounds of a side."""
        low, _, high = statistics.quantiles(times, n=4)
        return cls(statistics.median(times), (high - low) / 2)


@dataclass(frozen=True)
class Ratio:
    """How many times as long a peer takes.

    Attributes
    ----------
    ratio : float
        Peer over ours: the median of the rounds' ratios.
    low, high : float
        Its 95 % interval.
    """

    ratio: float
    low: float
    high: float

    @classmethod
    def of(cls, ours: Sequence[float], peer: Sequence[float]) -> Ratio:
        """Compare rounds that were measured in pairs."""
        ratios = [theirs / own for own, theirs in zip(ours, peer, strict=True)]
        # The bootstrap of the median: no assumption about how times are distributed.
        generator = random.Random(0)
        medians = sorted(
            statistics.median(generator.choices(ratios, k=len(ratios))) for _ in range(_RESAMPLES)
        )
        low, high = medians[int(0.025 * _RESAMPLES)], medians[int(0.975 * _RESAMPLES)]
        return cls(statistics.median(ratios), low, high)

    @property
    def verdict(self) -> str:
        """Whether ours is ``"ahead"``, ``"level"`` or ``"behind"``."""
        if self.low > 1:
            return "ahead"
        return "behind" if self.high < 1 else "level"

    def to_dict(self) -> dict[str, object]:
        """Return everything, ready for JSON."""
        return {**asdict(self), "verdict": self.verdict}

    def __str__(self) -> str:
        """Show the ratio and its interval."""
        return f"{self.ratio:.2f} [{self.low:.2f}, {self.high:.2f}]"


def geometric_mean(ratios: Sequence[Ratio]) -> float:
    """Return the geometric mean of the ratios."""
    return statistics.geometric_mean(entry.ratio for entry in ratios)
