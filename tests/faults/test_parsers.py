"""A worker that crashes, hangs, grows or is killed skips at most one note."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.faults import parsers
from tests.faults.disk import ROOT
from tests.product.processes import wait_until_gone
from tests.support.clocks import PATIENCE
from tests.support.index_runs import Heard, Vault
from tests.support.processes import children

from vault_agent.errors import Failed, Misconfigured
from vault_agent.indexing import keeper
from vault_agent.indexing.index import index
from vault_agent.indexing.parse import FileToRead, ParsedFile
from vault_agent.indexing.protocol import UpdateIndex
from vault_agent.model.jobs import JobSummary
from vault_agent.system.crash import CrashReport
from vault_agent.system.workers import WorkerPool

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes as Linux has them")


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    made = Vault(tmp_path)
    for number in range(80):
        made.write(f"Note {number}.md", f"# Note {number}\n\nword{number} [[Note {number + 1}]]\n")
    return made


async def run(
    vault: Vault, setup: Callable[..., object], crashes: list[CrashReport] | None = None
) -> JobSummary:
    """Index with real workers."""
    vault.heard = Heard()
    told = crashes if crashes is not None else []
    async with WorkerPool(setup, size=2) as pool:
        batches = keeper.BatchDispatcher(pool, vault.spec(), on_crash=told.append)
        return (await index(UpdateIndex(vault.spec()), batches.parse, vault.heard)).summary


async def run_poisoned(vault: Vault) -> JobSummary:
    return await run(vault, parsers.poisoned)


@pytest.mark.fault(
    "Jobs",
    "a parser crashes, hangs or uses too much memory",
    "one note is skipped with a warning; the job continues",
)
@pytest.mark.parametrize("poison", ["crash", "hang", "bomb", "raise"])
@LINUX
async def test_one_crashing_note_is_skipped_and_the_others_are_indexed(
    vault: Vault, poison: str, monkeypatch: pytest.MonkeyPatch
):
    # Of processor time, so a busy machine does not skip other notes.
    monkeypatch.setattr(keeper, "SECONDS_PER_BATCH", 0.6)
    monkeypatch.setattr(keeper, "SECONDS_PER_NOTE", 0.2)
    await vault.index()
    healthy = await vault.dump()
    vault.write(f"The {poison}.md", "# Poison\n\nbody\n")
    for number in range(3):
        vault.write(f"More {number}.md", f"# More {number}\n\nmore{number}\n")
    summary = await run_poisoned(vault)
    assert summary.added == 4
    assert vault.heard.codes == ["NOTE_PARSER_CRASHED"]
    assert vault.heard.warnings[0].details["path"] == f"The {poison}.md"
    held = await vault.dump()
    assert held[f"The {poison}.md"][2] == []  # its name is indexed, its text is not
    assert all(held[f"More {number}.md"][2] for number in range(3))
    assert {path: held[path] for path in healthy if path != "totals"} == {
        path: note for path, note in healthy.items() if path != "totals"
    }


async def test_a_parser_error_is_reported_by_type_and_line(vault: Vault):
    # The first note is in the sample in which repeated lines are looked for.
    vault.write("A note to raise canary.md", "# Canary\n\nbody\n")
    crashes: list[CrashReport] = []
    await run(vault, parsers.poisoned, crashes)
    [crash] = crashes
    assert crash.error_type == "ValueError"
    assert "vault_agent.system.child:" in crash.frames[-1]
    assert "canary" not in str(crash)
    assert vault.heard.codes == ["NOTE_PARSER_CRASHED"]


@pytest.mark.fault(
    "Jobs",
    "another folder is mounted in the vault's place during a run",
    "`VAULT_NOT_FOUND`; nothing is removed",
)
@pytest.mark.parametrize("is_replaced", [False, True])
async def test_a_vault_folder_that_is_gone_or_replaced_is_not_read(vault: Vault, is_replaced: bool):
    """Like the mount point of an unmounted drive: no note counts as removed or as a crash."""
    await vault.index()
    held = await vault.dump()
    vault.write("Note 1.md", "changed")
    async with WorkerPool(parsers.poisoned, size=1) as pool:
        batches = keeper.BatchDispatcher(pool, vault.spec(), on_crash=print)

        async def parse(tasks: list[FileToRead], lines: frozenset[str] | None) -> list[ParsedFile]:
            away = vault.root.rename(vault.root.with_name("away"))
            if is_replaced:
                vault.root.mkdir()
            try:
                return await batches.parse(tasks, lines)
            finally:
                if is_replaced:
                    vault.root.rmdir()
                away.rename(vault.root)

        with pytest.raises(Misconfigured, match="VAULT_NOT_FOUND"):
            await index(UpdateIndex(vault.spec()), parse, vault.heard)
    assert await vault.dump() == held


@pytest.mark.skipif(sys.platform != "linux", reason="looks at open files as Linux shows them")
async def test_a_kept_worker_keeps_no_vault_file_open(vault: Vault):
    async with WorkerPool(parsers.poisoned, size=1) as pool:
        batches = keeper.BatchDispatcher(pool, vault.spec(), on_crash=print)
        await index(UpdateIndex(vault.spec()), batches.parse, vault.heard)
        workers = children()
        links = [
            os.readlink(link)  # noqa: PTH115
            for worker in workers
            for link in Path(f"/proc/{worker}/fd").iterdir()
        ]
    assert workers
    assert not [link for link in links if link.startswith(str(vault.root))]


@LINUX
async def test_killed_workers_lose_no_note(vault: Vault):
    chance = random.Random(3)
    killed = 0

    async def kill() -> None:
        nonlocal killed
        while killed < keeper.WORKERS_TRIED - 1:  # which may all have parsed the same batch
            # The first one at once: on a fast machine the run ends soon.
            await asyncio.sleep(chance.uniform(0.05, 0.3) if killed else 0.001)
            for worker in sorted(children())[:1]:
                os.kill(worker, signal.SIGKILL)
                killed += 1

    killing = asyncio.create_task(kill())
    await run_poisoned(vault)
    killing.cancel()
    await asyncio.gather(killing, return_exceptions=True)
    assert killed
    assert vault.heard.codes == []
    held = await vault.dump()
    await vault.index(rebuild=True)
    assert await vault.dump() == held


@LINUX
async def test_a_note_is_not_skipped_after_one_killed_worker(vault: Vault):
    await vault.index()
    vault.write("The unlucky.md", "# Unlucky\n\nbody\n")
    await run_poisoned(vault)
    assert vault.heard.codes == []
    assert (await vault.dump())["The unlucky.md"][2]


async def test_parsers_that_do_not_start_fail_the_run(vault: Vault):
    await vault.index()
    held = await vault.dump()
    vault.write("Note 1.md", "changed")
    with pytest.raises(Failed, match="INDEXER_FAILED"):
        await run(vault, parsers.unable)
    assert await vault.dump() == held


@pytest.mark.fault(
    "Jobs",
    "the server dies while a worker hangs",
    "the worker ends too",
)
@pytest.mark.parametrize("setup", ["stuck", "sleeping"])
@LINUX
def test_a_hanging_worker_ends_with_its_parent(setup: str):
    program = (
        "import asyncio\n"
        "from tests.faults import parsers\n"
        "from vault_agent.system.workers import WorkerPool\n"
        "async def main():\n"
        f"    async with WorkerPool(parsers.{setup}, (), size=1) as pool:\n"
        "        print(await pool.run('pid', cpu_seconds=20), flush=True)\n"
        "        await pool.run('work', cpu_seconds=600)\n"
        "if __name__ == '__main__':\n"
        "    asyncio.run(main())\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    worker = int(parent.stdout.readline())
    time.sleep(0.2)  # it hangs now
    parent.kill()
    parent.wait()
    parent.stdout.close()  # not read to its end, which comes only when the worker ends
    if outlived := wait_until_gone([worker], PATIENCE):
        os.kill(worker, signal.SIGKILL)
    assert not outlived
