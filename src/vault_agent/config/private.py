"""The configuration file: replaced as a whole, by one at a time, readable by its owner only."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

from vault_agent.system.files import make_private_folder, replace_file
from vault_agent.system.locks import LocksUnsupported, folder_locked

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def write_private(path: Path, text: str) -> None:
    """Replace a file in one step; it has mode 0600 before it holds a byte.

    A link is followed, so that settings kept elsewhere stay there. Folders that are missing are
    made with mode 0700. On Windows, where modes mean little, the user's profile protects the file.
    """
    target = path.resolve()
    make_private_folder(target.parent)
    replace_file(target, text.encode())


@contextmanager
def edited_alone(path: Path) -> Iterator[None]:
    """Let one process at a time edit this file: of two at once, one would undo the other.

    Where folders cannot be locked (Windows, some network drives), the later one wins.
    """
    folder = path.resolve().parent
    make_private_folder(folder)
    with ExitStack() as stack:
        with suppress(LocksUnsupported, OSError):
            stack.enter_context(folder_locked(folder))
        yield
