"""The served vault on this computer, and the results and tasks that its user saw last.

They are kept in the folder of the index as IDs and lines, so that `open 2` means the second result,
and `tasks done` knows which task was on a line. They are kept only if they were printed at a
terminal.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

import orjson

from vault_agent.config import rules
from vault_agent.config.connection import index_folder, vault_root
from vault_agent.errors import Misconfigured
from vault_agent.system.regular import read_optional

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from vault_agent.config.layers import Layer

_FILE = "last-results"
_TASKS = "last-tasks"
_TASKS_SECONDS = 3_600.0
"""Who names a line later has rather seen it elsewhere."""


class LocalVault(NamedTuple):
    """The folder of the notes, and the folder of their index."""

    root: Path
    index_folder: Path


class Shown(NamedTuple):
    """A result that was printed: a note ID or chunk ID, the line of the match, and its vault."""

    id: str
    line: int | None
    vault: str | None = None  # None for the default vault


def local_vault(layers: Sequence[Layer], served: str | None) -> LocalVault | None:
    """Return the vault in the settings if a server serves it, else None.

    `served` is the identity of the vault that the server has.
    """
    try:
        root, index = vault_root(layers), index_folder(layers)
    except Misconfigured:
        return None
    if root is None or index is None or rules.vault_identity(root) != served:
        return None
    return LocalVault(root, index)


def is_obsidian(root: Path) -> bool:
    """Whether Obsidian has opened this folder as a vault."""
    return (root / ".obsidian").is_dir()


def obsidian_address(file: Path) -> str:
    """Return the address that opens a note in Obsidian."""
    return f"obsidian://open?path={quote(str(file), safe='')}"


def note_address(root: Path, path: str) -> str:
    """Return the address of a note for a hyperlink: in Obsidian, or else its file."""
    file = root / path
    return obsidian_address(file) if is_obsidian(root) else file.as_uri()


def remember(
    vault: LocalVault, results: Iterable[dict[str, Any]], searched: str | None = None
) -> None:
    """Keep what was printed. Nothing happens if that cannot be written.

    `searched` is the vault of results that do not name theirs, None for the default one.
    """
    shown: list[list[Any]] = []
    for result in results:
        name = result.get("vault", searched)
        shown.append([result["id"], result.get("line"), *([name] if name is not None else [])])
    _keep(vault.index_folder / _FILE, shown)


def recalled(folder: Path | None, number: int) -> Shown | None:
    """Return the result of this number, from 1, or None if it was not printed."""
    if folder is None:
        return None
    try:
        shown = orjson.loads(read_optional(folder / _FILE))
        identifier, line, *vault = shown[number - 1] if number > 0 else (None, None)
    except (ValueError, LookupError, TypeError):
        return None
    if not isinstance(identifier, str) or not isinstance(line, int | None):
        return None
    return Shown(identifier, line, vault[0] if vault and isinstance(vault[0], str) else None)


def remember_tasks(vault: LocalVault, tasks: Iterable[dict[str, Any]]) -> None:
    """Keep the IDs of the tasks that were printed. Nothing happens if that cannot be written."""
    _keep(vault.index_folder / _TASKS, [task["taskId"] for task in tasks])


def _keep(file: Path, shown: list[Any]) -> None:
    from vault_agent.system.files import replace_file

    with suppress(OSError):
        replace_file(file, orjson.dumps(shown), durable=False)


def recalled_task(folder: Path | None, note_id: str, line: int) -> str | None:
    """Return the ID of the task that was printed lately for a line, or None."""
    wanted = f"{note_id}:{line}:"
    tasks = [] if folder is None else _tasks_in(folder)
    return next((each for each in tasks if each.startswith(wanted)), None)


def forget_task(folder: Path | None, task: str) -> None:
    """Forget a task that was printed, because its line has changed."""
    if folder is not None and task in (tasks := _tasks_in(folder)):
        _keep(folder / _TASKS, [each for each in tasks if each != task])


def _tasks_in(folder: Path) -> list[str]:
    try:
        file = folder / _TASKS
        if not 0 <= time.time() - file.stat().st_mtime < _TASKS_SECONDS:
            return []
        shown = orjson.loads(read_optional(file))
    except (OSError, ValueError):
        return []
    return [each for each in shown if isinstance(each, str)] if isinstance(shown, list) else []
