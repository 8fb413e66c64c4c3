"""Damage index files one by one and record how the product handles it.

As a program (`python -m tests.faults.damage FOLDER SEED COUNT`) it prints a line of JSON for each
damage; a crash of it is a finding too, which is why it is a program.
"""

from __future__ import annotations

import asyncio
import faulthandler
import json
import random
import shutil
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.faults.disk import run_module
from tests.faults.embedder import MadeUp, settings
from tests.support.clocks import PATIENCE
from tests.support.index_runs import Vault

from vault_agent.errors import IndexUnavailable
from vault_agent.indexing.embed import embed
from vault_agent.model.jobs import Job, JobKind, JobState
from vault_agent.model.search import Filters
from vault_agent.search.query import compile_query
from vault_agent.store.current import CurrentIndex, Snapshot
from vault_agent.store.database import open_reader, translated
from vault_agent.store.index.meta import read_meta
from vault_agent.store.jobs import open_jobs
from vault_agent.store.vectors import open_matrix

QUERIES = ("word3", "shared filler", '"shared text"', "東京 word1", "note")


@dataclass
class Finding:
    """The damage and its outcome."""

    file: str
    damage: str
    outcome: str  # one of `test_damage.FINE`, or what is wrong
    cured: bool = True  # a rebuild holds everything again


def damage_some(folder: Path, *, seed: int, count: int) -> list[Finding]:
    """Damage files of an index `count` times, in a separate process."""
    return [Finding(**json.loads(line)) for line in run_module("damage", folder, seed, count)]


async def _make(vault: Vault) -> None:
    """Index twice while a reader is open, so that the write-ahead log is not empty."""
    for number in range(60):
        vault.write(
            f"folder {number % 3}/Note {number}.md",
            f"---\ntags: [t{number % 5}]\naliases: [Alias {number}]\n---\n# Note {number}\n\n"
            f"word{number} shared text 東京 [[Note {number + 1}]]\n\n## More\n\n"
            + f"filler{number} filler "
            * 60,
        )
    await vault.index()
    number = vault.directory.current()
    assert number is not None
    with open_reader(vault.directory.database(number)) as connection:
        connection.execute("SELECT count(*) FROM note")
        vault.write("folder 1/Note 1.md", "# Note 1\n\nrewritten word1 shared\n")
        vault.write("New.md", "# New\n\nshared " + "new " * 2000)
        await vault.index()
        await embed(str(vault.directory.path), MadeUp(), settings(), vault.heard)
        async with open_jobs(vault.directory.jobs) as jobs:
            for count in range(30):
                await jobs.insert(_job(f"{count:016x}"))
        shutil.copytree(vault.directory.path, vault.directory.path.with_name("template"))


def _harm(file: Path, chance: random.Random) -> str:
    """Damage a file at a random place and describe the damage."""
    size = file.stat().st_size
    kind = chance.choice(("bit", "zeros", "noise", "page", "cut", "longer"))
    with file.open("r+b") as opened:
        if kind == "cut":
            opened.truncate(chance.randrange(max(size, 1)))
        elif kind == "longer":
            opened.seek(0, 2)
            opened.write(chance.randbytes(100))
        else:
            at = chance.randrange(max(size, 1))
            length = {"bit": 1, "zeros": 64, "noise": 512, "page": 4096}[kind]
            opened.seek(at)
            old = opened.read(length)
            new = bytes(len(old)) if kind == "zeros" else chance.randbytes(len(old))
            if kind == "bit" and old:
                new = bytes([old[0] ^ 1 << chance.randrange(8)])
            opened.seek(at)
            opened.write(new)
            kind = f"{kind} at {at} of {size}"
    return kind


async def _answers(snapshot: Snapshot) -> list[Any]:
    found = []
    for query in QUERIES:
        candidates = snapshot.fulltext.candidates(compile_query(query), Filters())
        found.append(
            (
                sorted(candidates.body),
                sorted(candidates.text.items()),
                sorted(candidates.headed),
                sorted(candidates.all_words),
            )
        )
    return found


async def _look(vault: Vault, spec: Any) -> tuple[str, Any]:
    """Open an index like a server. Return the outcome and everything it would serve."""
    index = CurrentIndex(vault.directory, identity=spec.identity, fingerprint=spec.fingerprint)
    try:
        await index.refresh()
        if index.refusal is not None:
            return "refused when opened", None
        if index.meta is None:
            return "there seems to be no index", None
        try:
            async with index.snapshot() as snapshot:
                with translated():  # as all that reads the index does
                    return "", (await vault.dump(), await _answers(snapshot))
        except IndexUnavailable:
            return "refused when read", None
    finally:
        await index.close()


async def _judge(vault: Vault, file: str, damage: str, expected: Any) -> Finding:
    spec = vault.spec()
    try:
        outcome, held = await _look(vault, spec)
        if not outcome:
            outcome = "harmless" if held == expected else "wrong content was served"
            if outcome != "harmless" and (file.endswith("index.db") or "fulltext" in file):
                outcome = "a changed row"  # no checksum is compared, and the index is disposable
            elif outcome != "harmless" and file.endswith("-wal"):
                await vault.index()  # completes what the log has lost, under other row numbers
                vault.verify()
                if await vault.dump() == expected[0]:
                    outcome = "an earlier revision"
    except Exception as error:  # noqa: BLE001 - it is a finding
        outcome = f"{type(error).__name__}: {error}"
    try:
        await vault.index(rebuild=True)
        cured = (await vault.dump()) == expected[0]
    except Exception as error:  # noqa: BLE001 - it is a finding
        outcome += f"; and then {type(error).__name__}: {error}"
        cured = False
    return Finding(file, damage, outcome, cured)


def _job(job_id: str, state: JobState = JobState.SUCCEEDED) -> Job:
    return Job(job_id, JobKind.INDEX, state, created_at="2024-01-01T00:00:00Z")


def vectors_of(vault: Vault) -> dict[int, bytes]:
    """Return the vector of each chunk, as a search would use it."""
    with vault.reader() as connection:
        matrix = open_matrix(vault.directory.vectors, read_meta(connection).identity)
    if matrix is None:
        return {}
    keys, rows = matrix.find(matrix._keys)
    return {
        key: matrix.vectors[row].tobytes()
        for key, row in zip(keys.tolist(), rows.tolist(), strict=True)
    }


async def _judge_vectors(vault: Vault, file: str, damage: str, expected: Any) -> Finding:
    """Check that a damaged database is not used, and that the next run repairs it.

    A changed vector is not noticed: it costs a place in the ranking of one note.
    """
    directory = str(vault.directory.path)
    try:
        held = vectors_of(vault)
        outcome = "harmless" if held.keys() == expected.keys() else "forgotten"
        if not held.keys() <= expected.keys():
            outcome = "vectors of no chunk"  # searches pass over them
    except Exception as error:  # noqa: BLE001 - it is a finding
        outcome = f"{type(error).__name__}: {error}"
    try:
        await embed(directory, MadeUp(), settings(), vault.heard)
        cured = vectors_of(vault).keys() == expected.keys()
    except Exception as error:  # noqa: BLE001 - it is a finding
        outcome += f"; and then {type(error).__name__}: {error}"
        cured = False
    return Finding(file, damage, outcome, cured)


async def _judge_jobs(vault: Vault, file: str, damage: str, expected: Any) -> Finding:
    """Check that a damaged job database is set aside and a new one works."""
    try:
        async with open_jobs(vault.directory.jobs) as jobs:
            held = [job.id for job in await jobs.list()]
            await jobs.insert(_job("f" * 16, JobState.RUNNING))
            await jobs.update(_job("f" * 16))
            await jobs.insert(_job("e" * 16, JobState.RUNNING))
            cured = [job.id for job in await jobs.list()] == ["e" * 16, "f" * 16, *held]
        # A changed letter in a readable database is not detected. Nothing depends on old jobs.
        outcome = "harmless" if len(held) == len(expected) else "forgotten" if not held else "part"
    except Exception as error:  # noqa: BLE001 - it is a finding
        outcome, cured = f"{type(error).__name__}: {error}", False
    return Finding(file, damage, outcome, cured)


async def _main(folder: Path, seed: int, count: int) -> None:
    chance = random.Random(seed)
    vault = Vault(folder)
    await _make(vault)
    template, directory = folder / "template", vault.directory.path

    def reset() -> None:
        shutil.rmtree(directory, ignore_errors=True)
        shutil.copytree(template, directory)

    reset()
    _, expected = await _look(vault, vault.spec())
    vectors, jobs = vectors_of(vault), list(range(30))
    names = sorted(
        str(path.relative_to(template))
        for path in template.rglob("*")
        if path.is_file() and path.suffix not in (".lock", ".db-shm")
    )
    # The database is the largest file and has the fewest checksums.
    names += [name for name in names if ".db" in name] * 8
    for _ in range(count):
        faulthandler.dump_traceback_later(PATIENCE, exit=True)
        reset()
        name = chance.choice(names)
        damage = _harm(directory / name, chance)
        if "vectors" in name:
            finding = await _judge_vectors(vault, name, damage, vectors)
        elif "jobs" in name:
            finding = await _judge_jobs(vault, name, damage, jobs)
        else:
            finding = await _judge(vault, name, damage, expected)
        print(json.dumps(asdict(finding)), flush=True)


if __name__ == "__main__":
    asyncio.run(_main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
