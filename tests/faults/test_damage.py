"""Damaged files are detected. A rebuild repairs them. Nothing crashes."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import AbstractContextManager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.faults.damage import Finding, damage_some
from tests.support.clocks import PATIENCE
from tests.support.index_runs import Vault
from tests.support.waiting import eventually_async

from vault_agent.errors import IndexUnavailable
from vault_agent.indexing.protocol import Answer, Refused, Verified, Verify
from vault_agent.store.current import CurrentIndex
from vault_agent.vaults.health import Checks

FINE = {"harmless", "forgotten", "a changed row"}
FINE |= {f"refused {when}" for when in ("when opened", "by the check", "when read")}


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
    task = vault.task()
    index = CurrentIndex(vault.directory, vault=task.vault, fingerprint=task.fingerprint)
    await index.refresh()
    assert index.refusal is not None
    assert index.refusal.code == "INDEX_INCOMPATIBLE"
    with pytest.raises(IndexUnavailable, match="INDEX_INCOMPATIBLE"):
        await vault.index()
    assert vault.directory.database(1).exists()  # `current` may have named it
    await vault.index(rebuild=True)
    assert await vault.dump() == held
    await index.close()


def checks_of(index: Any, directory: Any, verify: Any) -> Checks:
    """Return checks for which `verify` stands in for the indexing process."""

    async def ask(question: Any) -> Answer | None:
        assert isinstance(question, Verify)
        answer: Answer = await verify()
        return answer

    vault: Any = SimpleNamespace(index=index, directory=directory, task=None, ask=ask)
    rest: Any = SimpleNamespace(whole=0)
    return Checks(vault, rest, rest, rest, rest)


class Swapped:
    """Fakes index and indexer: a run publishes a revision while the check reads another."""

    def __init__(self) -> None:
        self.meta: object = "revision 1"
        self.has_cut_vectors = False
        self.asked = 0

    async def verify(self) -> Answer:
        self.asked += 1
        if self.asked > 1:
            return Verified()
        self.meta = "revision 2"
        return Refused("INDEX_INCOMPATIBLE", "files are missing")


async def test_files_removed_by_a_run_are_not_reported_as_damaged():
    swapped = Swapped()
    # No folder: nothing in it may be put aside.
    await checks_of(swapped, None, swapped.verify).verify()
    assert swapped.asked == 2


async def test_a_damaged_generation_is_refused_at_once_and_put_aside_when_no_run_has_it_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    vault = Vault(tmp_path)
    vault.write("Note.md", "text")
    await vault.index()
    task = vault.task()
    index = CurrentIndex(vault.directory, vault=task.vault, fingerprint=task.fingerprint)
    await index.refresh()

    async def verify() -> Answer:
        return Refused("INDEX_INCOMPATIBLE", "The index is damaged.")

    tries = 0
    lock = vault.directory.writing

    def counted(*, wait: bool = True) -> AbstractContextManager[None]:
        nonlocal tries
        tries += 1
        return lock(wait=wait)

    with vault.directory.writing():  # as a run does
        monkeypatch.setattr(vault.directory, "writing", counted)
        checking = asyncio.create_task(checks_of(index, vault.directory, verify).verify())
        await eventually_async(lambda: tries > 2)
        assert index.refusal is not None
        assert vault.directory.database(1).exists()
        assert not checking.done()
    await asyncio.wait_for(checking, PATIENCE)
    assert not vault.directory.database(1).exists()
    assert (vault.directory.path / "damaged-1" / "index.db").exists()
    await index.close()


@pytest.mark.long
def test_a_thousand_damages_are_detected_and_repaired(tmp_path: Path):
    findings = damage_some(tmp_path, seed=11, count=1000)
    print(f"\n{len(findings)} damages:", Counter(finding.outcome for finding in findings))
    check(findings)
