"""Turns errors of the full-text engine into our errors."""

from __future__ import annotations

import errno
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from vault_agent.store.failures import damaged, disk_failed, system_failure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vault_agent.errors import VaultAgentError

# Rust's two forms of a system error number.
_NUMBER = re.compile(r"os error (\d+)|Os \{ code: (\d+)")


@contextmanager
def guarded() -> Iterator[None]:
    """Raise `INDEX_INCOMPATIBLE` for damaged files, `DISK_FULL` or `INDEX_IO_ERROR` for the disk.

    A Rust panic arrives as pyo3's PanicException, which `except Exception` does not catch. Its text
    may name files, so it is dropped.
    """
    try:
        yield
    except (ValueError, OSError, RuntimeError) as error:
        raise _translate(error) from None
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise damaged() from None


def _translate(error: Exception) -> VaultAgentError:
    if "writer was killed" in str(error):
        return disk_failed("writing stopped")  # a thread of the engine failed; its error is lost
    number = _number_of(error)
    # A missing file was there before: that is damage, not an error of the disk.
    failure = None if number == errno.ENOENT else system_failure(number)
    return failure or damaged()


def _number_of(error: Exception) -> int | None:
    if isinstance(error, OSError):
        return error.errno
    found = _NUMBER.search(str(error))
    return int(found[1] or found[2]) if found else None
