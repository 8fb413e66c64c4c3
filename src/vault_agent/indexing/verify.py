"""Checks an index for damage: every page, row and checksum of the current generation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from vault_agent.markdown.resolve import names_of
from vault_agent.store.database import open_reader
from vault_agent.store.failures import damaged
from vault_agent.store.fulltext.seal import check_seal
from vault_agent.store.index import notes as reading
from vault_agent.store.index import places
from vault_agent.store.index.check import check_database
from vault_agent.store.index.meta import read_meta
from vault_agent.store.index.rows import handle_of, name_hash
from vault_agent.store.layout import IndexDirectory

if TYPE_CHECKING:
    from vault_agent.indexing.task import IndexTask
    from vault_agent.store.database import Connection


def verify(task: IndexTask) -> None:
    """Compare the files of the current generation with their checksums.

    Raises:
        IndexUnavailable: `INDEX_INCOMPATIBLE` if they differ.
    """
    directory = IndexDirectory(Path(task.directory))
    number = directory.current()
    if number is None:
        return
    with open_reader(directory.database(number)) as connection:
        # A transaction reads one state, even if a run commits another meanwhile.
        connection.execute("BEGIN")
        meta = read_meta(connection)
        check_database(connection, meta)
        _check_names(connection)
    check_seal(directory.fulltext(number, meta.revision))


def _check_names(connection: Connection) -> None:
    """Compare the table of names with the names that the files have."""
    held = dict(reading.names(connection))
    expected = {
        (name_hash(name), handle_of(path))
        for path in (*held, *reading.attachments(connection))
        for name in names_of(path, held.get(path, ()))
    }
    if set(places.names(connection)) != expected:
        raise damaged()
