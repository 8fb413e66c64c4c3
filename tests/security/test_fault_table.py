"""Every test named in the documentation exists, and every fault has a test."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parent.parent
PAGES = [
    TESTS.parent / "docs" / page for page in ("reference/faults.md", "explanation/security.md")
]


def test_every_test_named_in_the_documentation_exists():
    there = {
        name
        for module in TESTS.rglob("test_*.py")
        for name in re.findall(r"def (test_\w+)\(", module.read_text("utf-8"))
    }
    named = {
        name for page in PAGES for name in re.findall(r"`(test_\w+)`", page.read_text("utf-8"))
    }
    assert len(named) > 100
    assert named <= there


def test_every_fault_has_a_test():
    rows = [
        line
        for line in PAGES[0].read_text("utf-8").splitlines()
        if line.startswith("| ") and not line.startswith("| Case")
    ]
    assert len(rows) > 40
    assert [row for row in rows if "`test_" not in row] == []
