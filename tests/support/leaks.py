"""Fail the test that leaves something open, and say what.

Before and after each test, what this process has open is compared: descriptors, sockets, child
processes, threads and tasks. What fixtures of a module or of the session opened is there before.
Without this, a socket that is left is reported when the garbage collector finds it, in the middle
of some other test. Descriptors and processes are compared on Linux only.
"""

from __future__ import annotations

import asyncio
import gc
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

import pytest
from tests.support.processes import LISTED, children, command_line

_SECONDS_TO_SETTLE = 30.0
"""What was closed or killed may take a moment to be gone, and longer on a busy machine."""

_ONCE = ("/dev/null", "/dev/urandom", "anon_inode:[eventfd]")
"""Targets of descriptors that a library opens once for the whole process."""

OWN_FIXTURES = {"tasks_left", "module_leaves_nothing"}


class Open(NamedTuple):
    """What this process has open. Only what is new is looked at: this is done after each test."""

    descriptors: frozenset[int]
    processes: frozenset[int]
    threads: frozenset[threading.Thread]

    @classmethod
    def now(cls) -> Open:
        return cls(
            frozenset(_open_descriptors() if LISTED else ()),
            frozenset(children() if LISTED else ()),
            frozenset(threading.enumerate()),
        )

    def since(self, before: Open) -> list[str]:
        """Return descriptions of what was not open before."""
        threads = [thread for thread in self.threads - before.threads if thread.is_alive()]
        return [
            *_descriptors(self.descriptors - before.descriptors),
            *_processes(self.processes - before.processes),
            *(f"thread {thread.name}" for thread in threads),
        ]


class LeakCheck:
    """Compares what is open now with what is open when it is finished."""

    def __init__(self, tasks: Tasks) -> None:
        self._tasks = tasks
        self._before: Open | None = Open.now()

    def skip(self) -> None:
        """Compare nothing."""
        self._before = None

    def finish(self) -> None:
        """Raise an `AssertionError` that names what was left open."""
        left = self._tasks.take()
        if self._before is not None and Open.now().since(self._before):
            # What nobody refers to warns as it is collected, and the warning fails this test.
            gc.collect()
            left += _left_after_a_while(self._before)
        assert not left, "left open: " + "; ".join(left)


def _left_after_a_while(before: Open) -> list[str]:
    deadline = time.monotonic() + _SECONDS_TO_SETTLE
    while (left := Open.now().since(before)) and time.monotonic() < deadline:
        time.sleep(0.01)
    return left


def shared_scopes(item: pytest.Item) -> set[str]:
    """Return the scopes of what a test shares with others: its fixtures and its event loop."""
    fixtures = item._fixtureinfo.name2fixturedefs  # type: ignore[attr-defined]
    scopes = {
        definitions[-1].scope
        for name, definitions in fixtures.items()
        if definitions[-1].baseid.startswith("tests/") and name not in OWN_FIXTURES
    }
    if (marker := item.get_closest_marker("asyncio")) is not None:
        scopes.add(marker.kwargs.get("loop_scope", "function"))
    return scopes - {"function"}


class Tasks:
    """Collects the tasks that still run when their event loop ends."""

    def __init__(self) -> None:
        self.left: list[str] = []
        self._cancel: Callable[[asyncio.AbstractEventLoop], None] | None = None

    def watch(self) -> None:
        """Look at each loop that ends from now on."""
        self._cancel = asyncio.runners._cancel_all_tasks  # type: ignore[attr-defined]
        asyncio.runners._cancel_all_tasks = self._look  # type: ignore[attr-defined]

    def take(self) -> list[str]:
        """Return the tasks that were left since the last call."""
        left, self.left = self.left, []
        return left

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        assert self._cancel is not None
        for task in asyncio.all_tasks(loop):
            if type(task.get_coro()).__name__ == "async_generator_athrow":
                continue  # the loop itself closes a generator that nobody refers to
            name = getattr(task.get_coro(), "__qualname__", "")
            self.left.append(f"task {task.get_name()} of {name}")
        self._cancel(loop)


def _open_descriptors() -> list[int]:
    numbers = []
    for number in map(int, os.listdir("/proc/self/fd")):  # noqa: PTH208 - numbers
        with suppress(OSError):  # the listing's own, which a leak might take next
            os.fstat(number)
            numbers.append(number)
    return numbers


def _descriptors(numbers: frozenset[int]) -> list[str]:
    found = []
    # Python starts its tracker of resources once for the whole process.
    for number in sorted(numbers):
        try:
            target = os.readlink(f"/proc/self/fd/{number}")  # noqa: PTH115 - not a path
        except FileNotFoundError:  # that of the listing
            continue
        if not target.startswith(_ONCE):
            found.append(f"descriptor {number}: {target}")
    return found


def _processes(numbers: frozenset[int]) -> list[str]:
    found = []
    for child in sorted(numbers):
        line = command_line(child).rstrip(b"\0")
        found.append(f"process {child}: {line.replace(bytes(1), b' ').decode()[:200]}")
    return found
