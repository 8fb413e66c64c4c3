"""Why an index cannot be read while a job runs that will change that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_agent.errors import IndexUnavailable

if TYPE_CHECKING:
    from vault_agent.model.jobs import Job


def while_running(
    error: IndexUnavailable, running: Job | None, *, excluding: bool
) -> IndexUnavailable:
    """Return the error with the running job that solves it, or as it is.

    `excluding`: whether the index has notes that are excluded now.
    """
    if running is None:
        return error
    if error.code == "INDEX_NOT_FOUND":
        what = "The first index is being built."
    elif excluding:
        what = "Notes that are excluded now are being removed from the index."
    else:
        return error
    return IndexUnavailable(error.code, what, {"jobId": running.id}, indexing=True)
