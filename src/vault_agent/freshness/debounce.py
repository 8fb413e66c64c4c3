"""Decides when a watched vault is looked at, and where: pure, with the time as an argument.

Times are seconds of one monotonic clock. Someone reports what happens (`add`, `demand`, `finish`),
asks when to come back (`due_at`), and takes what is due (`take`). One batch is at work at a time.
"""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

MAX_WAITING = 20_000
"""With more paths than this, the whole vault is looked at."""
SECONDS_BETWEEN_RUNS = 0.5
"""At most two publications a second."""
WAITS_AFTER_FAILURES = (1.0, 5.0, 30.0, 300.0)
WAIT_AFTER_CANCELLATION = 30.0
SCAN_SHARE = 20
"""A poll begins no sooner than so many times what the last one took."""
DEAF_WITHIN = 600.0
"""Two scans within this time that find what no event has named mean that events are lost."""
_KNOWN_CHANGES = frozenset({"overflow", "gap", "failure"})
"""Reasons to look at the whole vault that suggest changes."""


@dataclass(frozen=True, slots=True)
class Batch:
    """What one run looks at."""

    paths: tuple[str, ...] | None  # None: the whole vault
    removable: tuple[str, ...] | None  # notes that may be removed if they are missing; None: all
    reason: str  # "paths", or why the whole vault is looked at
    began: float
    since: float | None  # when the oldest change was seen
    count: int  # changes that were waiting


@dataclass(frozen=True, slots=True)
class _Demand:
    """A demand to look at the whole vault."""

    reason: str
    since: float
    due: float
    count: int = 0  # paths that it replaces
    final: bool = False  # whether every missing note is removed


class Debounce:
    """The changes of one vault that wait to be looked at."""

    def __init__(self, *, quiet: float, longest: float, grace: float) -> None:
        """Take the three times of `[watch]`, in seconds."""
        self._quiet = quiet
        self._longest = longest
        self._grace = grace
        self._seen: dict[str, tuple[float, float]] = {}  # first and last event; the oldest first
        self._missing: dict[str, float] = {}  # missing notes, and when they are removed
        self._demand: _Demand | None = None
        self._batch: Batch | None = None
        self._is_published = False
        self._failures = 0
        self._not_before = 0.0
        self.wholes: Counter[str] = Counter()  # looks at the whole vault, by reason

    def add(self, paths: Iterable[str], now: float) -> None:
        """Note events at these paths."""
        for path in paths:
            first, _ = self._seen.get(path, (now, now))
            self._seen[path] = first, now
        if len(self._seen) > MAX_WAITING:
            self.demand("overflow", now, settle=True)
        elif self._demand is not None and self._demand.reason == "overflow":
            self._settle(now)

    def demand(self, reason: str, now: float, *, after: float = 0.0, settle: bool = False) -> None:
        """Look at the whole vault `after` some seconds; with `settle`, once it is quiet."""
        firsts = [first for first, _ in self._seen.values()]
        asked = _Demand(reason, min([now, *firsts]), now + after, final=reason == "removal")
        if reason == "overflow":
            asked = replace(asked, count=len(self._seen))
            self._seen.clear()
        before = self._demand
        if before is not None:
            asked = replace(
                asked if before.reason in ("removal", "scan") else before,
                since=min(before.since, asked.since),
                due=min(before.due, asked.due),
                count=before.count + asked.count,
                final=before.final or asked.final,
            )
        self._demand = asked
        if settle:
            self._settle(now)

    @property
    def seen(self) -> dict[str, tuple[float, float]]:
        """The paths with events that wait, each with the times of its first and its last one."""
        return dict(self._seen)

    def drop(self, seen: Mapping[str, tuple[float, float]], known: Iterable[str]) -> None:
        """Forget the events `seen` at paths whose files are indexed already, or are about to be.

        A path with an event since then stays.
        """
        for path in known:
            if path in seen and self._seen.get(path) == seen[path]:
                del self._seen[path]

    def due_at(self) -> float | None:
        """Return when `take` has something to give, or None while nothing waits or runs."""
        if self._batch is not None:
            return None
        times = list(self._missing.values())
        if self._demand is not None:
            times.append(self._demand.due)
        if self._demand is None or self._demand.reason != "overflow":
            times += [
                min(last + self._quiet, first + self._longest)
                for first, last in self._seen.values()
            ]
        return max(min(times), self._not_before) if times else None

    def take(self, now: float) -> Batch | None:
        """Return what is due, and treat it as being at work until `finish`, `fail` or `release`."""
        due = self.due_at()
        if due is None or now < due:
            return None
        expired = tuple(path for path, until in self._missing.items() if until <= now)
        if self._demand is not None and self._demand.due <= now:
            demand, self._demand = self._demand, None
            self.wholes[demand.reason] += 1
            removable = None if demand.final else expired
            firsts = [first for first, _ in self._seen.values()]
            if demand.count or demand.reason in _KNOWN_CHANGES:
                firsts.append(demand.since)
            since = min(firsts, default=None)
            count = demand.count + len(self._seen)
            self._seen.clear()
            batch = Batch(None, removable, demand.reason, now, since, count)
        else:
            ready = [
                path
                for path, (first, last) in self._seen.items()
                if min(last + self._quiet, first + self._longest) <= now
            ]
            since = min((self._seen.pop(path)[0] for path in ready), default=None)
            # All missing notes are named, so that a renamed one is recognised by its content.
            paths = tuple(dict.fromkeys([*ready, *self._missing]))
            batch = Batch(paths, expired, "paths", now, since, len(ready))
        self._batch, self._is_published = batch, False
        self._not_before = now + SECONDS_BETWEEN_RUNS
        return batch

    def published(self) -> None:
        """Note that searches see what the batch at work has found."""
        self._is_published = True

    def finish(self, missing: Sequence[str], now: float, *, more_missing: bool = False) -> None:
        """Note that the batch at work has succeeded, and which notes it has not removed yet."""
        batch = self._taken()
        self._failures = 0
        until = batch.began + self._grace
        self._missing = {path: self._missing.get(path, until) for path in missing}
        if more_missing:
            self._missing.clear()
            self.demand("removal", now, after=self._grace)

    def fail(self, now: float) -> None:
        """Note that the batch at work has failed. The whole vault is looked at after a pause."""
        batch = self._taken()
        wait = WAITS_AFTER_FAILURES[min(self._failures, len(WAITS_AFTER_FAILURES) - 1)]
        self._failures += 1
        self._not_before = now + wait
        self.demand("failure", now, after=wait)
        self._keep_age(batch)

    def release(self, now: float) -> None:
        """Note that the batch at work was cancelled. It is done again after a pause."""
        batch = self._taken()
        self._not_before = now + WAIT_AFTER_CANCELLATION
        if batch.paths is None:
            self.demand(batch.reason, now)
            self._keep_age(batch)
            return
        since = now if batch.since is None else batch.since
        again = {path: (since, since) for path in batch.paths if path not in self._missing}
        self._seen = {**again, **self._seen}  # the oldest first

    def retry_now(self) -> None:
        """Forget the pause after a failure: someone has solved the problem."""
        self._failures = 0
        self._not_before = 0.0
        if self._demand is not None:
            self._demand = replace(self._demand, due=0.0)

    @property
    def has_failed(self) -> bool:
        """Whether the last batch has failed."""
        return self._failures > 0

    @property
    def pending(self) -> int:
        """The number of changes that searches do not see yet."""
        count = len(self._seen) + (self._demand.count if self._demand is not None else 0)
        batch = self._batch
        return count + (batch.count if batch is not None and not self._is_published else 0)

    def lag(self, now: float) -> float:
        """Return the age of the oldest change that searches do not see yet, in seconds.

        A missing note that stays for its grace is not counted.
        """
        times = [first for first, _ in itertools.islice(self._seen.values(), 1)]
        if self._batch is not None and not self._is_published and self._batch.since is not None:
            times.append(self._batch.since)
        demand = self._demand
        if demand is not None and (demand.count or demand.reason in _KNOWN_CHANGES):
            times.append(demand.since)
        return max(0.0, now - min(times)) if times else 0.0

    def _settle(self, now: float) -> None:
        demand = self._demand
        if demand is not None:
            due = min(now + self._quiet, demand.since + self._longest)
            self._demand = replace(demand, due=due)

    def _keep_age(self, batch: Batch) -> None:
        demand = self._demand
        if demand is not None and batch.since is not None:
            since, count = min(demand.since, batch.since), demand.count + batch.count
            self._demand = replace(demand, since=since, count=count)

    def _taken(self) -> Batch:
        batch, self._batch = self._batch, None
        if batch is None:
            raise RuntimeError("no batch is at work")
        return batch


class Hearing:
    """Judges whether the system's events can be relied on."""

    def __init__(self) -> None:
        self.missed = 0  # scans that found what no event had named
        self._last: float | None = None

    def miss(self, now: float) -> bool:
        """Note a scan that found such a change. Return whether the events are to be given up."""
        is_deaf = self._last is not None and now - self._last <= DEAF_WITHIN
        self.missed += 1
        self._last = None if is_deaf else now
        return is_deaf


def poll_pause(seconds: float, last_scan: float) -> float:
    """Return the pause before the next poll, after a scan that took `last_scan` seconds."""
    return max(seconds, SCAN_SHARE * last_scan)
