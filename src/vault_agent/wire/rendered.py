"""Notes as HTML, and the files in them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from vault_agent.wire.base import Model
from vault_agent.wire.queries import whole
from vault_agent.wire.requests import AttachmentRequest, NoteId

MAX_TEXT_CHARACTERS = 512 * 1024
MAX_EMBEDS = 3


class HtmlRequest(Model):
    """A request for a note as HTML."""

    note_id: NoteId
    embeds: whole(0, MAX_EMBEDS) = Field(  # type: ignore[valid-type]
        default=MAX_EMBEDS, description="How deep embedded notes are shown; deeper ones are links."
    )


class RenderBody(Model):
    """A text that is not saved."""

    text: Annotated[str, StringConstraints(max_length=MAX_TEXT_CHARACTERS)]
    path: Annotated[str, StringConstraints(min_length=1, max_length=4096)] = Field(
        description="Where it will be: its links are those of a note at this path."
    )


class ShownFileRequest(AttachmentRequest):
    """A request for a file in a note."""

    k: Annotated[str, StringConstraints(min_length=1, max_length=80)] = Field(
        description="The code in the address that the HTML of a note has."
    )
