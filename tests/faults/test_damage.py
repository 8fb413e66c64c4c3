"""Damaged files are refused and never served in part; a rebuild cures; nothing crashes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from tests.faults.damage import Finding, damage_some

if TYPE_CHECKING:
    from pathlib import Path

FINE = {"refused when opened", "refused by the check", "harmless"}


def check(findings: list[Finding]) -> None:
    """Assert that nothing damaged was served, and that all was cured."""
    for finding in findings:
        assert finding.outcome in FINE, finding
        assert finding.cured, finding
    assert any(finding.outcome.startswith("refused") for finding in findings)


def test_damage_to_any_file_is_refused_and_cured_by_a_rebuild(tmp_path: Path):
    check(damage_some(tmp_path, seed=7, count=20))


@pytest.mark.long
def test_a_thousand_damages_to_any_file_are_refused_and_cured(tmp_path: Path):
    findings = damage_some(tmp_path, seed=11, count=1000)
    print(f"\n{len(findings)} damages:", Counter(finding.outcome for finding in findings))
    check(findings)
