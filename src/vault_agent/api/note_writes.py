"""The operations that change notes, and what all requests to change something have in common.

Each such request is a `WriteBody`: `expectedHash`, `dryRun`, `idempotencyKey` and `waitMs` mean the
same everywhere. A request about a note that exists is a `NoteBody`, with either `path` or `noteId`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Annotated, Any, Literal

from vault_agent.api.caller import CallContext
from vault_agent.api.operation import Result, write_operation
from vault_agent.api.replies import shown_job
from vault_agent.errors import InvalidRequest, NotFound
from vault_agent.markdown import edit, section_edit
from vault_agent.markdown.address import PartAddress
from vault_agent.markdown.frontmatter_edit import set_keys
from vault_agent.markdown.replace import replace as replace_text
from vault_agent.markdown.tag_edit import edit_tags
from vault_agent.model.fields import (
    BlockId,
    Content,
    Heading,
    HeadingId,
    Name,
    Properties,
    TagName,
)
from vault_agent.model.identifiers import identify
from vault_agent.model.jobs import OneJob
from vault_agent.model.sent import Between, Length, Unreadable
from vault_agent.model.values import dump
from vault_agent.model.writing import NoteBody, Right, Write, WriteBody, Written
from vault_agent.search.resolve import resolve
from vault_agent.text.names import is_note
from vault_agent.vault.paths import note_path
from vault_agent.writing import notes
from vault_agent.writing.plan import Costly
from vault_agent.writing.sections import change_section

if TYPE_CHECKING:
    from vault_agent.api.caller import Caller
    from vault_agent.model.jobs import Job


WriteMode = Literal["create", "overwrite", "append", "prepend", "upsert"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteNoteBody(NoteBody):
    """The body of `POST /write/note`."""

    content: Content
    mode: WriteMode = "create"
    """`upsert` creates the note with `frontmatter`, or appends if it exists."""
    frontmatter: Properties | None = None
    """For a note that is created or overwritten."""
    blank_line: bool = False
    """Put one empty line before text that is appended."""


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
    regex: bool = False
    r"""`search` has the syntax of RE2. `\1` and `\g<name>` in `replace` are groups."""
    case_sensitive: bool = True
    whole_word: bool = False
    in_frontmatter: bool = False
    """Replace in the frontmatter, too."""
    expected_count: Annotated[int, Between(1, 10_000)] | None = 1
    """How many matches there must be. `null` is any number."""


SectionAction = Literal[
    "append", "prepend", "replace", "insertBefore", "insertAfter", "renameHeading"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionBody(NoteBody):
    """The body of `POST /write/section`: one of `heading`, `headingId` and `blockId`."""

    heading: Heading | Annotated[tuple[Heading, ...], Length(1, 20)] | None = None
    """A heading, or a path of headings: `A > B` or `["A", "B"]`."""
    heading_id: HeadingId | None = None
    """From the note's outline."""
    block_id: BlockId | None = None
    """`^abc` or `abc`."""
    action: SectionAction = "append"
    content: Content
    """With `renameHeading`, the new text of the heading."""
    create_if_missing: bool = False
    """Make the heading, under its parent if a path names one."""
    deep: bool = False
    """Append after the subsections."""

    def __post_init__(self) -> None:
        NoteBody.__post_init__(self)
        if sum(place is not None for place in (self.heading, self.heading_id, self.block_id)) != 1:
            raise Unreadable("one_place", "must have one of `heading`, `headingId` and `blockId`")

    @property
    def heading_path(self) -> tuple[str, ...] | None:
        """The headings that are named, from the outermost one to that of the section."""
        if not isinstance(self.heading, str):
            return self.heading
        return tuple(heading.strip() for heading in self.heading.split(" > "))


_NOT_PART_OF_THE_REQUEST = {"idempotency_key": None, "wait_ms": 0, "dry_run": False}
_RIGHTS = {
    "create": Right.CREATE,
    "append": Right.APPEND,
    "upsert": Right.APPEND,
    "prepend": Right.EDIT,
    "overwrite": Right.OVERWRITE,
}


def make_write(
    caller: Caller,
    request: WriteBody,
    operation: str,
    right: Right,
    *,
    hash_required: bool = False,
    may_replan: bool = False,
    digest: bytes = b"",
) -> Write:
    """Return the `Write` of a request.

    `digest` is the hash of content that `request` does not have as text.
    """
    content = dump(replace(request, **_NOT_PART_OF_THE_REQUEST))  # type: ignore[arg-type]
    identified = operation.encode() + b"\n" + content + digest
    return Write(
        operation=operation,
        right=right,
        author=caller.author,
        expected_hash=request.expected_hash,
        # The reply of a dry run has the hash of the text that its diff was made of.
        hash_required=hash_required and not request.dry_run,
        dry_run=request.dry_run,
        key=request.idempotency_key,
        request_hash=blake2b(identified, digest_size=16).digest(),
        wait_ms=request.wait_ms,
        may_replan=may_replan,
    )


async def path_of(call: CallContext, path: str | None, note_id: str | None) -> str:
    """Return the path of a note in the vault: `path`, or that of the note ID.

    An agent's path is one of the vault already: `mcp/` has made it of one relative to its folder.
    The note must be in the caller's scope, because the write goes to the owner's vault.

    Raises:
        NotFound: `NOTE_NOT_FOUND` for an unknown ID, and for a note that the caller does not see.
    """
    if path is None:
        named = await call.vault.reader.read(resolve, note_id or "", roots=call.vault.root_paths)
        # `resolve` returns paths as an agent sees them: relative to its folder.
        path = call.vault.scope.in_vault(named.notes[0].path)
    if not call.caller.scope.contains(path):
        raise NotFound("NOTE_NOT_FOUND", "There is no such note.")
    return path


def write_result(result: Written) -> Result[Written]:
    """Return the reply to a write."""
    note_id = identify(result.path) if is_note(result.path) else None
    return Result(replace(result, note_id=note_id))


def done_or_job(done: Written | Job) -> Result[Any]:
    """Return the reply to a write that may have become a job."""
    if isinstance(done, Written):
        return write_result(done)
    return Result(OneJob(shown_job(done)), status=202)


@write_operation("/write/note")
async def write_note(call: CallContext, request: WriteNoteBody) -> Result[Written]:
    """Create a note, or append, prepend, overwrite or upsert its text."""
    mode, content = request.mode, request.content
    write = make_write(call.caller, request, mode, _RIGHTS[mode], hash_required=mode == "overwrite")
    if mode in ("append", "upsert"):
        write = replace(write, may_replan=True)
    if request.frontmatter is not None and mode in ("append", "prepend"):
        raise InvalidRequest("INVALID_REQUEST", f"`{mode}` takes no `frontmatter`.")
    if mode in ("create", "upsert"):
        if request.path is None:
            raise InvalidRequest("INVALID_REQUEST", f"`{mode}` needs a `path`.")
        path = request.path
    else:
        path = await path_of(call, request.path, request.note_id)
    writer, blank = call.vault.writer, request.blank_line
    match mode:
        case "create":
            result = await call.vault.files.with_link_warnings(
                await writer.create(
                    note_path(path), write, notes.whole(content, request.frontmatter)
                ),
                write.author,
            )
        case "append":
            plan = partial(edit.append, content=content, blank_line=blank)
            result = await writer.edit(path, write, plan)
        case "prepend":
            plan = partial(edit.prepend, content=content, blank_line=blank)
            result = await writer.edit(path, write, plan)
        case "overwrite":
            text = notes.whole(content, request.frontmatter).decode()
            result = await writer.edit(path, write, partial(edit.overwrite, content=text))
        case _:
            result = await notes.upsert(
                writer, path, write, content, request.frontmatter, blank_line=blank
            )
    return write_result(result)


@write_operation("/write/frontmatter")
async def write_frontmatter(call: CallContext, request: FrontmatterBody) -> Result[Written]:
    """Set and delete keys of a note's frontmatter."""
    path = await path_of(call, request.path, request.note_id)
    write = make_write(call.caller, request, "frontmatter", Right.EDIT, may_replan=True)
    plan = partial(set_keys, values=request.set, delete=request.delete)
    return write_result(await call.vault.writer.edit(path, write, plan))


@write_operation("/write/replace")
async def write_replace(call: CallContext, request: ReplaceBody) -> Result[Written]:
    """Replace text in a note."""
    path = await path_of(call, request.path, request.note_id)
    several = request.expected_count != 1
    write = make_write(
        call.caller, request, "replace", Right.EDIT, hash_required=request.regex and several
    )
    work = partial(
        replace_text,
        search=request.search,
        replacement=request.replace,
        regex=request.regex,
        case_sensitive=request.case_sensitive,
        whole_word=request.whole_word,
        in_frontmatter=request.in_frontmatter,
        expected_count=request.expected_count,
    )
    return write_result(await call.vault.writer.edit(path, write, Costly(work)))


@write_operation("/write/tags")
async def write_tags(call: CallContext, request: TagsBody) -> Result[Written]:
    """Add and remove tags of a note."""
    path = await path_of(call, request.path, request.note_id)
    write = make_write(call.caller, request, "tags", Right.EDIT, may_replan=True)
    work = partial(edit_tags, add=request.add, remove=request.remove, where=request.where)
    return write_result(await call.vault.writer.edit(path, write, Costly(work)))


@write_operation("/write/section")
async def write_section(call: CallContext, request: SectionBody) -> Result[Written]:
    """Change a section or a block of a note."""
    path = await path_of(call, request.path, request.note_id)
    address = PartAddress(
        request.heading_path or (), request.heading_id or "", request.block_id or ""
    )
    # The right to edit is enough for every action: the rest of the note stays. The tool
    # `vault_write` asks for the right to overwrite before it replaces a section (`mcp/tools.toml`).
    write = make_write(call.caller, request, "section", Right.EDIT)
    if request.action == "renameHeading":
        return write_result(
            await call.vault.files.rename_heading(path, write, address, request.content)
        )
    work = partial(
        section_edit.edit_section,
        address=address,
        action=request.action,
        content=request.content,
        create_if_missing=request.create_if_missing,
        deep=request.deep,
    )
    return write_result(await change_section(call.vault.writer, path, write, request.action, work))
