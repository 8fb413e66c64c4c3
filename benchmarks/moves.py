"""Move files of a copy of a vault at random, and resolve every link again by independent code.

Renames, moves, folders, attachments, other letter case, and names that other notes have. After each
move the links are read by marko and PyYAML and resolved by brute force (`tests/vault_links.py`).
Then the move is undone, and all bytes must be the original ones.

    python benchmarks/moves.py ~/Notes --moves 1000
    python benchmarks/moves.py ~/Notes --moves 1000 --plan-only    nothing is written
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
from vault_agent.store.current import CurrentIndex
from vault_agent.store.layout import IndexDirectory
from vault_agent.vault.root import VaultRoot
from vault_agent.vault.scan import scan
from vault_agent.writing.move import MoveRequest, plan_move
from vault_agent.writing.transaction import Edit

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from tests.random_moves import RandomMove

    from vault_agent.store.current import Snapshot
    from vault_agent.writing.transaction import Transaction

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


def request(move: RandomMove) -> MoveRequest:
    """Return a move as the planner takes it."""
    return MoveRequest(move.path, move.to, True, lambda _: True, MOST_NOTES)


def new_paths(files: Mapping[str, object], move: RandomMove, to: str) -> dict[str, str]:
    """Return the new path of each file that a move concerns."""
    below = move.path + "/"
    return {
        path: to + path[len(move.path) :]
        for path in files
        if path == move.path or path.startswith(below)
    }


def edited(plan: Transaction) -> dict[str, str]:
    """Return the new texts of a plan."""
    return {
        change.path: change.after.decode("utf-8", "surrogateescape")
        for change in plan.changes
        if isinstance(change, Edit)
    }


async def run(folder: Path, directory: Path, count: int, seed: int) -> None:
    """Make the moves, and print the figures."""
    files = files_of(folder)
    before = Links(texts_of(files))
    folders = sorted({path.rpartition("/")[0] for path in files if "/" in path})
    linked = {
        before.resolver.resolve(path, link) for path in before.notes for link in before.links(path)
    }
    random_moves = RandomMoves(random.Random(seed), files, folders, sorted(filter(None, linked)))
    kinds, refused = Counter[str](), Counter[str]()
    links = rewritten = notes = wrong = outside = 0
    planning = []
    async with indexed(folder, directory) as snapshot:
        with VaultRoot.open(folder) as root:
            for _ in range(count):
                move = random_moves.next()
                started = time.process_time()
                try:
                    plan = plan_move(snapshot, root, request(move))
                except VaultAgentError as error:
                    refused[error.code] += 1
                    if error.code == "LINK_NOT_EXPRESSIBLE":
                        print("refused:", move, error.details)
                    continue
                planning.append(time.process_time() - started)
                kinds[move.kind] += 1
                moved = new_paths(files, move, plan.path)
                texts = edited(plan)
                found = compare(before, before.moved(moved, texts), moved)
                links += found.links
                rewritten += found.rewritten
                notes += len(texts)
                wrong += len(found.wrong)
                outside += len(found.outside)
                for each in (*found.wrong[:3], *found.outside[:3]):
                    print("WRONG:", move, each)
    planning.sort()
    print(f"moves        {dict(kinds)}, refused {dict(refused)}")
    print(f"links        {links} resolved again, {rewritten} rewritten in {notes} notes")
    print(f"wrong        {wrong} links lead elsewhere, {outside} notes changed outside targets")
    print(
        f"planning     {statistics.median(planning):.3f} s CPU p50,"
        f" {planning[int(len(planning) * 0.95)]:.3f} p95, {planning[-1]:.3f} at most"
    )


def main() -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("vault", type=Path, help="it is copied, and never changed")
    parser.add_argument("--moves", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary) / "vault"
        shutil.copytree(asked.vault, copy, symlinks=True)
        asyncio.run(run(copy, Path(temporary) / "index", asked.moves, asked.seed))


if __name__ == "__main__":
    main()
