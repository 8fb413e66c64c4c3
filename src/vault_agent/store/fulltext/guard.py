"""What the full-text engine raises, turned into our errors."""

from __future__ import annotations

import errno
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from vault_agent.store.failures import damaged, disk_failed, system_failure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vault_agent.errors import VaultAgentError

# How Rust spells the system's error number, plain and in detail.
_NUMBER = re.compile(r"os error (\d+)|Os \{ code: (\d+)")


@contextmanager
def guarded() -> Iterator[None]:
    """Report damaged files as INDEX_INCOMPATIBLE, and a disk that is full or fails by its name.

    A Rust panic arrives as pyo3's PanicException, which no `except Exception` sees; its text may
    name files, so it goes no further.
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
        return disk_failed("writing stopped")  # in a thread whose error is lost
    number = _number_of(error)
    # What is missing was there once: that is damage, and no fault of the disk.
    failure = None if number == errno.ENOENT else system_failure(number)
    return failure or damaged()


def _number_of(error: Exception) -> int | None:
    if isinstance(error, OSError):
        return error.errno
    found = _NUMBER.search(str(error))
    return int(found[1] or found[2]) if found else None
