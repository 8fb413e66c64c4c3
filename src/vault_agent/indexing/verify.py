"""Reads the current generation once, to find damage that a search would meet or not notice."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from vault_agent.model.scope import EVERYTHING
from vault_agent.store.database import check_pages, open_reader
from vault_agent.store.failures import damaged
from vault_agent.store.fulltext.reader import FulltextReader
from vault_agent.store.fulltext.shelf import Rows
from vault_agent.store.index import documents
from vault_agent.store.index.meta import old_rows, read_meta
from vault_agent.store.layout import IndexDirectory

if TYPE_CHECKING:
    from vault_agent.indexing.task import IndexTask


def verify(task: IndexTask) -> None:
    """Read the pages of the database, and open the full text.

    SQLite finds broken pages, and the engine broken files. A changed word is not found: the index
    is disposable, and nothing but damage changes it. It is done in the indexing process, since to
    open a database whose `-shm` was truncated ends a process that has it mapped.

    Raises:
        IndexUnavailable: `INDEX_INCOMPATIBLE` if they are damaged.
    """
    directory = IndexDirectory(Path(task.directory))
    number = directory.current()
    if number is None:
        return
    with open_reader(directory.database(number)) as connection:
        meta = read_meta(connection)
        check_pages(connection)
        rows = Rows(meta.next_rowid, old_rows(connection))
        stored = meta.notes + len(documents.files(connection))
        fulltext = FulltextReader(directory.fulltext(number), rows)
        # A log that was cut short takes the database back, and the full text stays as it was.
        if fulltext.note_count(EVERYTHING) != stored and read_meta(connection) == meta:
            raise damaged()
        fulltext.close()
