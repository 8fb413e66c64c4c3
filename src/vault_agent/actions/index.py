"""The indexing run, on one page: scan, compare, parse, store, publish.

Runs in the indexing process. An incremental run is one SQLite transaction; a rebuild is a new
generation beside the old one. Either way nothing changes for a reader before the last step, and a
run that is killed leaves the index as it was.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from vault_agent.actions.parse import FileTask, Outcome
from vault_agent.errors import Failed, IndexUnavailable, Misconfigured
from vault_agent.markdown.chunk import MAX_CHARS, TARGET_CHARS
from vault_agent.markdown.resolve import LinkResolver, names_of
from vault_agent.model import CHUNK_BITS, JobSummary, LinkKind, identify
from vault_agent.names import NOTE_SUFFIXES
from vault_agent.store import notes as reading
from vault_agent.store.check import check_database
from vault_agent.store.database import open_bulk, open_reader, open_writer, translated
from vault_agent.store.failures import disk_full
from vault_agent.store.fulltext_writer import FulltextWriter
from vault_agent.store.layout import IndexDirectory
from vault_agent.store.meta import Meta, check_compatible, read_meta, write_meta
from vault_agent.store.rows import handle_of, name_hash
from vault_agent.store.seal import check_seal, seal
from vault_agent.store.writer import NoteWriter, create_indexes, create_schema
from vault_agent.text import TEXT_VERSION
from vault_agent.vault.diff import diff
from vault_agent.vault.exclude import Exclusions
from vault_agent.vault.root import VaultRoot
from vault_agent.vault.scan import scan

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence

    from vault_agent.actions.parse import ParsedFile
    from vault_agent.model import FileEntry, Warning
    from vault_agent.store.database import Connection
    from vault_agent.store.writer import UnresolvedLink
    from vault_agent.vault.scan import Scan

    Parse = Callable[[list[FileTask]], Awaitable[list[ParsedFile]]]

BATCH_BYTES = 256 << 10
BATCH_FILES = 64
MANY_NAMES = 500
"""With more names than this affected, all links are resolved anew: one pass is cheaper."""

_REPLACED = (Outcome.PARSED, Outcome.GONE)
_LEFT_OUT = (Outcome.GONE, Outcome.KEPT)


@dataclass(frozen=True, slots=True)
class IndexTask:
    """What the server asks of the indexing process."""

    root: str
    directory: str
    vault: str  # identity of the root
    exclude: tuple[str, ...]
    max_note_bytes: int
    fingerprint: str  # of all that decides what is indexed and how
    rebuild: bool
    parallel: int  # batches in flight


class Report(Protocol):
    """Who is told how the run goes."""

    def phase(self, name: str, done: int, total: int | None, characters: int = 0) -> None:
        """Say how far a phase is, and how much text it has gone through where that counts."""

    def warn(self, warning: Warning) -> None:
        """Pass a warning on."""

    def published(self) -> None:
        """Say that readers may take up a new state."""


@dataclass(frozen=True, slots=True)
class _Stored:
    """What the index held before the run."""

    meta: Meta
    files: dict[str, reading.StoredFile]
    left_out: dict[str, FileEntry]  # notes that were there before among them
    attachments: frozenset[str]

    @property
    def entries(self) -> dict[str, FileEntry]:
        """Every file as it was last seen, whatever became of it."""
        return {**{path: file.entry for path, file in self.files.items()}, **self.left_out}


async def index(task: IndexTask, parse: Parse, report: Report) -> JobSummary:
    """Bring the index up to what the vault holds now, and return the account of it.

    Raises:
        Busy: `INDEX_LOCKED` while another process writes this index.
        Failed: `VAULT_EMPTY` where an indexed vault suddenly has no notes; `ID_COLLISION`;
            `DISK_FULL`, `INDEX_IO_ERROR`.
        IndexUnavailable: `INDEX_INCOMPATIBLE` where the index must be rebuilt.
        Misconfigured: `VAULT_NOT_FOUND`, `CONFIG_INVALID` (a bad exclusion).
    """
    directory = IndexDirectory(Path(task.directory))
    try:
        with translated():
            return await _index(task, directory, parse, report)
    except Failed as failure:
        if failure.code == "INDEX_IO_ERROR" and directory.is_full:
            raise disk_full() from failure
        raise


async def _index(
    task: IndexTask, directory: IndexDirectory, parse: Parse, report: Report
) -> JobSummary:
    directory.create()
    with directory.writing(), VaultRoot.open(task.root, Exclusions(task.exclude)) as root:
        directory.sweep(keep=directory.current())
        stored = await _stored(directory, task)
        found = scan(root, on_progress=lambda seen: report.phase("scan", seen, None))
        report.phase("scan", len(found.notes), len(found.notes))
        for warning in found.warnings:
            report.warn(warning)
        had_notes = stored is not None and bool(stored.files)
        if had_notes and not found.notes:
            raise _sudden_emptiness()
        run = _Run(task, directory, None if task.rebuild else stored, found, parse, report)

        def check(notes: int) -> None:
            if not root.is_in_place:
                raise Misconfigured(
                    "VAULT_NOT_FOUND",
                    "The vault's folder was moved or unmounted during the run. Nothing was removed "
                    "from the index; run vault-agent index again.",
                )
            if had_notes and not notes:
                raise _sudden_emptiness()

        return await run.carry_out(check)


async def verify(task: IndexTask) -> None:
    """Look through the files of the current generation.

    Raises:
        IndexUnavailable: `INDEX_INCOMPATIBLE` where they are not what was written.
    """
    directory = IndexDirectory(Path(task.directory))
    number = directory.current()
    if number is None:
        return
    async with open_reader(directory.database(number)) as connection:
        meta = await read_meta(connection)
        await check_database(connection, meta)
    check_seal(directory.fulltext(number, meta.revision))


async def is_stale(task: IndexTask) -> bool:
    """Tell whether the files have visibly changed since the last run, by a walk of `stat`."""
    directory = IndexDirectory(Path(task.directory))
    stored = await _stored(directory, task)
    if stored is None:
        return False
    with VaultRoot.open(task.root, Exclusions(task.exclude)) as root:
        found = scan(root)
    difference = diff(stored.entries, found.notes, found.unlisted)
    return bool(difference.added or difference.maybe_changed or difference.removed)


def fingerprint_of(exclusions: Exclusions, max_note_bytes: int) -> str:
    """Name everything that decides what is indexed and how: another value needs a rebuild."""
    parts = (
        NOTE_SUFFIXES,
        exclusions.fingerprint,
        max_note_bytes,
        (TARGET_CHARS, MAX_CHARS),
        TEXT_VERSION,
    )
    return identify(repr(parts))


async def _stored(directory: IndexDirectory, task: IndexTask) -> _Stored | None:
    number = directory.current()
    if number is None:
        return None
    try:
        async with open_reader(directory.database(number)) as connection:
            meta = await read_meta(connection)
            check_compatible(meta, vault=task.vault, fingerprint=task.fingerprint)
            files = {file.entry.path: file for file in await reading.files(connection)}
            left_out = {entry.path: entry for entry in await reading.left_out(connection)}
            attachments = frozenset(await reading.attachments(connection))
            return _Stored(meta, files, left_out, attachments)
    except IndexUnavailable:
        if not task.rebuild:
            raise  # "must not silently repair": the message says to reindex
        return None


def _sudden_emptiness() -> Failed:
    return Failed(
        "VAULT_EMPTY",
        "The vault holds no notes, and the index holds some: is it unmounted or moved? "
        "Nothing was removed. If it is meant to be empty, delete the index's folder.",
    )


class _Run:
    """One run's state, from the comparison to the switch."""

    def __init__(  # noqa: PLR0917 - one caller, and each argument a type of its own
        self,
        task: IndexTask,
        directory: IndexDirectory,
        base: _Stored | None,
        found: Scan,
        parse: Parse,
        report: Report,
    ) -> None:
        self._task = task
        self._directory = directory
        self._base = base
        self._parse = parse
        self._report = report
        self._known = base.files if base else {}
        self._diff = diff(base.entries if base else {}, found.notes, found.unlisted)
        self._attachments = frozenset(entry.path for entry in found.attachments)
        self._removed = [path for path in self._diff.removed if path in self._known]
        self._moved_away = Counter(self._known[path].hash for path in self._removed)
        # Those that are read again, or have gone, are taken off; those that fail again, put back.
        self._left_out = dict(base.left_out if base else {})
        for path in (*self._diff.removed, *(entry.path for entry in self._diff.maybe_changed)):
            self._left_out.pop(path, None)
        self._names_before: dict[str, set[str]] = {}
        self._affected: set[str] = set()  # names whose links must be resolved anew
        self._fresh: list[int] = []  # rowids of notes read in this run
        self._added = self._changed = self._renamed = self._gone = 0

    async def carry_out(self, check: Callable[[int], None]) -> JobSummary:
        """Do it all; `check` is told the number of notes before the last step, and may raise."""
        if self._base and not self._differs():
            return _account(self._base.meta)
        async with AsyncExitStack() as stack:
            if self._base:
                number, revision = self._base.meta.generation, self._base.meta.revision + 1
                base = self._directory.fulltext(number, revision - 1)
                self._directory.sweep_fulltext(number, keep=revision - 1)
                connection = await stack.enter_async_context(
                    open_writer(self._directory.database(number))
                )
            else:
                number, revision, base = self._directory.next_generation(), 1, None
                self._directory.generation(number).mkdir(mode=0o700)
                connection = await stack.enter_async_context(
                    open_bulk(self._directory.database(number))
                )
                await create_schema(connection)
            folder = self._directory.fulltext(number, revision)
            fulltext = FulltextWriter(folder, base=base)
            stack.callback(fulltext.close)
            writer = NoteWriter(connection, self._base.meta.next_rowid if self._base else 1)
            await connection.execute_fetchall("BEGIN IMMEDIATE")
            meta = await self._write(connection, writer, fulltext, number, revision)
            await asyncio.to_thread(seal, folder, base)
            check(meta.notes)
            await connection.execute_fetchall("COMMIT")
        if self._base is None:
            await asyncio.to_thread(self._directory.publish, number)
        self._report.published()
        return _account(
            meta,
            added=self._added,
            changed=self._changed,
            removed=self._gone - self._renamed,
            renamed=self._renamed,
        )

    def _differs(self) -> bool:
        difference, base = self._diff, self._base
        return bool(
            base is None
            or difference.added
            or difference.maybe_changed
            or difference.removed
            or base.attachments != self._attachments
        )

    async def _write(
        self,
        connection: Connection,
        writer: NoteWriter,
        fulltext: FulltextWriter,
        number: int,
        revision: int,
    ) -> Meta:
        await self._forget(connection, writer, fulltext, self._removed)
        self._gone = len(self._removed)
        await self._store_notes(connection, writer, fulltext)
        await writer.replace_left_out(self._left_out.values())
        # The full-text engine commits in threads of its own while links are resolved here.
        committed = asyncio.create_task(asyncio.to_thread(fulltext.commit))
        try:
            await self._store_attachments(writer)
            if self._base is None:
                await create_indexes(connection)
            await self._resolve_links(connection, writer)
        finally:
            await committed
        notes, chunks, links, unresolved = await writer.totals()
        meta = Meta(
            generation=number,
            revision=revision,
            vault=self._task.vault,
            fingerprint=self._task.fingerprint,
            next_rowid=writer.next_rowid,
            notes=notes,
            chunks=chunks,
            links=links,
            unresolved_links=unresolved,
            finished_at=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        )
        await write_meta(connection, meta)
        return meta

    async def _store_notes(
        self, connection: Connection, writer: NoteWriter, fulltext: FulltextWriter
    ) -> None:
        known = self._known
        tasks = [
            FileTask(entry, known[entry.path].hash if entry.path in known else None)
            for entry in (*self._diff.added, *self._diff.maybe_changed)
        ]
        done = 0
        self._report.phase("parse", 0, len(tasks))
        async for batch in self._parsed(tasks):
            for file in batch:
                for warning in file.warnings:
                    self._report.warn(warning)
                if file.outcome in _LEFT_OUT:
                    self._left_out[file.entry.path] = file.entry
            stored = [file for file in batch if file.entry.path in known]
            outdated = [file.entry.path for file in stored if file.outcome in _REPLACED]
            await self._forget(connection, writer, fulltext, outdated)
            self._gone += sum(file.outcome is Outcome.GONE for file in stored)
            await writer.touch(
                (known[file.entry.path].rowid, file.entry)
                for file in stored
                if file.outcome is Outcome.SAME
            )
            parsed = [file for file in batch if file.outcome is Outcome.PARSED]
            await self._add(parsed, writer, fulltext)
            done += len(batch)
            self._report.phase("parse", done, len(tasks))

    async def _parsed(self, tasks: Sequence[FileTask]) -> AsyncIterator[list[ParsedFile]]:
        """Yield parsed batches in the order of the tasks, so that every run writes the same."""
        window: deque[asyncio.Task[list[ParsedFile]]] = deque()
        try:
            for batch in _batches(tasks):
                window.append(asyncio.create_task(_awaited(self._parse(batch))))
                if len(window) > 2 * self._task.parallel:
                    yield await window.popleft()
            while window:
                yield await window.popleft()
        finally:
            for waiting in window:
                waiting.cancel()

    async def _add(
        self, files: Sequence[ParsedFile], writer: NoteWriter, fulltext: FulltextWriter
    ) -> None:
        rowids = await writer.add(
            [(file.entry, file.hash, file.rows) for file in files if file.rows is not None]
        )
        for rowid, file in zip(rowids, files, strict=True):
            path = file.entry.path
            if file.text is not None:
                fulltext.add_note(rowid, file.text)
            if path in self._known:
                self._changed += 1
            elif self._moved_away[file.hash] > 0:
                self._moved_away[file.hash] -= 1
                self._renamed += 1
            else:
                self._added += 1
            if self._base:
                self._affected |= self._names_before.pop(path, set()) ^ names_of(path, file.aliases)
                self._fresh.append(rowid)

    async def _forget(
        self,
        connection: Connection,
        writer: NoteWriter,
        fulltext: FulltextWriter,
        paths: Sequence[str],
    ) -> None:
        rowids = [self._known[path].rowid for path in paths]
        for note in await reading.notes_by_rowid(connection, rowids):
            self._names_before[note.path] = names_of(note.path, note.metadata.aliases)
        await writer.remove(rowids)
        for rowid in rowids:
            fulltext.remove_note(rowid)

    async def _store_attachments(self, writer: NoteWriter) -> None:
        old = self._base.attachments if self._base else frozenset()
        added, removed = self._attachments - old, old - self._attachments
        await writer.replace_attachments(sorted(added), sorted(removed))
        for path in added | removed:
            self._affected |= names_of(path)

    async def _resolve_links(self, connection: Connection, writer: NoteWriter) -> None:
        resolver = LinkResolver(await reading.names(connection), self._attachments)
        total = (await writer.totals())[2]
        done = 0
        async for page in self._unresolved(writer):
            resolved: list[tuple[int | None, bool, int]] = []
            sources: set[int] = set()
            for link in page:
                target = resolver.resolve(link.source, link.target, LinkKind(link.kind))
                dest = handle_of(target.path) if target.path is not None else None
                resolved.append((dest, target.ambiguous, link.key))
                if self._base or (dest is not None and not target.is_note):
                    sources.add(link.key >> CHUNK_BITS)
            await writer.resolve(resolved)
            await writer.count_attachments(sources)
            done += len(page)
            self._report.phase("store", done, total)
        self._report.phase("store", total, total)

    async def _unresolved(self, writer: NoteWriter) -> AsyncIterator[list[UnresolvedLink]]:
        self._affected.update(*self._names_before.values())  # of notes that are gone
        lookups: list[int] | None = None
        if self._base and len(self._affected) <= MANY_NAMES:
            lookups = [name_hash(name) for name in self._affected]
            yield await writer.links_of(self._fresh)
        after = -1
        while page := await writer.links(after=after, lookups=lookups):
            yield page
            after = page[-1].key


def _account(
    meta: Meta, *, added: int = 0, changed: int = 0, removed: int = 0, renamed: int = 0
) -> JobSummary:
    return JobSummary(
        added=added,
        changed=changed,
        removed=removed,
        renamed=renamed,
        unchanged=meta.notes - added - changed - renamed,
        chunks=meta.chunks,
        links=meta.links,
        unresolved_links=meta.unresolved_links,
    )


def _batches(tasks: Iterable[FileTask]) -> Iterator[list[FileTask]]:
    batch: list[FileTask] = []
    size = 0
    for task in tasks:
        if batch and (size + task.entry.size > BATCH_BYTES or len(batch) == BATCH_FILES):
            yield batch
            batch, size = [], 0
        batch.append(task)
        size += task.entry.size
    if batch:
        yield batch


async def _awaited(batch: Awaitable[list[ParsedFile]]) -> list[ParsedFile]:
    return await batch
