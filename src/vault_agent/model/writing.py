"""The values of a write: who may do what, who asks for what, and what was done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Annotated, Literal, Self

from vault_agent.model.fields import (
    Content,
    Date,
    ExpectedHash,
    FilePath,
    Heading,
    IdempotencyKey,
    Line,
    Name,
    NoteId,
    Properties,
    without_nul,
)
from vault_agent.model.identifiers import content_hash
from vault_agent.model.scope import EVERYTHING, Scope
from vault_agent.model.sent import Between, Form, Internal, Length, OneOf, Unreadable, Validator
from vault_agent.model.warning import Warning

DEFAULT_WAIT_MS = 2_000


class Right(StrEnum):
    """What an agent must be allowed to do for a write: a value of `write.allow`."""

    CREATE = "create"
    APPEND = "append"
    EDIT = "edit"
    OVERWRITE = "overwrite"
    MOVE = "move"
    DELETE = "delete"
    PERMANENT = "permanent"


@dataclass(frozen=True, slots=True)
class Author:
    """Who writes. Its scope and rights narrow what the settings open, and never widen it."""

    name: str = ""  # of a named agent; "" for all others
    client: str = "http"  # `cli`, `http`, `web`; of an agent `mcp:{program}` or `mcp`
    scope: Scope = EVERYTHING
    rights: frozenset[Right] | None = None  # None: all, which the owner has

    @property
    def is_owner(self) -> bool:
        """Whether this is the owner, and no agent."""
        return not self.name and self.client in OWNER_CLIENTS

    def may_take_back(self, logged: LoggedWrite) -> bool:
        """Whether this author may take back a write of the log: the owner all, an agent its own."""
        if self.name:
            return logged.agent == self.name
        return self.is_owner or (not logged.agent and logged.client == self.client)


BY_OWNER = Author()
OWNER_CLIENTS = ("cli", "http", "web")
"""The clients of the owner. All others are of agents: an unnamed one is known by its client."""
SERVER = "server"
"""The client, in the log, of writes that the server makes by itself. No author has it. Therefore an
undo without an ID never takes such a write back."""


@dataclass(frozen=True, slots=True)
class WriteTimes:
    """Times in seconds that no setting changes."""

    linger: float = 2.0  # until a displaced file is looked at again
    closing: float = 0.3  # the same when the vault closes: most editors save within milliseconds
    look_pause: float = 0.25  # between two looks at the displaced files
    quiet_wait: float = 6.0  # the longest wait for a note that somebody else is changing
    until_back: float = 1.0  # the longest wait for an indexed note that is not on the disk


@dataclass(frozen=True, slots=True)
class WriteLimits:
    """The limits of writing in a vault. Folders are vault-relative; "" is the whole vault, () none.

    With `sets_updated`, an edit sets `updated` in the frontmatter of a note that has that key.
    """

    folders: tuple[str, ...] = ("",)
    quiet_seconds: float = 1.0  # editors save every two seconds while a person types
    max_written_bytes: int = 4 << 20  # of a note; larger ones are read, and not written
    max_per_minute: int = 60
    undo_days: int = 30
    undo_bytes: int = 512 << 20
    times: WriteTimes = WriteTimes()
    sets_updated: bool = False


class WriteState(StrEnum):
    """How far a write has come."""

    PREPARED = "prepared"  # logged: its first change decides whether it is done
    COMMITTED = "committed"  # its first change is done: it is always finished
    DONE = "done"
    FAILED = "failed"  # nothing was changed
    UNDONE = "undone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """Who asks for a change, and how it is made. Every operation passes one with its change.

    Args:
        operation: the name of the operation in the log, as `append`.
        right: what the author must be allowed to do.
        author: who writes.
        expected_hash: the hash of the file, in hex, or at least its first 16 digits.
        hash_required: whether `expected_hash` must be given.
        dry_run: check everything and return the diff, but write nothing.
        key: the idempotency key.
        request_hash: a digest of the whole request, to refuse another request with the same key.
        wait_ms: how long to wait until a search finds the change.
        may_replan: whether the edit means the same on another text. If so, and somebody changes the
            note meanwhile, the edit is planned anew, at most three times.
        by_server: whether it is a write of the server itself, such as a journal. Then the log has
            the client `SERVER`.
    """

    operation: str
    right: Right
    author: Author = BY_OWNER
    expected_hash: str | None = None
    hash_required: bool = False
    dry_run: bool = False
    key: str | None = None
    request_hash: bytes = b""
    wait_ms: int = DEFAULT_WAIT_MS
    may_replan: bool = False
    by_server: bool = False


@dataclass(frozen=True, slots=True)
class IndexState:
    """Whether a search finds the change: `pending` if it does not yet."""

    state: Literal["indexed", "pending"] = "pending"
    generation: int | None = None
    revision: int | None = None

    @property
    def indexed(self) -> bool:
        """Whether searches find the change."""
        return self.state == "indexed"


PENDING = IndexState()


class ChangeKind(StrEnum):
    """What a change does, as the log names it."""

    EDIT = "edit"
    CREATE = "create"
    MOVE = "move"
    REMOVE = "remove"
    MAKE_FOLDER = "folder"
    REMOVE_FOLDER = "no folder"


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultChange:
    """A change of one file or folder: as it is planned, logged, carried out and taken back.

    Args:
        path: of the file or folder; of a move, the path before it.
        target: the path after a move. `path_after` is that of any change.
        before: the bytes before the change, while they are in memory. The log keeps them by their
            hash.
        after: the bytes after the change, as `before`.
        hash_before: the SHA-256 of the bytes before; None for a new file and for a folder.
        temporary: the name of its temporary file, in `TEMP_FOLDER` or beside the file itself. Every
            logged change has one.
        links: how many links it rewrites.
        remake: makes the edit anew of other bytes, if somebody has changed the file since. Without
            it, the edit is merged line by line or left out. It raises coded errors.
    """

    kind: ChangeKind
    path: str
    target: str | None = None
    before: bytes | None = field(default=None, repr=False)
    after: bytes | None = field(default=None, repr=False)
    hash_before: bytes | None = None
    hash_after: bytes | None = None
    size_before: int | None = None
    size_after: int | None = None
    temporary: str | None = None
    links: int = 0
    remake: Callable[[bytes], bytes] | None = None

    @classmethod
    def edit(
        cls,
        path: str,
        before: bytes,
        after: bytes,
        *,
        remake: Callable[[bytes], bytes] | None = None,
        links: int = 0,
    ) -> Self:
        """Return the edit of a file that exists."""
        change = cls._of(ChangeKind.EDIT, path, before, after)
        return replace(change, remake=remake, links=links)

    @classmethod
    def create(cls, path: str, content: bytes) -> Self:
        """Return the creation of a file, with its folders. It never replaces a file."""
        return cls._of(ChangeKind.CREATE, path, None, content)

    @classmethod
    def remove(cls, path: str, before: bytes) -> Self:
        """Return the removal of a file. The log keeps its bytes."""
        return cls._of(ChangeKind.REMOVE, path, before, None)

    @classmethod
    def move(
        cls, path: str, target: str, digest: bytes | None = None, size: int | None = None
    ) -> Self:
        """Return the move of a file, or of a folder, for which there is no hash and no size.

        The folders of the new path are made. A move never replaces a file. The log keeps no bytes.
        """
        return cls(
            kind=ChangeKind.MOVE,
            path=path,
            target=target,
            hash_before=digest,
            hash_after=digest,
            size_before=size,
            size_after=size,
        )

    @classmethod
    def make_folder(cls, path: str) -> Self:
        """Return the creation of a folder, with those above it that are missing."""
        return cls(kind=ChangeKind.MAKE_FOLDER, path=path)

    @classmethod
    def remove_folder(cls, path: str) -> Self:
        """Return the removal of an empty folder."""
        return cls(kind=ChangeKind.REMOVE_FOLDER, path=path)

    @classmethod
    def _of(cls, kind: ChangeKind, path: str, before: bytes | None, after: bytes | None) -> Self:
        return cls(
            kind=kind,
            path=path,
            before=before,
            after=after,
            hash_before=None if before is None else content_hash(before),
            hash_after=None if after is None else content_hash(after),
            size_before=None if before is None else len(before),
            size_after=None if after is None else len(after),
        )

    @property
    def path_after(self) -> str:
        """The path of the file or folder after the change."""
        return self.target or self.path

    @property
    def is_of_folder(self) -> bool:
        """Whether it makes, moves or removes a folder."""
        return self.hash_before is None and self.hash_after is None


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file that a write has changed, made, moved or removed."""

    path: str
    before: str | None = None
    """Its path before, if it was moved."""
    hash_before: str | None = None
    hash_after: str | None = None
    bytes_before: int | None = None
    bytes_after: int | None = None
    links: int = 0
    """How many of its links were rewritten."""

    @classmethod
    def of(cls, change: VaultChange) -> Self:
        """Return a change as replies show it."""
        return cls(
            path=change.path_after,
            before=change.path if change.target else None,
            hash_before=change.hash_before.hex() if change.hash_before else None,
            hash_after=change.hash_after.hex() if change.hash_after else None,
            bytes_before=change.size_before,
            bytes_after=change.size_after,
            links=change.links,
        )


@dataclass(frozen=True, slots=True)
class Written:
    """What a write has done. Hashes are of the whole file, or null where there is no file."""

    write_id: str | None
    """For `undo`. Null if nothing was written."""
    operation: str
    changed: bool
    """False if the note had this content already."""
    note_id: str | None = field(default=None, kw_only=True)
    path: str
    created: bool = False
    dry_run: bool = False
    hash_before: str | None = None
    hash_after: str | None = None
    bytes_before: int | None = None
    bytes_after: int | None = None
    section_hash: str | None = None
    """Of the section after the change, if one was edited."""
    spans: int = 0
    """The number of places that were changed. For a move, the number of links."""
    diff: str = ""
    """Unified, at most 64 KiB."""
    diff_truncated: bool = False
    undoable: bool = False
    replayed: bool = False
    """Whether this is the reply to an earlier request with this key."""
    moved_from: str | None = None
    """The path before a move."""
    trash_path: str | None = None
    """Where a deleted note is now."""
    broken_links: int = 0
    """How many links lead to the deleted file. The links stay as they are."""
    files: tuple[WrittenFile, ...] = ()
    """The other files that were changed: at most 200."""
    file_count: int = 0
    """All other files that were changed."""
    line: int | None = None
    """The line of a task, from 1."""
    index: IndexState = PENDING
    warnings: Internal[tuple[Warning, ...]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedWrite:
    """A write as it is logged, with all of its changes in order."""

    seq: int = 0  # its number, which the log gives it
    write_id: str
    at: int  # milliseconds since 1970
    agent: str  # a named agent; "" for the others, which `client` tells apart
    client: str
    operation: str
    state: WriteState = WriteState.PREPARED
    key: str | None = None
    request: bytes | None = None  # a digest of the request with that key
    reply: str = "{}"  # JSON
    undoes: str | None = None  # the ID of the write that it takes back
    kept: bool = True  # whether the bytes are kept
    warning: str | None = None  # a code, if it did not end well
    changes: tuple[VaultChange, ...]
    folders: tuple[str, ...] = ()
    """The folders that the write makes, outermost first. Empty when it is read from the log."""
    empties: tuple[str, ...] = ()
    """The folders that the write `undoes` made, outermost first. They go once they are empty."""

    @property
    def undoable(self) -> bool:
        """Whether it can be taken back."""
        return self.kept and self.state is WriteState.DONE


# --- what is shown of the log -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LogEntry:
    """An entry of the log of writes. It has no content."""

    write_id: str
    time: str
    """ISO 8601, UTC."""
    agent: str
    """A named agent, or empty."""
    client: str
    """`cli`, `http`, `web`, `mcp:{program}` or `mcp` of an agent, or `server`."""
    operation: str
    state: WriteState
    files: tuple[WrittenFile, ...]
    """At most 200."""
    file_count: int
    undoable: bool
    """Whether the bytes before are kept."""
    warning: str | None
    """A code, such as WRITE_CONFLICT, if it did not end well."""


@dataclass(frozen=True, slots=True)
class LogPage:
    """A page of the log of writes, newest first."""

    writes: tuple[LogEntry, ...]
    has_more: bool
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class OneWrite:
    """One entry of the log, and whether its note has been changed since."""

    write: LogEntry
    changed_since: bool | None
    """Whether its file was changed after it, or after its undo. Null if it has several."""


@dataclass(frozen=True, slots=True)
class WritesForgotten:
    """How many writes can no longer be undone."""

    forgotten: int


@dataclass(frozen=True, slots=True)
class WriteNews:
    """An event `write` of `GET /events`: what a write of this server has changed."""

    write_id: str
    operation: str
    agent: str
    client: str
    paths: tuple[str, ...]
    """The first paths, at most 20."""
    file_count: int


@dataclass(frozen=True, slots=True)
class WriteHealth:
    """The state of writing in a vault."""

    enabled: bool = False
    state: Annotated[str, OneOf("off", "recovering", "ready", "unsupported")] = "off"
    """`recovering` until what a crash has interrupted is finished."""
    atomicity: Annotated[str | None, OneOf("exchange", "rename")] = None
    """How a note is replaced. With `exchange`, no save of an editor is lost."""
    durable: bool = True
    """False on a network or cloud drive."""
    lingering: int = 0
    """Replaced files that are looked at once more."""
    conflicts: int = 0
    """Writes of the log that met somebody else's change."""
    conflict_paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TemplateRow:
    """A template for new notes."""

    name: str
    built_in: bool
    path: str | None
    """Its note, unless it is built in."""
    variables: tuple[str, ...]
    """The variables that it needs."""


@dataclass(frozen=True, slots=True)
class TemplateList:
    """The templates for new notes."""

    templates: tuple[TemplateRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteBody:
    """What every request to change something may say."""

    expected_hash: ExpectedHash | None = None
    """The `contentHash` of the note as you know it, or its first 16 digits. If the note has
    changed, nothing is written. A section is compared by its `sectionHash`."""
    dry_run: bool = False
    """Check everything and return the diff, but write nothing."""
    idempotency_key: IdempotencyKey | None = None
    """A name for this request. The same request with the same key is done once."""
    wait_ms: Annotated[int, Between(0, 10_000)] = 2_000
    """How long to wait until a search finds the change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteBody(WriteBody):
    """A request to change a note that exists."""

    path: FilePath | None = None
    note_id: NoteId | None = None

    def __post_init__(self) -> None:
        if (self.path is None) == (self.note_id is None):
            raise Unreadable("one_name", "must have either `path` or `noteId`")


Priority = Literal["highest", "high", "medium", "low", "lowest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AddTaskBody(NoteBody):
    """The body of `POST /write/tasks/add`."""

    text: Annotated[Line, Length(0, 2000)]
    section: Heading | None = None
    """The heading to append the task under. Default: the end of the note."""
    due: Date | None = None
    scheduled: Date | None = None
    start: Date | None = None
    priority: Priority | None = None
    recurrence: Annotated[Line, Length(0, 200)] | None = None
    """As `every week`."""


def _variables(values: dict[str, str]) -> dict[str, str]:
    for text in (*values, *values.values()):
        without_nul(text)
    return values


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateBody(WriteBody):
    """The body of `POST /write/template`: a new note from a template.

    In the vaults of projects and in the global one `type` and `title` are enough.
    """

    template: Name | None = None
    """By default that of the type."""
    path: FilePath | None = None
    """By default in the folder of the type, named after the title."""
    type: Annotated[str, Form("[a-z][a-z0-9-]{0,31}", "must be a type of notes")] | None = None
    title: Annotated[Line, Length(0, 500)] | None = None
    """By default the name in `path`."""
    content: Content | None = None
    """With a type: the text below the frontmatter, without a template."""
    frontmatter: Properties | None = None
    """With a type: more keys of the frontmatter."""
    variables: Annotated[dict[str, str], Length(0, 100), Validator(_variables)] = field(
        default_factory=dict
    )
