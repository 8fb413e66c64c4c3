"""Move files of a copy of a vault at random, and resolve every link again by independent code.

Renames, moves, folders, attachments, other letter case, and names that other notes have. After each
move the links are read by marko and PyYAML and resolved by brute force (`tests/vault_links.py`).
Then the move is undone, and all bytes must be the original ones.

    python benchmarks/moves.py ~/Notes --moves 1000
    python benchmarks/moves.py ~/Notes --moves 1000 --plan-only    nothing is written
    python benchmarks/moves.py --linked 1000                       one note that 1,000 link to
"""

from __future__ import annotations

import argparse
import asyncio
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections import Counter
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.random_moves import RandomMoves
from tests.vault_links import Vault as Links
from tests.vault_links import compare

from paths import pool_of, seconds_of, task_of
from vault_agent.errors import VaultAgentError
from vault_agent.model.writing import IndexState, Right, Write, WriteLimits
from vault_agent.store.current import CurrentIndex
from vault_agent.store.layout import IndexDirectory
from vault_agent.store.writes.log import WriteLog
from vault_agent.vault.exclude import Exclusions
from vault_agent.vault.root import VaultRoot
from vault_agent.vault.scan import scan
from vault_agent.writing.files import Files
from vault_agent.writing.journal import Journal
from vault_agent.writing.move import MoveRequest, plan_move
from vault_agent.writing.transaction import Edit
from vault_agent.writing.write import Writing

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Mapping, Sequence

    from tests.random_moves import RandomMove
    from tests.vault_links import Compared

    from vault_agent.model.writing import Written
    from vault_agent.store.current import Snapshot

MOST_NOTES = 100_000


def files_of(folder: Path) -> dict[str, bytes]:
    """Return the bytes of the vault's files by path; those of attachments are left out."""
    with VaultRoot.open(folder) as root:
        found = scan(root)
    notes = {entry.path: (folder / entry.path).read_bytes() for entry in found.notes}
    return notes | {entry.path: b"" for entry in found.attachments}


def texts_of(files: Mapping[str, bytes]) -> dict[str, str]:
    """Return the texts of notes."""
    return {path: data.decode("utf-8", "surrogateescape") for path, data in files.items()}


@asynccontextmanager
async def indexed(folder: Path, directory: Path) -> AsyncIterator[Snapshot]:
    """Index a vault and open the index."""
    task = task_of(folder, directory)
    async with pool_of(folder) as pool:
        await seconds_of(task, pool)
    index = CurrentIndex(IndexDirectory(directory), vault=task.vault, fingerprint=task.fingerprint)
    await index.refresh()
    try:
        async with index.snapshot() as snapshot:
            yield snapshot
    finally:
        await index.close()


class Copy:
    """A copy of a vault with its index, and what writes it. It is never indexed again."""

    def __init__(self, folder: Path, data: Path, snapshot: Snapshot) -> None:
        self.folder = folder
        self._snapshot = snapshot
        limits = WriteLimits(quiet_seconds=0, undo_writes=10)
        exclusions = Exclusions()
        log = WriteLog.open(data / "writes.db", data / "before")
        self.writing = Writing(Journal(self.root, log, limits, exclusions), self._follow)
        self._files = Files(self.writing, self, self.root, self.writing.may_write, MOST_NOTES)

    def root(self) -> VaultRoot:
        """Open the folder."""
        return VaultRoot.open(self.folder)

    @asynccontextmanager
    async def snapshot(self, *, up_to_date: bool) -> AsyncIterator[Snapshot]:
        """Lend the index. Each move is taken back, so the index is always up to date."""
        del up_to_date
        yield self._snapshot

    async def _follow(self, paths: Sequence[str], wait_ms: int) -> IndexState:
        del paths, wait_ms
        return IndexState(1, 1)

    async def move(self, path: str, to: str) -> Written:
        """Move a file or folder."""
        write = Write(operation="move", right=Right.MOVE)
        return await self._files.move(path, to, write)

    async def undo(self, written: Written) -> None:
        """Take a move back."""
        await self.writing.undo(written.write_id, Write(operation="undo", right=Right.EDIT))


class Figures:
    """What the moves of one vault have shown."""

    def __init__(self) -> None:
        self.kinds, self.refused = Counter[str](), Counter[str]()
        self.links = self.rewritten = self.notes = 0
        self.wrong = self.outside = self.not_restored = 0
        self.planning: list[float] = []
        self.moving: list[float] = []
        self.undoing: list[float] = []

    def add(self, move: RandomMove, found: Compared, notes: int) -> None:
        """Count the result of a move, and print what is wrong."""
        self.kinds[move.kind] += 1
        self.notes += notes
        self.links += found.links
        self.rewritten += found.rewritten
        self.wrong += len(found.wrong)
        self.outside += len(found.outside)
        for each in (*found.wrong[:3], *found.outside[:3]):
            print("WRONG:", move, each)

    def show(self) -> None:
        """Print all figures."""
        print(f"moves     {dict(self.kinds)}, refused {dict(self.refused)}")
        print(f"links     {self.links} resolved again; {self.rewritten} rewritten")
        print(f"notes     {self.notes} rewritten")
        print(f"wrong     {self.wrong} links lead elsewhere")
        print(f"bytes     {self.outside} notes changed outside targets")
        for name in ("planning", "moving", "undoing"):
            times = sorted(getattr(self, name))
            if times:
                p95 = times[int(len(times) * 0.95)]
                unit = "s CPU" if name == "planning" else "s"
                print(
                    f"{name:9} {statistics.median(times):.3f} {unit} p50, {p95:.3f} p95,"
                    f" {times[-1]:.3f} at most"
                )
        if self.moving:
            print(f"undo      {self.not_restored} times not the original bytes")


async def run(folder: Path, data: Path, count: int, seed: int, *, plan_only: bool) -> None:
    """Make the moves, and print the figures."""
    files = files_of(folder)
    before = Links(texts_of(files))
    folders = sorted({path.rpartition("/")[0] for path in files if "/" in path})
    linked = {
        before.resolver.resolve(path, link) for path in before.notes for link in before.links(path)
    }
    random_moves = RandomMoves(random.Random(seed), files, folders, sorted(filter(None, linked)))
    figures = Figures()
    async with indexed(folder, data / "index") as snapshot:
        copy = Copy(folder, data, snapshot)
        running = asyncio.create_task(copy.writing.run())
        await copy.writing.ready()
        for number in range(count):
            if number % 25 == 0:
                print(f"{number} moves", file=sys.stderr)
            move = random_moves.next()
            try:
                if plan_only:
                    planned(snapshot, copy, move, before, figures)
                else:
                    await carried_out(copy, move, before, figures)
            except VaultAgentError as error:
                figures.refused[error.code] += 1
                if error.code not in ("NAME_COLLISION", "NOTE_EXISTS"):
                    print("refused:", move, error.code, error.details)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await copy.writing.close()
    figures.show()


def _always(path: str) -> bool:
    del path
    return True


def planned(
    snapshot: Snapshot, copy: Copy, move: RandomMove, before: Links, figures: Figures
) -> None:
    """Plan a move, and compare the links as they would be."""
    started = time.process_time()
    with copy.root() as root:
        asked = MoveRequest(move.path, move.to, True, _always, _always, MOST_NOTES)
        plan = plan_move(snapshot, root, asked)
    figures.planning.append(time.process_time() - started)
    moved = new_paths(before.files, move, plan.path)
    texts = {
        change.path: change.after.decode("utf-8", "surrogateescape")
        for change in plan.changes
        if isinstance(change, Edit)
    }
    figures.add(move, compare(before, before.moved(moved, texts), moved), len(texts))


async def carried_out(copy: Copy, move: RandomMove, before: Links, figures: Figures) -> None:
    """Carry out a move and take it back, and compare the files on the disk."""
    started = time.perf_counter()
    written = await copy.move(move.path, move.to)
    figures.moving.append(time.perf_counter() - started)
    moved = new_paths(before.files, move, written.path)
    files = texts_of(files_of(copy.folder))
    expected = {moved.get(path, path) for path in before.files}
    if files.keys() != expected:
        print("WRONG:", move, "files", len(files.keys() ^ expected))
        figures.wrong += 1
    else:
        notes = sum(file.links > 0 for file in written.files)
        figures.add(move, compare(before, before.moved(moved, files), moved), notes)
    started = time.perf_counter()
    await copy.undo(written)
    figures.undoing.append(time.perf_counter() - started)
    if texts_of(files_of(copy.folder)) != before.files:
        print("WRONG:", move, "was not taken back")
        figures.not_restored += 1
        raise SystemExit(1)


async def large(folder: Path, data: Path, count: int) -> None:
    """Move one note to which `count` notes link, and take it back. Print the times."""
    (folder / "notes").mkdir(parents=True)
    (folder / "Target.md").write_text("# Target\n")
    for number in range(count):
        text = (
            f"# Note {number}\n\n" + "Some words of a note. " * 100 + "\n\nSee [[Target|this]].\n"
        )
        (folder / "notes" / f"{number}.md").write_text(text)
    async with indexed(folder, data / "index") as snapshot:
        copy = Copy(folder, data, snapshot)
        running = asyncio.create_task(copy.writing.run())
        await copy.writing.ready()
        for name, work in (("move", copy.move), ("undo", None)):
            wall, processor = time.perf_counter(), time.process_time()
            if work is not None:
                written = await work("Target.md", "moved/Renamed")
            else:
                await copy.undo(written)
            print(
                f"{name} with {count} notes: {time.perf_counter() - wall:.2f} s,"
                f" of which {time.process_time() - processor:.2f} s CPU"
            )
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await copy.writing.close()


def new_paths(files: Iterable[str], move: RandomMove, to: str) -> dict[str, str]:
    """Return the new path of each file that a move concerns."""
    below = move.path + "/"
    return {
        path: to + path[len(move.path) :]
        for path in files
        if path == move.path or path.startswith(below)
    }


def main() -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("vault", type=Path, nargs="?", help="it is copied, and never changed")
    parser.add_argument("--moves", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--linked", type=int, help="instead, move a note that so many link to")
    parser.add_argument("--plan-only", action="store_true", help="write nothing")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        copy, data = Path(temporary) / "vault", Path(temporary) / "data"
        data.mkdir()
        if asked.linked:
            asyncio.run(large(copy, data, asked.linked))
            return
        shutil.copytree(asked.vault, copy, symlinks=True)
        asyncio.run(run(copy, data, asked.moves, asked.seed, plan_only=asked.plan_only))


if __name__ == "__main__":
    main()
