"""A watched vault in this process, with real events and a real indexing process."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.support import local_model as misbehaviour
from tests.support.clocks import PATIENCE
from tests.support.local_model import LocalModel
from tests.support.processes import command_line
from tests.support.waiting import eventually_async
from tests.vaults.test_open_vault import processes
from tests.vaults.watching import NOTES, hits, linked_notes, shorter_pauses, until_found, watched

from vault_agent.app import open_app
from vault_agent.config.settings import Config
from vault_agent.model.health import WatchState
from vault_agent.model.lists import ListQuery
from vault_agent.model.search import SearchQuery
from vault_agent.search.lists import list_notes
from vault_agent.vault.file_events import WatchFailed
from vault_agent.vaults import embeddings, indexer
from vault_agent.vaults import watch as module
from vault_agent.vaults.open_vault import OpenVault
from vault_agent.vaults.runs import Runs

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes as Linux has them")


@pytest.fixture(autouse=True)
def shorter() -> Iterator[None]:
    with shorter_pauses():
        yield


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return linked_notes(tmp_path)


async def test_the_first_job_makes_the_index_and_not_the_watch(root: Path):
    async with watched(root, mode="poll") as vault:
        (first,) = await vault.jobs.list()
        assert (first.summary.added, first.summary.unchanged) == (NOTES, 0)


async def test_changes_made_before_the_start_are_found(root: Path):
    async with watched(root):
        pass
    (root / "New.md").write_text("quinces")
    (root / "3.md").unlink()
    async with watched(root) as vault:
        await until_found(vault, "quinces", "New.md")
        assert (await vault.health()).index.notes == NOTES


async def test_until_the_vault_was_looked_at_a_search_tells_how_old_the_index_is(
    root: Path, monkeypatch: pytest.MonkeyPatch
):
    async with watched(root):
        pass
    raise_if_stopped, look = asyncio.Event(), Runs.index_watched

    async def wait_and_look(self: Runs, *arguments: Any) -> None:
        await raise_if_stopped.wait()
        await look(self, *arguments)

    monkeypatch.setattr(Runs, "index_watched", wait_and_look)
    config = Config(
        vault={"root": root}, index={"dir": root.parent / "data"}, watch={"enabled": True}
    )
    async with open_app(config) as app:
        vault = app.vaults.default
        await eventually_async(lambda: vault.watch.is_live)
        assert (await vault.search(SearchQuery("quinces"))).indexed_at is not None
        raise_if_stopped.set()
        await eventually_async(lambda: vault.watch.is_current)
        assert (await vault.search(SearchQuery("quinces"))).indexed_at is None


async def test_a_note_that_is_removed_and_written_again_at_once_is_not_removed(root: Path):
    async with watched(root) as vault:
        before = vault.events.last_id
        for turn in range(5):
            (root / "3.md").unlink()
            (root / "3.md").write_text(f"quinces{turn}")
            await until_found(vault, f"quinces{turn}", "3.md")
        follower = vault.events.follow(before)
        while (item := await anext(follower)).id != vault.events.last_id:
            assert getattr(item.item, "removed", 0) == 0


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
                if b"keeper" in command_line(pid):
                    os.kill(pid, signal.SIGKILL)
            (root / "New.md").write_text(f"quinces{turn}")
            await until_found(vault, f"quinces{turn}", "New.md")


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


@pytest.mark.fault(
    "Watching",
    "an empty folder is in the vault's place, as where a drive was unmounted",
    "nothing is removed; the vault is followed once it is back",
)
async def test_an_empty_folder_in_its_place_removes_nothing(root: Path):
    async with watched(root) as vault:
        root.rename(root.with_name("unmounted"))
        root.mkdir()
        await eventually_async(lambda: vault.watch._failures)
        assert (await vault.health()).index.notes == NOTES
        assert "note" in str(await vault.search(SearchQuery("note"))).lower()
        root.rmdir()
        root.with_name("unmounted").rename(root)
        (root / "New.md").write_text("quinces")
        await until_found(vault, "quinces", "New.md")
        assert (await vault.health()).index.notes == NOTES + 1


@pytest.mark.fault(
    "Watching",
    "a run of the watch fails (a full disk, a lock)",
    "the whole vault is looked at after 1, 5, 30, 60 s, and nothing before that",
)
@pytest.mark.long
async def test_a_failing_run_is_tried_again(root: Path, monkeypatch: pytest.MonkeyPatch):
    impatient = "from vault_agent.store import layout; layout.WRITER_WAIT_SECONDS = 0.01; "
    *python, main = indexer.COMMAND
    monkeypatch.setattr(indexer, "COMMAND", (*python, impatient + main))
    async with watched(root) as vault:
        directory = vault._core.directory
        with directory.writing():
            (root / "New.md").write_text("quinces")
            await eventually_async(lambda: vault.watch._failures)
            assert vault.watch.status().pending == 1
        await until_found(vault, "quinces", "New.md")
        await eventually_async(lambda: vault.watch.status().pending == 0)


@pytest.mark.fault(
    "Watching",
    "the library that hears the events fails",
    "the watch begins again after two seconds, and everything is looked at",
)
async def test_a_watch_that_fails_begins_again(root: Path, monkeypatch: pytest.MonkeyPatch):
    follow, starts = module.follow_changes, []

    def fail(*arguments: Any) -> None:
        starts.append(True)
        if len(starts) == 1:
            raise WatchFailed(limit=False)
        (root / "New.md").write_text("quinces")
        follow(*arguments)

    monkeypatch.setattr(module, "follow_changes", fail)
    async with watched(root) as vault:
        await until_found(vault, "quinces", "New.md")
        assert vault.watch.state is WatchState.WATCHING


@pytest.mark.fault(
    "Watching",
    "the system's limit of watches is met at the start",
    "the vault is polled, and `WATCH_LIMIT` says so",
)
async def test_a_vault_that_may_not_be_watched_is_polled(
    root: Path, monkeypatch: pytest.MonkeyPatch
):
    def refuse(*_: Any) -> None:
        raise WatchFailed(limit=True)

    monkeypatch.setattr(module, "follow_changes", refuse)
    monkeypatch.setattr(module, "POLL_SECONDS", 0.1)
    monkeypatch.setattr(module, "SCAN_SHARE", 1)
    async with watched(root) as vault:
        (root / "New.md").write_text("quinces")
        await until_found(vault, "quinces", "New.md")
        health = await vault.health()
        assert (health.status, health.watch.reason) == ("ok", "WATCH_LIMIT")
        assert "WATCH_LIMIT" in [warning.code for warning in health.warnings]


async def test_a_scan_finds_what_no_event_has_named(root: Path):
    async with watched(root) as vault:
        vault.watch._hear = lambda _: None
        (root / "New.md").write_text("quinces")
        vault.watch._scan_soon()  # as after `rescan_seconds`
        await until_found(vault, "quinces", "New.md")


@pytest.mark.fault(
    "The embedding endpoint",
    "a note is saved again while its text is embedded",
    "the vector of the old text is not used; the new text follows",
)
async def test_new_text_is_embedded_after_its_run_and_once(
    root: Path, monkeypatch: pytest.MonkeyPatch
):
    stopped: list[float] = []
    clock = SimpleNamespace(monotonic=lambda: stopped[0] if stopped else time.monotonic())
    monkeypatch.setattr(embeddings, "time", clock)
    monkeypatch.setattr(embeddings, "DELAY_SECONDS", 1.0)
    async with LocalModel() as endpoint:
        embedding = {"enabled": True, "endpoint": endpoint.url, "model": endpoint.model}
        async with watched(root, embedding=embedding) as vault:
            await eventually_async(lambda: complete(vault))
            before = len(endpoint.texts)
            stopped.append(time.monotonic())  # all of this is within the delay
            for turn in range(3):
                (root / "New.md").write_text(f"quinces {turn}")
                await until_found(vault, f'"quinces {turn}"', "New.md")
            stopped.clear()
            await eventually_async(lambda: "New\n\nquinces 2" in endpoint.texts[before:])
            await eventually_async(lambda: complete(vault))
            sent = [text for text in endpoint.texts[before:] if text.startswith("New\n")]
            assert sent == ["New\n\nquinces 2"]


async def complete(vault: OpenVault) -> bool:
    return (await vault.health()).embeddings.share == 1


@pytest.mark.long
async def test_words_are_fresh_while_the_endpoint_is_slow(
    root: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(embeddings, "DELAY_SECONDS", 0.0)
    async with LocalModel() as endpoint:
        endpoint.poison["pears"] = misbehaviour.slow(PATIENCE)
        embedding = {"enabled": True, "endpoint": endpoint.url, "model": endpoint.model}
        async with watched(root, embedding=embedding) as vault:
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
    monkeypatch.setattr(embeddings, "FIRST_RETRY_SECONDS", 0.2)
    monkeypatch.setattr(embeddings, "DELAY_SECONDS", 0.0)
    async with LocalModel() as endpoint:
        embedding = {"enabled": True, "endpoint": endpoint.url, "model": endpoint.model}
        async with watched(root, embedding=embedding) as vault:
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


async def test_a_change_that_waits_too_long_is_a_warning_of_searches(
    root: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "BEHIND_SECONDS", 0.0)
    async with watched(root) as vault:
        vault.watch._not_before = time.monotonic() + PATIENCE
        (root / "New.md").write_text("quinces")
        await eventually_async(vault.watch.warnings)
        answer = await vault.search(SearchQuery("note"))
        [warning] = [each for each in answer.warnings if each.code == "INDEX_BEHIND"]
        assert warning.details["pending"] == 1
        listed = await vault.reader.read_with_warnings(list_notes, ListQuery(), None)
        assert [warning.code for warning in listed.warnings] == ["INDEX_BEHIND"]
        assert (await vault.health()).status == "ok"
        vault.watch._scan_soon()
        await until_found(vault, "quinces", "New.md")
        await eventually_async(lambda: not vault.watch.warnings())


async def test_a_vault_that_is_not_watched_has_no_watch(root: Path):
    config = Config(vault={"root": root}, index={"dir": root.parent / "data"})
    async with open_app(config) as app:
        assert app.vaults.default.watch.status().state is WatchState.OFF
        assert "watch" not in [thread.name for thread in threading.enumerate()]
