"""On which systems a test runs. A test that is left out on a system says why."""

from __future__ import annotations

import sys

import pytest

NO_TERMINALS = "pseudo-terminals are POSIX"


def posix(reason: str) -> pytest.MarkDecorator:
    """Run the test on Linux and macOS only."""
    return pytest.mark.skipif(sys.platform == "win32", reason=reason)


def linux(reason: str) -> pytest.MarkDecorator:
    """Run the test on Linux only."""
    return pytest.mark.skipif(sys.platform != "linux", reason=reason)


STRATEGIES = [
    pytest.param("descriptor", marks=posix("folders have no descriptors there")),
    "portable",
]
"""The ways to open files of a vault that this system has."""
