"""Large moves of an open vault are jobs."""

from __future__ import annotations

import asyncio
import threading
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
from tests.support.clocks import PATIENCE
from tests.vaults import test_writes as test_writing
from tests.vaults.test_writes import WRITE, root  # noqa: F401 - a fixture

from vault_agent.errors import Busy, Conflict
from vault_agent.model.jobs import Job, JobKind
from vault_agent.model.writing import Right, Write, Written
from vault_agent.vaults.jobs import JobState
from vault_agent.vaults.open_vault import OpenVault
from vault_agent.vaults.write_access import move, undo
from vault_agent.writing import move as planning
from vault_agent.writing import replies
from vault_agent.writing.files import AT_ONCE

MOVE = Write(operation="move", right=Right.MOVE)


@pytest.fixture
def linked(root: Path) -> Path:  # noqa: F811
    """Return a vault with one more note that links to Bread than is done at once."""
    for number in range(AT_ONCE + 1):
        (root / f"{number}.md").write_text("[[Bread]]\n")
    return root


def opened(root: Path) -> AbstractAsyncContextManager[OpenVault]:  # noqa: F811
    return test_writing.opened(root, write=WRITE)


async def moved(vault: OpenVault, to: str, *, waits: bool = False) -> Written | Job:
    return await move(
        vault.files, vault.jobs, "Bread.md", to, MOVE, rewrite_links=True, waits=waits
    )


async def ended(vault: OpenVault, job: Job) -> Job:
    async with asyncio.timeout(PATIENCE):
        async for state in vault.jobs.watch(job.id):
            job = state
    return job


async def test_a_large_move_is_a_job_that_can_be_undone(linked: Path, monkeypatch):
    monkeypatch.setattr(replies, "MAX_FILES", 20)  # the sums are those of all files
    async with opened(linked) as vault:
        job = await moved(vault, "New/Rolls")
        assert isinstance(job, Job)
        assert job.kind is JobKind.MOVE
        job = await ended(vault, job)
        assert job.state is JobState.SUCCEEDED, job
        assert (job.summary.changed, job.summary.links) == (AT_ONCE + 1, AT_ONCE + 1)
        assert [phase.name for phase in job.phases] == ["plan", "write"]
        assert (linked / "New" / "Rolls.md").exists()
        assert (linked / "7.md").read_text() == "[[Rolls]]\n"
        assert (await vault.health()).index.available
        back = await undo(vault.writer, vault.jobs, None, MOVE, copy_beside=False, waits=False)
        assert isinstance(back, Job)
        back = await ended(vault, back)
        assert back.state is JobState.SUCCEEDED, back
        assert back.kind is JobKind.UNDO
        assert back.summary.changed == AT_ONCE + 1
        assert (linked / "7.md").read_text() == "[[Bread]]\n"


async def test_a_small_move_is_no_job(linked: Path):
    (linked / "0.md").write_text("")
    async with opened(linked) as vault:
        assert isinstance(await moved(vault, "Rolls"), Written)


async def test_who_waits_gets_no_job(linked: Path):
    async with opened(linked) as vault:
        assert isinstance(await moved(vault, "Rolls", waits=True), Written)


async def test_a_refused_move_starts_no_job(linked: Path):
    (linked / "Rolls.md").write_text("")
    async with opened(linked) as vault:
        with pytest.raises(Conflict, match="NOTE_EXISTS"):
            await moved(vault, "Rolls")


@pytest.mark.fault(
    "Writing",
    "a move is cancelled",
    "before it is logged nothing was changed; after that it is finished",
)
async def test_a_move_can_be_cancelled_while_it_is_planned(
    linked: Path, monkeypatch: pytest.MonkeyPatch
):
    reading, go = threading.Event(), threading.Event()
    read = planning.read_file

    def slowly(*args) -> bytes:
        if args[1] == "7.md":
            reading.set()
            go.wait(PATIENCE)
        return read(*args)

    async with opened(linked) as vault:
        monkeypatch.setattr(planning, "read_file", slowly)
        job = await moved(vault, "Rolls")
        assert isinstance(job, Job)
        await asyncio.to_thread(reading.wait, PATIENCE)
        with pytest.raises(Busy, match="INDEX_BUSY"):
            await vault.submit(JobKind.INDEX)
        asyncio.get_running_loop().call_later(0.1, go.set)
        assert (await vault.jobs.cancel(job.id)).state is JobState.CANCELLED
        assert not (linked / "Rolls.md").exists()
        assert (linked / "7.md").read_text() == "[[Bread]]\n"
        assert isinstance(await moved(vault, "Rolls", waits=True), Written)


async def test_a_move_that_is_carried_out_cannot_be_cancelled(
    linked: Path, monkeypatch: pytest.MonkeyPatch
):
    async with opened(linked) as vault:
        writing, go = threading.Event(), threading.Event()
        finisher = vault.writer._executor.finisher
        finish = finisher.finish

        def slowly(*args, **more):
            writing.set()
            go.wait(PATIENCE)
            return finish(*args, **more)

        monkeypatch.setattr(finisher, "finish", slowly)
        job = await moved(vault, "Rolls")
        assert isinstance(job, Job)
        await asyncio.to_thread(writing.wait, PATIENCE)
        asyncio.get_running_loop().call_later(0.1, go.set)
        assert (await vault.jobs.cancel(job.id)).state is JobState.SUCCEEDED
        assert (linked / "7.md").read_text() == "[[Rolls]]\n"
