"""Removes the files of an index that nobody needs any more, and sets damaged ones aside."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from vault_agent.errors import VaultAgentError

if TYPE_CHECKING:
    from vault_agent.store.current import CurrentIndex
    from vault_agent.store.layout import IndexDirectory


def set_damaged_aside(index: CurrentIndex, directory: IndexDirectory) -> None:
    """Set aside the generation that turned out to be damaged, if there is one.

    Only the holder of the writer's lock may call this: a run may have its files open.

    Raises:
        Busy: `INDEX_LOCKED` while vectors are being made for it.
    """
    if index.damaged is not None:
        with directory.embedding(wait=False):
            directory.set_aside(index.damaged)
        index.forget_damaged()


def sweep(index: CurrentIndex, directory: IndexDirectory) -> None:
    """Remove replaced and half-written files, unless another run has begun."""
    with suppress(VaultAgentError, OSError), directory.writing(wait=False):
        with suppress(OSError):
            set_damaged_aside(index, directory)
        directory.sweep(keep=directory.current())
