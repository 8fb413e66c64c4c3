"""What the requests that change notes have in common.

Every one of them is a `WriteBody`: `expectedHash`, `dryRun`, `idempotencyKey` and `waitMs` mean the
same everywhere. What names a note that exists is a `NoteBody`: `path` or `noteId`, one of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from vault_agent.model.fields import ExpectedHash, FilePath, IdempotencyKey, NoteId
from vault_agent.model.sent import Between, Doc, Unreadable


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteBody:
    """What every request to change something may say."""

    expected_hash: Annotated[
        ExpectedHash | None,
        Doc(
            "The `contentHash` of the note as you know it, or its first 16 digits. If the note has"
            " changed, nothing is written. A section is compared by its `sectionHash`."
        ),
    ] = None
    dry_run: Annotated[bool, Doc("Check everything and return the diff, but write nothing.")] = (
        False
    )
    idempotency_key: Annotated[
        IdempotencyKey | None,
        Doc("A name for this request. The same request with the same key is done once."),
    ] = None
    wait_ms: Annotated[
        int, Between(0, 10_000), Doc("How long to wait until a search finds the change.")
    ] = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteBody(WriteBody):
    """A request to change a note that exists."""

    path: FilePath | None = None
    note_id: NoteId | None = None

    def __post_init__(self) -> None:
        if (self.path is None) == (self.note_id is None):
            raise Unreadable("one_name", "must have either `path` or `noteId`")
