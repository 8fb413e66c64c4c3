"""The requests and replies about links, tags and folders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, StringConstraints

from vault_agent.model.graph import TreeQuery
from vault_agent.wire.base import Model
from vault_agent.wire.pages import CURSOR
from vault_agent.wire.queries import CursorText, choices, whole
from vault_agent.wire.requests import Flag, NoteId

if TYPE_CHECKING:
    from vault_agent.model.scope import Scope

_KINDS = ("wikilink", "embed", "markdown", "image", "frontmatter", "external")
FAULTS = ("note", "heading", "block", "attachment", "ambiguous")
"""What can be wrong with a link."""
BROKEN = FAULTS[:-1]
"""Links that lead nowhere; an ambiguous one leads somewhere."""

# --- requests ---------------------------------------------------------------------------------


class LinksRequest(Model):
    """A request for the links of a note."""

    note_id: NoteId
    status: Literal["resolved", "ambiguous", "unresolved", "external"] | None = None
    kind: choices(*_KINDS) | None = Field(  # type: ignore[valid-type]
        default=None, description="One kind of link or several, separated by commas."
    )
    limit: whole(1, 1_000) = 100  # type: ignore[valid-type]
    cursor: CursorText | None = CURSOR


class BacklinksRequest(Model):
    """A request for the notes that link to a note."""

    note_id: NoteId
    contexts: whole(0, 10) = Field(  # type: ignore[valid-type]
        default=3, description="Places to show of each note."
    )
    limit: whole(1, 100) = 20  # type: ignore[valid-type]
    cursor: CursorText | None = CURSOR


class MentionsRequest(Model):
    """A request for the notes that name a note without a link."""

    note_id: NoteId
    limit: whole(1, 100) = 20  # type: ignore[valid-type]
    linked: Flag = Field(default=False, description="Also notes that link to it elsewhere.")


class BrokenLinksRequest(Model):
    """A request for the links that lead nowhere."""

    kinds: choices(*FAULTS) | None = Field(  # type: ignore[valid-type]
        default=None,
        description="What is missing, separated by commas. Default: all but `ambiguous`.",
    )
    group_by: Literal["target"] | None = Field(
        default=None, description="`target`: the targets instead of the links, most wanted first."
    )
    limit: whole(1, 1_000) = 100  # type: ignore[valid-type]
    cursor: CursorText | None = CURSOR


class TreeRequest(Model):
    """A request for a tree of tags or folders."""

    prefix: Annotated[str, StringConstraints(strip_whitespace=True, max_length=500)] = ""
    depth: whole(1, 20) = 20  # type: ignore[valid-type]
    limit: whole(1, 1_000) = Field(default=1_000, description="Entries.")  # type: ignore[valid-type]
    sort: Literal["name", "count"] = Field(
        default="name", description="`count`: those with the most notes first, on each level."
    )

    def to_query(self, scope: Scope) -> TreeQuery:
        """Return the domain value for a caller that may see `scope`."""
        return TreeQuery(self.prefix, self.depth, self.limit, self.sort == "count", scope)


# --- replies ----------------------------------------------------------------------------------
