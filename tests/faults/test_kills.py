"""After kill -9 at any moment nothing is lost, and the next run completes."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.faults.killed_runs import STEPS, WORDS, kill_at, published
from tests.product.endpoint import Endpoint, running_endpoint
from tests.product.processes import indexers_of, processes_of, wait_until_gone
from tests.support.clocks import PATIENCE
from tests.support.index_runs import Vault
from tests.support.program import Program
from tests.support.waiting import eventually

from vault_agent.errors import IndexUnavailable
from vault_agent.model.identifiers import content_hash
from vault_agent.model.search import Filters
from vault_agent.models.settings import vector_key
from vault_agent.store.directory import IndexDirectory
from vault_agent.store.fulltext.reader import FulltextReader

State = dict[str, bytes]
"""The hash of every note's content, by path."""


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    with Program(tmp_path) as made:
        yield made


def directory_of(program: Program) -> IndexDirectory:
    [folder] = (program.indexes / "indexes").iterdir()
    return IndexDirectory(folder)


def vault_state(program: Program) -> State:
    """Return the content of a complete index of the current vault."""
    return {
        path.relative_to(program.vault).as_posix(): content_hash(path.read_bytes())
        for path in program.vault.rglob("*.md")
    }


@contextmanager
def opened_copy(database: Path) -> Iterator[sqlite3.Connection]:
    """Open a copy of a database, so that recovery is left to the server."""
    with tempfile.TemporaryDirectory() as folder:
        for suffix in ("", "-wal"):
            part = database.with_name(database.name + suffix)
            if part.exists():
                shutil.copy(part, folder)
        connection = sqlite3.connect(f"{folder}/{database.name}")
        try:
            yield connection
        finally:
            connection.close()


def index_state(program: Program) -> State:
    """Check the published files while no server runs, and return their content."""
    directory = directory_of(program)
    number = directory.current()
    assert number is not None
    with opened_copy(directory.database(number)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        meta = dict(connection.execute("SELECT key, value FROM meta"))
        state = dict(connection.execute("SELECT path, hash FROM note"))
        (chunks,) = connection.execute("SELECT count(*) FROM chunk").fetchone()
        assert (len(state), chunks) == (meta["notes"], meta["chunks"])
    try:
        FulltextReader(directory.fulltext(number)).close()
    except IndexUnavailable as error:
        raise AssertionError("the full text is damaged") from error
    return state


def change(program: Program, chance: random.Random, turn: int) -> None:
    """Create, change, rename and remove notes."""
    for _ in range(30):
        number = chance.randrange(400)
        program.write(f"many/{number}.md", f"# Note {number}\n\nturn{turn} " + "filler " * 80)
    present = sorted((program.vault / "many").glob("*.md"))
    for path in chance.sample(present, 3):
        path.unlink()
    moved = chance.choice(sorted((program.vault / "many").glob("*.md")))
    moved.rename(moved.with_name(f"moved {turn}.md"))


def start_and_search(program: Program) -> float:
    """Start the server and return the seconds until the first results."""
    began = time.monotonic()
    program.start()
    reply = program.search("filler")
    seconds = time.monotonic() - began
    assert reply.status == 200, reply
    assert reply.data["results"]
    return seconds


def kill_at_random(program: Program, *, kills: int, seed: int) -> list[float]:
    """Kill the server or its indexer repeatedly. Return the times of the first searches."""
    chance = random.Random(seed)
    program.fill(200)
    program.write("many/0.md", "filler")
    program.start()
    program.index()
    complete = vault_state(program)
    starts = []
    for turn in range(kills):
        change(program, chance, turn)
        wanted = vault_state(program)
        kind = chance.choice(("index", "index", "reindex"))
        job = program.submit(kind)
        time.sleep(chance.uniform(0, 0.9))
        everything = processes_of(program)
        if chance.random() < 0.25:
            for pid in indexers_of(program):
                os.kill(pid, signal.SIGKILL)
            program.finish(job)
            assert program.search("filler").data["results"]
        program.kill()
        assert wait_until_gone(everything, PATIENCE) == []
        held = index_state(program)
        assert held in (complete, wanted), f"kill {turn} left neither the old state nor the new"
        starts.append(start_and_search(program))
        if chance.random() < 0.3:
            program.index()
            held = wanted
        complete = held
    program.index()
    program.stop()
    assert index_state(program) == vault_state(program)
    return starts


@pytest.mark.long
def test_two_hundred_kills_lose_nothing(program: Program):
    starts = kill_at_random(program, kills=200, seed=2)
    print(
        f"\n{len(starts)} kills, 0 lost rows, 0 integrity failures; first search after a start: "
        f"median {statistics.median(starts):.2f} s, at most {max(starts):.2f} s"
    )


def rows_in_sqlite(vault: Vault) -> set[int]:
    with vault.reader() as connection:
        return {rowid for (rowid,) in connection.execute("SELECT rowid FROM note")}


def rows_in_full_text(vault: Vault) -> set[int]:
    number = vault.directory.current()
    assert number is not None
    return FulltextReader(vault.directory.fulltext(number)).admitted(Filters())


@pytest.mark.fault(
    "The index",
    "`kill -9` at any step of an index run",
    "the last published revision serves, whole; the next run completes",
)
@pytest.mark.parametrize("name", STEPS)
async def test_a_kill_at_a_step_leaves_the_last_published_revision(tmp_path: Path, name: str):
    step = STEPS[name]
    vault = Vault(tmp_path)
    for number in range(20):
        words = " ".join(WORDS[number % 4 : number % 4 + 4])
        vault.write(f"notes/{number}.md", f"# Note {number}\n\n{words}\n\n## More\n\n{words}\n")
    await vault.index()
    before = await published(vault)
    for number in range(0, 20, 3):
        vault.write(f"notes/{number}.md", f"# Note {number}\n\nloaf {number}\n")
        vault.write(f"new/{number}.md", f"# New {number}\n\ncrust {WORDS[number % 8]}\n")
    (vault.root / "notes/1.md").unlink()
    (vault.root / "notes/2.md").rename(vault.root / "new/Moved.md")
    if step.run == "embed":
        await vault.index()
        before = await published(vault)
    after, _ = await fresh(vault, tmp_path / "fresh")

    kill_at(tmp_path, name)

    assert await published(vault) == (after if step.publishes else before)
    vault.verify()
    unknown = rows_in_full_text(vault) - rows_in_sqlite(vault)
    vault.write("notes/19.md", "# Note 19\n\nsalt\n")
    await vault.index()
    assert (await published(vault), await vault.dump()) == await fresh(vault, tmp_path / "last")
    assert rows_in_full_text(vault) == rows_in_sqlite(vault)
    assert unknown.isdisjoint(rows_in_sqlite(vault))


async def fresh(vault: Vault, folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what a new index of a copy of the vault serves, and what it has."""
    folder.mkdir()
    copy = Vault(folder)
    shutil.copytree(vault.root, copy.root, dirs_exist_ok=True)
    await copy.index()
    return await published(copy), await copy.dump()


def saved_keys(program: Program) -> set[bytes]:
    with opened_copy(directory_of(program).vectors) as connection:
        return {key for (key,) in connection.execute("SELECT key FROM vector")}


def kill_while_embedding(program: Program, endpoint: Endpoint, *, kills: int, seed: int) -> int:
    """Kill repeatedly while embedding. Assert that no saved vector is requested again."""
    chance = random.Random(seed)
    seen = 0
    saved: set[bytes] = set()
    killed_amid = 0
    program.start()
    program.index()
    for turn in range(kills):
        for number in range(120):
            program.write(f"turn {turn}/{number}.md", f"# {turn} {number}\n\nfiller word{number}\n")
        seen = len(endpoint.texts)
        job_id = program.submit()

        def embeds_or_has_ended(job_id: str = job_id) -> bool:
            job = program.call("GET", f"/jobs/{job_id}").data["job"]
            done = next((p["done"] for p in job["phases"] if p["name"] == "embed"), 0)
            return done or job["state"] != "running"

        eventually(embeds_or_has_ended)
        time.sleep(chance.uniform(0, 0.3))
        job = program.call("GET", f"/jobs/{job_id}").data["job"]
        acknowledged = next((p["done"] for p in job["phases"] if p["name"] == "embed"), 0)
        killed_amid += job["state"] == "running"
        everything = processes_of(program)
        if chance.random() < 0.3:
            for pid in indexers_of(program):
                os.kill(pid, signal.SIGKILL)
            program.finish(job_id)
        program.kill()
        assert wait_until_gone(everything, PATIENCE) == []
        asked = {vector_key(endpoint.model, text) for text in endpoint.texts[seen:]}
        assert not asked & saved, f"kill {turn}: a vector that was saved was asked for again"
        now_saved = saved_keys(program)
        assert now_saved >= saved
        assert len(now_saved - saved) >= acknowledged, "progress told of a vector that is lost"
        saved = now_saved
        program.start()
    seen = len(endpoint.texts)
    assert program.index()["summary"]["embeddingFailed"] == 0
    asked = {vector_key(endpoint.model, text) for text in endpoint.texts[seen:]}
    assert not asked & saved
    return killed_amid


@pytest.mark.long
def test_fifty_kills_while_embedding_never_send_a_text_twice(program: Program):
    program.write("First.md", "# First\n\nfiller\n")
    with running_endpoint(program, latency=0.05, at_once=2) as endpoint:
        amid = kill_while_embedding(program, endpoint, kills=50, seed=4)
    print(f"\n50 kills while embedding, {amid} of them amid requests: no saved vector asked again")
    assert amid > 25
