"""Parses files into rows and full text, in the worker processes.

The texts of attachments are kept in files by the hash of the attachment (`KeptTexts`), so that each
content is read once. The worker of `read_attachments` writes these files, and index runs take the
texts from them. `read_attachments` removes those whose content the index has no longer.
"""

from __future__ import annotations

import zlib
from contextlib import suppress
from dataclasses import replace
from enum import Enum, auto
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import orjson

from vault_agent.errors import Misconfigured
from vault_agent.extract.parts import EXTRACT_VERSION, TextPart, byte_limit
from vault_agent.markdown.document import Document, find_indexed
from vault_agent.markdown.parse import document_of, parse_attachment, parse_document, with_keys
from vault_agent.markdown.shown import lines_with_words
from vault_agent.model.identifiers import content_hash
from vault_agent.model.link_resolver import names_of, target_key
from vault_agent.model.warning import Warning
from vault_agent.store.fulltext.schema import file_day, to_fulltext
from vault_agent.store.index.rows import to_rows
from vault_agent.system.files import make_private_folder, replace_file
from vault_agent.text.names import is_note, kind_of
from vault_agent.vault.platform import folder_at
from vault_agent.vault.read import Skipped, decode, printable, read_bytes
from vault_agent.vault.root import VaultRoot

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from vault_agent.indexing.protocol import IndexSpec
    from vault_agent.model.notes import FileEntry, ParsedNote
    from vault_agent.store.fulltext.schema import FulltextNote
    from vault_agent.store.index.rows import NoteRows
    from vault_agent.vault.read import Content


class FileToRead(NamedTuple):
    """A file to read."""

    entry: FileEntry
    known_hash: bytes | None  # of its content in the index
    rowid: int  # for its rows, never used before


class Batch(NamedTuple):
    """Files of one vault to parse."""

    spec: IndexSpec
    folder: tuple[int, int] | None  # see `platform.folder_at`, when the run began
    files: list[FileToRead]
    texts: str = ""  # the folder of texts of attachments, see `KeptTexts`
    repeated: frozenset[str] | None = frozenset()
    """Lines that many notes have. None: only return the lines of each note, see `find_repeated`."""


class Outcome(Enum):
    """The result of reading a file."""

    PARSED = auto()
    SAME = auto()  # touched, but its content is the one in the index
    NOT_INDEXABLE = auto()  # missing, or not to be indexed: its rows are removed
    UNREADABLE = auto()  # for now: its rows stay


class ParsedFile(NamedTuple):
    """A file as a worker has read it, and then parsed it.

    `rows` and `text` are set if the outcome is PARSED.
    """

    entry: FileEntry
    outcome: Outcome
    hash: bytes = b""
    rowid: int = 0
    content: Document | ParsedNote | None = None  # until it is parsed
    rows: NoteRows | None = None
    text: FulltextNote | None = None
    aliases: tuple[str, ...] = ()
    warnings: tuple[Warning, ...] = ()
    lines: frozenset[str] = frozenset()  # those that a reader sees, if `Batch.repeated` is None


def batch_parser() -> Callable[[Batch], list[ParsedFile] | None]:
    """Return the handler of a worker, which returns None if the batch's vault is missing."""

    def parse_batch(batch: Batch) -> list[ParsedFile] | None:
        try:
            root = VaultRoot.open(batch.spec.root, batch.spec.exclusions)
        except Misconfigured:
            return None
        with root:
            if folder_at(batch.spec.root) != batch.folder:
                return None
            return parse_files(root, batch)

    return parse_batch


def parse_files(root: VaultRoot, batch: Batch) -> list[ParsedFile]:
    """Read and parse the files of a batch, whose vault is open. Any content gives an outcome."""
    spec = batch.spec
    texts = KeptTexts(Path(batch.texts))
    read = [_read(root, file, spec.max_note_bytes, texts) for file in batch.files]
    if batch.repeated is None:
        return [_with_lines(file) for file in read]
    return _parse_all(read, spec.fields, batch.repeated, has_note_types=spec.has_note_types)


def _read(root: VaultRoot, file: FileToRead, max_note_bytes: int, kept: KeptTexts) -> ParsedFile:
    """Read one file. Any content gives an outcome."""
    path = file.entry.path
    kind = None if is_note(path) else kind_of(path)
    limit = max_note_bytes if kind is None else byte_limit(kind)
    if file.entry.size > limit:
        return _too_large(file.entry, file.rowid)
    try:
        content = read_bytes(root, path, limit)
        if not content.complete:
            return _too_large(content.entry, file.rowid)
        digest = content_hash(content.data)
        if digest == file.known_hash:
            return ParsedFile(content.entry, Outcome.SAME, digest, warnings=content.warnings)
        if kind is not None:
            return _with_kept_text(file, content, kept.get(kind, digest), digest)
        text, warnings = decode(content.data, path)
    except Skipped as skipped:
        return _skip(file.entry, skipped)
    document = document_of(text)
    warnings = content.warnings + warnings
    return ParsedFile(
        content.entry, Outcome.PARSED, digest, file.rowid, document, warnings=warnings
    )


def _with_kept_text(
    file: FileToRead, content: Content, text: KeptText | None, digest: bytes
) -> ParsedFile:
    """Return an attachment with its kept text. Without one, the index keeps what it has."""
    if text is None:
        return ParsedFile(file.entry, Outcome.UNREADABLE)
    path = file.entry.path
    warnings = (
        *content.warnings,
        *(
            replace(warning, details={**warning.details, "path": printable(path)})
            for warning in text.warnings
        ),
    )
    if text.left_out:
        return ParsedFile(file.entry, Outcome.NOT_INDEXABLE, warnings=warnings)
    note = parse_attachment(text.parts, path=path)
    return ParsedFile(content.entry, Outcome.PARSED, digest, file.rowid, note, warnings=warnings)


def _skip(entry: FileEntry, skipped: Skipped) -> ParsedFile:
    code = skipped.warning.code
    outcome = Outcome.UNREADABLE if code == "FILE_UNREADABLE" else Outcome.NOT_INDEXABLE
    return ParsedFile(entry, outcome, warnings=(skipped.warning,))


def _searched_values(note: ParsedNote, fields: Sequence[str]) -> tuple[str, ...]:
    """Return the values of the properties with these names, or with names nested in them."""
    wanted = {field.lower() for field in fields}
    return tuple(
        field.value
        for field in note.properties
        if "*" in wanted or field.name in wanted or field.name.partition(".")[0] in wanted
    )


def _too_large(entry: FileEntry, rowid: int) -> ParsedFile:
    what = "A note is over index.max_note_bytes: it is found by title and path, not by its text."
    if not is_note(entry.path):
        what = "An attachment is too large to be read: it is found by its name only."
    warning = Warning(
        "FILE_TOO_LARGE_FOR_INDEXING",
        what,
        {"path": entry.path, "size": entry.size},
    )
    return _by_name_only(entry, rowid, warning)


def _by_name_only(entry: FileEntry, rowid: int, warning: Warning) -> ParsedFile:
    """Return a note without content, found by its title and path only."""
    note = parse_attachment((), path=entry.path)
    identity = content_hash(repr(entry).encode("utf-8", "surrogateescape"))
    return ParsedFile(entry, Outcome.PARSED, identity, rowid, note, warnings=(warning,))


def _with_lines(file: ParsedFile) -> ParsedFile:
    text = file.content.shown[0] if isinstance(file.content, Document) else ""
    return file._replace(content=None, lines=lines_with_words(text))


def _parse_all(
    files: Sequence[ParsedFile],
    fields: Sequence[str] = (),
    repeated: frozenset[str] = frozenset(),
    *,
    has_note_types: bool = False,
) -> list[ParsedFile]:
    """Parse files that were read.

    `fields` are the names of properties whose values are searched, or "*" for all, and `repeated`
    the lines that many notes have. With `has_note_types`, a note without a type gets that of its
    folder, and links find it by its `id` and type.
    """
    # Each step runs over all files before the next: see `find_indexed`.
    find_indexed([file.content for file in files if isinstance(file.content, Document)])
    notes = [_note_of(file, fields, has_note_types=has_note_types) for file in files]
    return [_to_stored(file, note, repeated) for file, note in zip(files, notes, strict=True)]


def _note_of(file: ParsedFile, fields: Sequence[str], *, has_note_types: bool) -> ParsedNote | None:
    if not isinstance(file.content, Document):
        return file.content
    path = file.entry.path
    note = parse_document(file.content, path=path)
    if fields:
        note = replace(note, searched=_searched_values(note, fields))
    return with_keys(note, path) if has_note_types else note


def _to_stored(file: ParsedFile, note: ParsedNote | None, repeated: frozenset[str]) -> ParsedFile:
    if note is None:
        return file
    entry = file.entry
    aliases = (*note.aliases, *note.keys)
    # Links find an attachment by its own row, whether its text is indexed or not.
    names = names_of(entry.path, aliases) if is_note(entry.path) else ()
    return file._replace(
        content=None,
        rows=to_rows(file.rowid, entry, file.hash, note, names=names, lookup_of=target_key),
        text=to_fulltext(entry.path, note, repeated, file_day(entry)),
        aliases=aliases,
        warnings=file.warnings + note.warnings,
    )


def unparsed(file: FileToRead) -> ParsedFile:
    """Return the result for a note that crashed its worker: found by title and path only."""
    what = "A note" if is_note(file.entry.path) else "The text of an attachment"
    warning = Warning(
        "NOTE_PARSER_CRASHED",
        f"{what} could not be parsed within its limits of time and memory: it is found by title "
        "and path only.",
        {"path": file.entry.path},
    )
    [parsed] = _parse_all([_by_name_only(file.entry, file.rowid, warning)])
    return parsed


_VERSION = f"-{EXTRACT_VERSION}"
_LEVEL = 1  # of the compression: reading must be fast


class KeptText(NamedTuple):
    """The result of reading an attachment."""

    parts: tuple[TextPart, ...] = ()
    warnings: tuple[Warning, ...] = ()  # without the path: several files may have this content
    left_out: bool = False  # whether the file must not be indexed at all


class KeptTexts:
    """The folder of texts of one index."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def has(self, kind: str, digest: bytes) -> bool:
        """Whether the text of a content is kept."""
        return self._path(kind, digest).exists()

    def get(self, kind: str, digest: bytes) -> KeptText | None:
        """Return the text of a content by its hash, or None if it is not kept."""
        try:
            document = orjson.loads(zlib.decompress(self._path(kind, digest).read_bytes()))
            parts = tuple(TextPart(label, text) for label, text in document["parts"])
            warnings = tuple(Warning(**warning) for warning in document["warnings"])
            return KeptText(parts, warnings, document["left_out"])
        except (OSError, ValueError, TypeError, KeyError, zlib.error):
            return None  # missing, or damaged: it is read again

    def put(self, kind: str, digest: bytes, text: KeptText) -> bool:
        """Keep a text. Return False if there is no room for it."""
        # The pages of a PDF may have lone surrogates.
        parts = [[part.label, part.text.encode("utf-8", "replace").decode()] for part in text.parts]
        document = {"parts": parts, "warnings": text.warnings, "left_out": text.left_out}
        data = zlib.compress(orjson.dumps(document), _LEVEL)
        path = self._path(kind, digest)
        try:
            make_private_folder(path.parent)
            replace_file(path, data, durable=False)
        except OSError:
            return False
        return True

    def sweep(self, digests: Collection[bytes]) -> None:
        """Remove all texts but those with these hashes. A text that cannot be removed stays."""
        kept = {digest.hex() for digest in digests}
        for path in self._folder.glob("*/*"):
            name, _, kind = path.name.partition(".")
            if name not in kept or not kind.endswith(_VERSION):
                with suppress(OSError):
                    path.unlink()

    def _path(self, kind: str, digest: bytes) -> Path:
        name = digest.hex()
        return self._folder / name[:2] / f"{name}.{kind}{_VERSION}"
