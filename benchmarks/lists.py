"""Measure regular expressions, lists and names over the index of a vault, in one process.

Prints the CPU time of each call (all threads) as a Markdown table. A scan that its time limit stops
is continued to the end, and its pages are counted.

    python benchmarks/lists.py --vault FOLDER
    python benchmarks/lists.py --notes 38000
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from pathlib import Path

from vault import Vault
from vault_agent.indexing.index import index
from vault_agent.indexing.parse import FileTask, ParsedFile, parser
from vault_agent.indexing.task import IndexTask, fingerprint_of
from vault_agent.model.grep import GrepQuery
from vault_agent.model.identifiers import identify
from vault_agent.model.lists import ListQuery, Sort, TaskQuery
from vault_agent.model.search import SearchQuery
from vault_agent.search.grep import grep
from vault_agent.search.lists import list_notes
from vault_agent.search.pages import search_page
from vault_agent.search.resolve import resolve
from vault_agent.search.tasks import list_tasks
from vault_agent.store.current import CurrentIndex, Snapshot
from vault_agent.store.layout import IndexDirectory
from vault_agent.system.workers import WorkerPool
from vault_agent.vault.exclude import Exclusions

MAX_NOTE_BYTES = 16 << 20
PLAIN = (
    "zqxword", "(?i)zqxword", "^## .*zq$", r"\bzqx\w+\b", "zq(one|two|three)", "[A-Z]{9}zq",
    r"https?://zq\S+", r"^\s*[-*] \[ \] zq", r"\d{4}-\d{2}-\d{2}zq", "zq.*zq", "TODO|FIXME", "e",
)  # fmt: skip
HOSTILE = ("(?s).*e.{200}qzq", "[a-z ]*e[a-z ]{40}q", "(a+)+zq$")


class Silent:
    """A report that nobody reads."""

    def phase(self, name: str, done: int, total: int | None, characters: int = 0) -> None:
        """Take no notice."""

    def warn(self, warning: object) -> None:
        """Take no notice."""

    def published(self, run: object = None) -> None:
        """Take no notice."""


async def opened(root: Path, directory: Path) -> CurrentIndex:
    """Index a vault, and open the index."""
    fingerprint = fingerprint_of(Exclusions(()), MAX_NOTE_BYTES)
    task = IndexTask(
        root=str(root),
        directory=str(directory),
        vault=identify(str(root.resolve())),
        exclude=(),
        max_note_bytes=MAX_NOTE_BYTES,
        fingerprint=fingerprint,
        rebuild=False,
        parallel=2,
    )
    pool: WorkerPool[list[FileTask], list[ParsedFile]] = WorkerPool(
        parser, (str(root), (), MAX_NOTE_BYTES), size=2
    )
    async with pool:
        await index(task, lambda batch: pool.run(batch, cpu_seconds=60.0), Silent())
    current = CurrentIndex(IndexDirectory(directory), vault=task.vault, fingerprint=fingerprint)
    await current.refresh()
    return current


async def scan(now: Snapshot, pattern: str) -> tuple[int, int]:
    """Search the whole vault for one page of lines. Return the lines, and the calls it took."""
    place, calls, lines = None, 0, 0
    while True:
        answer = await grep(now, GrepQuery(pattern), seconds=2.0, start=place)
        calls, lines, place = calls + 1, lines + len(answer.lines), answer.place
        if not answer.incomplete:
            return lines, calls


async def measure(root: Path) -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        current = await opened(root, Path(folder) / "index")
        async with current.snapshot() as now:
            [(size,)] = await _sizes(now)
            print(f"{now.meta.notes:,} notes, {size / 1e6:.1f} MB of text\n")
            print("| call | CPU ms (best of 3) | found | calls |\n|---|---:|---:|---:|")
            for pattern in (*PLAIN, *HOSTILE):
                await row(f"grep `{pattern}`".replace("|", "\\|"), lambda p=pattern: scan(now, p))
            for sort in Sort:
                await row(f"list by {sort}", lambda s=sort: one(list_notes(now, ListQuery(sort=s))))
            await row("list orphans", lambda: one(list_notes(now, ListQuery(linked=False))))
            await row("tasks", lambda: one(list_tasks(now, TaskQuery())))
            await row("resolve a name", lambda: one(resolve(now, "index"), missing=True))
            await row("suggest names", lambda: one(resolve(now, "no such name"), missing=True))
            for query in ("plugin settings", "the of and"):
                asked = SearchQuery(query, every_word=True)
                await row(f"all words `{query}`", lambda a=asked: one(search_page(now, a)))
        await current.close()


async def _sizes(now: Snapshot) -> list[tuple[int]]:
    async with now.connection() as connection:
        return list(
            await connection.execute_fetchall("SELECT sum(length(CAST(text AS BLOB))) FROM chunk")
        )


async def one(work, *, missing: bool = False) -> tuple[int, int]:
    """Run a call and return how many rows it has found."""
    try:
        found = await work
    except Exception:
        if not missing:
            raise
        return 0, 1
    rows = next(getattr(found, name) for name in ("notes", "tasks", "hits") if hasattr(found, name))
    return len(rows), 1


async def row(name: str, work) -> None:
    """Measure a call and print its row."""
    best, found = float("inf"), (0, 0)
    for _ in range(3):
        began = time.process_time()
        found = await work()
        best = min(best, time.process_time() - began)
    print(f"| {name} | {1000 * best:.0f} | {found[0]:,} | {found[1]} |", flush=True)


def main() -> None:
    """Measure from the command line."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--vault", type=Path, help="a folder of notes")
    arguments.add_argument("--notes", type=int, default=10_000, help="size of a made vault")
    given = arguments.parse_args()
    if given.vault is not None:
        asyncio.run(measure(given.vault))
        return
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "vault"
        Vault(given.notes).write(root)
        asyncio.run(measure(root))


if __name__ == "__main__":
    main()
