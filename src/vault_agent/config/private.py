"""Writes the config file: in one step, under a lock, and readable by its owner only."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

from vault_agent.config.layers import read_text
from vault_agent.errors import Misconfigured
from vault_agent.system.files import (
    LocksUnsupported,
    folder_locked,
    make_private_folder,
    replace_file,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


def rewrite(path: Path, change: Callable[[str], str]) -> None:
    """Replace the text of the config file by what `change` returns for it; "" if it is missing.

    The new file has mode 0600 from its creation. A symbolic link is followed. Missing folders are
    created with mode 0700. On Windows, modes have little effect, and the permissions of the user's
    profile protect the file.

    Raises:
        Misconfigured: `CONFIG_INVALID` if the file cannot be written, and what `change` raises.
    """
    try:
        with _edited_alone(path):
            replace_file(path.resolve(), change(read_text(path) or "").encode())
    except (OSError, RuntimeError) as error:  # before Python 3.13, the latter for a loop of links
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise Misconfigured(
            "CONFIG_INVALID", f"The config file {path.name} cannot be written: {reason}."
        ) from None


@contextmanager
def _edited_alone(path: Path) -> Iterator[None]:
    """Lock the file's folder, so that concurrent edits do not overwrite each other.

    If folders cannot be locked (Windows, some network drives), the last edit wins.
    """
    folder = path.resolve().parent
    make_private_folder(folder)
    with ExitStack() as stack:
        with suppress(LocksUnsupported, OSError):
            stack.enter_context(folder_locked(folder))
        yield
