"""The change set: which files a run reads, and which it removes from the index.

A run scans the whole vault, or some paths and everything below them. A full scan is compared with
all rows, a partial one with the rows at these paths. The rest of the run is the same, and so is the
result. If a partial scan could miss something, the run scans the whole vault instead.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from vault_agent.errors import Failed, IndexUnavailable, Misconfigured
from vault_agent.indexing.protocol import Compared
from vault_agent.model.link_resolver import names_of
from vault_agent.model.scope import EVERYTHING
from vault_agent.store.database import open_reader
from vault_agent.store.directory import IndexDirectory
from vault_agent.store.index import notes as stored_notes
from vault_agent.store.index.meta import check_compatible, counts_notes, read_meta
from vault_agent.store.index.rows import name_hash
from vault_agent.text.names import fold
from vault_agent.vault.paths import outermost
from vault_agent.vault.root import VaultRoot
from vault_agent.vault.scan import diff, is_unknown, is_utf8, scan

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from vault_agent.indexing.protocol import IndexSpec, ProgressReport, UpdateIndex
    from vault_agent.model.notes import FileEntry
    from vault_agent.store.database import Connection
    from vault_agent.store.index.meta import Meta
    from vault_agent.store.index.notes import StoredFile
    from vault_agent.vault.paths import Exclusions
    from vault_agent.vault.scan import Scan


@dataclass(frozen=True, slots=True)
class Stored:
    """The files of an index, as the last run saw them: all, or those at some paths."""

    meta: Meta
    files: dict[str, stored_notes.StoredFile]  # notes and documents by path
    # Notes and attachments that the last run could not index, by path. True: the file was not read,
    # so the index has no rows of it, or older ones. Attachments that wait to be read are such too.
    left_out: dict[str, tuple[FileEntry, bool]]
    attachments: frozenset[str]  # paths of all attachments
    paths: Collection[str] | None  # the fields above have files at or below these; None: all

    def entries(self, *, with_unread: bool = True) -> dict[str, FileEntry]:
        """Return the files by path: all, or `with_unread=False` those that were read."""
        entries = {path: file.entry for path, file in self.files.items()}
        left_out = self.left_out.items()
        return entries | {
            path: entry for path, (entry, unread) in left_out if with_unread or not unread
        }


def read_stored(
    directory: IndexDirectory, spec: IndexSpec, paths: Collection[str] | None = None
) -> Stored | None:
    """Return the files of the current generation, or None if there is no generation.

    With `paths`, return only the files at or below these paths or another spelling of them: a file
    system may find one file by names that differ in letter case or normal form.

    Raises:
        IndexUnavailable: `INDEX_INCOMPATIBLE` if the index cannot be used.
    """
    number = directory.current()
    if number is None:
        return None
    with open_reader(directory.database(number)) as connection:
        meta = read_meta(connection)
        check_compatible(meta, vault=spec.identity, fingerprint=spec.fingerprint)
        if paths is not None:
            paths = outermost((*paths, *_other_spellings(connection, paths)))
        files = stored_notes.files(connection, paths=paths) + stored_notes.files(
            connection, "document", paths=paths
        )
        left_out = stored_notes.left_out(connection, paths)
        return Stored(
            meta,
            {file.entry.path: file for file in files},
            {entry.path: (entry, unread) for entry, unread in left_out},
            frozenset(stored_notes.attachments(connection, paths)),
            paths,
        )


def _other_spellings(connection: Connection, paths: Collection[str]) -> list[str]:
    folded = {fold(path) for path in paths}
    lookups = {name_hash(name) for path in paths for name in names_of(path)}
    notes, attachments = stored_notes.files_named(connection, lookups)
    files = [*(path for path, _ in notes), *attachments]
    return [path for path in files if fold(path) in folded]


def compare(spec: IndexSpec) -> Compared:
    """Return whether notes have changed since the last run, by file size, times and inode.

    Raises:
        IndexUnavailable: `INDEX_INCOMPATIBLE` if the index cannot be used.
        Misconfigured: `VAULT_NOT_FOUND`, `CONFIG_INVALID` (a bad exclusion).
    """
    stored = read_stored(IndexDirectory(Path(spec.directory)), spec)
    if stored is None:
        return Compared(stale=False)
    with VaultRoot.open(spec.root, spec.exclusions, identity=spec.identity) as root:
        scanned = scan(root)
    return Compared(stale=diff(stored.entries(), spec.to_index(scanned), scanned.unlisted).differs)


@dataclass(frozen=True, slots=True)
class Changes:
    """What a run has to do at the paths that it has scanned."""

    base: Meta | None  # of the generation to update; None starts a new generation
    had_notes: bool  # whether the current index has notes, also if a new generation is started
    indexed: Mapping[str, StoredFile]  # the notes and documents in the generation to update
    to_read: list[FileEntry]  # new files, and files that may have changed
    removed: list[str]  # notes and documents whose files are missing
    left_out: Mapping[str, tuple[FileEntry, bool]]  # as `Stored.left_out`
    still_left_out: dict[str, tuple[FileEntry, bool]]  # those of the above that are not read again
    new_attachments: list[str]
    lost_attachments: list[str]
    differs: bool  # whether there is anything to do


def find_changes(
    root: VaultRoot, directory: IndexDirectory, request: UpdateIndex, report: ProgressReport
) -> Changes:
    """Scan the paths of the request, or the whole vault, and compare them with the index.

    Raises:
        Failed: `VAULT_EMPTY` if an indexed vault suddenly has no notes.
        IndexUnavailable: `INDEX_INCOMPATIBLE` if the index must be rebuilt.
    """
    spec = request.spec
    places = None if request.paths is None else _places(request.paths, root.exclusions)
    if places is not None and not request.rebuild:
        stored = read_stored(directory, spec, places)
        if stored is not None:
            scanned = scan(root, paths=stored.paths)
            changes = _compare(stored, scanned, request, _had_notes(stored, directory, spec))
            if not changes.removed or _has_entries(root):
                _report_scan(scanned, report)
                return changes
    try:
        stored = read_stored(directory, spec)
    except IndexUnavailable:
        if not request.rebuild:
            raise  # the server starts a rebuild, as a job
        stored = None
    scanned = scan(root, on_progress=lambda seen: report.phase("scan", seen, None))
    _report_scan(scanned, report)
    had_notes = _had_notes(stored, directory, spec)
    if had_notes and not scanned.notes:
        raise sudden_emptiness()
    return _compare(None if request.rebuild else stored, scanned, request, had_notes)


def _had_notes(stored: Stored | None, directory: IndexDirectory, spec: IndexSpec) -> bool:
    """Whether the index is of a whole vault and has notes: a vault without notes may be unmounted.

    Without `stored`, this is an index that another version may have made, but not a damaged one.
    The folders of an agent may lose their last note.
    """
    if spec.exclusions.scope != EVERYTHING:
        return False
    if stored is not None:
        return stored.meta.notes > 0
    number = directory.current()
    if number is None:
        return False
    with suppress(IndexUnavailable), open_reader(directory.database(number)) as connection:
        return counts_notes(connection)
    return False


def sudden_emptiness() -> Failed:
    """Return the error for a run that would remove all notes of an index."""
    return Failed(
        "VAULT_EMPTY",
        "The vault has no notes, but the index has some: is the vault unmounted or moved? "
        "Nothing was removed.",
    )


def vault_moved() -> Misconfigured:
    """Return the error for a vault that was moved or unmounted during the run."""
    return Misconfigured(
        "VAULT_NOT_FOUND",
        "The vault's folder was moved or unmounted during the run. Nothing was removed from the "
        "index.",
        remedy="Mount it or move it back, then index again.",
    )


def _has_entries(root: VaultRoot) -> bool:
    """Whether the vault's folder has anything visible: an empty mount point has nothing."""
    with root.listing() as entries:
        return any(not entry.name.startswith(".") for entry in entries)


def _report_scan(scanned: Scan, report: ProgressReport) -> None:
    report.phase("scan", len(scanned.notes), len(scanned.notes))
    for warning in scanned.warnings:
        report.warn(warning)


def _places(paths: Iterable[str], exclusions: Exclusions) -> list[str] | None:
    """Return the paths to scan, or None for the whole vault.

    Paths that a full scan would not reach are ignored: those that lead out of the vault, are
    hidden, lie in an excluded folder, or are not valid Unicode.
    """
    places = []
    for path in paths:
        place = path.rstrip("/")
        if path in ("", "."):
            return None
        parent, _, name = place.rpartition("/")
        if name.startswith(".") or not _is_plain(place):
            continue
        if not parent or not exclusions.excludes(parent, is_dir=True):
            places.append(place)
    return outermost(places)


def _is_plain(path: str) -> bool:
    """Whether a path consists of plain names: none is empty, `.` or `..`."""
    is_plain = not any(name in ("", ".", "..") for name in path.split("/"))
    return is_plain and "\0" not in path and is_utf8(path)


def _compare(
    stored: Stored | None, scanned: Scan, request: UpdateIndex, had_notes: bool
) -> Changes:
    files = stored.files if stored else {}
    left_out = stored.left_out if stored else {}
    # A run that someone has asked for tries unread files again: the baseline lacks them, so they
    # count as added. The runs of the watch, which are many, try them only when they have changed.
    baseline = stored.entries(with_unread=request.by_watch) if stored else {}
    seen = diff(baseline, request.spec.to_index(scanned), scanned.unlisted)
    # Without files that are missing or read again. The run adds those that it reads in vain.
    still_left_out = {path: left_out[path] for path in baseline.keys() & left_out.keys()}
    for path in (*seen.removed, *(entry.path for entry in seen.maybe_changed)):
        still_left_out.pop(path, None)
    attachments = {entry.path for entry in scanned.attachments}
    before = stored.attachments if stored else frozenset()
    new_attachments = sorted(attachments - before)
    lost_attachments = sorted(
        path for path in before - attachments if not is_unknown(path, scanned.unlisted)
    )
    removed = [path for path in seen.removed if path in files]
    return Changes(
        base=stored.meta if stored else None,
        had_notes=had_notes,
        indexed=files,
        to_read=[*seen.added, *seen.maybe_changed],
        removed=removed,
        left_out=left_out,
        still_left_out=still_left_out,
        new_attachments=new_attachments,
        lost_attachments=lost_attachments,
        differs=bool(
            seen.differs
            or (not request.by_watch and any(unread for _, unread in left_out.values()))
            or new_attachments
            or lost_attachments
        ),
    )
