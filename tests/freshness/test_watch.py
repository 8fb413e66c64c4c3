"""A watched vault in this process, with a real watcher and a real indexing process."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.freshness.watching import hits, linked_notes, shorter_pauses, until_found, watched
from tests.support import local_model as misbehaviour
from tests.support.clocks import PATIENCE
from tests.support.local_model import LocalModel
from tests.support.waiting import eventually_async
from tests.vaults.test_open_vault import processes

from vault_agent.app import open_app
from vault_agent.config import Config
from vault_agent.errors import NotFound
from vault_agent.freshness import debounce as waiting
from vault_agent.freshness import indexer
from vault_agent.freshness import watch as module
from vault_agent.model.identifiers import identify
from vault_agent.model.jobs import JobState, Trigger
from vault_agent.model.search import SearchQuery
from vault_agent.model.watch import WatchState
from vault_agent.search import fetch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vault_agent.vaults.open_vault import OpenVault

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes as Linux has them")


@pytest.fixture(autouse=True)
def shorter() -> Iterator[None]:
    with shorter_pauses():
        yield


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return linked_notes(tmp_path)


@pytest.mark.fault(
    "Watching",
    "a program removes a note and writes it again, over and over",
    "one note throughout, never missing",
)
async def test_a_note_that_is_replaced_is_never_missing(root: Path):
    async with watched(root, removal_grace_ms=2_000) as vault:
        (root / "3.md").write_text("quinces")
        await until_found(vault, "quinces", "3.md")
        for turn in range(8):
            (root / "3.md").unlink()
            assert await hits(vault, "quinces") == ["3.md"]
            await asyncio.sleep(0.1)
            (root / "3.md").write_text(f"quinces pears{turn}")
            assert await hits(vault, "quinces") == ["3.md"]
            await asyncio.sleep(0.1)
        await until_found(vault, "pears7", "3.md")
        assert all(each.removed == 0 for each in vault.watch.batches)
        with pytest.raises(NotFound):
            await vault.read(fetch.chunk, identify("none.md"), 0)


async def test_changes_made_before_the_start_are_found(root: Path):
    async with watched(root):
        pass
    (root / "New.md").write_text("quinces")
    (root / "3.md").unlink()
    async with watched(root) as vault:
        await until_found(vault, "quinces", "New.md")
        started, *_ = [job for job in await vault.jobs.list() if job.trigger is Trigger.START]
        *_, ended = [job async for job in vault.jobs.watch(started.id)]
        assert ended.summary is not None
        assert ended.summary.added == 1


async def test_polling_finds_changes_too(root: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "poll_pause", lambda *_: 0.1)
    async with watched(root, mode="poll") as vault:
        assert vault.watch.state is WatchState.POLLING
        (root / "New.md").write_text("quinces")
        await until_found(vault, "quinces", "New.md")
        (root / "New.md").unlink()
        await until_found(vault, "quinces")
        assert {job.trigger for job in await vault.jobs.list()} >= {Trigger.SCAN}
        await eventually_async(lambda: any(each.removed for each in vault.watch.batches))
        scans = vault.watch.status().everything["scan"]
        count = len(await vault.jobs.list())
        await eventually_async(lambda: vault.watch.status().everything["scan"] > scans + 3)
        assert len(await vault.jobs.list()) == count  # scans that find nothing are no jobs


@pytest.mark.fault(
    "Watching",
    "the watcher is killed",
    "a new one starts after a second and looks at everything",
)
@LINUX
async def test_a_killed_watcher_is_replaced_and_nothing_is_lost(root: Path):
    async with watched(root) as vault:
        [pid] = [pid for pid in processes() if "watcher" in command_of(pid)]
        os.kill(pid, signal.SIGKILL)
        (root / "New.md").write_text("quinces")
        await until_found(vault, "quinces", "New.md")
        assert vault.watch.status().restarts == 1
        assert vault.watch.state is WatchState.WATCHING


@pytest.mark.fault(
    "Watching",
    "the watcher hangs",
    "`WATCH_STOPPED` after 15 s, and a new one starts",
)
@LINUX
@pytest.mark.long
async def test_a_stopped_watcher_is_announced_and_replaced(
    root: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "SILENCE_SECONDS", 2.0)
    async with watched(root) as vault:
        [pid] = [pid for pid in processes() if "watcher" in command_of(pid)]
        os.kill(pid, signal.SIGSTOP)
        (root / "New.md").write_text("quinces")
        await eventually_async(lambda: vault.watch.state is not WatchState.WATCHING)
        await until_found(vault, "quinces", "New.md")
        assert processes() & {pid} == set()


@pytest.mark.fault(
    "Watching",
    "the indexing process is killed while the vault is watched",
    "the run is done again",
)
@LINUX
@pytest.mark.long
async def test_a_killed_indexing_process_loses_nothing(root: Path):
    async with watched(root) as vault:
        for turn in range(4):
            for pid in processes():
                if "keeper" in command_of(pid):
                    os.kill(pid, signal.SIGKILL)
            (root / "New.md").write_text(f"quinces{turn}")
            await until_found(vault, f"quinces{turn}", "New.md")


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


@pytest.mark.fault(
    "Watching",
    "the vault is unmounted, moved or replaced, and comes back",
    "nothing is removed, and no descriptor is held; then everything is looked at",
)
async def test_a_vault_that_goes_and_comes_back_loses_nothing(root: Path):
    async with watched(root) as vault:
        notes = (await vault.health()).index.notes
        root.rename(root.with_name("unmounted"))
        await eventually_async(lambda: vault.watch.state is WatchState.AWAY)
        for _ in range(20):  # the comparison of notes and index adds no second warning
            await asyncio.sleep(0.02)
            health = await vault.health()
            assert [warning.code for warning in health.warnings] == ["VAULT_NOT_FOUND"]
        assert (health.status, health.index.notes) == ("degraded", notes)
        (root.with_name("unmounted") / "New.md").write_text("quinces")
        root.with_name("unmounted").rename(root)
        await until_found(vault, "quinces", "New.md")
        assert (await vault.health()).index.notes == notes + 1


@pytest.mark.long
async def test_a_copy_of_the_vault_in_its_place_is_accepted_and_another_folder_is_not(
    root: Path,
):
    async with watched(root) as vault:
        root.rename(root.with_name("unmounted"))
        root.mkdir()
        (root / "Other.md").write_text("quinces")
        await eventually_async(lambda: vault.watch.state is WatchState.AWAY)
        assert (await vault.health()).index.notes == 20
        root.rename(root.with_name("other"))
        root.mkdir()
        for number in range(1, 21):  # restored from a backup, with one change
            (root / f"{number}.md").write_text(f"# Note {number}\n\npears")
        await eventually_async(lambda: vault.watch.state is WatchState.WATCHING)
        await eventually_async(lambda: len(vault.watch.batches) > 1)
        await until_found(vault, "quinces")
        (root / "20.md").write_text("apricots")
        await until_found(vault, "apricots", "20.md")


@pytest.mark.fault(
    "Watching",
    "a run of the watch fails (a full disk, a lock)",
    "a failed job; the whole vault is looked at after 1, 5, 30, 300 s, and nothing by "
    "paths before that succeeds",
)
@pytest.mark.long
async def test_a_failing_run_is_a_job_and_is_tried_again(
    root: Path, monkeypatch: pytest.MonkeyPatch
):
    impatient = "from vault_agent.store import layout; layout.WRITER_WAIT_SECONDS = 0.01; "
    *python, main = indexer.COMMAND
    monkeypatch.setattr(indexer, "COMMAND", (*python, impatient + main))
    async with watched(root) as vault:
        directory = vault._vault.directory
        await eventually_async(lambda: vault.jobs.running is None)
        with directory.writing():
            (root / "New.md").write_text("quinces")
            await eventually_async(lambda: any(each.error for each in vault.watch.batches))
            assert vault.watch.batches[0].error == "INDEX_LOCKED"
            assert vault.watch.status().pending == 1
        await until_found(vault, "quinces", "New.md")
        failed = [job for job in await vault.jobs.list() if job.state is JobState.FAILED]
        assert [job.trigger for job in failed[:1]] == [Trigger.WATCH]
        assert vault.watch.status().everything["failure"] >= 1


@pytest.mark.fault(
    "The embedding endpoint",
    "a note is saved again while its text is embedded",
    "the vector of the old text is not used; the new text follows",
)
async def test_new_text_is_embedded_after_its_run_and_once(root: Path):
    async with LocalModel() as endpoint:
        embedding = {"enabled": True, "endpoint": endpoint.url, "model": endpoint.model}
        async with watched(root, embedding=embedding, embed_delay_seconds=3) as vault:
            await eventually_async(lambda: complete(vault))
            before = len(endpoint.texts)
            for turn in range(5):
                (root / "New.md").write_text(f"quinces {turn}")
                await until_found(vault, f'"quinces {turn}"', "New.md")
            await eventually_async(lambda: "New\n\nquinces 4" in endpoint.texts[before:])
            await eventually_async(lambda: complete(vault))
            sent = [text for text in endpoint.texts[before:] if text.startswith("New\n")]
            assert len(sent) == len(set(sent))
            assert "quinces 4" in sent[-1]
            assert len(sent) < 5  # what was replaced before the delay is never sent


async def complete(vault: OpenVault) -> bool:
    return (await vault.health()).embeddings.share == 1


@pytest.mark.long
async def test_words_are_fresh_while_the_endpoint_is_slow(root: Path):
    async with LocalModel() as endpoint:
        endpoint.poison["pears"] = misbehaviour.slow(PATIENCE)
        embedding = {"enabled": True, "endpoint": endpoint.url, "model": endpoint.model}
        async with watched(root, embedding=embedding, embed_delay_seconds=0) as vault:
            (root / "New.md").write_text("quinces and pears")
            await eventually_async(lambda: any("pears" in text for text in endpoint.texts))
            (root / "Newer.md").write_text("apples")
            await eventually_async(lambda: hits(vault, "apples"), lambda paths: "Newer.md" in paths)
            assert "New.md" in await hits(vault, "quinces")
            assert not await complete(vault)


@pytest.mark.fault(
    "The embedding endpoint",
    "the endpoint is down or slow while notes of a watched vault change",
    "text is fresh; each text is sent once when the endpoint is back",
)
@pytest.mark.long
async def test_an_endpoint_that_was_down_gets_each_text_once_when_it_is_back(
    root: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "_EMBED_RETRIES", (0.2, 0.5))
    async with LocalModel() as endpoint:
        embedding = {"enabled": True, "endpoint": endpoint.url, "model": endpoint.model}
        async with watched(root, embedding=embedding, embed_delay_seconds=0) as vault:
            await eventually_async(lambda: complete(vault))
            endpoint.always = misbehaviour.status(500)
            for turn in range(3):
                (root / "New.md").write_text(f"quinces pears{turn}")
                await until_found(vault, f"pears{turn}", "New.md")
            endpoint.always = None
            before = len(endpoint.requests)
            last = "New\n\nquinces pears2"
            await eventually_async(lambda: any(last in each for each in endpoint.requests[before:]))
            await eventually_async(lambda: complete(vault))
            sent = [text for each in endpoint.requests[before:] for text in each]
            saved = [text for text in sent if "quinces" in text]
            assert len(set(saved)) == len(saved)


@pytest.mark.long
async def test_a_run_ends_with_a_job_that_is_cancelled_while_it_is_queued(
    root: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "SECONDS_UNTIL_JOB", 0.1)
    async with watched(root) as vault:
        with vault._vault.directory.writing():  # the run waits for it
            async with vault.jobs._turn:  # another vault has a job
                (root / "New.md").write_text("quinces")
                job = await eventually_async(lambda: vault.jobs.running)
                assert job is not None
                assert job.state is JobState.QUEUED
                await vault.jobs.cancel(job.id)
                await eventually_async(
                    lambda: "JOB_CANCELLED" in [batch.error for batch in vault.watch.batches]
                )


@pytest.mark.fault(
    "Watching",
    "a job of the watch is cancelled",
    "its changes are looked at again after 30 s",
)
async def test_a_run_that_takes_long_is_a_job_that_can_be_cancelled(
    root: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "SECONDS_UNTIL_JOB", 0.1)
    monkeypatch.setattr(waiting, "WAIT_AFTER_CANCELLATION", 0.5)
    async with watched(root) as vault:
        with vault._vault.directory.writing():  # the run waits for it
            (root / "New.md").write_text("quinces")
            await eventually_async(lambda: vault.jobs.running)
            job = vault.jobs.running
            assert job is not None
            assert job.trigger is Trigger.WATCH
            ended = await vault.jobs.cancel(job.id)
            assert ended.state is JobState.CANCELLED
            await eventually_async(
                lambda: "JOB_CANCELLED" in [batch.error for batch in vault.watch.batches]
            )
            assert vault.watch.status().pending == 1
        await until_found(vault, "quinces", "New.md")


@pytest.mark.fault(
    "Watching",
    "events stop though files change",
    "the next scan finds the changes; after two such scans the vault is polled (`WATCH_DEAF`)",
)
@pytest.mark.long
async def test_a_watch_that_misses_events_polls_and_warns(
    root: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "OLD_SECONDS", 0.0)
    async with watched(root) as vault:
        with monkeypatch.context() as deaf:
            deaf.setattr(vault.watch._debounce, "add", lambda *_: None)
            for turn in range(20):  # what a scan reads that had begun before it is not missed
                missed = vault.watch.status().missed
                (root / "New.md").write_text(f"quinces{turn}")
                await asyncio.sleep(0.05)
                vault.watch._scan_at = 0.0
                vault.watch._wake.set()
                await until_found(vault, f"quinces{turn}", "New.md")
                with suppress(TimeoutError):
                    async with asyncio.timeout(2.0):
                        await eventually_async(lambda: vault.watch.status().missed > missed)  # noqa: B023
                if vault.watch.status().missed == 2:
                    break
            await eventually_async(lambda: vault.watch.state is WatchState.POLLING)
        assert vault.watch.status().missed == 2
        health = await vault.health()
        assert (health.status, health.watch.reason) == ("ok", "WATCH_DEAF")
        assert "WATCH_DEAF" in [warning.code for warning in health.warnings]


async def test_a_change_that_waits_too_long_is_a_warning_of_searches(
    root: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "BEHIND_SECONDS", 0.1)
    async with watched(root, quiet_ms=800) as vault:
        (root / "New.md").write_text("quinces")
        await eventually_async(vault.watch.warnings)
        answer = await vault.search(SearchQuery("note"))
        [warning] = [each for each in answer.warnings if each.code == "INDEX_BEHIND"]
        assert warning.details["pending"] == 1
        assert (await vault.health()).status == "ok"
        await until_found(vault, "quinces", "New.md")
        await eventually_async(lambda: not vault.watch.warnings())


async def test_a_vault_that_is_not_watched_starts_no_watcher(root: Path):
    config = Config(vault={"root": root}, index={"dir": root.parent / "data"})
    async with open_app(config) as app:
        assert app.vaults.default.watch.status().state is WatchState.OFF
        if sys.platform == "linux":
            assert not [pid for pid in processes() if "watcher" in command_of(pid)]
