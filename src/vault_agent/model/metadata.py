"""What of a note's frontmatter is sent with its results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from vault_agent.model.sent import Doc


@dataclass(frozen=True, slots=True)
class Metadata:
    """Selected frontmatter. Dates are as written in the note."""

    type: Annotated[
        str | None, Doc("The first `type`. A wikilink is given as its note's name.")
    ] = None
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    date: str | None = None
    created: str | None = None
    updated: str | None = None
    attachment_count: int = 0
    truncated: Annotated[bool, Doc("Whether aliases or tags are only the first of them.")] = False
