"""Writes the full text of one generation.

SQLite says which rows there are. The full text may have more, never fewer: a run commits what it
adds, then SQLite commits, then the run removes its old rows here. If it is killed before that, the
next run removes them, and readers skip them meanwhile.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import orjson
from tantivy import Document, FieldType, Index, Order, Query

from vault_agent.model.identifiers import CHUNK_BITS
from vault_agent.store.failures import damaged, guarded
from vault_agent.store.fulltext.schema import ANALYZER, chunks_schema, notes_schema
from vault_agent.system.files import sync_folder
from vault_agent.text.terms import splitter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from tantivy import IndexWriter, Schema

    from vault_agent.store.fulltext.schema import FulltextNote

_MEMORY_BYTES = 128_000_000  # limit of each writer before it writes a segment to disk
_THREADS = 1  # of each writer: more take a fifth more processor time, and leave more segments
_META = "meta.json"
_SHELVES = ("notes", "chunks")


class FulltextWriter:
    """Adds and removes notes. Nothing is visible or durable before `commit`. Not thread-safe."""

    def __init__(self, folder: Path) -> None:
        """Open the full text in a folder, or begin one."""
        self._folder = folder
        self._writers: list[tuple[IndexWriter, Schema]] = []
        with guarded():
            new = [shelf for shelf in _SHELVES if not (folder / shelf).exists()]
            for shelf in new:
                (folder / shelf).mkdir(parents=True)
            if new:
                sync_folder(folder)
            notes = self._open("notes", notes_schema())
            chunks = self._open("chunks", chunks_schema())
            self.next_rowid = max(_last(notes, "rowid"), _last(chunks, "key") >> CHUNK_BITS) + 1
            """Above the rows of all notes, also of those that SQLite has never had."""

    def add_note(self, rowid: int, note: FulltextNote) -> None:
        """Add a note with its chunks, under a rowid that was never used before."""
        with guarded():
            document = Document()
            document.add_unsigned("rowid", rowid)
            document.add_text("names", note.names)
            document.add_text(
                "body", "\n".join((note.names, *(text for text, _, _ in note.chunks), note.beside))
            )
            document.add_text("repeated", note.repeated)
            document.add_text("path", note.path)
            for field in ("name", "folder", "tag", "type", "property"):
                for value in getattr(note, field):
                    document.add_text(field, value)
            if note.day is not None:
                document.add_integer("day", note.day)
            (notes, _), (chunks, _) = self._writers
            notes.add_document(document)
            for index, (text, context, heading) in enumerate(note.chunks):
                document = Document()
                document.add_unsigned("key", rowid << CHUNK_BITS | index)
                document.add_unsigned("rowid", rowid)
                document.add_text("text", text)
                document.add_text("context", context)
                if heading:
                    document.add_text("name", heading)
                chunks.add_document(document)

    def remove(self, rowids: Iterable[int]) -> None:
        """Remove notes with their chunks, if they exist."""
        with guarded():
            # By query: given a number, delete_documents_by_term finds nothing (tantivy 0.27.0).
            for rowid in rowids:
                for writer, schema in self._writers:
                    writer.delete_documents_by_query(Query.term_query(schema, "rowid", rowid))

    def remove_between(self, first: int, last: int) -> None:
        """Remove all notes from the rowid `first` to `last`, without that one."""
        if first < last:
            with guarded():
                for writer, schema in self._writers:
                    rows = Query.range_query(schema, "rowid", FieldType.Unsigned, first, last - 1)
                    writer.delete_documents_by_query(rows)

    def clear(self) -> None:
        """Remove everything. Notes may be added again under their rowids before the commit."""
        with guarded():
            for writer, _ in self._writers:
                writer.delete_all_documents()

    def commit(self) -> None:
        """Write everything to disk."""
        with guarded():
            # In parallel: the engine releases the interpreter's lock for nearly all of it.
            self._in_threads(_commit)
        self._make_durable()

    def merge(self) -> None:
        """Wait until the engine has merged small segments, and close the writer."""
        with guarded():
            self._in_threads(lambda writer: writer.wait_merging_threads())
        self._make_durable()

    def close(self) -> None:
        """Discard what was not committed."""
        while self._writers:
            writer, _ = self._writers.pop()  # and so frees the engine's lock
            # A writer that is closed, or whose thread panicked, raises.
            with suppress(Exception), guarded():
                writer.rollback()
                writer.wait_merging_threads()

    def _open(self, shelf: str, schema: Schema) -> Index:
        index = Index(schema, str(self._folder / shelf))
        index.config_reader("Manual")  # no thread needs to load commits
        index.register_tokenizer(ANALYZER, splitter())
        writer = index.writer(heap_size=_MEMORY_BYTES, num_threads=_THREADS)
        self._writers.append((writer, schema))
        writer.garbage_collect_files()  # it does not replace a file that a killed commit has left
        return index

    def _in_threads(self, do: Callable[[IndexWriter], object]) -> None:
        with ThreadPoolExecutor(2) as threads:
            for done in [threads.submit(do, writer) for writer, _ in self._writers]:
                done.result()

    def _make_durable(self) -> None:
        """Sync the folders. The engine syncs what it writes before it renames it."""
        for shelf in _SHELVES:
            sync_folder(self._folder / shelf)


def _commit(writer: IndexWriter) -> None:
    writer.commit()


def _last(index: Index, field: str) -> int:
    """Return the highest value of a field, or 0 if there are no documents."""
    every = Query.all_query()
    result = index.searcher().search(every, 1, count=False, order_by_field=field, order=Order.Desc)
    return max((value for value, _ in result.hits), default=0)


def documents_in(folder: Path) -> list[tuple[int, int]]:
    """Return for notes and for chunks how many documents were written and how many are deleted.

    Deleted ones count in the statistics of words until their segment is written anew.

    Raises:
        IndexUnavailable: `INDEX_INCOMPATIBLE` if the files are damaged.
    """
    try:
        return [
            _count_documents(orjson.loads((folder / shelf / _META).read_bytes()))
            for shelf in _SHELVES
        ]
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        raise damaged() from None


def _count_documents(meta: dict[str, Any]) -> tuple[int, int]:
    segments = meta["segments"]
    deleted = sum((segment["deletes"] or {}).get("num_deleted_docs", 0) for segment in segments)
    return sum(segment["max_doc"] for segment in segments), deleted
