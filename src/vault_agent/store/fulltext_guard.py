"""What the full-text engine raises, turned into our errors."""

from __future__ import annotations

import errno
from contextlib import contextmanager
from typing import TYPE_CHECKING

from vault_agent.errors import Failed, IndexUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def guarded() -> Iterator[None]:
    """Report damaged files as INDEX_INCOMPATIBLE and a full disk as DISK_FULL.

    A Rust panic arrives as pyo3's PanicException, which no `except Exception` sees; its text may
    name files, so it goes no further.
    """
    try:
        yield
    except (ValueError, OSError, RuntimeError) as error:
        if getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT) or _full(error):
            raise Failed(
                "DISK_FULL",
                "There is no room left for the index. Free some space, then run vault-agent index "
                "again; the last complete index still serves.",
            ) from None
        raise _damaged() from None
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise _damaged() from None


def _full(error: Exception) -> bool:
    return "No space left" in str(error) or "os error 28" in str(error)


def _damaged() -> IndexUnavailable:
    return IndexUnavailable(
        "INDEX_INCOMPATIBLE", "The index is damaged. Rebuild it: vault-agent reindex."
    )
