"""Every test named in the documentation exists."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parent.parent


def test_every_test_named_in_the_documentation_exists():
    existing = {
        name
        for module in TESTS.rglob("test_*.py")
        for name in re.findall(r"def (test_\w+)\(", module.read_text("utf-8"))
    }
    named = {
        name
        for page in (TESTS.parent / "docs").rglob("*.md")
        for name in re.findall(r"`(test_\w+)`", page.read_text("utf-8"))
    }
    assert named <= existing
