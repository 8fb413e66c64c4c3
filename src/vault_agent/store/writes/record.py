"""What the log has of a write, and how its rows become values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vault_agent.model.write_state import WriteState
from vault_agent.model.writing import LoggedWrite, WrittenFile

if TYPE_CHECKING:
    from collections.abc import Sequence

FILES_SHOWN = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """One file of a write, as it is logged. Hashes are None where there is no file."""

    kind: str  # edit, create, move, remove or folder
    path: str
    target: str | None = None
    hash_before: bytes | None = None
    hash_after: bytes | None = None
    size_before: int | None = None
    size_after: int | None = None
    temporary: str | None = None
    links: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NewWrite:
    """A write to log."""

    id: str
    at: int
    agent: str
    client: str
    operation: str
    reply: str
    changes: tuple[FileChange, ...]
    key: str | None = None
    request: bytes | None = None
    undoes: str | None = None
    folders: Sequence[str] = ()
    """The folders that it makes, outermost first."""


@dataclass(frozen=True, slots=True)
class Logged:
    """A write of the log with all of its changes, by position."""

    seq: int
    id: str
    at: int
    agent: str
    client: str
    operation: str
    state: WriteState
    reply: str
    request: bytes | None
    undoes: str | None
    kept: bool
    warning: str | None
    changes: tuple[FileChange, ...]
    empties: tuple[str, ...] = ()
    """The folders that the write made which this one takes back, outermost first."""


def shown(logged: Logged) -> LoggedWrite:
    """Return an entry of the log as it is shown."""
    files = tuple(_file(each) for each in logged.changes[:FILES_SHOWN])
    return LoggedWrite(
        *(logged.seq, logged.id, logged.at, logged.agent, logged.client, logged.operation),
        *(logged.state, files, len(logged.changes)),
        undoable=logged.kept and logged.state is WriteState.DONE,
        warning=logged.warning,
    )


def _file(change: FileChange) -> WrittenFile:
    return WrittenFile(
        path=change.target or change.path,
        before=change.path if change.target else None,
        hash_before=change.hash_before.hex() if change.hash_before else None,
        hash_after=change.hash_after.hex() if change.hash_after else None,
        bytes_before=change.size_before,
        bytes_after=change.size_after,
        links=change.links,
    )


def change_of(fields: Sequence[Any]) -> FileChange:
    """Return a change from its row: the columns from `kind` to `links`, in the log's order."""
    kind, path, target, before, after, size_before, size_after, temporary, links = fields
    return FileChange(
        kind=kind,
        path=path,
        target=target,
        hash_before=before,
        hash_after=after,
        size_before=size_before,
        size_after=size_after,
        temporary=temporary,
        links=links,
    )


def logged_of(
    row: Sequence[Any], changes: Sequence[FileChange], empties: Sequence[str] = ()
) -> Logged:
    """Return a write from its row, its changes, and what the one it takes back has made."""
    seq, name, at, agent, client, operation, state, reply, request, undoes, kept, warning = row
    return Logged(
        *(seq, name, at, agent, client, operation, WriteState(state), reply, request, undoes),
        bool(kept),
        warning,
        tuple(changes),
        tuple(empties),
    )
