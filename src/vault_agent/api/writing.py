"""The operations that change notes, and what their requests have in common.

Every one of them is a `WriteBody`: `expectedHash`, `dryRun`, `idempotencyKey` and `waitMs` mean the
same everywhere. What names a note that exists is a `NoteBody`: `path` or `noteId`, one of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Annotated, Any, Literal

from vault_agent.api.caller import CallContext
from vault_agent.api.operation import Found, write
from vault_agent.api.replies import shown_job
from vault_agent.errors import InvalidRequest, NotFound
from vault_agent.markdown.address import PartAddress
from vault_agent.model.fields import (
    BlockId,
    Content,
    ExpectedHash,
    FilePath,
    Heading,
    HeadingId,
    IdempotencyKey,
    Name,
    NoteId,
    Properties,
    TagName,
)
from vault_agent.model.identifiers import identify
from vault_agent.model.jobs import OneJob
from vault_agent.model.sent import Between, Doc, Length, Unreadable
from vault_agent.model.values import dump
from vault_agent.model.writing import Right, Write, Written
from vault_agent.search.resolve import resolve
from vault_agent.text.names import is_note
from vault_agent.writing import notes
from vault_agent.writing.notes import change_tags
from vault_agent.writing.sections import edit_section

if TYPE_CHECKING:
    from vault_agent.api.caller import Caller
    from vault_agent.model.jobs import Job


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteBody:
    """What every request to change something may say."""

    expected_hash: Annotated[
        ExpectedHash | None,
        Doc(
            "The `contentHash` of the note as you know it, or its first 16 digits. If the note has"
            " changed, nothing is written. A section is compared by its `sectionHash`."
        ),
    ] = None
    dry_run: Annotated[bool, Doc("Check everything and return the diff, but write nothing.")] = (
        False
    )
    idempotency_key: Annotated[
        IdempotencyKey | None,
        Doc("A name for this request. The same request with the same key is done once."),
    ] = None
    wait_ms: Annotated[
        int, Between(0, 10_000), Doc("How long to wait until a search finds the change.")
    ] = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteBody(WriteBody):
    """A request to change a note that exists."""

    path: FilePath | None = None
    note_id: NoteId | None = None

    def __post_init__(self) -> None:
        if (self.path is None) == (self.note_id is None):
            raise Unreadable("one_name", "must have either `path` or `noteId`")


WriteMode = Literal["create", "overwrite", "append", "prepend", "upsert"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteNoteBody(NoteBody):
    """The body of `POST /write/note`."""

    content: Content
    mode: Annotated[
        WriteMode, Doc("`upsert` creates the note with `frontmatter`, or appends if it exists.")
    ] = "create"
    frontmatter: Annotated[Properties | None, Doc("For a note that is created or overwritten.")] = (
        None
    )
    blank_line: Annotated[bool, Doc("Put one empty line before text that is appended.")] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontmatterBody(NoteBody):
    """The body of `POST /write/frontmatter`: the keys to set and to delete, in one write."""

    set: Properties = field(default_factory=dict)
    delete: Annotated[tuple[Name, ...], Length(0, 1000)] = ()

    def __post_init__(self) -> None:
        NoteBody.__post_init__(self)
        if not self.set and not self.delete:
            raise Unreadable("nothing", "must have a key to `set` or to `delete`")


@dataclass(frozen=True, slots=True, kw_only=True)
class TagsBody(NoteBody):
    """The body of `POST /write/tags`."""

    add: Annotated[tuple[TagName, ...], Length(0, 100)] = ()
    remove: Annotated[tuple[TagName, ...], Length(0, 100)] = ()
    where: Literal["frontmatter", "inline", "both"] = "frontmatter"

    def __post_init__(self) -> None:
        NoteBody.__post_init__(self)
        if not self.add and not self.remove:
            raise Unreadable("nothing", "must have a tag to `add` or to `remove`")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaceBody(NoteBody):
    """The body of `POST /write/replace`."""

    search: Annotated[Content, Length(1)]
    replace: Content
    regex: Annotated[
        bool, Doc("`search` has the syntax of RE2. `\\1` and `\\g<name>` in `replace` are groups.")
    ] = False
    case_sensitive: bool = True
    whole_word: bool = False
    in_frontmatter: Annotated[bool, Doc("Replace in the frontmatter, too.")] = False
    expected_count: Annotated[
        Annotated[int, Between(1, 10_000)] | None,
        Doc("How many matches there must be. `null` is any number."),
    ] = 1


SectionAction = Literal[
    "append", "prepend", "replace", "insertBefore", "insertAfter", "renameHeading"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionBody(NoteBody):
    """The body of `POST /write/section`: one of `heading`, `headingId` and `blockId`."""

    heading: Annotated[
        Heading | Annotated[tuple[Heading, ...], Length(1, 20)] | None,
        Doc('A heading, or a path of headings: `A > B` or `["A", "B"]`.'),
    ] = None
    heading_id: Annotated[HeadingId | None, Doc("From the note's outline.")] = None
    block_id: Annotated[BlockId | None, Doc("`^abc` or `abc`.")] = None
    action: SectionAction = "append"
    content: Annotated[Content, Doc("With `renameHeading`, the new text of the heading.")]
    create_if_missing: Annotated[
        bool, Doc("Make the heading, under its parent if a path names one.")
    ] = False
    deep: Annotated[bool, Doc("Append after the subsections.")] = False

    def __post_init__(self) -> None:
        NoteBody.__post_init__(self)
        if sum(each is not None for each in (self.heading, self.heading_id, self.block_id)) != 1:
            raise Unreadable("one_place", "must have one of `heading`, `headingId` and `blockId`")

    @property
    def heading_path(self) -> tuple[str, ...] | None:
        """The headings from the outermost that is named to the one that is meant."""
        if not isinstance(self.heading, str):
            return self.heading
        return tuple(each.strip() for each in self.heading.split(" > "))


_NOT_PART_OF_THE_REQUEST = {"idempotency_key": None, "wait_ms": 0, "dry_run": False}
_RIGHTS = {
    "create": Right.CREATE,
    "append": Right.APPEND,
    "upsert": Right.APPEND,
    "prepend": Right.EDIT,
    "overwrite": Right.OVERWRITE,
}


def asked(
    caller: Caller,
    sent: WriteBody,
    operation: str,
    right: Right,
    *,
    hash_required: bool = False,
    retries: bool = False,
    digest: bytes = b"",
) -> Write:
    """Return what every write is told: who asks for what, and how.

    `digest` is that of content that `sent` does not have as text.
    """
    content = dump(replace(sent, **_NOT_PART_OF_THE_REQUEST))  # type: ignore[arg-type]
    return Write(
        operation=operation,
        right=right,
        caller=caller.writer,
        expected_hash=sent.expected_hash,
        # A dry run tells the hash of what its diff was made of.
        hash_required=hash_required and not sent.dry_run,
        dry_run=sent.dry_run,
        key=sent.idempotency_key,
        request=blake2b(operation.encode() + b"\n" + content + digest, digest_size=16).digest(),
        wait_ms=sent.wait_ms,
        retries=retries,
    )


async def path_of(call: CallContext, sent: NoteBody) -> str:
    """Return the path that a request names by itself or by a note's ID.

    Raises:
        NotFound: `NOTE_NOT_FOUND` for an unknown ID, and for what the caller does not see.
    """
    path = sent.path
    if path is None:
        found = await call.vault.read(resolve, sent.note_id or "", roots=call.vault.roots)
        path = call.vault.scope.outer(found.notes[0].path)
    return visible_path(call.caller, path)


def visible_path(caller: Caller, path: str) -> str:
    """Return the path of an existing note.

    Raises:
        NotFound: `NOTE_NOT_FOUND` if the caller does not see it.
    """
    if not caller.scope.contains(path):
        raise NotFound("NOTE_NOT_FOUND", "There is no such note.")
    return path


MAX_FILES = 200
"""Files that a reply lists."""


def found(written: Written) -> Found[Written]:
    """Return the reply to a write."""
    index = written.index
    shown = replace(
        written,
        note_id=identify(written.path) if is_note(written.path) else None,
        files=written.files[:MAX_FILES],
        index=replace(index, state="indexed" if index.indexed else "pending"),
    )
    return Found(shown, written.warnings)


def done_or_job(done: Written | Job) -> Found[Any]:
    """Return the reply to a write that may have become a job."""
    if isinstance(done, Written):
        return found(done)
    return Found(OneJob(shown_job(done)), status=202)


@write("/write/note")
async def write_note(call: CallContext, sent: WriteNoteBody) -> Found[Written]:
    """Create a note, or append, prepend, overwrite or upsert its text."""
    mode, content = sent.mode, sent.content
    write = asked(call.caller, sent, mode, _RIGHTS[mode], hash_required=mode == "overwrite")
    if mode in ("append", "upsert"):
        write = replace(write, retries=True)
    if sent.frontmatter is not None and mode in ("append", "prepend"):
        raise InvalidRequest("INVALID_REQUEST", f"`{mode}` takes no `frontmatter`.")
    if mode in ("create", "upsert"):
        if sent.path is None:
            raise InvalidRequest("INVALID_REQUEST", f"`{mode}` needs a `path`.")
        path = sent.path
    else:
        path = await path_of(call, sent)
    writing, blank = call.vault.writing, sent.blank_line
    match mode:
        case "create":
            written = await call.vault.files.with_bystanders(
                await notes.create(writing, path, write, content, sent.frontmatter), write.caller
            )
        case "append":
            written = await notes.append(writing, path, write, content, blank_line=blank)
        case "prepend":
            written = await notes.prepend(writing, path, write, content, blank_line=blank)
        case "overwrite":
            written = await notes.overwrite(writing, path, write, content, sent.frontmatter)
        case _:
            written = await notes.upsert(
                writing, path, write, content, sent.frontmatter, blank_line=blank
            )
    return found(written)


@write("/write/frontmatter")
async def write_frontmatter(call: CallContext, sent: FrontmatterBody) -> Found[Written]:
    """Set and delete keys of a note's frontmatter."""
    path = await path_of(call, sent)
    write = asked(call.caller, sent, "frontmatter", Right.EDIT, retries=True)
    return found(await notes.set_properties(call.vault.writing, path, write, sent.set, sent.delete))


@write("/write/replace")
async def write_replace(call: CallContext, sent: ReplaceBody) -> Found[Written]:
    """Replace text in a note."""
    path = await path_of(call, sent)
    several = sent.expected_count != 1
    write = asked(call.caller, sent, "replace", Right.EDIT, hash_required=sent.regex and several)
    written = await notes.replace_text(
        call.vault.writing,
        path,
        write,
        sent.search,
        sent.replace,
        regex=sent.regex,
        case_sensitive=sent.case_sensitive,
        whole_word=sent.whole_word,
        in_frontmatter=sent.in_frontmatter,
        expected_count=sent.expected_count,
    )
    return found(written)


@write("/write/tags")
async def write_tags(call: CallContext, sent: TagsBody) -> Found[Written]:
    """Add and remove tags of a note."""
    path = await path_of(call, sent)
    write = asked(call.caller, sent, "tags", Right.EDIT, retries=True)
    written = await change_tags(
        call.vault.writing, path, write, add=sent.add, remove=sent.remove, where=sent.where
    )
    return found(written)


@write("/write/section")
async def write_section(call: CallContext, sent: SectionBody) -> Found[Written]:
    """Change a section or a block of a note."""
    path = await path_of(call, sent)
    address = PartAddress(sent.heading_path or (), sent.heading_id or "", sent.block_id or "")
    # Of the rights, a section has only this one: the rest of the note is there before and after.
    write = asked(call.caller, sent, "section", Right.EDIT)
    if sent.action == "renameHeading":
        return found(await call.vault.files.rename_heading(path, write, address, sent.content))
    written = await edit_section(
        call.vault.writing,
        path,
        write,
        address,
        sent.action,
        content=sent.content,
        create_if_missing=sent.create_if_missing,
        deep=sent.deep,
    )
    return found(written)
