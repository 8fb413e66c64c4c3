"""A temporary vault and indexing runs over it, without a server."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from vault_agent.indexing.attachments import keep_text, sweep_texts, waiting_attachments
from vault_agent.indexing.index import index
from vault_agent.indexing.parse import (
    Batch,
    FileToRead,
    KeptTexts,
    Outcome,
    ParsedFile,
    parse_files,
)
from vault_agent.indexing.protocol import IndexSpec, RunResult, UpdateIndex
from vault_agent.model.identifiers import identify
from vault_agent.model.jobs import JobSummary
from vault_agent.model.scope import EVERYTHING, Scope
from vault_agent.model.warning import Warning
from vault_agent.store.current import CurrentIndex
from vault_agent.store.database import check_pages, open_reader
from vault_agent.store.directory import IndexDirectory
from vault_agent.store.fulltext.candidates import RevisionRows
from vault_agent.store.fulltext.reader import FulltextReader
from vault_agent.store.index import links
from vault_agent.store.index import notes as stored_notes
from vault_agent.store.index.meta import old_rows, read_meta
from vault_agent.store.index.rows import MAX_CHUNKS, PARTS, keys_of
from vault_agent.vault.paths import Exclusions
from vault_agent.vault.root import VaultRoot

MAX_NOTE_BYTES = 1 << 20
PARTS_OF_A_NOTE = [
    f"SELECT {columns.replace('key', f'key & {MAX_CHUNKS - 1}')} FROM {table} "
    "WHERE key >= ? AND key < ? ORDER BY key"
    for table, columns in PARTS.items()
]


@dataclass
class Heard:
    """The events of a run."""

    phases: list[tuple[str, int, int | None]] = field(default_factory=list)
    warnings: list[Warning] = field(default_factory=list)
    publications: int = 0

    def phase(self, name: str, done: int, total: int | None, characters: int = 0) -> None:
        self.phases.append((name, done, total))

    def warn(self, warning: Warning) -> None:
        self.warnings.append(warning)

    def published(self, run: RunResult | None = None) -> None:
        self.publications += 1

    @property
    def codes(self) -> list[str]:
        return [warning.code for warning in self.warnings]


class Vault:
    """A folder of notes and its index."""

    def __init__(
        self,
        folder: Path,
        *,
        exclude: tuple[str, ...] = (),
        fields: tuple[str, ...] = (),
        attachments: tuple[str, ...] = (),
        scope: Scope = EVERYTHING,
    ) -> None:
        self.scope = scope
        self.root = folder / "vault"
        self.root.mkdir(exist_ok=True)
        self.directory = IndexDirectory(folder / "index")
        self.exclude = exclude
        self.fields = fields
        self.attachments = attachments
        self.heard = Heard()
        self.unreadable: set[str] = set()  # paths that the system refuses to read
        self.identity = ""  # of the vault that tasks name, unless it is that of the root

    def write(self, path: str, text: str | bytes = "") -> Path:
        """Write a file and create its folders."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    def spec(self) -> IndexSpec:
        """Return what of this vault is indexed."""
        return IndexSpec(
            root=str(self.root),
            directory=str(self.directory.path),
            identity=self.identity or identify(str(self.root.resolve())),
            exclusions=Exclusions(self.exclude, self.scope),
            max_note_bytes=MAX_NOTE_BYTES,
            fields=self.fields,
            attachments=self.attachments,
            parallel=2,
        )

    def current(self, **options: Any) -> CurrentIndex:
        """Return the index as a server makes it, before it is opened."""
        spec = self.spec()
        options |= {"identity": spec.identity, "fingerprint": spec.fingerprint, "scope": self.scope}
        return CurrentIndex(self.directory, **options)

    async def index(
        self, *, rebuild: bool = False, paths: tuple[str, ...] | None = None
    ) -> JobSummary:
        """Run with parsing in this process. `heard` then has the run's events."""
        return (await self.run(rebuild=rebuild, paths=paths)).summary

    async def run(
        self,
        *,
        rebuild: bool = False,
        paths: tuple[str, ...] | None = None,
        by_watch: bool = False,
    ) -> RunResult:
        """Run like `index`, and return the complete result."""
        self.heard = Heard()
        run = await self._run(paths=paths, rebuild=rebuild, by_watch=by_watch)
        if not run.attachments_due:
            return run
        with VaultRoot.open(str(self.root), Exclusions(self.exclude, self.scope)) as root:
            texts = KeptTexts(self.directory.texts)
            waiting = waiting_attachments(self.spec())
            read = tuple(path for path in waiting if keep_text(root, path, texts))
        stored = await self._run(paths=read, indexes_attachments=True)
        sweep_texts(self.spec())
        return replace(run, summary=replace(run.summary, chunks=stored.summary.chunks))

    async def index_notes(self) -> RunResult:
        """Run as the first step of `index`, which leaves attachments waiting."""
        return await self._run()

    async def _run(self, **options: Any) -> RunResult:
        with self.parsing() as read:

            async def parse(
                batch: list[FileToRead], repeated: frozenset[str] | None
            ) -> list[ParsedFile]:
                return [
                    ParsedFile(file.entry, Outcome.UNREADABLE)
                    if file.entry.path in self.unreadable
                    else file
                    for file in read(batch, repeated)
                ]

            return await index(UpdateIndex(self.spec(), **options), parse, self.heard)

    @contextmanager
    def parsing(
        self,
    ) -> Iterator[Callable[[list[FileToRead], frozenset[str] | None], list[ParsedFile]]]:
        """Open the vault, and return what reads and parses a batch of its files."""
        with VaultRoot.open(str(self.root), Exclusions(self.exclude, self.scope)) as root:
            batch = Batch(self.spec(), None, [], str(self.directory.texts))
            yield lambda files, repeated: parse_files(
                root, batch._replace(files=files, repeated=repeated)
            )

    @contextmanager
    def reader(self) -> Iterator[sqlite3.Connection]:
        """Open the current generation for reading."""
        number = self.directory.current()
        assert number is not None
        with open_reader(self.directory.database(number)) as connection:
            yield connection

    def verify(self) -> None:
        """Make sure that the database is intact, and that the full text has the same notes.

        Raises:
            IndexUnavailable: `INDEX_INCOMPATIBLE` if they are damaged.
        """
        number = self.directory.current()
        assert number is not None
        with self.reader() as connection:
            meta = read_meta(connection)
            check_pages(connection)
            rows = RevisionRows(meta.next_rowid, old_rows(connection))
            fulltext = FulltextReader(self.directory.fulltext(number), rows)
            assert fulltext.note_count == meta.notes + len(
                stored_notes.files(connection, "document")
            )

    async def links(self, path: str) -> dict[str, tuple[str | None, bool]]:
        """Return what a note's links resolve to: target -> (path or None, ambiguous)."""
        with self.reader() as connection:
            note = stored_notes.note_by_id(connection, identify(path))
            return {
                link.target: (link.path, bool(link.ambiguous))
                for link in links.outgoing(connection, note.rowid)
            }

    async def dump(self) -> dict[str, Any]:
        """Return the content of the index without rowids."""
        with self.reader() as connection:
            meta = read_meta(connection)
            held: dict[str, Any] = {"totals": (meta.notes, meta.chunks, meta.links)}
            for file in stored_notes.files(connection):
                note = stored_notes.note_by_id(connection, identify(file.entry.path))
                span = keys_of(note.rowid)
                chunks, *parts = [
                    connection.execute(part, span).fetchall() for part in PARTS_OF_A_NOTE
                ]
                own = [
                    link._replace(key=0, rowid=None)
                    for link in links.outgoing(connection, note.rowid)
                ]
                held[file.entry.path] = (note.title, note.metadata, chunks, own, parts)
            return held
