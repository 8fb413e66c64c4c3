"""The envelope of all replies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from vault_agent.model.warning import Warning

Data = TypeVar("Data")


@dataclass(frozen=True, slots=True)
class Envelope(Generic[Data]):
    """A success: the data and the warnings."""

    data: Data
    warnings: tuple[Warning, ...] = ()


@dataclass(frozen=True, slots=True)
class ErrorReply:
    """An error: a stable code, a message that says what to do, and at least `requestId`."""

    error: Warning
