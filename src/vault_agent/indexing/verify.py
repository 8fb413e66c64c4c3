"""Reads the current generation once, to find damage that a search would meet or not notice."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from vault_agent.store.database import check_pages, open_reader
from vault_agent.store.fulltext.reader import FulltextReader
from vault_agent.store.index.meta import read_meta
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
        read_meta(connection)
        check_pages(connection)
    FulltextReader(directory.fulltext(number)).close()
