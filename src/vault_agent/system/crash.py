"""Reports of unexpected errors: the type and the lines of our own code, without the message.

An exception's message may quote a note, a query or a path. Its type and the lines of our own
modules are enough to find the defect.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType

_PACKAGE = __name__.partition(".")[0]
_MAX_FRAMES = 8


@dataclass(frozen=True, slots=True)
class CrashReport:
    """An unexpected error without its message."""

    error_type: str  # the name of the exception's class
    frames: tuple[str, ...] = ()  # "vault_agent.indexing.index:123", outermost first

    def __str__(self) -> str:
        """Return the type and the innermost of our own lines."""
        return f"{self.error_type} at {self.frames[-1]}" if self.frames else self.error_type


def describe_crash(error: BaseException) -> CrashReport:
    """Return the type of an error and the innermost frames of our own modules."""
    frames: list[str] = []
    step: TracebackType | None = error.__traceback__
    while step is not None:
        module = str(step.tb_frame.f_globals.get("__name__", ""))
        if module.split(".", 1)[0] == _PACKAGE:
            frames.append(f"{module}:{step.tb_lineno}")
        step = step.tb_next
    return CrashReport(type(error).__name__, tuple(frames[-_MAX_FRAMES:]))
