"""Counters of what a session did on its device."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hipep._session import SessionRecord


@dataclass(frozen=True, repr=False)
class RunStats:
    """What one run, or all runs of a session, did on the device.

    Attributes
    ----------
    launches : int
        Kernels started.
    readbacks : int
        Device-to-host reads made to decide shapes, branches or K.
    stream_syncs : int
        Host waits on a stream or an event, readbacks included.
    h2d_copies, h2d_bytes, d2h_copies, d2h_bytes : int
        Feeds, fetches and copies beside nodes of other providers.
    device_allocations : int
        Calls of the driver's allocator.
    plans_built, plan_hits : int
        Plans made, and plans found in the cache.
    """

    launches: int = 0
    readbacks: int = 0
    stream_syncs: int = 0
    h2d_copies: int = 0
    h2d_bytes: int = 0
    d2h_copies: int = 0
    d2h_bytes: int = 0
    device_allocations: int = 0
    plans_built: int = 0
    plan_hits: int = 0

    @classmethod
    def from_counters(cls, counters: Mapping[str, int]) -> RunStats:
        """Make the stats from a mapping of counter names to numbers."""
        return cls(**{field.name: int(counters.get(field.name, 0)) for field in fields(cls)})

    def to_dict(self) -> dict[str, int]:
        """Return the counters as a dictionary."""
        return asdict(self)

    def __sub__(self, other: RunStats) -> RunStats:
        """Return what happened between two readings."""
        if not isinstance(other, RunStats):
            return NotImplemented
        before = other.to_dict()
        return RunStats(**{name: count - before[name] for name, count in self.to_dict().items()})

    def __repr__(self) -> str:
        """Show the counters that are not zero."""
        shown = (f"{name}={count}" for name, count in self.to_dict().items() if count)
        return f"RunStats({', '.join(shown)})"


class SessionStats:
    """Counters of one session: ``last`` run of the calling thread, and ``total``."""

    def __init__(self, record: SessionRecord | None) -> None:
        self._record = record
        self._final = (RunStats(), RunStats())

    @property
    def last(self) -> RunStats:
        """The last finished run of the calling thread; zeros before the first."""
        record = self._record
        return self._final[0] if record is None else RunStats.from_counters(record.last())

    @property
    def total(self) -> RunStats:
        """All runs of the session so far."""
        record = self._record
        return self._final[1] if record is None else RunStats.from_counters(record.total())

    def _freeze(self) -> None:
        self._final = (self.last, self.total)
        self._record = None

    def __repr__(self) -> str:
        """Show both readings."""
        return f"SessionStats(last={self.last!r}, total={self.total!r})"
