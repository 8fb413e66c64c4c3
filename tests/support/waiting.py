"""Wait for what happens by itself, and show that something does not happen.

No test sleeps and hopes. `eventually` waits until a condition holds, and `nothing_happens` proves
that whoever would have acted was awake: it waits for a later event that the same actor handles.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from typing import TypeVar

from tests.support.clocks import PATIENCE

T = TypeVar("T")

_FIRST_PAUSE, _LONGEST_PAUSE = 0.001, 0.05
_NOTHING = object()


def eventually(
    value: Callable[[], T],
    accept: Callable[[T], object] = bool,
    *,
    retry: tuple[type[Exception], ...] = (),
    seconds: float = PATIENCE,
) -> T:
    """Call `value` until `accept` is true of its result, and return this result.

    By default a true result is accepted. An exception in `retry` counts as "not yet", any other
    one fails the test at once.

    Raises:
        AssertionError: with the last result or exception, if `seconds` have passed.
    """
    __tracebackhide__ = True
    last: object = _NOTHING
    for pause in _pauses(seconds):
        try:
            last = result = value()
        except retry as error:
            last = error
        else:
            if accept(result):
                return result
        time.sleep(pause)
    raise _failure(value, last, seconds)


async def eventually_async(
    value: Callable[[], Awaitable[T] | T],
    accept: Callable[[T], object] = bool,
    *,
    retry: tuple[type[Exception], ...] = (),
    seconds: float = PATIENCE,
) -> T:
    """As `eventually`, while the event loop runs. `value` may be a coroutine function."""
    __tracebackhide__ = True
    last: object = _NOTHING
    for pause in _pauses(seconds):
        try:
            called = value()
            last = result = await called if inspect.isawaitable(called) else called
        except retry as error:
            last = error
        else:
            if accept(result):
                return result
        await asyncio.sleep(pause)
    raise _failure(value, last, seconds)


async def nothing_happens(value: Callable[[], T], *, then: Callable[[], Awaitable[object]]) -> None:
    """Assert that a value stays the same until a later event has been handled.

    `then` causes something that the same actor handles afterwards, and returns once it has been
    handled. So the actor was awake, and had its chance to act on what came before.
    """
    __tracebackhide__ = True
    before = value()
    await then()
    after = value()
    assert after == before, f"something happened: {before!r} became {after!r}"


def _pauses(seconds: float) -> Iterator[float]:
    """Return growing pauses in seconds until `seconds` have passed, and then one last try."""
    end, pause = time.monotonic() + seconds, _FIRST_PAUSE
    while time.monotonic() < end:
        yield pause
        pause = min(pause * 1.5, _LONGEST_PAUSE)
    yield 0.0


def _failure(value: Callable[[], object], last: object, seconds: float) -> AssertionError:
    name = getattr(value, "__qualname__", repr(value)).rpartition("<locals>.")[2]
    if name == "<lambda>":
        with suppress(OSError):  # its source is not a file
            name = " ".join(inspect.getsource(value).split())
    raised = " raised" if isinstance(last, Exception) else ":"
    return AssertionError(f"not within {seconds:g} s: {name}{raised} {last!r}")
