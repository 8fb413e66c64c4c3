"""Writing full text: one directory a revision, which shares the files of the one before.

tantivy's segment files never change once written, so a revision starts as hard links to the files
of the one before and costs only what it adds. Readers of the former revision are not disturbed:
what this one drops is unlinked here and stays there.
"""

from __future__ import annotations

import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING

from tantivy import Document, Index, Query

from vault_agent.model.identifiers import CHUNK_BITS
from vault_agent.store.fulltext.guard import guarded
from vault_agent.store.fulltext.schema import ANALYZER, chunks_schema, notes_schema
from vault_agent.store.layout import sync_file
from vault_agent.text.terms import analyzer

if TYPE_CHECKING:
    from pathlib import Path

    from tantivy import IndexWriter, Schema

    from vault_agent.store.fulltext.schema import FulltextNote

_MEMORY_BYTES = 128_000_000  # of each writer, before a segment goes to disk; taken as it is needed
_BULK_THREADS = 2  # of each writer, for a new index: 2.8 s instead of 3.7 for 42 MB
CHANGED_IN_PLACE = frozenset({"meta.json", ".managed.json"})
"""The engine's only files that it ever changes: revisions may share all others."""

_LOCKS = {".tantivy-writer.lock", ".tantivy-meta.lock"}


class FulltextWriter:
    """Adds and removes notes; nothing is visible, or safe, before `commit`.

    For one thread at a time. `directory` must be new; with `base` it starts as that revision.
    """

    def __init__(self, directory: Path, base: Path | None = None) -> None:
        with guarded():
            self._notes = _open(directory / "notes", notes_schema(), base and base / "notes")
            self._chunks = _open(directory / "chunks", chunks_schema(), base and base / "chunks")

    def add_note(self, rowid: int, note: FulltextNote) -> None:
        """Add a note with its chunks under a rowid that was never used before."""
        with guarded():
            document = _filtered(note)
            document.add_unsigned("rowid", rowid)
            document.add_text("names", note.names)
            document.add_text(
                "body", "\n".join((note.names, *(text for text, _, _ in note.chunks), note.beside))
            )
            for name in note.name:
                document.add_text("name", name)
            self._notes.add_document(document)
            for index, (text, context, heading) in enumerate(note.chunks):
                document = Document()
                document.add_unsigned("key", rowid << CHUNK_BITS | index)
                document.add_unsigned("rowid", rowid)
                document.add_text("text", text)
                document.add_text("context", context)
                if heading:
                    document.add_text("name", heading)
                self._chunks.add_document(document)

    def remove_note(self, rowid: int) -> None:
        """Remove a note and its chunks; one that is not there is no error."""
        with guarded():
            # By query: given a number, delete_documents_by_term finds nothing (tantivy 0.27.0).
            for writer, schema in ((self._notes, notes_schema()), (self._chunks, chunks_schema())):
                writer.delete_documents_by_query(Query.term_query(schema, "rowid", rowid))

    def commit(self) -> None:
        """Finish: everything is on disk when this returns, and the writer is closed."""
        # Side by side: the engine lets go of the interpreter for nearly all of it.
        with guarded(), ThreadPoolExecutor(2) as threads:
            for done in [threads.submit(_finish, writer) for writer in (self._notes, self._chunks)]:
                done.result()

    def close(self) -> None:
        """Give up what was not committed. The directory is then the caller's to remove."""
        for writer in (self._notes, self._chunks):
            # A committed writer refuses: it has been consumed. One whose thread panicked may too.
            with suppress(Exception), guarded():
                writer.rollback()
                writer.wait_merging_threads()


def _finish(writer: IndexWriter) -> None:
    writer.commit()
    writer.wait_merging_threads()


def _open(directory: Path, schema: Schema, base: Path | None) -> IndexWriter:
    directory.mkdir(parents=True)
    threads = _BULK_THREADS
    if base is not None:
        _share(base, directory)
        threads = 1
    index = Index(schema, str(directory))
    index.register_tokenizer(ANALYZER, analyzer())
    return index.writer(heap_size=_MEMORY_BYTES, num_threads=threads)


def _share(base: Path, directory: Path) -> None:
    """Fill a directory with the files of another, linked where the file system can."""
    for entry in os.scandir(base):
        target = directory / entry.name
        if entry.name in _LOCKS:
            continue
        if entry.name in CHANGED_IN_PLACE:
            shutil.copyfile(entry.path, target)
            continue
        try:
            os.link(entry.path, target)
        except OSError:
            shutil.copyfile(entry.path, target)
            sync_file(target)


def _filtered(note: FulltextNote) -> Document:
    document = Document()
    document.add_text("path", note.path)
    for field, values in (("folder", note.folder), ("tag", note.tag)):
        for value in values:
            document.add_text(field, value)
    if note.type is not None:
        document.add_text("type", note.type)
    if note.day is not None:
        document.add_integer("day", note.day)
    return document
