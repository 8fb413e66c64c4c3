"""One watched vault that is edited and searched. Each test has its own words and notes."""

from __future__ import annotations

import unicodedata
from collections.abc import AsyncIterator
from pathlib import Path
from typing import NamedTuple

import pytest
import pytest_asyncio
from tests.support.one_task import in_one_task
from tests.support.waiting import eventually_async
from tests.vaults.watching import linked_notes, shorter_pauses, until_found, watched

from vault_agent.model.health import Revision, WatchState
from vault_agent.model.jobs import JobKind, JobState, Trigger
from vault_agent.vaults.open_vault import OpenVault

pytestmark = pytest.mark.asyncio(loop_scope="module")  # that of `edited`


class Edited(NamedTuple):
    """A watched vault and its folder."""

    root: Path
    vault: OpenVault

    async def revisions_since(self, news_id: str) -> list[Revision]:
        """Return the revisions of the index after an item of news."""
        follower = self.vault.events.follow(news_id)
        count = int(self.vault.events.last_id.partition("-")[2]) - int(news_id.partition("-")[2])
        items = [(await anext(follower)).item for _ in range(count)]
        return [item for item in items if isinstance(item, Revision)]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def edited(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Edited]:
    root = linked_notes(tmp_path_factory.mktemp("edited"))
    with shorter_pauses():
        async with in_one_task(watched(root)) as vault:
            yield Edited(root, vault)


async def test_edits_are_searched_without_a_command_and_are_no_jobs(edited: Edited):
    root, vault = edited
    jobs = {job.id for job in await vault.jobs.list()}
    earlier = vault.events.last_id
    (root / "New.md").write_text("quinces")
    await until_found(vault, "quinces", "New.md")
    (root / "New.md").rename(root / "Newer.md")
    await until_found(vault, "quinces", "Newer.md")
    (root / "folder").mkdir()
    (root / "Newer.md").rename(root / "folder" / "Newer.md")
    await until_found(vault, "quinces", "folder/Newer.md")
    (root / "folder").rename(root / "moved")
    await until_found(vault, "quinces", "moved/Newer.md")
    (root / "moved" / "Newer.md").unlink()
    await until_found(vault, "quinces")
    await eventually_async(lambda: not vault.watch.status().pending)
    revisions = await edited.revisions_since(earlier)
    kinds = [(revision.added, revision.renamed, revision.removed) for revision in revisions]
    assert kinds == [(1, 0, 0), (0, 1, 0), (0, 1, 0), (0, 1, 0), (0, 0, 1)]
    assert {job.id for job in await vault.jobs.list()} == jobs
    status = vault.watch.status()
    assert (status.state, status.pending) == (WatchState.WATCHING, 0)
    assert vault.watch.warnings() == ()


async def test_files_of_other_programs_start_no_run(edited: Edited):
    root, vault = edited
    await eventually_async(lambda: not vault.watch.status().pending)
    earlier = vault.events.last_id
    for name in (".git", "node_modules"):
        (root / name).mkdir()
    for number in range(200):
        (root / ".git" / f"{number}.md").write_text("x")
        (root / "node_modules" / f"{number}.md").write_text("x")
        (root / f".syncthing.{number}.md.tmp").write_text("x")
    (root / "note.md~").write_text("x")
    (root / "3.md").write_text("plums")
    await until_found(vault, "plums", "3.md")
    (root / "4.md").write_text("pears")  # a run that had begun before has ended by then
    await until_found(vault, "pears", "4.md")
    assert [revision.changed for revision in await edited.revisions_since(earlier)] == [1, 1]


@pytest.mark.fault(
    "Watching",
    "a name changes its letter case or normal form",
    "one note under the new name, reported as a rename",
)
async def test_a_name_in_another_spelling_is_one_note(edited: Edited):
    root, vault = edited
    before = root / "Caf\u00e9.md"
    before.write_text("medlars")
    await until_found(vault, "medlars", "Caf\u00e9.md")
    earlier = vault.events.last_id
    for name in ("caf\u00e9.md", unicodedata.normalize("NFD", "caf\u00e9.md")):
        before.rename(root / name)
        before = root / name
        await until_found(vault, "medlars", name)
    assert all(revision.removed == 0 for revision in await edited.revisions_since(earlier))


async def test_a_user_job_runs_beside_the_watch_and_its_trigger_is_kept(edited: Edited):
    root, vault = edited
    (root / "Before.md").write_text("apricots")
    job = await vault.submit(JobKind.REINDEX)
    async for state in vault.jobs.watch(job.id):
        last = state
    assert (last.state, last.trigger) == (JobState.SUCCEEDED, Trigger.USER)
    (root / "After.md").write_text("damsons")
    await until_found(vault, "damsons", "After.md")
    await until_found(vault, "apricots", "Before.md")
