"""A process that moves a note to which all notes of a vault link, back and forth, until it ends.

    python -m tests.faults.mover FOLDER

The plan is made without an index, so that almost all of the time is spent on the disk.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from tests.writing.opened import QUIET, Vault, move, write

from vault_agent.markdown.edit import spliced
from vault_agent.model.writing import Right, VaultChange
from vault_agent.writing.plan import Transaction
from vault_agent.writing.relinking import LinkTargets, PathChange, rewrite_links

HERE, THERE = "Target.md", "moved/to/Renamed.md"


def made(notes: int) -> dict[str, bytes]:
    """Return the files of the vault before the first move."""
    files = {
        f"folder {number % 7}/{number}.md": f"# {number}\n\n[[Target]] and [x](../Target.md)\n"
        for number in range(notes)
    }
    return {path: text.encode() for path, text in {HERE: "[[Target]]\n", **files}.items()}


def moved(files: Mapping[str, bytes]) -> Transaction:
    """Return the move of the note to its other place."""
    path, to = (HERE, THERE) if HERE in files else (THERE, HERE)
    names = LinkTargets(((each, ()) for each in files), change=PathChange({path: to}))
    edits = []
    for source, note in files.items():
        splices = rewrite_links(note, source, names)
        if splices:
            edits.append(VaultChange.edit(names.place(source), note, spliced(note, splices)))
    return Transaction(to, (move(path, to, files[path]), *edits), moved_from=path)


def after(files: Mapping[str, bytes], transaction: Transaction) -> dict[str, bytes]:
    """Return the files after a move."""
    found = dict(files)
    for change in transaction.changes:
        if change.target is not None:
            found[change.target] = found.pop(change.path)
        elif change.after is not None:
            found[change.path] = change.after
    return found


async def _move(folder: Path) -> None:
    vault = Vault(folder, QUIET)
    async with vault.opened() as writer:
        print("ready", flush=True)
        while True:
            files = {path: data for path, data in vault.tree().items() if path.endswith(".md")}
            await writer.transact(write("move", Right.MOVE), partial(moved, files))
            print("moved", flush=True)


if __name__ == "__main__":
    asyncio.run(_move(Path(sys.argv[1])))
