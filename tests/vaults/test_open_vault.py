"""A vault opened in this process with a real indexing process."""

from __future__ import annotations

import asyncio
import gc
import os
import sqlite3
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.support import local_model as misbehaviour
from tests.support.clocks import PATIENCE
from tests.support.local_model import LocalModel
from tests.support.processes import children, command_line
from tests.support.waiting import eventually_async, nothing_happens

from vault_agent.app import open_app
from vault_agent.config.settings import Config
from vault_agent.errors import Failed, IndexUnavailable, Unavailable
from vault_agent.indexing.graph_layout import read_positions
from vault_agent.indexing.protocol import Compare, EmbeddingCounts, IndexSpec, UpdateIndex
from vault_agent.model.health import Health, Revision
from vault_agent.model.identifiers import identify
from vault_agent.model.jobs import Job, JobKind, JobState, Trigger
from vault_agent.model.search import Hit, SearchQuery
from vault_agent.model.writing import IndexState
from vault_agent.search.note_file import read_whole
from vault_agent.store.current import Snapshot
from vault_agent.store.failures import damaged
from vault_agent.system.crash import CrashReport
from vault_agent.vault.paths import Exclusions
from vault_agent.vaults.indexer import Indexer
from vault_agent.vaults.jobs import IndexBody
from vault_agent.vaults.open_vault import OpenVault

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes as Linux has them")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "vault"
    made.mkdir()
    (made / "Bread.md").write_text("# Bread\n\nflour\n")
    (made / "jar.png").write_bytes(b"\x89PNG")
    return made


@asynccontextmanager
async def opened(root: Path, **index: Any) -> AsyncIterator[OpenVault]:
    """Open a vault and wait until its first jobs have ended."""
    config = Config(vault={"root": root}, index={"dir": root.parent / "data", **index})
    async with open_app(config) as app:
        await settled(app.vaults.default)
        yield app.vaults.default


async def settled(vault: OpenVault) -> None:
    if running := vault.jobs.running:
        async for job in vault.jobs.watch(running.id):
            last = job
        assert last.state is JobState.SUCCEEDED, last


def descriptors() -> int:
    gc.collect()
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - numbers


@pytest.mark.fault(
    "HTTP and access",
    "requests are cancelled while files are opened",
    "nothing stays open",
)
@LINUX
@pytest.mark.parametrize("call", ["note", "open_attachment"])
async def test_cancelled_calls_leave_nothing_open(root: Path, call: str):
    async with opened(root) as vault:

        async def once() -> None:
            if call == "note":
                await vault.read_files(read_whole, identify("Bread.md"), allow_large=False)
            else:
                with await vault.open_attachment("jar.png", allow_large=False):
                    pass

        await once()
        before = descriptors()
        for turn in range(300):
            task = asyncio.create_task(once())
            for _ in range(turn % 7):
                await asyncio.sleep(0)
            await asyncio.sleep(turn % 10 / 10_000)
            task.cancel()
            await asyncio.wait([task])
        # The loop's own threads may have started.
        await eventually_async(descriptors, lambda count: count <= before + 2)


async def test_a_run_of_paths_is_searchable_and_not_a_job(root: Path):
    async with opened(root) as vault:
        jobs = await vault.jobs.list()
        (root / "New.md").write_text("# New\n\nquinces\n")
        served: list[IndexState] = []
        await vault.runs.index_paths(["New.md"], served.append)
        assert (await vault.search(SearchQuery("quinces"))).results
        assert await vault.jobs.list() == jobs
        state = served[-1]
        assert state.generation is not None
        assert state.revision is not None
        await vault.runs.wait_for(state.generation, state.revision)  # it has already


async def test_waiting_for_a_revision_ends_with_the_run_that_publishes_it(root: Path):
    async with opened(root) as vault:
        meta = vault._core.index.meta
        waiting = asyncio.create_task(vault.runs.wait_for(meta.generation, meta.revision + 1))
        await asyncio.sleep(0.05)
        assert not waiting.done()
        (root / "New.md").write_text("quinces")
        await vault.runs.index_paths(["New.md"])
        await asyncio.wait_for(waiting, PATIENCE)


def processes() -> set[int]:
    """Return the child processes of this one."""
    found: set[int] = set()
    pending = [os.getpid()]
    while pending:
        parent = pending.pop()
        below = children(parent)
        pending += below
        found |= below
    return found


@LINUX
async def test_a_closed_vault_leaves_no_process(root: Path):
    before = processes()
    async with opened(root) as vault:
        await asyncio.gather(vault.submit(JobKind.INDEX), vault.search(SearchQuery("flour")))
    left = processes() - before
    # Python's resource tracker ends with this process.
    assert not [pid for pid in left if b"resource_tracker" not in command_line(pid)]


async def test_the_first_index_run_has_the_start_as_trigger(root: Path):
    async with opened(root) as vault:
        [job] = await vault.jobs.list()
    assert job.trigger is Trigger.START


async def test_who_hears_of_a_revision_is_told_when_it_was_indexed(root: Path):
    async with opened(root) as vault:
        for change in (
            vault.runs.index_changes,
            lambda: vault.submit(JobKind.INDEX),
            lambda: vault.submit(JobKind.REINDEX),
        ):
            (root / "Bread.md").write_text(f"{(root / 'Bread.md').read_text()}rye\n")
            news = vault.events.follow(vault.events.last_id)
            vault.runs.indexed_at = None
            running = asyncio.ensure_future(change())
            async for each in news:
                if isinstance(each.item, Revision):
                    assert vault.runs.indexed_at is not None
                    break
            await running
            await settled(vault)


@pytest.mark.parametrize("page", [True, False])
async def test_the_web_page_has_its_graph_laid_out_with_the_first_index(root: Path, page: bool):
    config = Config(
        vault={"root": root}, index={"dir": root.parent / "data"}, web={"enabled": page}
    )
    async with open_app(config) as app:
        vault = app.vaults.default
        await settled(vault)
        file = vault.index_folder / "graph.positions"
        if page:
            await eventually_async(lambda: asyncio.to_thread(read_positions, file))
            return

        async def indexed_again() -> None:
            (root / "New.md").write_text("[[Bread]]")
            await vault.submit(JobKind.INDEX)
            await settled(vault)

        await nothing_happens(file.exists, then=indexed_again)


@asynccontextmanager
async def real_keeper() -> AsyncIterator[tuple[Indexer, list[tuple[str, CrashReport]]]]:
    crashes: list[tuple[str, CrashReport]] = []
    keeper = Indexer(lambda *crash: crashes.append(crash))
    try:
        yield keeper, crashes
    finally:
        await keeper.close()


SPEC = IndexSpec(
    root="/nowhere",
    directory="/\0secret canary",  # no folder can have this name
    identity="id",
    exclusions=Exclusions(),
    max_note_bytes=1,
    parallel=1,
)


@pytest.mark.fault(
    "Jobs",
    "any process crashes",
    "the log has the error's type and our lines, never its message",
)
async def test_a_crash_of_the_indexing_process_is_reported_by_type_and_line_only():
    async with real_keeper() as (keeper, crashes):
        with pytest.raises(Failed, match="INDEXER_FAILED") as failure:
            await keeper.run(UpdateIndex(SPEC), lambda _: None)
        assert "ValueError at vault_agent.system.files:" in failure.value.message
        [(process, report), *_] = crashes
        assert (process, report.error_type) == ("keeper", "ValueError")
        assert report.frames[0].startswith("vault_agent.indexing.keeper:")
        assert "canary" not in f"{failure.value.message} {crashes}"


async def test_a_missing_vault_raises_its_own_error(tmp_path: Path):
    spec = replace(SPEC, directory=str(tmp_path / "index"))
    async with real_keeper() as (keeper, crashes):
        with pytest.raises(Exception, match="VAULT_NOT_FOUND") as failure:
            await keeper.run(UpdateIndex(spec), lambda _: None)
        assert type(failure.value).__name__ == "Misconfigured"
        assert await keeper.ask(Compare(spec)) is not None
        assert crashes == []


async def last_job(vault: OpenVault, count: int) -> Job:
    """Wait until a vault has so many jobs and the last one has ended, and return that."""

    async def jobs() -> tuple[Job, ...]:
        return await vault.jobs.list()

    def has_ended(jobs: tuple[Job, ...]) -> bool:
        return len(jobs) == count and jobs[0].state in {JobState.SUCCEEDED, JobState.FAILED}

    return (await eventually_async(jobs, has_ended))[0]


async def test_an_index_is_rebuilt_once_when_a_read_meets_damage(root: Path):
    async def meet_damage(_: Snapshot) -> None:
        raise damaged()

    async with opened(root) as vault:
        for _ in range(2):
            jobs = len(await vault.jobs.list())
            results = await asyncio.gather(
                *(vault.reader.read(meet_damage) for _ in range(3)), return_exceptions=True
            )
            assert all(isinstance(result, IndexUnavailable) for result in results)
            rebuild = await last_job(vault, jobs + 1)
            assert (rebuild.kind, rebuild.state) == (JobKind.REINDEX, JobState.SUCCEEDED)
            assert (await vault.search(SearchQuery("flour"))).results
            assert len(await vault.jobs.list()) == jobs + 1


async def test_an_index_is_rebuilt_though_the_record_of_jobs_is_damaged_too(root: Path):
    async def meet_damage(_: Snapshot) -> None:
        raise damaged()

    async with opened(root) as vault:
        [record] = (root.parent / "data").glob("**/jobs.db")
        record.write_bytes(os.urandom(record.stat().st_size))
        with pytest.raises(IndexUnavailable):
            await vault.reader.read(meet_damage)

        async def hits() -> Sequence[Hit]:
            with suppress(IndexUnavailable):
                return (await vault.search(SearchQuery("flour"))).results
            return ()

        assert await eventually_async(hits)


async def test_a_rebuild_that_fails_after_damage_is_not_repeated(root: Path):
    async def meet_damage(_: Snapshot) -> None:
        raise damaged()

    async with opened(root) as vault:
        away = root.rename(root.with_name("away"))
        with pytest.raises(IndexUnavailable):
            await vault.reader.read(meet_damage)
        rebuild = await last_job(vault, 2)
        assert (rebuild.kind, rebuild.state) == (JobKind.REINDEX, JobState.FAILED)
        with pytest.raises(IndexUnavailable, match="reindex"):
            await vault.search(SearchQuery("flour"))
        away.rename(root)
        await vault.submit(JobKind.REINDEX)
        await settled(vault)
        assert (await vault.search(SearchQuery("flour"))).results


@pytest.mark.parametrize(
    "change",
    [
        None,
        "PRAGMA user_version = 1",
        "UPDATE meta SET value = 'other.' || value WHERE key = 'fingerprint'",
    ],
    ids=["damaged", "another format", "other settings"],
)
async def test_an_index_that_cannot_be_used_is_rebuilt_at_the_start(root: Path, change: str | None):
    async with opened(root):
        pass
    if change is None:
        [meta] = (root.parent / "data").glob("**/fulltext/notes/meta.json")
        meta.write_bytes(os.urandom(200))
    else:
        [database] = (root.parent / "data").glob("**/index.db")
        with closing(sqlite3.connect(database)) as connection, connection:
            connection.execute(change)
    config = Config(vault={"root": root}, index={"dir": root.parent / "data"})
    async with open_app(config) as app:
        vault = app.vaults.default
        (warning,) = (await vault.health()).warnings
        assert warning.message.startswith("The index is being rebuilt. GET /jobs/")
        with pytest.raises(IndexUnavailable) as refused:
            await vault.search(SearchQuery("flour"))
        assert refused.value.details["jobId"]
        await settled(vault)
        assert (await vault.search(SearchQuery("flour"))).results
        assert len(await vault.jobs.list()) == 2


@pytest.mark.parametrize("option", ["require_embeddings", "fresh_embeddings"])
@pytest.mark.parametrize("kind", [JobKind.INDEX, JobKind.REINDEX])
async def test_a_job_that_requires_embeddings_is_refused_while_they_are_off(
    root: Path, kind: JobKind, option: str
):
    async with opened(root) as vault:
        jobs = await vault.jobs.list()
        with pytest.raises(Unavailable) as refusal:
            await vault.submit(kind, IndexBody(**{option: True}))
        assert refusal.value.code == "EMBEDDING_UNAVAILABLE"
        assert await vault.jobs.list() == jobs


async def test_required_embeddings_that_are_off_fail_a_job_after_its_index_is_complete(root: Path):
    config = Config(
        vault={"root": root}, index={"dir": root.parent / "data"}, embedding={"require": True}
    )
    async with open_app(config) as app:
        vault = app.vaults.default
        async for job in vault.jobs.watch(vault.jobs.running.id):
            last = job
        assert (last.state, last.error.code) == (JobState.FAILED, "EMBEDDING_UNAVAILABLE")
        assert (await vault.health()).index.notes == 1


@pytest.fixture
async def endpoint() -> AsyncIterator[LocalModel]:
    async with LocalModel() as serving:
        yield serving


@asynccontextmanager
async def opened_with(root: Path, endpoint: LocalModel) -> AsyncIterator[OpenVault]:
    """Open a vault whose notes are embedded."""
    embedding = {"enabled": True, "model": endpoint.model, "endpoint": endpoint.url}
    config = Config(vault={"root": root}, index={"dir": root.parent / "data"}, embedding=embedding)
    async with open_app(config) as app:
        await settled(app.vaults.default)
        yield app.vaults.default


async def embed(vault: OpenVault) -> tuple[EmbeddingCounts | None, list[str]]:
    """Embed what has no vector. Return the result and the types of the events."""
    events: list[str] = []
    made = await vault.runs.embeddings.make(lambda event: events.append(type(event).__name__))
    return made, events


async def test_a_saved_note_takes_one_request_and_publishes_once(root: Path, endpoint: LocalModel):
    async with opened_with(root, endpoint) as vault:
        for text in ("# Rye\n\nsour\n", "# Rye\n\nsourer\n"):
            before = len(endpoint.requests)
            (root / "Rye.md").write_text(text)
            await vault.runs.index_paths(["Rye.md"])
            made, events = await embed(vault)
            assert made == EmbeddingCounts(1, 1, 0)
            assert [len(texts) for texts in endpoint.requests[before:]] == [1]
            assert events.count("Published") == 1

        before = len(endpoint.requests)
        (root / "Rye.md").unlink()
        await vault.runs.index_paths(["Rye.md"])
        made, events = await embed(vault)
        assert made == EmbeddingCounts(0, 1, 0)
        assert len(endpoint.requests) == before
        assert events.count("Published") == 1


async def test_the_model_is_checked_again_after_a_failure(root: Path, endpoint: LocalModel):
    async with opened_with(root, endpoint) as vault:
        endpoint.always = misbehaviour.status(401)
        (root / "Rye.md").write_text("# Rye\n\nsour\n")
        await vault.runs.index_paths(["Rye.md"])
        made, _ = await embed(vault)
        assert made == EmbeddingCounts(0, 1, 1)

        endpoint.always, endpoint.salt = None, "retrained"
        made, _ = await embed(vault)
        assert made == EmbeddingCounts(2, 0, 0)


async def test_the_state_names_folders_whose_notes_are_excluded(root: Path):
    (root / "build").mkdir()
    (root / "build/Plan.md").write_text("# Plan\n")

    def warned(health: Health) -> list[tuple[str, str, int]]:
        return [(w.code, w.details["path"], w.details["count"]) for w in health.warnings]

    named = [("NOTES_EXCLUDED", "build", 1)]
    async with opened(root) as vault:
        assert warned(await vault.health()) == named
        (root / "Rye.md").write_text("# Rye\n")
        await vault.runs.index_paths(["Rye.md"])
        assert warned(await vault.health()) == named
        assert (await vault.health()).status == "ok"
        assert vault.excluded_folder("build/Plan.md") == "build"
        assert vault.excluded_folder("Rye.md") is None
    async with opened(root) as vault:  # no run since the start
        assert warned(await vault.health()) == named
        (root / "build/Plan.md").unlink()
        await vault.runs.index_changes()
        assert warned(await vault.health()) == []
