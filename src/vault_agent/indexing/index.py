"""The indexing run, on one page: scan, compare, parse, store, publish.

Runs in the indexing process. An incremental run is one SQLite transaction; a rebuild is a new
generation beside the old one. Either way nothing changes for a reader before the last step, and a
run that is killed leaves the index as it was.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from vault_agent.errors import Failed, Misconfigured
from vault_agent.indexing.compare import read_stored
from vault_agent.indexing.parse import FileTask, Outcome
from vault_agent.indexing.task import IndexRun
from vault_agent.markdown.resolve import LinkResolver, names_of
from vault_agent.model.identifiers import CHUNK_BITS
from vault_agent.model.jobs import JobSummary
from vault_agent.model.notes import LinkKind
from vault_agent.store.database import open_bulk, open_writer, translated
from vault_agent.store.failures import disk_full
from vault_agent.store.fulltext.seal import seal
from vault_agent.store.fulltext.writer import FulltextWriter
from vault_agent.store.index import notes as reading
from vault_agent.store.index.meta import Meta, write_meta
from vault_agent.store.index.rows import handle_of, name_hash
from vault_agent.store.index.writer import NoteWriter, create_indexes, create_schema
from vault_agent.store.layout import IndexDirectory
from vault_agent.system.cancelling import in_thread
from vault_agent.vault.diff import diff, is_unknown
from vault_agent.vault.exclude import Exclusions
from vault_agent.vault.root import VaultRoot
from vault_agent.vault.scan import scan

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence

    from vault_agent.indexing.compare import Stored
    from vault_agent.indexing.parse import ParsedFile
    from vault_agent.indexing.task import IndexTask, Report
    from vault_agent.store.database import Connection
    from vault_agent.store.index.writer import UnresolvedLink
    from vault_agent.vault.scan import Scan

    Parse = Callable[[list[FileTask]], Awaitable[list[ParsedFile]]]

BATCH_BYTES = 256 << 10
BATCH_FILES = 64
MANY_NAMES = 500
"""With more names than this affected, all links are resolved anew: one pass is cheaper."""

_REPLACED = (Outcome.PARSED, Outcome.GONE)
_LEFT_OUT = (Outcome.GONE, Outcome.KEPT)


async def index(task: IndexTask, parse: Parse, report: Report) -> IndexRun:
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
) -> IndexRun:
    directory.create()
    with directory.writing(), VaultRoot.open(task.root, Exclusions(task.exclude)) as root:
        directory.sweep(keep=directory.current())
        stored = await read_stored(directory, task)
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
                    "from the index.",
                    remedy="Mount it or move it back, then index again.",
                )
            if had_notes and not notes:
                raise _sudden_emptiness()

        return await run.carry_out(check)


def _sudden_emptiness() -> Failed:
    return Failed(
        "VAULT_EMPTY",
        "The vault holds no notes, and the index holds some: is it unmounted or moved? "
        "Nothing was removed.",
    )


class _Target(NamedTuple):
    """The revision that a run writes, within one transaction."""

    generation: int
    revision: int
    connection: Connection
    writer: NoteWriter
    fulltext: FulltextWriter
    folder: Path  # of the full text
    shared: Path | None  # that of the revision before, whose files it shares


class _Run:
    """One run's state, from the comparison to the switch."""

    def __init__(  # noqa: PLR0917 - one caller, and each argument a type of its own
        self,
        task: IndexTask,
        directory: IndexDirectory,
        base: Stored | None,
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
        settled = base.settled if base else {}
        self._diff = diff(settled, found.notes, found.unlisted)
        before = base.attachments if base else frozenset()
        self._attachments = frozenset(entry.path for entry in found.attachments) | {
            path for path in before if is_unknown(path, found.unlisted)
        }
        self._removed = [path for path in self._diff.removed if path in self._known]
        self._moved_away = Counter(self._known[path].hash for path in self._removed)
        # Those that are read again, or have gone, are taken off; those that fail again, put back.
        # So are those that were unread: they are not settled.
        self._left_out = {path: settled[path] for path in settled.keys() - self._known.keys()}
        self._unread: set[str] = set()
        for path in (*self._diff.removed, *(entry.path for entry in self._diff.maybe_changed)):
            self._left_out.pop(path, None)
        self._names_before: dict[str, set[str]] = {}
        self._affected: set[str] = set()  # names whose links must be resolved anew
        self._fresh: list[int] = []  # rowids of notes read in this run
        self._added = self._changed = self._renamed = self._gone = 0

    async def carry_out(self, check: Callable[[int], None]) -> IndexRun:
        """Do it all; `check` is told the number of notes before the last step, and may raise."""
        base = self._base
        differs = self._diff.differs or (base is not None and bool(base.unread))
        if base and not differs and base.attachments == self._attachments:
            return _account(base.meta)
        async with AsyncExitStack() as stack:
            target = await self._open(stack)
            await target.connection.execute_fetchall("BEGIN IMMEDIATE")
            meta = await self._write(target)
            await in_thread(seal, target.folder, target.shared)
            check(meta.notes)
            await target.connection.execute_fetchall("COMMIT")
        if base is None:
            await in_thread(self._directory.publish, target.generation)
        self._report.published()
        return _account(
            meta,
            added=self._added,
            changed=self._changed,
            removed=self._gone - self._renamed,
            renamed=self._renamed,
        )

    async def _open(self, stack: AsyncExitStack) -> _Target:
        """Open the next revision of the generation that serves, or the first of a new one."""
        directory = self._directory
        if self._base:
            before = self._base.meta
            generation, revision = before.generation, before.revision + 1
            next_rowid = before.next_rowid
            shared = directory.fulltext(generation, before.revision)
            directory.sweep_fulltext(generation, keep=before.revision)
            opened = open_writer(directory.database(generation))
        else:
            generation, revision = directory.next_generation(), 1
            next_rowid, shared = 1, None
            directory.generation(generation).mkdir(mode=0o700)
            opened = open_bulk(directory.database(generation))
        connection = await stack.enter_async_context(opened)
        if self._base is None:
            await create_schema(connection)
        folder = directory.fulltext(generation, revision)
        fulltext = FulltextWriter(folder, base=shared)
        stack.callback(fulltext.close)
        writer = NoteWriter(connection, next_rowid)
        return _Target(generation, revision, connection, writer, fulltext, folder, shared)

    async def _write(self, target: _Target) -> Meta:
        writer = target.writer
        await self._forget(target, self._removed)
        self._gone = len(self._removed)
        await self._store_notes(target)
        await writer.replace_left_out(self._left_out.values(), self._unread)
        # The full-text engine commits in threads of its own while links are resolved here.
        committed = asyncio.create_task(in_thread(target.fulltext.commit))
        try:
            await self._store_attachments(writer)
            if self._base is None:
                await create_indexes(target.connection)
            await self._resolve_links(target)
        finally:
            await committed
        notes, chunks, links, unresolved = await writer.totals()
        meta = Meta(
            generation=target.generation,
            revision=target.revision,
            vault=self._task.vault,
            fingerprint=self._task.fingerprint,
            next_rowid=writer.next_rowid,
            notes=notes,
            chunks=chunks,
            links=links,
            unresolved_links=unresolved,
        )
        await write_meta(target.connection, meta)
        return meta

    async def _store_notes(self, target: _Target) -> None:
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
                if file.outcome is Outcome.KEPT:
                    self._unread.add(file.entry.path)
            stored = [file for file in batch if file.entry.path in known]
            outdated = [file.entry.path for file in stored if file.outcome in _REPLACED]
            await self._forget(target, outdated)
            self._gone += sum(file.outcome is Outcome.GONE for file in stored)
            await target.writer.touch(
                (known[file.entry.path].rowid, file.entry)
                for file in stored
                if file.outcome is Outcome.SAME
            )
            parsed = [file for file in batch if file.outcome is Outcome.PARSED]
            await self._add(target, parsed)
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

    async def _add(self, target: _Target, files: Sequence[ParsedFile]) -> None:
        rowids = await target.writer.add(
            [(file.entry, file.hash, file.rows) for file in files if file.rows is not None]
        )
        for rowid, file in zip(rowids, files, strict=True):
            path = file.entry.path
            if file.text is not None:
                target.fulltext.add_note(rowid, file.text)
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

    async def _forget(self, target: _Target, paths: Sequence[str]) -> None:
        rowids = [self._known[path].rowid for path in paths]
        for note in await reading.notes_by_rowid(target.connection, rowids):
            self._names_before[note.path] = names_of(note.path, note.aliases)
        await target.writer.remove(rowids)
        for rowid in rowids:
            target.fulltext.remove_note(rowid)

    async def _store_attachments(self, writer: NoteWriter) -> None:
        old = self._base.attachments if self._base else frozenset()
        added, removed = self._attachments - old, old - self._attachments
        await writer.replace_attachments(sorted(added), sorted(removed))
        for path in added | removed:
            self._affected |= names_of(path)

    async def _resolve_links(self, target: _Target) -> None:
        writer = target.writer
        resolver = LinkResolver(await reading.names(target.connection), self._attachments)
        total = (await writer.totals())[2]
        done = 0
        async for page in self._unresolved(writer):
            resolved: list[tuple[int | None, bool, int]] = []
            sources: set[int] = set()
            for link in page:
                found = resolver.resolve(link.source, link.target, LinkKind(link.kind))
                dest = handle_of(found.path) if found.path is not None else None
                resolved.append((dest, found.ambiguous, link.key))
                if self._base or (dest is not None and not found.is_note):
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
) -> IndexRun:
    summary = JobSummary(
        added=added,
        changed=changed,
        removed=removed,
        renamed=renamed,
        unchanged=meta.notes - added - changed - renamed,
        chunks=meta.chunks,
        links=meta.links,
        unresolved_links=meta.unresolved_links,
    )
    return IndexRun(summary, meta.generation, meta.revision)


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
