"""Writes of an open vault: found by searches, told, off unless enabled."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.support.clocks import PATIENCE
from tests.support.waiting import eventually_async

from vault_agent.app import open_app
from vault_agent.config.settings import Config
from vault_agent.errors import Busy, NotFound, Unavailable
from vault_agent.markdown.edit import append
from vault_agent.model.identifiers import identify
from vault_agent.model.jobs import JobKind, JobState
from vault_agent.model.search import SearchQuery
from vault_agent.model.writing import LoggedWrite, Right, Write
from vault_agent.search.resolve import named_note
from vault_agent.store.directory import IndexDirectory
from vault_agent.vaults.open_vault import OpenVault

PATIENT_MS = round(PATIENCE * 1000)
"""A reply waits so long for the index."""
CREATE = Write(operation="create", right=Right.CREATE, wait_ms=PATIENT_MS)
APPEND = Write(operation="append", right=Right.APPEND, may_replan=True, wait_ms=PATIENT_MS)
WRITE = {"enabled": True, "folders": ["."], "quiet_seconds": 0}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "vault"
    made.mkdir()
    (made / "Bread.md").write_text("# Bread\n\nflour\n")
    return made


@asynccontextmanager
async def opened(root: Path, **sections: Any) -> AsyncIterator[OpenVault]:
    """Open a vault and wait until its first jobs have ended and it may be written."""
    config = Config(
        vault={"root": root},
        index={"dir": root.parent / "data"},
        **{"write": WRITE, **sections},
    )
    async with open_app(config) as app:
        vault = app.vaults.default
        if running := vault.jobs.running:
            async for job in vault.jobs.watch(running.id):
                last = job
            assert last.state is JobState.SUCCEEDED, last
        if config.write.enabled:
            await vault.writer.ready()
        yield vault


async def found(vault: OpenVault, text: str) -> list[str]:
    return [hit.path for hit in (await vault.search(SearchQuery(text))).results]


@pytest.mark.fault(
    "Writing",
    "a note is read that was just made, and the index is late",
    "the read waits for the index, and finds the note",
)
async def test_a_note_that_was_just_made_is_there(root: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("vault_agent.vaults.index_queue.DEFAULT_WAIT_MS", PATIENT_MS)
    async with opened(root) as vault:
        late = replace(CREATE, wait_ms=0)
        made = await vault.writer.create("New/Jam.md", late, b"quinces\n")
        assert not made.index.indexed
        note = await vault.reader.read(lambda now: now.read(named_note, identify("New/Jam.md")))
        assert note.path == "New/Jam.md"
        await vault.writer.create("Other.md", late, b"plums\n")
        with pytest.raises(NotFound, match="NOTE_NOT_FOUND"):
            await vault.reader.read(lambda now: now.read(named_note, identify("None.md")))


async def test_a_reply_waits_until_searches_find_the_change(root: Path):
    async with opened(root) as vault:
        made = await vault.writer.create("New/Jam.md", CREATE, b"quinces\n")
        assert made.index.indexed
        assert made.warnings == ()
        assert await found(vault, "quinces") == ["New/Jam.md"]
        await vault.writer.edit("Bread.md", APPEND, lambda note: append(note, "semolina\n"))
        assert await found(vault, "semolina") == ["Bread.md"]
        remove = Write(operation="x", right=Right.EDIT, wait_ms=PATIENT_MS)
        moved = await vault.writer.remove("Bread.md", remove)
        assert moved.index.indexed
        assert await found(vault, "semolina") == []


async def test_a_reply_that_waits_no_longer_says_so(root: Path):
    async with opened(root) as vault:
        at_once = Write(operation="create", right=Right.CREATE, wait_ms=0)
        made = await vault.writer.create("Jam.md", at_once, b"quinces\n")
        assert not made.index.indexed
        assert [each.code for each in made.warnings] == ["INDEX_PENDING"]
        second = await vault.writer.create("Pie.md", CREATE, b"apples\n")  # the same revision
        assert second.index.indexed
        assert await found(vault, "quinces") == ["Jam.md"]


async def test_a_write_waits_for_a_job_and_is_no_job(root: Path):
    async with opened(root) as vault:
        jobs = len(await vault.jobs.list())
        job = await vault.submit(JobKind.REINDEX)
        made = await vault.writer.create("Jam.md", CREATE, b"quinces\n")
        assert made.index.indexed or [w.code for w in made.warnings] == ["INDEX_PENDING"]
        async for _ in vault.jobs.watch(job.id):
            pass
        await eventually_async(lambda: not vault.checks._queue.is_busy)
        assert await found(vault, "quinces") == ["Jam.md"]
        assert len(await vault.jobs.list()) == jobs + 1


async def test_own_writes_do_not_make_the_index_stale(root: Path):
    async with opened(root) as vault:
        await vault.writer.create("Jam.md", CREATE, b"quinces\n")
        await eventually_async(lambda: not vault.checks._queue.is_busy)
        vault.checks._next_comparison = 0.0
        answer = await vault.search(SearchQuery("quinces"))
        await eventually_async(lambda: not vault.checks._comparing)
        answer = await vault.search(SearchQuery("quinces"))
        assert [each.code for each in answer.warnings] == []
        (root / "Bread.md").write_text("# Bread\n\nmore flour\n")

        async def is_stale() -> bool:
            vault.checks._next_comparison = 0.0  # nothing is compared while a run follows a write
            await vault.search(SearchQuery("quinces"))
            await eventually_async(lambda: not vault.checks._comparing)
            return vault.checks.stale

        await eventually_async(is_stale)  # somebody else's change is noticed


@pytest.mark.skipif(sys.platform == "win32", reason="the watch starts too slowly there")
async def test_the_watch_publishes_nothing_for_own_writes(root: Path):
    async with opened(root, watch={"enabled": True}) as vault:
        await eventually_async(lambda: vault.watch.status().last_scan_at)
        for number in range(5):
            await vault.writer.create(f"{number}.md", CREATE, b"quinces\n")
        before = vault.checks._core.index.meta
        assert before is not None
        (root / "Bread.md").write_text("# Bread\n\nsemolina\n")
        await eventually_async(
            lambda: found(vault, "semolina"), lambda paths: paths == ["Bread.md"]
        )
        await eventually_async(lambda: not vault.watch.status().pending)
        after = vault.checks._core.index.meta
        assert after.revision == before.revision + 1


async def test_writes_are_news(root: Path):
    async with opened(root) as vault:
        news = vault.events.follow(vault.events.last_id)
        made = await vault.writer.create("Jam.md", CREATE, b"quinces\n")
        while not isinstance(item := (await anext(news)).item, LoggedWrite):
            pass
        assert (item.write_id, item.changes[0].path) == (made.write_id, "Jam.md")
        await news.aclose()


@pytest.mark.fault(
    "Writing",
    "a second server",
    "`INDEX_LOCKED`",
)
async def test_a_second_server_does_not_write(root: Path, tmp_path: Path):
    async with opened(root) as vault:
        with pytest.raises(Busy, match="INDEX_LOCKED"), vault._core.directory.changing_notes():
            pass
    directory = IndexDirectory(next((tmp_path / "data/indexes").iterdir()))
    with directory.changing_notes(), pytest.raises(Busy, match="INDEX_LOCKED"):
        async with opened(root):
            pass


@pytest.mark.fault(
    "Writing",
    "a damaged log of writes, or one of a newer version",
    "`WRITE_LOG_DAMAGED`, `STATE_TOO_NEW`: nothing is written, the log keeps its bytes, notes are"
    " read",
)
async def test_a_damaged_log_stops_writing_and_not_reading(root: Path, tmp_path: Path):
    async with opened(root) as vault:
        await vault.writer.create("Rye.md", CREATE, b"rye\n")
    folder = next((tmp_path / "data/indexes").iterdir())
    kept = sorted((folder / "writes/before").iterdir())
    assert kept
    (folder / "writes.db").write_bytes(b"SQLite format 3\0" + b"damage" * 1000)
    config = Config(vault={"root": root}, index={"dir": tmp_path / "data"}, write=WRITE)
    async with open_app(config) as app:
        vault = app.vaults.default
        with pytest.raises(Unavailable, match="WRITE_LOG_DAMAGED"):
            _ = vault.writer
        health = await vault.health()
        assert health.write.state == "unsupported"
        assert "WRITE_LOG_DAMAGED" in [warning.code for warning in health.warnings]
    assert sorted((folder / "writes/before").iterdir()) == kept
