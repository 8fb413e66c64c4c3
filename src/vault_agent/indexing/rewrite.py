"""Writes the full text anew, since deleted documents count in the statistics of its words.

The engine drops deleted documents when it writes a segment anew, which may be never.
"""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

from vault_agent.indexing.batches import parsed
from vault_agent.indexing.compare import read_stored
from vault_agent.indexing.kept import KeptTexts
from vault_agent.indexing.parse import FileTask
from vault_agent.store.fulltext.writer import FulltextWriter, documents_in
from vault_agent.system.cancelling import in_thread
from vault_agent.text.attachments import kind_of
from vault_agent.text.names import is_note

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vault_agent.indexing.batches import Parse
    from vault_agent.indexing.task import IndexTask
    from vault_agent.store.index.notes import StoredFile
    from vault_agent.store.layout import IndexDirectory

MAX_DELETED_SHARE = 0.1
"""Share of deleted documents above which the full text is written anew."""


def has_drifted(directory: IndexDirectory, generation: int) -> bool:
    """Whether too many documents of the full text are deleted.

    Raises:
        IndexUnavailable: `INDEX_INCOMPATIBLE` if the full text is damaged.
    """
    counts = documents_in(directory.fulltext(generation))
    return any(deleted > MAX_DELETED_SHARE * written for written, deleted in counts)


async def rewrite(
    directory: IndexDirectory, generation: int, task: IndexTask, parse: Parse
) -> None:
    """Write the full text of all rows anew, unless a file gives another text, or none, now."""
    stored = await in_thread(read_stored, directory, task)
    if stored is None or not _are_readable(stored.files, stored.left_out, directory):
        return
    tasks = [FileTask(file.entry, None, file.rowid) for file in stored.files.values()]
    tasks.sort(key=lambda file: not is_note(file.entry.path))
    fulltext = FulltextWriter(directory.fulltext(generation))
    try:
        fulltext.clear()
        async with aclosing(parsed(tasks, parse, task.parallel)) as batches:
            async for batch in batches:
                for file in batch:
                    if file.text is None or file.hash != stored.files[file.entry.path].hash:
                        return
                    fulltext.add_note(file.rowid, file.text)
        await in_thread(fulltext.commit)
        await in_thread(fulltext.merge)
    finally:
        fulltext.close()


def _are_readable(
    files: Mapping[str, StoredFile], left_out: Mapping[str, object], directory: IndexDirectory
) -> bool:
    """Whether all texts are at hand, or else each run would try in vain."""
    texts = KeptTexts(directory.texts)
    return files.keys().isdisjoint(left_out) and all(
        texts.has(kind, file.hash)
        for path, file in files.items()
        if not is_note(path) and (kind := kind_of(path)) is not None
    )
