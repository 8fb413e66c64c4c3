"""Writes full text: one directory a revision, which shares files with the previous revision.

tantivy never changes a segment file after writing it. So a revision starts as hard links to the
files of the previous one, and takes space only for what it adds. Files that it drops are unlinked
only in its own directory, so readers of the previous revision are not disturbed.

The engine merges small segments after a commit, which may take seconds. So a revision with a base
is written in a work directory, and its files are linked to its own directory as soon as it is
committed. The merge continues in the work directory, which becomes the base of the next revision.
If a run fails, the engine's threads may continue there for a while, so no two runs share its name.
"""

from __future__ import annotations

import os
import secrets
import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
from tantivy import Document, Index, Query

from vault_agent.model.identifiers import CHUNK_BITS
from vault_agent.store.failures import damaged
from vault_agent.store.fulltext.guard import guarded
from vault_agent.store.fulltext.schema import ANALYZER, chunks_schema, notes_schema
from vault_agent.system.files import sync_file, sync_folder
from vault_agent.text.indexed import splitter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tantivy import IndexWriter, Schema

    from vault_agent.store.fulltext.schema import FulltextNote

_MEMORY_BYTES = 128_000_000  # limit of each writer before it writes a segment to disk
_THREADS = 1  # of each writer: more take a fifth more processor time, and leave more segments
_LOCKS = {".tantivy-writer.lock", ".tantivy-meta.lock"}
_META, _MANAGED = "meta.json", ".managed.json"
CHANGED_IN_PLACE = frozenset({_META, _MANAGED})
"""The only files that the engine changes. Revisions share all others."""

_LINK_ATTEMPTS = 100
_SHELVES = ("notes", "chunks")


class FulltextWriter:
    """Adds and removes notes. Nothing is visible or durable before `commit`.

    Not thread-safe. `directory` must not exist; with `base` it starts as a copy of that revision.
    """

    def __init__(self, directory: Path, base: Path | None = None) -> None:
        self._directory = directory
        unique = f"{directory.name}.work-{secrets.token_hex(4)}"
        self.work = directory.with_name(unique) if base else directory
        with guarded():
            self._notes, self._chunks = (
                _open(self.work / shelf, schema, base and base / shelf)
                for shelf, schema in zip(_SHELVES, (notes_schema(), chunks_schema()), strict=True)
            )

    def add_note(self, rowid: int, note: FulltextNote) -> None:
        """Add a note with its chunks, under a rowid that was never used before."""
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
        """Remove a note and its chunks, if they exist."""
        with guarded():
            # By query: given a number, delete_documents_by_term finds nothing (tantivy 0.27.0).
            for writer, schema in ((self._notes, notes_schema()), (self._chunks, chunks_schema())):
                writer.delete_documents_by_query(Query.term_query(schema, "rowid", rowid))

    def commit(self) -> None:
        """Write everything to disk. Without a base, also merge segments and close the writer."""
        with guarded():
            # In parallel: the engine releases the interpreter's lock for nearly all of it.
            self._in_threads(lambda writer: writer.commit())
            if self.work is self._directory:
                self._in_threads(lambda writer: writer.wait_merging_threads())
                return
            for shelf in _SHELVES:
                _link_committed(self.work / shelf, self._directory / shelf)

    def merge(self) -> bool:
        """Wait for the engine's merge in `work`. Return whether it has merged any segments.

        Call it only after a commit, and only with a base. It closes the writer.
        """
        with guarded():
            self._in_threads(lambda writer: writer.wait_merging_threads())
        return any(
            _segments(self.work / shelf) != _segments(self._directory / shelf) for shelf in _SHELVES
        )

    def close(self) -> None:
        """Discard what was not committed. The caller removes the directory."""
        for writer in (self._notes, self._chunks):
            # A writer that is closed, or whose thread panicked, raises.
            with suppress(Exception), guarded():
                writer.rollback()
                writer.wait_merging_threads()

    def _in_threads(self, do: Callable[[IndexWriter], object]) -> None:
        with ThreadPoolExecutor(2) as threads:
            for done in [threads.submit(do, writer) for writer in (self._notes, self._chunks)]:
                done.result()


def make_durable(folder: Path) -> None:
    """Sync what the engine does not: the files that it changes in place, and the folders."""
    shelves = [folder / shelf for shelf in _SHELVES]
    for shelf in shelves:
        for name in CHANGED_IN_PLACE:
            sync_file(shelf / name)
    for path in (*shelves, folder, folder.parent):
        sync_folder(path)


def _link_committed(work: Path, directory: Path) -> None:
    """Link the files of the last commit to a directory, while the engine may be merging them.

    The engine removes merged files only after it has listed the result in `meta.json`. So the files
    are complete if `meta.json` is the same before and after.
    """
    for _ in range(_LINK_ATTEMPTS):
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        meta = (work / _META).read_bytes()
        kept = set(_stems_of(meta))
        names = [path.name for path in work.iterdir() if path.stem in kept]
        with suppress(FileNotFoundError):
            for name in names:
                _link(work / name, directory / name)
            if (work / _META).read_bytes() == meta:
                break
    else:
        raise damaged()  # a listed file is missing
    (directory / _META).write_bytes(meta)
    (directory / _MANAGED).write_bytes(orjson.dumps([*sorted(names), _META]))


def _open(directory: Path, schema: Schema, base: Path | None) -> IndexWriter:
    directory.mkdir(parents=True)
    if base is not None:
        _share(base, directory)
    index = Index(schema, str(directory))
    index.config_reader("Manual")  # nothing is read here, so no thread needs to load commits
    index.register_tokenizer(ANALYZER, splitter())
    return index.writer(heap_size=_MEMORY_BYTES, num_threads=_THREADS)


def _share(base: Path, directory: Path) -> None:
    """Fill a directory with the files of another: hard links, or copies if they fail."""
    for entry in os.scandir(base):
        target = directory / entry.name
        if entry.name in _LOCKS:
            continue
        if entry.name in CHANGED_IN_PLACE:
            shutil.copyfile(entry.path, target)
        else:
            _link(Path(entry.path), target)


def _link(source: Path, target: Path) -> None:
    try:
        target.hardlink_to(source)
    except FileNotFoundError:
        raise
    except OSError:
        shutil.copyfile(source, target)
        sync_file(target)


def _stems_of(meta: bytes) -> Iterator[str]:
    """Yield the stems of the files of each segment that `meta.json` lists."""
    for segment in orjson.loads(meta)["segments"]:
        number = segment["segment_id"].replace("-", "")
        yield number
        if segment["deletes"]:
            yield f"{number}.{segment['deletes']['opstamp']}"


def documents_in(folder: Path) -> list[tuple[int, int]]:
    """Return for notes and for chunks how many documents a revision has written and deleted.

    Deleted ones count in the statistics of words until their segment is written anew.

    Raises:
        IndexUnavailable: `INDEX_INCOMPATIBLE` if the files are damaged.
    """
    try:
        return [_counted(_segments(folder / shelf)) for shelf in _SHELVES]
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        raise damaged() from None


def _counted(segments: list[dict[str, Any]]) -> tuple[int, int]:
    deleted = sum((segment["deletes"] or {}).get("num_deleted_docs", 0) for segment in segments)
    return sum(segment["max_doc"] for segment in segments), deleted


def _segments(directory: Path) -> list[dict[str, Any]]:
    segments: list[dict[str, Any]] = orjson.loads((directory / _META).read_bytes())["segments"]
    return segments


def _filtered(note: FulltextNote) -> Document:
    document = Document()
    document.add_text("path", note.path)
    for field in ("folder", "tag", "type", "property"):
        for value in getattr(note, field):
            document.add_text(field, value)
    if note.day is not None:
        document.add_integer("day", note.day)
    return document
