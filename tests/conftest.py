"""Says in one line how many browser tests were skipped, however many processes ran them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

NO_BROWSER = "no Chromium"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = terminalreporter.stats.get("skipped", [])
    without = sum(NO_BROWSER in str(report.longrepr) for report in skipped)
    if without:
        terminalreporter.write_line(
            f"{without} browser tests skipped: {NO_BROWSER}. `make browser` installs it."
        )
