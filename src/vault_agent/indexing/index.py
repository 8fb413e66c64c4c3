"""The indexing run: scan, compare, parse, store, publish.

It runs in the indexing process. An incremental run is one SQLite transaction. A rebuild writes a
new generation beside the old one. Readers see no change before the last step, and a run that is
killed leaves the index as it was.

A run resolves the links of the notes that it has read, and all links to the names that it has added
or removed. For few names, it looks up the files that each link could mean. For many, it reads the
names of all files once and resolves all links, which is faster then.
"""

from __future__ import annotations

import asyncio
import itertools
import secrets
from collections import Counter, deque
from contextlib import ExitStack, aclosing, suppress
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from vault_agent.errors import Failed, VaultAgentError
from vault_agent.indexing.changes import find_changes, read_stored, sudden_emptiness, vault_moved
from vault_agent.indexing.parse import FileToRead, KeptTexts, Outcome
from vault_agent.indexing.protocol import MAX_NOTE_IDS, RunResult
from vault_agent.model.identifiers import CHUNK_BITS, identify
from vault_agent.model.jobs import JobSummary
from vault_agent.model.link_resolver import LinkResolver, names_of
from vault_agent.store.database import open_bulk, open_reader, open_writer, translated
from vault_agent.store.directory import IndexDirectory
from vault_agent.store.failures import disk_full
from vault_agent.store.fulltext.schema import dated, file_day
from vault_agent.store.fulltext.writer import FulltextWriter, documents_in
from vault_agent.store.index import links as stored_links
from vault_agent.store.index import notes as stored_notes
from vault_agent.store.index.links import resolver_for
from vault_agent.store.index.meta import (
    Meta,
    old_rows,
    repeated_lines,
    write_meta,
    write_repeated_lines,
)
from vault_agent.store.index.rows import PARTS, handle_of, name_hash
from vault_agent.store.index.writer import (
    MANY_AT_ONCE,
    NoteWriter,
    create_indexes,
    create_schema,
)
from vault_agent.system.cancelling import in_thread
from vault_agent.text.names import is_note, kind_of
from vault_agent.vault.root import VaultRoot

if TYPE_CHECKING:
    from collections.abc import (
        AsyncGenerator,
        Awaitable,
        Callable,
        Collection,
        Iterable,
        Iterator,
        Mapping,
        Sequence,
    )

    from vault_agent.indexing.changes import Changes
    from vault_agent.indexing.parse import ParsedFile
    from vault_agent.indexing.protocol import IndexSpec, ProgressReport, UpdateIndex
    from vault_agent.model.notes import FileEntry
    from vault_agent.store.database import Connection
    from vault_agent.store.index.links import LinkRow
    from vault_agent.store.index.notes import StoredFile
    from vault_agent.store.index.rows import Row

    Parse = Callable[[list[FileToRead], frozenset[str] | None], Awaitable[list[ParsedFile]]]


_REPLACED = (Outcome.PARSED, Outcome.NOT_INDEXABLE)
_LEFT_OUT = (Outcome.NOT_INDEXABLE, Outcome.UNREADABLE)


async def index(request: UpdateIndex, parse: Parse, report: ProgressReport) -> RunResult:
    """Update the index to match the vault, and return the summary and the revision.

    Raises:
        Busy: `INDEX_LOCKED` while another process writes this index.
        Failed: `VAULT_EMPTY` if an indexed vault suddenly has no notes; `ID_COLLISION`;
            `DISK_FULL`; `INDEX_IO_ERROR`.
        IndexUnavailable: `INDEX_INCOMPATIBLE` if the index must be rebuilt.
        Misconfigured: `VAULT_NOT_FOUND`, `CONFIG_INVALID` (a bad exclusion).
    """
    directory = IndexDirectory(Path(request.spec.directory))
    try:
        with translated():
            return await _index(request, directory, parse, report)
    except Failed as failure:
        if failure.code == "INDEX_IO_ERROR" and directory.is_full:
            raise disk_full() from failure
        raise


async def _index(
    request: UpdateIndex, directory: IndexDirectory, parse: Parse, report: ProgressReport
) -> RunResult:
    directory.create()
    spec = request.spec
    with (
        directory.writing(),
        VaultRoot.open(spec.root, spec.exclusions, identity=spec.identity) as root,
    ):
        directory.sweep(keep=directory.current())
        changes = find_changes(root, directory, request, report)

        def check(notes: int) -> None:
            if not root.is_in_place:
                raise vault_moved()
            if changes.had_notes and not notes:
                raise sudden_emptiness()

        run = await _IndexRun(request, directory, changes, parse, report).carry_out(check)
        if request.paths is None:
            with suppress(VaultAgentError, OSError):  # the revision is published, and complete
                if has_drifted(directory, run.generation):
                    await rewrite(directory, run.generation, spec, parse)
        return run


class _Target(NamedTuple):
    """The revision that a run writes, within one transaction."""

    generation: int
    revision: int
    connection: Connection
    writer: NoteWriter
    fulltext: FulltextWriter


class _IndexRun:
    """The state of one run, from the comparison to the publication."""

    def __init__(
        self,
        request: UpdateIndex,
        directory: IndexDirectory,
        changes: Changes,
        parse: Parse,
        report: ProgressReport,
    ) -> None:
        self._request = request
        self._spec = request.spec
        self._directory = directory
        self._changes = changes
        self._base = changes.base
        self._indexed = changes.indexed
        self._parse = parse
        self._report = report
        removed = filter(is_note, changes.removed)
        self._moved_away = Counter(self._indexed[path].hash for path in removed)
        self._left_out = dict(changes.still_left_out)
        self._touched: list[str] = []  # paths of notes that were read or removed
        self._names_before: dict[str, set[str]] = {}
        self._affected: set[str] = set()  # names whose links must be resolved again
        self._fresh: list[int] = []  # rowids of notes read in this run
        self._forgotten: list[int] = []  # rowids of notes and documents that were removed
        self._loses_attachments = False
        self._repeated: frozenset[str] = frozenset()  # lines that many notes have
        self._added = self._changed = self._renamed = self._gone = 0

    async def carry_out(self, check: Callable[[int], None]) -> RunResult:
        """Run all steps. `check` gets the number of notes before the last step, and may raise."""
        base = self._base
        if base and not self._changes.differs:
            return self._result(base)
        with ExitStack() as stack:
            with translated(), ExitStack() as database:
                target = self._open(database, stack)
                target.connection.execute("BEGIN IMMEDIATE")
                meta = await self._write(target)
                check(meta.notes)
                await in_thread(target.connection.execute, "COMMIT")
            if base is None:
                await in_thread(self._directory.make_current, target.generation)
            run = self._result(meta)
            self._report.published(run)
            await in_thread(self._tidy, target.fulltext)
        return run

    def _result(self, meta: Meta) -> RunResult:
        summary = JobSummary(
            added=self._added,
            changed=self._changed,
            removed=self._gone - self._renamed,
            renamed=self._renamed,
            unchanged=meta.notes - (self._added + self._changed + self._renamed),
            chunks=meta.chunks,
            links=meta.links,
            unresolved_links=meta.unresolved_links,
        )
        touched = dict.fromkeys(self._touched) if self._base else ()
        return RunResult(
            summary,
            meta.generation,
            meta.revision,
            note_ids=tuple(identify(path) for path in itertools.islice(touched, MAX_NOTE_IDS)),
            attachments_due=self._loses_attachments
            or any(unread and not is_note(path) for path, (_, unread) in self._left_out.items()),
        )

    def _tidy(self, fulltext: FulltextWriter) -> None:
        """Remove old rows of the full text, and merge its small segments.

        This comes after publication. Searches of the previous revision need the rows until then,
        and clients that wait for the new revision do not wait for the merge. The new revision is
        complete without it, so errors are ignored.
        """
        with suppress(VaultAgentError, OSError):
            if self._forgotten:
                fulltext.remove(self._forgotten)
                fulltext.commit()
            fulltext.merge()

    def _open(self, database: ExitStack, stack: ExitStack) -> _Target:
        """Open the next revision of the current generation, or the first of a new one."""
        directory = self._directory
        if self._base:
            generation, revision = self._base.generation, self._base.revision + 1
            opened = open_writer(directory.database(generation))
        else:
            generation, revision = directory.next_generation(), 1
            directory.generation(generation).mkdir(mode=0o700)
            opened = open_bulk(directory.database(generation))
        connection = database.enter_context(opened)
        if self._base is None:
            create_schema(connection)
        fulltext = FulltextWriter(directory.fulltext(generation))
        stack.callback(fulltext.close)
        if self._base is not None:
            # Remove the rows that a killed run has left. The highest one stays until this run has
            # stored a higher `next_rowid` in SQLite, so that no row number is used twice.
            fulltext.remove(old_rows(connection))
            highest = fulltext.next_rowid - 1
            fulltext.remove_between(self._base.next_rowid, highest)
            if highest >= self._base.next_rowid:
                self._forgotten.append(highest)
        writer = NoteWriter(connection, self._base, next_rowid=fulltext.next_rowid)
        return _Target(generation, revision, connection, writer, fulltext)

    async def _write(self, target: _Target) -> Meta:
        changes, writer = self._changes, target.writer
        writer.forget_old_rows()
        writer.remove(self._forgotten)  # what a killed run has left
        await self._forget(target, changes.removed)
        self._gone = sum(map(is_note, changes.removed))
        self._repeated = await self._repeated_lines(target)
        await self._store_files(target)
        if len(changes.to_read) >= MANY_AT_ONCE:
            await in_thread(writer.record_shared_times)
        self._store_left_out(writer)
        # The full-text engine commits in other threads while links are resolved here.
        committed = asyncio.create_task(in_thread(target.fulltext.commit))
        try:
            self._store_attachments(writer)
            await in_thread(self._resolve_links, target)
            if self._base is None:
                await in_thread(create_indexes, target.connection)
        finally:
            await committed
        totals = writer.totals
        meta = Meta(
            generation=target.generation,
            identity=self._base.identity if self._base else secrets.randbits(63),
            revision=target.revision,
            vault=self._spec.identity,
            fingerprint=self._spec.fingerprint,
            next_rowid=writer.next_rowid,
            notes=totals.notes,
            chunks=totals.chunks,
            links=totals.links,
            unresolved_links=totals.unresolved_links,
        )
        write_meta(target.connection, meta)
        return meta

    async def _store_files(self, target: _Target) -> None:
        to_read = [entry for entry in self._changes.to_read if is_note(entry.path)]
        others = [entry for entry in self._changes.to_read if not is_note(entry.path)]
        if self._request.indexes_attachments or self._request.rebuild:
            to_read += others
        else:  # attachments may take long to read: a later run takes them, so notes do not wait
            self._left_out |= {entry.path: (entry, True) for entry in others}
        files = [
            FileToRead(entry, self._known_hash(entry), rowid)
            for entry, rowid in zip(to_read, target.writer.reserve(len(to_read)), strict=True)
        ]
        done = 0
        self._report.phase("parse", 0, len(files))
        async with aclosing(
            parse_in_batches(files, self._parse, self._spec.parallel, self._repeated)
        ) as batches:
            async for batch in batches:
                await self._store_batch(target, batch)
                done += len(batch)
                self._report.phase("parse", done, len(files))

    def _known_hash(self, entry: FileEntry) -> bytes | None:
        """Return the hash that the index has of a file, or None if the file must be parsed.

        That is a file that is not indexed, or one whose day for filters has changed: without a date
        in its name, it may be the day of its modification time.
        """
        file = self._indexed.get(entry.path)
        if file is None:
            return None
        is_other_day = file_day(file.entry) != file_day(entry) and dated(entry.path)[0] is None
        return None if is_other_day else file.hash

    async def _repeated_lines(self, target: _Target) -> frozenset[str]:
        if self._base is not None:
            return repeated_lines(target.connection)
        notes = [entry for entry in self._changes.to_read if is_note(entry.path)]
        lines = await find_repeated(notes, self._parse, self._spec.parallel)
        write_repeated_lines(target.connection, lines)
        return lines

    async def _store_batch(self, target: _Target, batch: Sequence[ParsedFile]) -> None:
        indexed = self._indexed
        for file in batch:
            for warning in file.warnings:
                self._report.warn(warning)
            if file.outcome in _LEFT_OUT:
                unread = file.outcome is Outcome.UNREADABLE
                self._left_out[file.entry.path] = file.entry, unread
        stored = [file for file in batch if file.entry.path in indexed]
        outdated = [file.entry.path for file in stored if file.outcome in _REPLACED]
        await self._forget(target, outdated)
        gone = [file.entry.path for file in stored if file.outcome is Outcome.NOT_INDEXABLE]
        self._gone += sum(map(is_note, gone))
        target.writer.touch(
            (indexed[file.entry.path].rowid, file.entry)
            for file in stored
            if file.outcome is Outcome.SAME
        )
        await self._add(target, [file for file in batch if file.outcome is Outcome.PARSED])

    async def _add(self, target: _Target, files: Sequence[ParsedFile]) -> None:
        rows = [file.rows for file in files if file.rows is not None]
        await in_thread(target.writer.add, rows)
        for file in files:
            path = file.entry.path
            if file.text is not None:
                target.fulltext.add_note(file.rowid, file.text)
            if not is_note(path):
                continue  # links and counts are about notes
            if path in self._indexed:
                self._changed += 1
            elif self._moved_away[file.hash] > 0:
                self._moved_away[file.hash] -= 1
                self._renamed += 1
            else:
                self._added += 1
            self._touched.append(path)
            if self._base:
                names = names_of(path, file.aliases)
                self._affected |= self._names_before.pop(path, set()) ^ names
                self._fresh.append(file.rowid)

    async def _forget(self, target: _Target, paths: Sequence[str]) -> None:
        self._touched += filter(is_note, paths)
        self._loses_attachments = self._loses_attachments or not all(map(is_note, paths))
        rowids = [self._indexed[path].rowid for path in paths]
        self._forgotten += rowids
        names: list[tuple[int, int]] = []
        notes = await in_thread(stored_notes.by_rowid, target.connection, rowids)
        for note in notes.values():
            self._names_before[note.path] = names_of(note.path, (*note.aliases, *note.keys))
            names += name_rows(note.path, self._names_before[note.path])
        target.writer.change_names((), names)
        await in_thread(target.writer.remove, rowids)

    def _store_left_out(self, writer: NoteWriter) -> None:
        before, now = self._changes.left_out, self._left_out
        writer.change_left_out(
            [now[path] for path in sorted(now) if before.get(path) != now[path]],
            [path for path in before if before[path] != now.get(path)],
        )

    def _store_attachments(self, writer: NoteWriter) -> None:
        added, removed = self._changes.new_attachments, self._changes.lost_attachments
        writer.change_attachments(added, removed)
        for path in (*added, *removed):
            self._affected |= names_of(path)
        writer.change_names(
            [row for path in added for row in name_rows(path, names_of(path))],
            [row for path in removed for row in name_rows(path, names_of(path))],
        )

    def _resolve_links(self, target: _Target) -> None:
        self._affected.update(*self._names_before.values())  # of removed notes
        resolve_links(
            target.connection,
            target.writer,
            self._report,
            fresh=self._fresh,
            affected=self._affected if self._base else None,
        )


BATCH_BYTES = 256 << 10
BATCH_FILES = 128
BATCH_ATTACHMENTS = 4
"""Attachments of one batch. A small file may have a long text."""


async def parse_in_batches(
    files: Sequence[FileToRead], parse: Parse, parallel: int, repeated: frozenset[str] | None
) -> AsyncGenerator[list[ParsedFile]]:
    """Yield parsed batches in the order of the files, so that equal runs write equal rows.

    `parallel` is the number of batches that are parsed at once. See `Batch` for `repeated`.
    """
    window: deque[asyncio.Future[list[ParsedFile]]] = deque()
    try:
        for batch in _batches(files):
            window.append(asyncio.ensure_future(parse(batch, repeated)))
            if len(window) > 2 * parallel:
                yield await window.popleft()
        while window:
            yield await window.popleft()
    finally:
        for waiting in window:
            waiting.cancel()
        if window:  # a worker must be free again before the next run
            await asyncio.wait(window)


def _batches(files: Iterable[FileToRead]) -> Iterator[list[FileToRead]]:
    batch: list[FileToRead] = []
    size = 0
    for file in files:
        most = BATCH_FILES if is_note(file.entry.path) else BATCH_ATTACHMENTS
        begins = batch and is_note(batch[-1].entry.path) != is_note(file.entry.path)
        if batch and (begins or size + file.entry.size > BATCH_BYTES or len(batch) == most):
            yield batch
            batch, size = [], 0
        batch.append(file)
        size += file.entry.size
    if batch:
        yield batch


MAX_DELETED_SHARE = 0.1
"""Share of deleted documents above which the full text is written anew."""


def has_drifted(directory: IndexDirectory, generation: int) -> bool:
    """Whether too many documents of the full text are deleted.

    Raises:
        IndexUnavailable: `INDEX_INCOMPATIBLE` if the full text is damaged.
    """
    counts = documents_in(directory.fulltext(generation))
    return any(deleted > MAX_DELETED_SHARE * total for total, deleted in counts)


async def rewrite(
    directory: IndexDirectory, generation: int, spec: IndexSpec, parse: Parse
) -> None:
    """Write the full text anew from all files, unless one has changed since or cannot be read."""
    stored = await in_thread(read_stored, directory, spec)
    if stored is None or not _are_readable(stored.files, stored.left_out, directory):
        return
    files = [FileToRead(file.entry, None, file.rowid) for file in stored.files.values()]
    files.sort(key=lambda file: not is_note(file.entry.path))
    fulltext = FulltextWriter(directory.fulltext(generation))
    try:
        fulltext.clear()
        with open_reader(directory.database(generation)) as connection:
            lines = repeated_lines(connection)
        async with aclosing(parse_in_batches(files, parse, spec.parallel, lines)) as batches:
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
    """Whether no file was left out, and all texts of attachments are kept, as `rewrite` needs."""
    texts = KeptTexts(directory.texts)
    return files.keys().isdisjoint(left_out) and all(
        texts.has(kind, file.hash)
        for path, file in files.items()
        if not is_note(path) and (kind := kind_of(path)) is not None
    )


SAMPLED_FROM = 20
"""The least number of notes of a vault in which repeated lines are looked for."""
SAMPLED_EACH, MIN_SAMPLE, MAX_SAMPLE = 20, 20, 200
"""One in twenty notes is in the sample, 200 at most. Of few notes, up to 20 are in it."""
REPEATED_SHARE, FEWEST_REPEATED = 0.25, 10
SMALL_VAULT, LONG_LINE = 400, 4
"""In a vault of fewer notes, a line of fewer words may be a label or a value."""


async def find_repeated(notes: Sequence[FileEntry], parse: Parse, parallel: int) -> frozenset[str]:
    """Return the lines that a quarter of the sampled notes have, and at least ten of them.

    In a vault of fewer than `SMALL_VAULT` notes, only lines of `LONG_LINE` words or more.
    """
    if len(notes) < SAMPLED_FROM:
        return frozenset()
    step = -(-len(notes) // min(max(len(notes) // SAMPLED_EACH, MIN_SAMPLE), MAX_SAMPLE))
    files = [FileToRead(entry, None, 0) for entry in notes[::step]]
    counts: Counter[str] = Counter()
    async with aclosing(parse_in_batches(files, parse, parallel, None)) as batches:
        async for batch in batches:
            for file in batch:
                counts.update(file.lines)
    fewest = max(REPEATED_SHARE * len(files), FEWEST_REPEATED)
    words = LONG_LINE if len(notes) < SMALL_VAULT else 1
    return frozenset(
        line for line, count in counts.items() if count >= fewest and len(line.split()) >= words
    )


MANY_NAMES = 500
"""If more names than this are affected, all links are resolved again."""
NOTES_AT_ONCE = 500
"""New notes whose links are resolved together."""


def resolve_links(
    connection: Connection,
    writer: NoteWriter,
    report: ProgressReport,
    *,
    fresh: Sequence[int],
    affected: Collection[str] | None,
) -> None:
    """Resolve the links of the notes `fresh`, and all links to the names `affected`.

    `affected` holds names as `names_of` returns them. None means all links.
    """
    if writer.waiting is not None:
        resolver = resolver_for(connection)
        writer.add_links(*_resolve_waiting(resolver, writer.waiting))
        report.phase("store", writer.totals.links, writer.totals.links)
        return
    few = affected is not None and len(affected) <= MANY_NAMES
    names = affected if few else None
    everything = None if few else resolver_for(connection)
    total = writer.totals.links
    done = 0
    for page in _pages(connection, fresh, names):
        _resolve(
            writer, everything or resolver_for(connection, {link.target for link in page}), page
        )
        done += len(page)
        report.phase("store", done, total)
    report.phase("store", total, total)


def _resolve_waiting(
    resolver: LinkResolver, waiting: Iterable[tuple[str, Sequence[Row]]]
) -> tuple[list[Row], dict[int, int]]:
    """Return the rows of links with their destinations, and how many attachments a note links."""
    rows: list[Row] = []
    attachments: dict[int, int] = {}
    for source, links in waiting:
        files: set[int] = set()
        for link in links:
            destination = resolver.resolve(source, link[_TARGET], link[_KIND])
            dest = None if destination.path is None else _handle(destination.path)
            rows.append((*link, dest, destination.ambiguous))
            if dest is not None and not destination.is_note:
                files.add(dest)
        if files:
            attachments[links[0][0] >> CHUNK_BITS] = len(files)
    return rows, attachments


def name_rows(path: str, names: Iterable[str]) -> list[tuple[int, int]]:
    """Return the rows by which links find a file: (hash of a name, handle of the file)."""
    handle = handle_of(path)
    return [(name_hash(name), handle) for name in names]


def _resolve(writer: NoteWriter, resolver: LinkResolver, page: Sequence[LinkRow]) -> None:
    resolved: list[tuple[LinkRow, int | None, bool]] = []
    to_attachments: set[int] = set()
    for link in page:
        destination = resolver.resolve(link.source, link.target, link.kind)
        dest = _handle(destination.path) if destination.path is not None else None
        resolved.append((link, dest, destination.ambiguous))
        if dest is not None and not destination.is_note:
            to_attachments.add(link.key)
    changed = writer.resolve(resolved)
    # The previous target of a changed link may have been an attachment too.
    writer.count_attachments(
        {
            link.key >> CHUNK_BITS
            for link in changed
            if link.dest is not None or link.key in to_attachments
        }
    )


_KIND, _TARGET = (PARTS["link"].split(", ").index(name) for name in ("kind", "target"))
_handle = lru_cache(maxsize=1 << 16)(handle_of)


def _pages(
    connection: Connection, fresh: Sequence[int], names: Collection[str] | None
) -> Iterator[list[LinkRow]]:
    """Yield the links to resolve: those of new notes and to affected names, or all."""
    if names is None:
        read = stored_links.every
    else:
        lookups = [name_hash(name) for name in names]
        read = partial(stored_links.to_names, lookups=lookups, limit=stored_links.PAGE)
        for start in range(0, len(fresh), NOTES_AT_ONCE):
            part = fresh[start : start + NOTES_AT_ONCE]
            yield stored_links.of_notes(connection, part)
    after = -1
    while page := read(connection, after=after):
        yield page
        after = page[-1].key
