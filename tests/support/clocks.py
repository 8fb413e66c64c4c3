"""How tests deal with time: no test compares a time with a number, which a slow machine would fail.

What must be fast is shown to grow linearly. What must not hang is given `PATIENCE`.
"""

from __future__ import annotations

import gc
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")

PATIENCE = 120.0
"""Seconds that a test waits for what takes far less: only a hang takes as long."""

MARGIN = 10
"""How many times the cost of one part four parts may have: linear is 4, quadratic is 16."""
_ROUNDS = 20


def assert_linear(make: Callable[[int], T], work: Callable[[T], object]) -> None:
    """Assert that four times the input takes about four times the CPU time, not sixteen times.

    `make` returns an input of so many parts: 1 and 4. The least of several measurements counts, so
    that a busy machine is no reason to fail.
    """
    small, large = make(1), make(4)
    least_small = least_large = float("inf")
    for _ in range(_ROUNDS):
        least_small = min(least_small, cpu_seconds(work, small))
        least_large = min(least_large, cpu_seconds(work, large))
        if least_large < MARGIN * least_small:
            return
    raise AssertionError(
        f"{least_small:.4f} s of CPU for one part, {least_large:.4f} s for four: "
        f"{least_large / least_small:.1f} times as much"
    )


def cpu_seconds(work: Callable[[T], object], data: T) -> float:
    """Return the CPU seconds that this process takes for some work, without garbage collection.

    What a collection costs depends on what other tests have left in memory.
    """
    gc.disable()
    try:
        began = time.process_time()
        work(data)
        return time.process_time() - began
    finally:
        gc.enable()


@contextmanager
def patiently() -> Iterator[None]:
    """Fail instead of hanging: what blocks is interrupted after `PATIENCE` (POSIX only)."""

    def give_up(*_: object) -> None:
        raise AssertionError("this hangs")

    if not hasattr(signal, "SIGALRM"):
        yield
        return
    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
