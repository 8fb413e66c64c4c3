"""Plan the move of a note, an attachment or a folder, with the links of all notes that it affects.

Planning only reads. Before a file is changed, it is compared with the bytes that the plan was made
of.
"""

from __future__ import annotations

import posixpath
import stat
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from vault_agent.errors import Forbidden, InvalidRequest, NotFound, TooLarge
from vault_agent.markdown.edit import spliced
from vault_agent.model.warning import Warning as Notice
from vault_agent.model.writing import VaultChange
from vault_agent.store.index.links import LinkReader
from vault_agent.text.names import escaped, is_note, lies_in
from vault_agent.vault.opening import CannotOpen
from vault_agent.vault.paths import NOTE_SUFFIX, validate
from vault_agent.writing.canvases import bases_with_names, rewrite_canvas, rewrite_canvases
from vault_agent.writing.disk import coded, hash_file, naming, read_file
from vault_agent.writing.permission import check_may_write
from vault_agent.writing.placing import inside_folder, place_to_move
from vault_agent.writing.plan import NeedsJob, Planned, Transaction, text_after
from vault_agent.writing.relinking import NamedFiles, PathChange, find_affected, rewrite_notes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from vault_agent.store.current import Snapshot
    from vault_agent.store.index.links import LinkFrom
    from vault_agent.vault.root import VaultRoot
    from vault_agent.writing.canvases import CanvasEdit
    from vault_agent.writing.plan import Plan
    from vault_agent.writing.relinking import Affected

MAX_LINKS = 100_000
"""Links that one move may rewrite: ten seconds of processor time."""
LINKS_AT_ONCE = 5_000
"""Links that a move rewrites without being a job."""
MAX_LISTED = 50
"""Paths in the details of a warning or an error."""
_LISTED_FOLDERS = 5
CANVASES_LEFT = (
    "Canvases that were not changed, or only in part: {}. They name files or headings as they were,"
    " or are too large or too many to be read."
)
_BASES_LEFT = (
    "Bases that were not changed: {}. They name files or folders by their old paths, or are too"
    " large or too many to be read."
)


class MoveStopped(Exception):
    """The move was stopped before anything was changed."""


@dataclass(frozen=True, slots=True)
class MoveControl:
    """How a move is watched and stopped.

    Args:
        at_once: the most notes to rewrite without a job. With more, or over `LINKS_AT_ONCE` links,
            `NeedsJob` is raised. None: no limit.
        stopped: returns whether to stop. Called in a thread while the move is planned.
        on_plan: called in a thread with the number of notes planned so far, and of all.
    """

    at_once: int | None = None
    stopped: Callable[[], bool] = field(default=lambda: False)
    on_plan: Callable[[int, int], object] = field(default=lambda done, notes: None)  # noqa: ARG005


@dataclass(frozen=True, slots=True)
class MoveRequest:
    """What is to be moved.

    Args:
        path: of a note, an attachment or a folder, exactly.
        to: the new path, with the name; for a file also an existing folder to move it into.
        rewrite_links: whether links are changed so that they lead where they did.
        may_write: whether the author may change the note at a path.
        may_see: whether a reply to the author may depend on a file.
        files_only: whether to refuse a folder: at its new path, the author could see what is denied
            or excluded in it now.
        control: how it is watched and stopped.
        check_hash: called with the SHA-256 of the file. Raises if another one is expected.
        most_notes: the most notes to rewrite at all.
    """

    path: str
    to: str
    rewrite_links: bool
    may_write: Callable[[str], bool]
    may_see: Callable[[str], bool]
    files_only: bool = False
    control: MoveControl = MoveControl()
    check_hash: Callable[[bytes], object] = field(default=lambda digest: None)  # noqa: ARG005
    most_notes: int = 5_000


def plan_move(snapshot: Snapshot, root: VaultRoot, request: MoveRequest) -> Transaction:
    """Return the changes of a move. Nothing to do is a transaction without changes.

    Raises:
        NeedsJob: if the move must be a job.
        MoveStopped: if it was stopped.
        NotFound: `NOTE_NOT_FOUND`.
        InvalidRequest: `INVALID_PATH`, also for a folder into itself; `INVALID_NOTE_NAME`.
        Forbidden: `PATH_OUTSIDE_VAULT`, `WRITE_OUTSIDE_SCOPE`, `LINKS_OUTSIDE_SCOPE`.
        Conflict: `NOTE_EXISTS`, `NAME_COLLISION`, `NOTE_NOT_LOCAL`, `LINK_NOT_EXPRESSIBLE`,
            `ENCODING_NOT_WRITABLE`.
        TooLarge: `MOVE_TOO_LARGE`, `NOTE_TOO_LARGE`.
        SnapshotOutdated: if the index has a later revision than the snapshot.
    """
    path = validate(request.path)
    check = partial(check_may_write, request.may_write)
    for place in (path, request.to):
        check(place)
    is_folder = _is_folder(root, path)
    if is_folder and request.files_only:
        raise _not_found()
    to = _place(root, path, request.to, check, is_folder=is_folder)
    if to == path:
        return Transaction(path, ())
    move = _move(root, path, to, None if is_folder else request.check_hash)
    with snapshot.unchanged() as connection:
        reader = LinkReader(connection)
        moved = {file: to + file[len(path) :] for file in reader.paths_at(path)}
        change = PathChange(moved or {path: to})
        links, files = find_affected(reader, change)
        if request.rewrite_links:
            _check(links, request, len(links.notes))  # before any file is read
        canvases = rewrite_canvases(root, reader, files)
        writable = [canvas for canvas in canvases if _may_rewrite(canvas, change, request)]
        complete = [canvas for canvas in writable if canvas.is_complete]
        stale = [canvas.path for canvas in canvases if canvas not in complete]
        bases = bases_with_names(root, reader, [path, *change.moved])
        warnings = [
            *notice_of_files(CANVASES_LEFT, filter(request.may_see, stale)),
            *notice_of_files(_BASES_LEFT, filter(request.may_see, bases)),
        ]
        edits: list[VaultChange] = []
        if request.rewrite_links:
            _check(links, request, len(links.notes) + len(writable))
            edits = _edits(snapshot, files, _read_notes(root, links, request))
            edits += [_canvas_edit(canvas, change) for canvas in writable]
        else:
            warnings += notice_of_links(
                "LINKS_BROKEN",
                "Links that no longer lead to their file: {}.",
                [row for row in links.links if request.may_see(row.source)],
            )
    if request.control.stopped():
        raise MoveStopped
    request.control.on_plan(len(edits), len(edits))
    return Transaction(to, (move, *edits), moved_from=path, warnings=tuple(warnings))


def _move(
    root: VaultRoot, path: str, to: str, check_hash: Callable[[bytes], object] | None
) -> VaultChange:
    """Check the hash of a file and return its move. Without `check_hash`, it is a folder."""
    if check_hash is None:
        return VaultChange.move(path, to)
    try:
        file = hash_file(root, path)
    except (CannotOpen, OSError):
        raise _not_found() from None
    check_hash(file.digest)
    return VaultChange.move(path, to, file.digest, file.stat.st_size)


def _is_folder(root: VaultRoot, path: str) -> bool:
    try:
        status = root.status(path)
    except CannotOpen:
        status = None
    if status is None or root.exclusions.excludes(path):
        raise _not_found()
    return stat.S_ISDIR(status.st_mode)


def _not_found() -> NotFound:
    return NotFound("NOTE_NOT_FOUND", "There is no such file or folder in the vault.")


def _place(
    root: VaultRoot, path: str, to: str, check: Callable[[str], object], *, is_folder: bool
) -> str:
    if is_folder:
        if to != path and lies_in(to, path):
            what = "A folder can't be moved into itself."
            raise InvalidRequest("INVALID_PATH", what, remedy="")
        return place_to_move(root, to, "", moved=path, is_folder=True, check=check)
    to = inside_folder(root, path, to)
    suffix = NOTE_SUFFIX if is_note(path) else posixpath.splitext(path)[1]
    return place_to_move(root, to, suffix, moved=path, check=check)


def _check(links: Affected, request: MoveRequest, count: int) -> None:
    """Check that the author may rewrite all links, and that files and links are not too many.

    A link to a file that the author does not see is refused: its new text would have that path.
    """
    unseen = [path for path in links.targets if not request.may_see(path)]
    check_links((*links.notes, *unseen), request.may_write, request.may_see)
    if links.count > MAX_LINKS:
        raise TooLarge(
            "MOVE_TOO_LARGE",
            f"The move changes {links.count} links.",
            {"links": links.count, "limit": MAX_LINKS},
            remedy="Move less at once, or move it without changing links.",
        )
    if count > request.most_notes:
        raise TooLarge(
            "MOVE_TOO_LARGE",
            f"The move changes links in {count} notes.",
            {"notes": count, "limit": request.most_notes},
        )
    at_once = request.control.at_once
    if at_once is not None and (count > at_once or links.count > LINKS_AT_ONCE):
        raise NeedsJob


def check_links(
    paths: Iterable[str], may_write: Callable[[str], bool], may_see: Callable[[str], bool]
) -> None:
    """Check that the author may rewrite links in or to these files.

    The error counts only files that the author sees.

    Raises:
        Forbidden: `LINKS_OUTSIDE_SCOPE`.
    """
    outside = [path for path in paths if not may_write(path)]
    if not outside:
        return
    what = "Links would have to change in notes that you may not write"
    seen = [*filter(may_see, outside)]
    if not seen:
        raise Forbidden("LINKS_OUTSIDE_SCOPE", f"{what}.")
    folders = sorted({escaped(posixpath.dirname(path)) or "." for path in seen})
    raise Forbidden(
        "LINKS_OUTSIDE_SCOPE",
        f"{what}: {len(seen)}, in {', '.join(folders[:_LISTED_FOLDERS])}.",
        {"notes": len(seen)},
        remedy="Add their folders to write.folders, or move without rewriting links.",
    )


def _read_notes(root: VaultRoot, links: Affected, request: MoveRequest) -> dict[str, bytes]:
    notes: dict[str, bytes] = {}
    for source in links.notes:
        if request.control.stopped():
            raise MoveStopped
        with naming(source), coded():
            notes[source] = read_file(root, source)
        request.control.on_plan(len(notes) - 1, len(links.notes))
    return notes


def _edits(snapshot: Snapshot, files: NamedFiles, notes: Mapping[str, bytes]) -> list[VaultChange]:
    change = files.change
    return [
        VaultChange.edit(
            change.moved.get(source, source),
            notes[source],
            spliced(notes[source], splices),
            remake=partial(text_after, _again(snapshot, source, change)),
            links=len(splices),
        )
        for source, splices in rewrite_notes(notes, files).items()
        if splices
    ]


def _canvas_edit(canvas: CanvasEdit, change: PathChange) -> VaultChange:
    return VaultChange.edit(
        change.moved.get(canvas.path, canvas.path),
        canvas.content,
        spliced(canvas.content, canvas.splices),
        remake=lambda content: spliced(content, rewrite_canvas(content, change.moved) or ()),
        links=len(canvas.splices),
    )


def _again(snapshot: Snapshot, source: str, change: PathChange) -> Plan:
    """Return the plan for a note that somebody changes before its links are rewritten."""

    def plan(note: bytes) -> Planned:
        with snapshot.connection() as connection:
            files = NamedFiles(LinkReader(connection), change)
            return Planned(rewrite_notes({source: note}, files)[source])

    return plan


def _may_rewrite(canvas: CanvasEdit, change: PathChange, request: MoveRequest) -> bool:
    """Whether a canvas is rewritten. One that the author may not write does not stop a move."""
    places = (canvas.path, change.moved.get(canvas.path, canvas.path))
    return request.rewrite_links and bool(canvas.splices) and all(map(request.may_write, places))


def notice_of_files(what: str, paths: Iterable[str]) -> list[Notice]:
    """Return a warning about files whose links are left, or nothing if there are none.

    The author may see all of them. `what` is a sentence with `{}` for their number.
    """
    listed = [*paths]
    details = {"count": len(listed), "paths": listed[:MAX_LISTED]}
    what = what.format(len(listed))
    return [Notice.of("LINKS_NOT_REWRITTEN", what, details)] if listed else []


def notice_of_links(code: str, what: str, links: Sequence[LinkFrom]) -> list[Notice]:
    """Return a warning about links with the places of some, or nothing if there are none.

    The author may see all of them. `what` is a sentence with `{}` for their number.
    """
    places = [{"path": row.source, "line": row.link.line} for row in links[:MAX_LISTED]]
    details = {"count": len(links), "links": places}
    return [Notice.of(code, what.format(len(links)), details)] if links else []
