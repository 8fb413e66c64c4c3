"""Measure appends to notes: until they are on the disk, and until a search finds them.

The vault is indexed first. Each append goes to another note and adds one line with a word of its
own. Prints a Markdown table with the times, the processor time of this process, and what syncing
one file and its folder takes on this disk at the same time, because most of a write is waiting for
the disk.

    python -m benchmarks writing                        10,000 notes, 60 appends each
    python -m benchmarks writing --notes 1000 --appends 200

`python -m benchmarks watch` measures searches while notes are saved.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.figures import percentile, table
from benchmarks.vault import Vault
from vault_agent.app import open_app
from vault_agent.config.settings import Config
from vault_agent.markdown.edit import append
from vault_agent.model.search import SearchQuery
from vault_agent.model.writing import Right, Write

if TYPE_CHECKING:
    from vault_agent.vaults.open_vault import OpenVault


def sync_once(folder: Path) -> float:
    """Return the milliseconds that a new file takes with its sync and that of its folder."""
    began = time.perf_counter()
    file = os.open(folder / "probe", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.write(file, b"text\n")
    os.fsync(file)
    os.close(file)
    opened = os.open(folder, os.O_RDONLY)
    os.fsync(opened)
    os.close(opened)
    return 1000 * (time.perf_counter() - began)


async def index(vault: OpenVault) -> None:
    """Wait until the first index is complete and notes may be changed."""
    running = vault.jobs.running
    if running is not None:
        async for _ in vault.jobs.watch(running.id):
            pass
    await vault.writer.ready()


async def append_to(vault: OpenVault, path: str, word: str, wait_ms: int) -> tuple[float, float]:
    """Append a line to a note. Return the milliseconds, and those of this process's processors."""
    write = Write(operation="append", right=Right.APPEND, may_replan=True, wait_ms=wait_ms)
    began, cpu = time.perf_counter(), time.process_time()
    written = await vault.writer.edit(path, write, lambda note: append(note, f"{word}\n"))
    taken = 1000 * (time.perf_counter() - began), 1000 * (time.process_time() - cpu)
    if wait_ms and not written.index.indexed:
        raise SystemExit("the index did not follow in time")
    return taken


def row(name: str, times: list[float], cpu: list[float] | None = None) -> tuple[str, ...]:
    """Return a row of the table."""
    spent = f"{statistics.median(cpu):.1f}" if cpu else ""
    return name, f"{statistics.median(times):.0f}", f"{percentile(times, 0.95):.0f}", spent


async def measure(root: Path, data: Path, appends: int) -> None:
    """Print the table."""
    chance = random.Random(5)
    notes = sorted(path.relative_to(root).as_posix() for path in root.rglob("*.md"))
    config = Config(
        vault={"root": root},
        index={"dir": data},
        write={"enabled": True, "folders": ["."], "quiet_seconds": 0},
    )
    async with open_app(config) as app:
        vault = app.vaults.default
        await index(vault)
        syncs: list[float] = []
        disk: list[tuple[float, float]] = []
        searched: list[tuple[float, float]] = []
        for path in chance.sample(notes, appends):
            syncs.append(sync_once(data))
            disk.append(await append_to(vault, path, "unsearched", 0))
            # The index is busy for a while after that.
            while vault.checks._queue.is_busy:  # noqa: ASYNC110, SLF001
                await asyncio.sleep(0.05)
        for number, path in enumerate(chance.sample(notes, appends)):
            word = f"quincequince{number}"
            taken = await append_to(vault, path, word, 10_000)
            hits = (await vault.search(SearchQuery(word))).results
            if [hit.path for hit in hits] != [path]:
                raise SystemExit("a search did not find what was written")
            searched.append(taken)
    print(f"{len(notes)} notes, {appends} appends\n")
    rows = (
        row("one file and its folder synced", syncs),
        row("append, on the disk", *map(list, zip(*disk, strict=True))),
        row("append, found by a search", *map(list, zip(*searched, strict=True))),
    )
    print(table(("", "p50 ms", "p95 ms", "CPU p50 ms"), *rows))


def main() -> None:
    """Make a vault and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--appends", type=int, default=60)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root, data = Path(folder, "vault"), Path(folder, "data")
        root.mkdir()
        data.mkdir()
        Vault(options.notes).write(root)
        asyncio.run(measure(root, data, options.appends))


if __name__ == "__main__":
    main()
