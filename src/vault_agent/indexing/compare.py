"""Reads the files that the index knows, and compares them with the vault."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from vault_agent.errors import IndexUnavailable
from vault_agent.indexing.protocol import Compared
from vault_agent.markdown.resolve import names_of
from vault_agent.store.database import open_reader
from vault_agent.store.index import documents, places
from vault_agent.store.index import notes as reading
from vault_agent.store.index.meta import check_compatible, read_meta
from vault_agent.store.index.rows import name_hash
from vault_agent.store.layout import IndexDirectory
from vault_agent.text.names import fold
from vault_agent.vault.diff import diff
from vault_agent.vault.exclude import Exclusions
from vault_agent.vault.paths import outermost
from vault_agent.vault.root import VaultRoot
from vault_agent.vault.scan import scan

if TYPE_CHECKING:
    from collections.abc import Collection

    from vault_agent.indexing.task import IndexTask
    from vault_agent.model.notes import FileEntry
    from vault_agent.store.database import Connection
    from vault_agent.store.index.meta import Meta


@dataclass(frozen=True, slots=True)
class Stored:
    """The files that the index knows, as the last run saw them: all, or those at some paths."""

    meta: Meta
    files: dict[str, reading.StoredFile]  # notes and documents by path
    left_out: dict[str, FileEntry]  # files named like notes that were not indexed or not re-read
    unread: frozenset[str]  # paths in `left_out` that the next run reads again
    attachments: frozenset[str]
    paths: Collection[str] | None  # the files are those at or below these paths; None: all files

    @property
    def entries(self) -> dict[str, FileEntry]:
        """All files named like notes, indexed or not."""
        return {**{path: file.entry for path, file in self.files.items()}, **self.left_out}

    @property
    def settled(self) -> dict[str, FileEntry]:
        """All files that are read again only if they change."""
        return {
            **{path: file.entry for path, file in self.files.items()},
            **{path: entry for path, entry in self.left_out.items() if path not in self.unread},
        }


def read_stored(
    directory: IndexDirectory, task: IndexTask, paths: Collection[str] | None = None
) -> Stored | None:
    """Return the files of the current generation, or None if there is none.

    With `paths`, only files at or below these paths and their other spellings are returned: a file
    system may find one file by names that differ in letter case or normal form.

    Raises:
        IndexUnavailable: `INDEX_INCOMPATIBLE` if the index cannot be used. A task that rebuilds
            gets None instead.
    """
    number = directory.current()
    if number is None:
        return None
    try:
        with open_reader(directory.database(number)) as connection:
            meta = read_meta(connection)
            check_compatible(meta, vault=task.vault, fingerprint=task.fingerprint)
            if paths is None:
                files = [*reading.files(connection), *documents.files(connection)]
                left_out = reading.left_out(connection)
                attachments = reading.attachments(connection)
            else:
                paths = outermost((*paths, *_other_spellings(connection, paths)))
                files = places.files_at(connection, paths)
                if documents.exist(connection):
                    files += places.documents_at(connection, paths)
                left_out = places.left_out_at(connection, paths)
                attachments = places.attachments_at(connection, paths)
            return Stored(
                meta,
                {file.entry.path: file for file in files},
                {entry.path: entry for entry, _ in left_out},
                frozenset(entry.path for entry, unread in left_out if unread),
                frozenset(attachments),
                paths,
            )
    except IndexUnavailable:
        if not task.rebuild:
            raise  # the server starts a rebuild, as a job that is seen
        return None


def _other_spellings(connection: Connection, paths: Collection[str]) -> list[str]:
    folded = {fold(path) for path in paths}
    lookups = {name_hash(name) for path in paths for name in names_of(path)}
    notes, attachments = places.files_named(connection, lookups)
    found = [*(path for path, _ in notes), *attachments]
    return [path for path in found if fold(path) in folded]


def compare(task: IndexTask) -> Compared:
    """Return whether notes have changed since the last run, by file size, times and inode.

    Raises:
        IndexUnavailable: `INDEX_INCOMPATIBLE` if the index cannot be used.
        Misconfigured: `VAULT_NOT_FOUND`, `CONFIG_INVALID` (a bad exclusion).
    """
    stored = read_stored(IndexDirectory(Path(task.directory)), task)
    if stored is None:
        return Compared(stale=False)
    if not stored.meta.has_exclusions_of(task.fingerprint):
        return Compared(stale=True)
    with VaultRoot.open(task.root, Exclusions(task.exclude), identity=task.vault) as root:
        found = scan(root)
    return Compared(stale=diff(stored.entries, task.to_index(found), found.unlisted).differs)
