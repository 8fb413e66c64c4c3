"""The operations on the log of writes: undo, the list, and forgetting."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

from vault_agent.api.caller import CallContext
from vault_agent.api.cursors import encode_cursor, position_of
from vault_agent.api.note_writes import done_or_job, make_write
from vault_agent.api.operation import Result, operation, write_operation
from vault_agent.model.fields import Cursor, FilePath, WriteId
from vault_agent.model.jobs import OneJob
from vault_agent.model.sent import Between, JsonKey, Length, Unreadable
from vault_agent.model.writing import (
    LogEntry,
    LoggedWrite,
    LogPage,
    OneWrite,
    Right,
    WriteBody,
    WritesForgotten,
    Written,
    WrittenFile,
)
from vault_agent.vaults.write_access import undo
from vault_agent.writing.replies import MAX_FILES


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoBody(WriteBody):
    """The body of `POST /write/undo`."""

    write_id: WriteId | None = None
    """Default: your own last write."""
    copy_beside: Annotated[bool, JsonKey("copy")] = False
    """If the note has changed since, make a new note beside it with the text before the write."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetBody:
    """The body of `POST /writes/forget`: delete the kept bytes of writes, so they can't be undone.

    One of the three fields says which.
    """

    write_id: WriteId | None = None
    older_than_days: Annotated[int, Between(0, 36_500)] | None = None
    all: bool = False

    def __post_init__(self) -> None:
        if (self.write_id is not None) + (self.older_than_days is not None) + self.all != 1:
            raise Unreadable("one_of", "must have one of `writeId`, `olderThanDays` and `all`")


@dataclass(frozen=True, slots=True, kw_only=True)
class WritesRequest:
    """A request for the log of writes, newest first."""

    path: FilePath | None = None
    """Only writes to this path."""
    agent: Annotated[str, Length(1, 64)] | None = None
    """Only writes of this agent."""
    limit: Annotated[int, Between(1, 200)] = 50
    cursor: Cursor = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteRequest:
    """A request for one entry of the log of writes."""

    write_id: WriteId


@write_operation("/write/undo")
async def write_undo(call: CallContext, request: UndoBody) -> Result[Written | OneJob]:
    """Take back a write: by default the caller's last one."""
    write = make_write(call.caller, request, "undo", Right.EDIT)
    done = await undo(
        call.vault.writer,
        call.vault.jobs,
        request.write_id,
        write,
        copy_beside=request.copy_beside,
        waits=call.caller.is_agent,  # it can't follow a job
    )
    return done_or_job(done)


@operation("GET", "/writes", needs="write.enabled", bounded_list="writes")
async def writes(call: CallContext, request: WritesRequest) -> Result[LogPage]:
    """List the writes, newest first."""
    position = position_of(call.vault, request, int)
    entries = await call.vault.writer.logged_writes(
        path=request.path,
        agent=request.agent,
        before=int(position[0]) if position else None,
        limit=request.limit + 1,
    )
    page = entries[: request.limit]
    more = len(page) < len(entries)
    following = encode_cursor(request, (page[-1].seq,), vault=call.vault.identity) if more else None
    return Result(LogPage(tuple(map(_entry, page)), has_more=more, next_cursor=following))


@operation("GET", "/writes/{writeId}", needs="write.enabled")
async def one_write(call: CallContext, request: WriteRequest) -> Result[OneWrite]:
    """Return one write, and whether somebody has changed its note since."""
    entry, changed = await call.vault.writer.logged(request.write_id)
    return Result(OneWrite(_entry(entry), changed))


@operation("POST", "/writes/forget", writes=True, needs="write.enabled")
async def writes_forget(call: CallContext, request: ForgetBody) -> Result[WritesForgotten]:
    """Delete the kept bytes of writes, so that they cannot be undone any more."""
    forgotten = await call.vault.writer.forget(
        write_id=request.write_id, older_than_days=request.older_than_days
    )
    return Result(WritesForgotten(forgotten))


def _entry(entry: LoggedWrite) -> LogEntry:
    return LogEntry(
        write_id=entry.write_id,
        time=datetime.fromtimestamp(entry.at / 1000, UTC).isoformat(timespec="milliseconds"),
        agent=entry.agent,
        client=entry.client,
        operation=entry.operation,
        state=entry.state,
        files=tuple(map(WrittenFile.of, entry.changes[:MAX_FILES])),
        file_count=len(entry.changes),
        undoable=entry.undoable,
        warning=entry.warning,
    )
