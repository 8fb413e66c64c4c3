"""How many processes run the tests, and how many browser tests they have skipped."""

from __future__ import annotations

import os

import pytest

NO_BROWSER = "no Chromium"


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
