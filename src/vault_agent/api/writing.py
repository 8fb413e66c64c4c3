"""The operations that change notes."""

from __future__ import annotations

from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from vault_agent.api.context import CallContext
from vault_agent.api.operation import Found, write
from vault_agent.api.shown import shown_job
from vault_agent.errors import InvalidRequest, NotFound
from vault_agent.markdown.address import Address
from vault_agent.model.identifiers import identify
from vault_agent.model.jobs import OneJob
from vault_agent.model.write_state import Right
from vault_agent.model.writing import Write, Written
from vault_agent.search.resolve import resolve
from vault_agent.text.names import is_note
from vault_agent.wire.base import dump
from vault_agent.wire.writing import (
    BlockId,
    Content,
    Heading,
    HeadingId,
    Name,
    NoteBody,
    Properties,
    TagName,
    WriteBody,
)
from vault_agent.writing import notes
from vault_agent.writing.sections import edit_section
from vault_agent.writing.tags import change_tags

if TYPE_CHECKING:
    from vault_agent.api.caller import Caller
    from vault_agent.model.jobs import Job

WriteMode = Literal["create", "overwrite", "append", "prepend", "upsert"]


class WriteNoteBody(NoteBody):
    """The body of `POST /write/note`."""

    content: Content
    mode: WriteMode = Field(
        default="create",
        description="`upsert` creates the note with `frontmatter`, or appends if it exists.",
    )
    frontmatter: Properties | None = Field(
        default=None, description="Of a note that is created or overwritten."
    )
    blank_line: bool = Field(
        default=False, description="Put one empty line before text that is appended."
    )


class FrontmatterBody(NoteBody):
    """The body of `POST /write/frontmatter`: the keys to set and to delete, in one write."""

    set: Properties = Field(default_factory=dict)
    delete: Annotated[tuple[Name, ...], Field(max_length=1000)] = ()

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.set and not self.delete:
            raise PydanticCustomError("nothing", "must have a key to `set` or to `delete`")
        return self


class TagsBody(NoteBody):
    """The body of `POST /write/tags`."""

    add: Annotated[tuple[TagName, ...], Field(max_length=100)] = ()
    remove: Annotated[tuple[TagName, ...], Field(max_length=100)] = ()
    where: Literal["frontmatter", "inline", "both"] = "frontmatter"

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.add and not self.remove:
            raise PydanticCustomError("nothing", "must have a tag to `add` or to `remove`")
        return self


class ReplaceBody(NoteBody):
    """The body of `POST /write/replace`."""

    search: Annotated[Content, StringConstraints(min_length=1)]
    replace: Content
    regex: bool = Field(
        default=False,
        description=r"`search` has the syntax of RE2. `\1` and `\g<name>` in `replace` are groups.",
    )
    case_sensitive: bool = True
    whole_word: bool = False
    in_frontmatter: bool = Field(default=False, description="Replace in the frontmatter, too.")
    expected_count: Annotated[int, Field(ge=1, le=10_000)] | None = Field(
        default=1, description="How many matches there must be. `null` is any number."
    )


SectionAction = Literal[
    "append", "prepend", "replace", "insertBefore", "insertAfter", "renameHeading"
]


class SectionBody(NoteBody):
    """The body of `POST /write/section`: one of `heading`, `headingId` and `blockId`."""

    heading: Heading | Annotated[tuple[Heading, ...], Field(min_length=1, max_length=20)] | None = (
        Field(
            default=None,
            description='A heading, or a path of headings: `A > B` or `["A", "B"]`.',
        )
    )
    heading_id: HeadingId | None = Field(default=None, description="From the note's outline.")
    block_id: BlockId | None = Field(default=None, description="`^abc` or `abc`.")
    action: SectionAction = "append"
    content: Content = Field(description="With `renameHeading`, the new text of the heading.")
    create_if_missing: bool = Field(
        default=False, description="Make the heading, under its parent if a path names one."
    )
    deep: bool = Field(default=False, description="Append after the subsections.")

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if sum(each is not None for each in (self.heading, self.heading_id, self.block_id)) != 1:
            raise PydanticCustomError(
                "one_place", "must have one of `heading`, `headingId` and `blockId`"
            )
        return self

    @property
    def heading_path(self) -> tuple[str, ...] | None:
        """The headings from the outermost that is named to the one that is meant."""
        if not isinstance(self.heading, str):
            return self.heading
        return tuple(each.strip() for each in self.heading.split(" > "))


_NOT_PART_OF_THE_REQUEST = {"idempotency_key", "wait_ms", "dry_run"}
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
    content = dump(sent.model_copy(update=dict.fromkeys(_NOT_PART_OF_THE_REQUEST)))
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
        found = await call.vault.read(
            resolve, sent.note_id or "", roots=call.vault.roots, scope=call.scope
        )
        path = call.scope.outer(found.notes[0].path)
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
    address = Address(sent.heading_path or (), sent.heading_id or "", sent.block_id or "")
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
