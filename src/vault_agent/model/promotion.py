"""The values of promotion: a note of a project's vault that is copied to the global one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from vault_agent.model.warning import Warning


class GlobalCopy(NamedTuple):
    """A note of the global vault. `id` is that of its frontmatter."""

    note_id: str
    path: str
    id: str | None


@dataclass(frozen=True, slots=True)
class Promoted:
    """What a promotion has done.

    Args:
        copy: the note of the global vault.
        created: whether the copy is new.
        updated: whether an existing copy was written anew.
        outdated: whether the original has changed since it was copied, and the copy has not.
        warnings: those of the writes.
    """

    copy: GlobalCopy
    created: bool = False
    updated: bool = False
    outdated: bool = False
    warnings: tuple[Warning, ...] = ()


@dataclass(frozen=True, slots=True)
class Demoted:
    """What taking a promotion back has done.

    Args:
        changed: whether the original was promoted.
        copy: the note of the global vault, or None if there was none.
        trash_path: where the copy is now, or None if it stays.
        warnings: those of the writes.
    """

    changed: bool
    copy: GlobalCopy | None = None
    trash_path: str | None = None
    warnings: tuple[Warning, ...] = ()


class Interrupted(NamedTuple):
    """A promotion that is not whole, by the vault and path of its original.

    `problem` is "unmarked" if the original does not name its copy, "missing" if its copy is gone,
    and "unknown" if a copy's original is gone. `mended` says whether it is whole now.
    """

    vault: str
    path: str
    problem: str
    mended: bool
