"""The state of writing for `GET /health`, and a write as an event."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from vault_agent.wire.base import Model

if TYPE_CHECKING:
    from vault_agent.model.writing import LoggedWrite, WriteHealth

_PATHS = 20


class WriteHealthData(Model):
    """How the vault is written."""

    enabled: bool
    state: Literal["off", "recovering", "ready", "unsupported"] = Field(
        description="`recovering` until what a crash has interrupted is finished."
    )
    atomicity: Literal["exchange", "link", "rename"] | None = Field(
        description="How a note is replaced. With `exchange`, no save of an editor is lost."
    )
    durable: bool = Field(description="False on a network or cloud drive.")
    lingering: int = Field(description="Replaced files that are looked at once more.")
    conflicts: int = Field(description="Writes of the log that met somebody else's change.")
    conflict_paths: tuple[str, ...]


class WriteEvent(Model):
    """An event `write` of `GET /events`: what a write of this server has changed."""

    write_id: str
    operation: str
    agent: str
    client: str
    paths: tuple[str, ...] = Field(description="The first paths, at most 20.")
    file_count: int


def write_health(health: WriteHealth) -> WriteHealthData:
    """Return how the vault is written."""
    return WriteHealthData.model_validate(health, from_attributes=True)


def write_event(logged: LoggedWrite) -> WriteEvent:
    """Return a write as an event."""
    return WriteEvent(
        write_id=logged.write_id,
        operation=logged.operation,
        agent=logged.agent,
        client=logged.client,
        paths=tuple(file.path for file in logged.files[:_PATHS]),
        file_count=logged.file_count,
    )
