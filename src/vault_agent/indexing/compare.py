"""What the index holds, to be compared with what the vault holds now."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from vault_agent.errors import IndexUnavailable
from vault_agent.store.database import open_reader
from vault_agent.store.index import notes as reading
from vault_agent.store.index.meta import check_compatible, read_meta
from vault_agent.store.layout import IndexDirectory
from vault_agent.vault.diff import diff
from vault_agent.vault.exclude import Exclusions
from vault_agent.vault.root import VaultRoot
from vault_agent.vault.scan import scan

if TYPE_CHECKING:
    from vault_agent.indexing.task import IndexTask
    from vault_agent.model.notes import FileEntry
    from vault_agent.store.index.meta import Meta


@dataclass(frozen=True, slots=True)
class Stored:
    """The files that the index knows, as the last run saw them."""

    meta: Meta
    files: dict[str, reading.StoredFile]  # notes by path
    left_out: dict[str, FileEntry]  # notes that were there before among them
    unread: frozenset[str]  # those of `left_out` that the next run tries to read again
    attachments: frozenset[str]

    @property
    def entries(self) -> dict[str, FileEntry]:
        """Every file with a note's name, whatever became of it."""
        return {**{path: file.entry for path, file in self.files.items()}, **self.left_out}

    @property
    def settled(self) -> dict[str, FileEntry]:
        """Every file that need not be read again while it stays as it was."""
        return {
            **{path: file.entry for path, file in self.files.items()},
            **{path: entry for path, entry in self.left_out.items() if path not in self.unread},
        }


async def read_stored(directory: IndexDirectory, task: IndexTask) -> Stored | None:
    """Return what the current generation holds, or None where there is none.

    Raises:
        IndexUnavailable: `INDEX_INCOMPATIBLE` where it can't be used; for a task that rebuilds,
            that is as good as none.
    """
    number = directory.current()
    if number is None:
        return None
    try:
        async with open_reader(directory.database(number)) as connection:
            meta = await read_meta(connection)
            check_compatible(meta, vault=task.vault, fingerprint=task.fingerprint)
            files = {file.entry.path: file for file in await reading.files(connection)}
            left_out = await reading.left_out(connection)
            attachments = frozenset(await reading.attachments(connection))
            return Stored(
                meta,
                files,
                {entry.path: entry for entry, _ in left_out},
                frozenset(entry.path for entry, unread in left_out if unread),
                attachments,
            )
    except IndexUnavailable:
        if not task.rebuild:
            raise  # "must not silently repair": the message says to reindex
        return None


async def is_stale(task: IndexTask) -> bool:
    """Tell whether notes have visibly changed since the last run, by a walk of `stat`.

    Raises:
        IndexUnavailable: `INDEX_INCOMPATIBLE` where the index can't be compared.
        Misconfigured: `VAULT_NOT_FOUND`, `CONFIG_INVALID` (a bad exclusion).
    """
    stored = await read_stored(IndexDirectory(Path(task.directory)), task)
    if stored is None:
        return False
    with VaultRoot.open(task.root, Exclusions(task.exclude)) as root:
        found = scan(root)
    return diff(stored.entries, found.notes, found.unlisted).differs
