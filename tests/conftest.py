"""How many processes run the tests, and how many browser tests they have skipped."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest
from tests.leaks import Open, Tasks, left_open
from tests.warm import AVAILABLE, Starter

if TYPE_CHECKING:
    from collections.abc import Iterator

NO_BROWSER = "no Chromium"


def pytest_configure() -> None:
    """Let Ctrl-C reach the tests and what they start even under `nohup`."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def warm_starts() -> Starter | None:
    """Return what starts processes from a warm parent, where the system can."""
    if not AVAILABLE:
        return None
    starter = Starter()
    starter.install()
    return starter


@pytest.fixture(scope="session")
def tasks_left() -> Tasks:
    """Return what collects the tasks that tests leave."""
    tasks = Tasks()
    tasks.watch()
    return tasks


@pytest.fixture(autouse=True)
def leaves_nothing(
    warm_starts: Starter | None, tasks_left: Tasks, request: pytest.FixtureRequest
) -> Iterator[None]:
    """Fail a test that leaves something open. Start processes warm unless it has `real_start`."""
    if warm_starts is not None:
        warm_starts.real_only = request.node.get_closest_marker("real_start") is not None
    before = Open.now()
    yield
    reap = warm_starts.reap_strays if warm_starts is not None else lambda: None
    left = [*left_open(before, reap), *tasks_left.take()]
    assert not left, "left open: " + "; ".join(left)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """Return one process more than there are cores: a test of servers mostly waits for them."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    usable = getattr(os, "sched_getaffinity", None)  # not on macOS or Windows
    return (len(usable(0)) if usable else os.cpu_count() or 1) + 1


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = terminalreporter.stats.get("skipped", [])
    without = sum(NO_BROWSER in str(report.longrepr) for report in skipped)
    if without:
        terminalreporter.write_line(
            f"{without} browser tests skipped: {NO_BROWSER}. `make browser` installs it."
        )
