"""The operations on the log of writes: undo, the list, and forgetting."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Self

from pydantic import Field, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from vault_agent.api.context import CallContext
from vault_agent.api.cursors import decode_cursor, encode_cursor
from vault_agent.api.operation import Found, operation, write
from vault_agent.api.writing import MAX_FILES, asked, done_or_job
from vault_agent.model.jobs import OneJob
from vault_agent.model.write_state import Right
from vault_agent.model.writing import (
    LogEntry,
    LogFile,
    LoggedWrite,
    LogPage,
    OneWrite,
    WritesForgotten,
    Written,
    WrittenFile,
)
from vault_agent.vaults.moves import undo
from vault_agent.wire.base import Model
from vault_agent.wire.queries import CursorText, whole
from vault_agent.wire.writing import (
    NotePath,
    WriteBody,
    WriteId,
)


class UndoBody(WriteBody):
    """The body of `POST /write/undo`."""

    write_id: WriteId | None = Field(default=None, description="Default: your own last write.")
    copy_beside: bool = Field(
        default=False,
        alias="copy",
        description="If the note has changed since, put the text before beside it: a new write.",
    )


class ForgetBody(Model):
    """The body of `POST /writes/forget`: delete the kept bytes of writes, so they can't be undone.

    One of the three says which.
    """

    write_id: WriteId | None = None
    older_than_days: Annotated[int, Field(ge=0, le=36_500)] | None = None
    all: bool = False

    @model_validator(mode="after")
    def _one_of_three(self) -> Self:
        if (self.write_id is not None) + (self.older_than_days is not None) + self.all != 1:
            raise PydanticCustomError(
                "one_of", "must have one of `writeId`, `olderThanDays` and `all`"
            )
        return self


class WritesRequest(Model):
    """A request for the log of writes, newest first."""

    path: NotePath | None = Field(default=None, description="Only writes to this path.")
    agent: Annotated[str, StringConstraints(min_length=1, max_length=64)] | None = Field(
        default=None, description="Only writes of this agent."
    )
    limit: whole(1, 200) = 50  # type: ignore[valid-type]
    cursor: CursorText | None = Field(default=None, description="`nextCursor` of the page before.")


class WriteRequest(Model):
    """A request for one entry of the log of writes."""

    write_id: WriteId


@write("/write/undo")
async def write_undo(call: CallContext, sent: UndoBody) -> Found[Written | OneJob]:
    """Take back a write: by default the caller's last one."""
    write = asked(call.caller, sent, "undo", Right.EDIT)
    done = await undo(
        call.vault.writing,
        call.vault.jobs,
        sent.write_id,
        write,
        copy_beside=sent.copy_beside,
        waits=call.caller.client.startswith("mcp"),  # an agent can't follow a job
    )
    return done_or_job(done)


@operation("GET", "/writes", needs="write.enabled", listed="writes")
async def writes(call: CallContext, sent: WritesRequest) -> Found[LogPage]:
    """List the writes, newest first."""
    before = None
    if sent.cursor is not None:
        (before,) = decode_cursor(sent, sent.cursor, int, vault=call.vault.identity).position
    entries = await call.vault.writing.writes(
        path=sent.path,
        agent=sent.agent,
        before=None if before is None else int(before),
        limit=sent.limit + 1,
    )
    shown = entries[: sent.limit]
    more = len(shown) < len(entries)
    following = encode_cursor(sent, (shown[-1].seq,), vault=call.vault.identity) if more else None
    return Found(LogPage(tuple(map(_entry, shown)), has_more=more, next_cursor=following))


@operation("GET", "/writes/{writeId}", needs="write.enabled")
async def one_write(call: CallContext, sent: WriteRequest) -> Found[OneWrite]:
    """Return one write, and whether somebody has changed its note since."""
    entry, changed = await call.vault.writing.logged(sent.write_id)
    return Found(OneWrite(_entry(entry), changed))


@operation("POST", "/writes/forget", writes=True, needs="write.enabled")
async def writes_forget(call: CallContext, sent: ForgetBody) -> Found[WritesForgotten]:
    """Delete the kept bytes of writes, so that they cannot be undone any more."""
    forgotten = await call.vault.writing.forget(
        write_id=sent.write_id, older_than_days=sent.older_than_days
    )
    return Found(WritesForgotten(forgotten))


def _entry(entry: LoggedWrite) -> LogEntry:
    return LogEntry(
        write_id=entry.write_id,
        time=datetime.fromtimestamp(entry.at / 1000, UTC).isoformat(timespec="milliseconds"),
        agent=entry.agent,
        client=entry.client,
        operation=entry.operation,
        state=entry.state,
        files=tuple(
            LogFile(
                *(file.path, file.before, file.hash_before, file.hash_after),
                *(file.bytes_before, file.bytes_after),
            )
            for file in map(WrittenFile.of, entry.changes[:MAX_FILES])
        ),
        file_count=len(entry.changes),
        undoable=entry.undoable,
        warning=entry.warning,
    )
