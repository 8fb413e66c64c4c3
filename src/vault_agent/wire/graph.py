"""The requests and replies about the graph of notes."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from vault_agent.model.graph import MAX_NODES
from vault_agent.wire.base import Model
from vault_agent.wire.pages import CURSOR, FilteredRequest
from vault_agent.wire.queries import CursorText, whole
from vault_agent.wire.requests import Flag, NoteId

# --- requests ---------------------------------------------------------------------------------


class LocalGraphRequest(Model):
    """A request for the notes near a note."""

    note_id: NoteId
    depth: whole(1, 5) = 1  # type: ignore[valid-type]
    limit: whole(1, 2_000) = 300  # type: ignore[valid-type]


class GraphRequest(FilteredRequest):
    """A request for the whole graph."""

    min_degree: whole(0, 1_000_000) = Field(  # type: ignore[valid-type]
        default=0, description="Only notes that are linked with at least so many others."
    )
    limit: whole(1, MAX_NODES) = Field(  # type: ignore[valid-type]
        default=MAX_NODES,
        description="Of more notes the best connected stay. With `format=objects` at most 5,000.",
    )
    unresolved: Flag = Field(
        default=False, description="Also a node without an ID for each note that is missing."
    )
    member: Flag = Field(default=False, description="Add the column `community`.")
    format: Literal["columns", "objects"] = "columns"


class PathRequest(Model):
    """A request for a shortest path between two notes."""

    from_: NoteId = Field(alias="from", description="The ID of the first note.")
    to: NoteId = Field(description="The ID of the last note.")
    max: whole(1, 50) = Field(default=12, description="The most links.")  # type: ignore[valid-type]
    directed: Flag = Field(default=False, description="Follow links only forwards.")


class OrphansRequest(FilteredRequest):
    """A request for notes without links."""

    limit: whole(1, 1_000) = 100  # type: ignore[valid-type]
    cursor: CursorText | None = CURSOR


class DeadEndsRequest(OrphansRequest):
    """A request for notes that are linked, but link to no note."""


class CentralRequest(Model):
    """A request for the most central notes."""

    by: Literal["pagerank", "in", "out", "degree"] = "pagerank"
    limit: whole(1, 100) = 20  # type: ignore[valid-type]
    cursor: CursorText | None = CURSOR


class CommunitiesRequest(Model):
    """A request for the communities of notes."""

    limit: whole(1, 1_000) = 20  # type: ignore[valid-type]
    members: Flag = Field(default=False, description="Whether to name the community of every note.")
    cursor: CursorText | None = CURSOR


# --- replies ----------------------------------------------------------------------------------
