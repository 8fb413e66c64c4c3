"""Suggestions for what a person types: to open a note, or to complete a link or a tag."""

from __future__ import annotations

from dataclasses import dataclass

KINDS = ("note", "heading", "block", "tag", "folder", "attachment")


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One suggestion.

    `insert` is the shortest text that a link needs to lead there; of a tag or a folder its name.
    `match` are ranges of `label`.
    """

    kind: str
    label: str
    detail: str
    insert: str
    match: tuple[tuple[int, int], ...] = ()
    note_id: str | None = None
    path: str | None = None
    line: int | None = None
    type: str | None = None  # of a note


@dataclass(frozen=True, slots=True)
class SuggestQuery:
    """What was typed. `source` is the ID of the note in which it was typed, if any."""

    text: str
    kinds: tuple[str, ...]
    source: str | None
    limit: int


@dataclass(frozen=True, slots=True)
class Stats:
    """Numbers of a vault at one revision."""

    revision: str
    notes: int
    types: tuple[tuple[str | None, int], ...]  # the most frequent first; None has no type
    attachments: int
    links: int
    unresolved_links: int
    external_links: int
    tags: int
    open_tasks: int
    chunks: int
