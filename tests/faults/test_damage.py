"""Damaged files are detected. A rebuild repairs them. Nothing crashes."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from tests.faults.damage import Finding, damage_some, vectors_of
from tests.faults.embedder import MadeUp, settings
from tests.support.index_runs import Vault

from vault_agent.errors import IndexUnavailable
from vault_agent.indexing.embed import embed

FINE = {"harmless", "forgotten", "a changed row", "an earlier revision", "vectors of no chunk"}
FINE |= {f"refused {when}" for when in ("when opened", "when read")}


def check(findings: list[Finding]) -> None:
    """Assert that nothing damaged was served and all damage was repaired."""
    for finding in findings:
        assert finding.outcome in FINE, finding
        assert finding.cured, finding
    assert any(finding.outcome.startswith("refused") for finding in findings)


def test_damage_to_any_file_is_detected_and_a_rebuild_repairs_it(tmp_path: Path):
    check(damage_some(tmp_path, seed=7, count=20))


@pytest.mark.fault(
    "The index",
    "`current` holds garbage",
    "refused with `reindex`; no generation is removed before a rebuild is published",
)
@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"99\n", b"-1\n", b"1\n1\n"])
async def test_a_damaged_current_file_is_detected_and_repaired(tmp_path: Path, content: bytes):
    vault = Vault(tmp_path)
    vault.write("Note.md", "text")
    await vault.index()
    held = await vault.dump()
    (vault.directory.path / "current").write_bytes(content)
    index = vault.current()
    await index.refresh()
    assert index.refusal.code == "INDEX_INCOMPATIBLE"
    with pytest.raises(IndexUnavailable, match="INDEX_INCOMPATIBLE"):
        await vault.index()
    assert vault.directory.database(1).exists()  # `current` may have named it
    await vault.index(rebuild=True)
    assert await vault.dump() == held
    await index.close()


async def test_vectors_whose_rows_are_not_there_are_published_anew(tmp_path: Path):
    vault = Vault(tmp_path)
    vault.write("Note.md", "text")
    await vault.index()
    directory = str(vault.directory.path)
    await embed(directory, MadeUp(), settings(), vault.heard)
    expected = vectors_of(vault)
    with closing(sqlite3.connect(vault.directory.vectors)) as connection:
        connection.execute("UPDATE published SET rows = x'ffffff00'")
        connection.commit()
    assert vectors_of(vault) == {}
    await embed(directory, MadeUp(), settings(), vault.heard)
    assert vectors_of(vault) == expected


@pytest.mark.long
def test_a_thousand_damages_are_detected_and_repaired(tmp_path: Path):
    findings = damage_some(tmp_path, seed=11, count=1000)
    print(f"\n{len(findings)} damages:", Counter(finding.outcome for finding in findings))
    check(findings)
