"""Failures of the disk as errors of a write. Nothing was changed when they are raised."""

from __future__ import annotations

import errno
from contextlib import contextmanager
from typing import TYPE_CHECKING

from vault_agent.errors import Conflict, Failed, Forbidden, NotFound
from vault_agent.vault.folder import NotAFile
from vault_agent.vault.opening import CannotOpen, Cause
from vault_agent.vault.write import Changed, FileInUse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vault_agent.errors import VaultAgentError

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_MISSING = frozenset({errno.ENOENT, errno.ENOTDIR})
_ELSEWHERE = frozenset({Cause.OUTSIDE, Cause.EXCLUDED, Cause.LOOP})


@contextmanager
def coded() -> Iterator[None]:
    """Turn failures of the disk into errors with a code. Changes of other people pass through."""
    try:
        yield
    except (FileInUse, CannotOpen, OSError) as error:
        raise coded_error(error) from error


def coded_error(error: Exception) -> VaultAgentError:
    """Return the error of a write for a failure."""
    if isinstance(error, Changed):
        return Conflict("WRITE_CONFLICT", "Somebody changed the note while it was written.")
    if isinstance(error, FileInUse):
        return Conflict("FILE_IN_USE", "Another program has the file open.")
    if isinstance(error, CannotOpen):
        if error.cause in _ELSEWHERE:
            return Forbidden("WRITE_OUTSIDE_SCOPE", "The path leads to where nothing is written.")
        if error.cause in (Cause.FORBIDDEN, Cause.UNREADABLE):
            return _not_writable("it or its folder cannot be read")
        return missing()
    if isinstance(error, NotAFile):
        return missing()
    number = error.errno if isinstance(error, OSError) else None
    if number in _MISSING:
        return missing()
    if number == errno.EEXIST:
        return Conflict("NOTE_EXISTS", "There is a file of this name.")
    if number == errno.ESTALE:
        return Conflict("NOTE_BUSY", "Somebody is writing the note.", {"retryAfter": 3})
    if number == errno.EXDEV:
        return Forbidden(
            "FILE_NOT_WRITABLE",
            "The new place is on another file system, and a move between two is not safe.",
            remedy="Copy it there, then delete it here.",
        )
    if number in _NO_ROOM:
        return Failed(
            "DISK_FULL",
            "There is no room in the vault, so nothing was written.",
            remedy="Free some space, then repeat the change.",
        )
    return _not_writable(getattr(error, "strerror", None) or "the system refuses it")


def missing() -> NotFound:
    """Return the error of a write to what is not there."""
    return NotFound(
        "NOTE_NOT_FOUND", "There is no such note.", remedy="Create it, or check the path."
    )


def _not_writable(why: str) -> Forbidden:
    return Forbidden("FILE_NOT_WRITABLE", f"The file cannot be written: {why.lower()}.")
