"""The values of promotion: a note of a project's vault that is copied to the global one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, NamedTuple

from vault_agent.model.sent import Doc, Named, Unsent
from vault_agent.model.warning import Warning


class GlobalCopy(NamedTuple):
    """A note of the global vault. `id` is that of its frontmatter."""

    note_id: str
    path: str
    id: str | None


@dataclass(frozen=True, slots=True)
class Promoted:
    """What a promotion has done. Status 201 if the copy is new."""

    created: bool = field(default=False, kw_only=True)
    copy: Annotated[GlobalCopy, Named("global")]
    warnings: Unsent[tuple[Warning, ...]] = ()


@dataclass(frozen=True, slots=True)
class Marked:
    """What marking a note as superseded, or taking that back, has done."""

    changed: Annotated[bool, Doc("Whether its status was another.")]
    warnings: Unsent[tuple[Warning, ...]] = ()


@dataclass(frozen=True, slots=True)
class Demoted:
    """What taking a promotion back has done."""

    changed: Annotated[bool, Doc("Whether the note was promoted.")]
    copy: Annotated[GlobalCopy | None, Named("global"), Doc("Its copy, if there was one.")] = None
    trash_path: Annotated[
        str | None, Doc("Where the copy is now, in the global vault; null if there was none.")
    ] = None
    warnings: Unsent[tuple[Warning, ...]] = ()
