"""The replies about changes of notes, and what is read for them: outlines, frontmatter, the log."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, JsonValue

from vault_agent.model.identifiers import identify
from vault_agent.wire.base import Model

if TYPE_CHECKING:
    from vault_agent.model.writing import Written

MAX_FILES = 200
"""Files that a reply lists."""


class IndexState(Model):
    """Whether a search finds the change: `pending` if it does not yet."""

    state: Literal["indexed", "pending"]
    generation: int | None = None
    revision: int | None = None


class ChangedFile(Model):
    """A file that a write of several files has changed, made, moved or removed."""

    path: str
    before: str | None = Field(default=None, description="Its path before, if it was moved.")
    hash_before: str | None
    hash_after: str | None
    links: int = Field(default=0, description="How many of its links were rewritten.")


class WriteData(Model):
    """What a write has done. Hashes are of the whole file, or null where there is no file."""

    write_id: str | None = Field(description="For `undo`. Null if nothing was written.")
    operation: str
    changed: bool = Field(description="False if the note had this content already.")
    note_id: str | None
    path: str
    created: bool = False
    dry_run: bool = False
    hash_before: str | None = None
    hash_after: str | None = None
    bytes_before: int | None = None
    bytes_after: int | None = None
    section_hash: str | None = Field(
        default=None, description="Of the section after the change, if one was edited."
    )
    spans: int = Field(default=0, description="The number of places that were changed.")
    diff: str = Field(default="", description="Unified, at most 64 KiB.")
    diff_truncated: bool = False
    undoable: bool = False
    replayed: bool = Field(
        default=False, description="Whether this is the reply to an earlier request with this key."
    )
    moved_from: str | None = Field(default=None, description="The path before a move.")
    trash_path: str | None = Field(default=None, description="Where a deleted note is now.")
    broken_links: int = Field(
        default=0, description="How many links lead to the deleted file. They stay."
    )
    files: tuple[ChangedFile, ...] = Field(
        default=(), description="The other files that were changed: at most 200."
    )
    file_count: int = Field(default=0, description="All other files that were changed.")
    line: int | None = Field(default=None, description="The line of a task, from 1.")
    index: IndexState = IndexState(state="pending")


def write_data(written: Written) -> WriteData:
    """Return the reply to a write."""
    given: dict[str, Any] = {
        each.name: getattr(written, each.name)
        for each in fields(written)
        if each.name in WriteData.model_fields
    }
    index = written.index
    given["index"] = IndexState(
        state="indexed" if index.indexed else "pending",
        generation=index.generation,
        revision=index.revision,
    )
    given["files"] = tuple(
        ChangedFile.model_validate(each, from_attributes=True) for each in written.files[:MAX_FILES]
    )
    is_note = written.path.lower().endswith((".md", ".markdown"))
    return WriteData(**given, note_id=identify(written.path) if is_note else None)


# --- reading --------------------------------------------------------------------------------------


class HeadingData(Model):
    """A heading and its section."""

    heading_id: str
    level: int
    text: str
    heading_path: tuple[str, ...]
    line: int
    end_line: int = Field(description="The last line of its section, with subsections.")
    section_hash: str = Field(description="For `expectedHash` of changes to this section.")


class BlockData(Model):
    """A block with an ID."""

    block_id: str
    line: int
    end_line: int
    section_hash: str = Field(description="For `expectedHash` of changes to this block.")


class OutlineData(Model):
    """The headings and blocks of a note's current file."""

    note_id: str
    path: str
    headings: tuple[HeadingData, ...]
    blocks: tuple[BlockData, ...]


class FrontmatterData(Model):
    """The frontmatter of a note's current file."""

    note_id: str
    path: str
    frontmatter: dict[str, JsonValue] = Field(
        description="Values as YAML 1.2 reads them; dates as they are written."
    )


class TemplateData(Model):
    """A template for new notes."""

    name: str
    built_in: bool
    path: str | None = Field(description="Its note, unless it is built in.")
    variables: tuple[str, ...] = Field(description="The variables that it needs.")


class TemplatesData(Model):
    """The templates for new notes."""

    templates: list[TemplateData]


class DevlogEntryData(Model):
    """A line of the devlog: what was done or learned."""

    topic: str
    path: str
    line: int
    kind: Literal["impl", "problem", "insight", "verify"]
    date: str = Field(description="YYYY-MM-DD.")
    text: str


class DevlogData(Model):
    """The last lines of the devlog, in the order of their days."""

    entries: list[DevlogEntryData]


class DecisionData(Model):
    """A decision record."""

    number: int
    note_id: str
    path: str
    title: str
    status: str | None


class DecisionsData(Model):
    """The decision records, in the order of their numbers."""

    decisions: list[DecisionData]


WriteStateName = Literal["prepared", "committed", "done", "failed", "undone"]


class LoggedFile(Model):
    """A file in an entry of the log."""

    path: str
    before: str | None = Field(default=None, description="Its path before, if it was moved.")
    hash_before: str | None
    hash_after: str | None
    bytes_before: int | None
    bytes_after: int | None


class LoggedWrite(Model):
    """An entry of the log of writes. It has no content."""

    write_id: str
    time: str = Field(description="ISO 8601, UTC.")
    agent: str = Field(description="Empty for the owner.")
    client: str = Field(description="`cli`, `http`, `web`, `mcp:{name}`, or `server`.")
    operation: str
    state: WriteStateName
    files: tuple[LoggedFile, ...] = Field(description="At most 200.")
    file_count: int
    undoable: bool = Field(description="Whether the bytes before are kept.")
    warning: str | None = Field(
        default=None, description="A code, such as WRITE_CONFLICT, if it did not end well."
    )


class WritesData(Model):
    """A page of the log of writes, newest first."""

    writes: list[LoggedWrite]
    has_more: bool
    next_cursor: str | None


class OneWrite(Model):
    """One entry of the log, and whether somebody has changed its note since."""

    write: LoggedWrite
    changed_since: bool | None = Field(
        description="Whether its file has other bytes now. Null if it has several files."
    )


class ForgottenData(Model):
    """How many writes can no longer be undone."""

    forgotten: int
