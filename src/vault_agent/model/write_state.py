"""What may be done to notes, and whether writing works.

Apart from the writes themselves, because commands and the relay need only these.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from vault_agent.model.sent import Doc, OneOf


class Right(StrEnum):
    """What an agent needs to be allowed for a write: a value of `write.allow`."""

    CREATE = "create"
    APPEND = "append"
    EDIT = "edit"
    OVERWRITE = "overwrite"
    MOVE = "move"
    DELETE = "delete"
    PERMANENT = "permanent"


class WriteState(StrEnum):
    """How far a write has come."""

    PREPARED = "prepared"  # logged: its first change decides whether it is done
    COMMITTED = "committed"  # its first change is done: it is always finished
    DONE = "done"
    FAILED = "failed"  # nothing was changed
    UNDONE = "undone"


@dataclass(frozen=True, slots=True)
class WriteHealth:
    """How the vault is written."""

    enabled: bool = False
    state: Annotated[
        str,
        OneOf("off", "recovering", "ready", "unsupported"),
        Doc("`recovering` until what a crash has interrupted is finished."),
    ] = "off"
    atomicity: Annotated[
        str | None,
        OneOf("exchange", "rename"),
        Doc("How a note is replaced. With `exchange`, no save of an editor is lost."),
    ] = None
    durable: Annotated[bool, Doc("False on a network or cloud drive.")] = True
    lingering: Annotated[int, Doc("Replaced files that are looked at once more.")] = 0
    conflicts: Annotated[int, Doc("Writes of the log that met somebody else's change.")] = 0
    conflict_paths: tuple[str, ...] = ()
