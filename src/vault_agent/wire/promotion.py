"""The requests and replies of promotion to the global vault."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from vault_agent.wire.base import Model
from vault_agent.wire.requests import Flag, NoteId

_Folder = Annotated[str, StringConstraints(min_length=1, max_length=1_000)]


class PromoteBody(Model):
    """A note of a project's vault, and how it is copied to the global one."""

    note_id: NoteId
    folder: _Folder | None = Field(
        default=None, description="In the global vault. By default that of the note's type."
    )
    force: bool = Field(default=False, description="Copy it even if there is a similar note.")
    update: bool = Field(
        default=False, description="Write its copy anew if the note has changed since."
    )


class DemoteRequest(Model):
    """A note whose promotion is taken back."""

    note_id: NoteId
    keep: Flag = Field(default=False, description="Leave the copy in the global vault.")


class GlobalNoteData(Model):
    """A note of the global vault. `id` is that of its frontmatter."""

    note_id: str
    path: str
    id: str | None


class PromotedData(Model):
    """What a promotion has done. Status 201 if the copy is new."""

    created: bool
    updated: bool
    outdated: bool = Field(description="The note has changed since it was copied. See `update`.")
    global_: GlobalNoteData = Field(alias="global")


class DemotedData(Model):
    """What taking a promotion back has done."""

    changed: bool = Field(description="Whether the note was promoted.")
    global_: GlobalNoteData | None = Field(
        alias="global", description="Its copy, if there was one."
    )
    trash_path: str | None = Field(description="Where the copy is now, in the global vault.")


class InterruptedData(Model):
    """A promotion that was not whole."""

    vault: str
    path: str
    problem: Literal["unmarked", "missing", "unknown"] = Field(
        description="`unmarked`: the note did not name its copy. `missing`: its copy is gone."
        " `unknown`: the original of this copy is gone."
    )
    mended: bool


class VaultCheckData(Model):
    """The promotions that were not whole."""

    promotions: list[InterruptedData]
