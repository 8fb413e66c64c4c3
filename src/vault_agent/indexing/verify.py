"""Looking through an index for damage: every page, row and checksum of the current generation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from vault_agent.store.database import open_reader
from vault_agent.store.fulltext.seal import check_seal
from vault_agent.store.index.check import check_database
from vault_agent.store.index.meta import read_meta
from vault_agent.store.layout import IndexDirectory

if TYPE_CHECKING:
    from vault_agent.indexing.task import IndexTask


async def verify(task: IndexTask) -> None:
    """Compare the files of the current generation with what was written.

    Raises:
        IndexUnavailable: `INDEX_INCOMPATIBLE` where they differ.
    """
    directory = IndexDirectory(Path(task.directory))
    number = directory.current()
    if number is None:
        return
    async with open_reader(directory.database(number)) as connection:
        # One state of it: a run may commit another in the middle.
        await connection.execute_fetchall("BEGIN")
        meta = await read_meta(connection)
        await check_database(connection, meta)
    check_seal(directory.fulltext(number, meta.revision))
