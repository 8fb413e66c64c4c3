"""What `init` and `vaults` share: a vault's notes by type, and its entry in the list."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from vault_agent.cli.terminal import clean
from vault_agent.config.project_file import ensure_project_file, read_project_file
from vault_agent.config.registry import Registered, Role, clean_name, new_uid, read_registry
from vault_agent.errors import Failed
from vault_agent.model.note_types import type_of_folder
from vault_agent.system.files import read_regular
from vault_agent.text.names import is_note

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from vault_agent.config.project import Project

MAX_FILES = 20_000
_HEAD = 4_096
_TYPE = re.compile(rb"^type:[ \t]*[\"']?([a-z][a-z0-9-]{0,31})[\"']?[ \t]*\r?$", re.MULTILINE)


def notes_by_type(vault: Path) -> dict[str, int]:
    """Return how many notes of each type a vault seems to have, most frequent first.

    It reads only the beginning of each note. Links are not followed.
    """
    counts: dict[str, int] = {}
    for path in _notes(vault):
        kind = _written_type(vault / path) or type_of_folder(path)
        counts[kind] = counts.get(kind, 0) + 1
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def counts_as_text(counts: dict[str, int]) -> str:
    """Return counts of notes by type as text: `3 notes (2 decision, 1 bug)`."""
    number = sum(counts.values())
    kinds = ", ".join(f"{count} {clean(kind)}" for kind, count in counts.items())
    return f"{number} note{'s' if number != 1 else ''}" + (f" ({kinds})" if kinds else "")


def entry_of(project: Project) -> Registered:
    """Return the entry of a project's vault. A vault of ours gets a `uid` if it has none.

    Raises:
        Failed: `INDEX_IO_ERROR` if the project's config file cannot be written.
    """
    name = clean_name(project.folder.name)
    if not project.is_ours:
        entry = next((vault for vault in read_registry() if vault.root == project.vault), None)
        uid = entry.uid if entry is not None else new_uid()
        return Registered(project.vault, Role.PROJECT, name, uid)
    try:
        settings = ensure_project_file(project.folder, name)
    except OSError as error:
        raise unwritable(error) from None
    uid = settings.uid or new_uid()
    return Registered(project.vault, Role.PROJECT, settings.name or name, uid)


def shown_name(project: Project) -> str:
    """Return the name of a project."""
    name = read_project_file(project.folder).name if project.is_ours else None
    return name or clean_name(project.folder.name)


def unwritable(error: OSError) -> Failed:
    """Return the error for a file or folder that cannot be written."""
    reason = error.strerror or type(error).__name__
    return Failed("OUTPUT_FAILED", f"A file cannot be written: {reason}.")


def _notes(vault: Path) -> Iterator[str]:
    number = 0
    for folder, folders, names in os.walk(vault):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if is_note(name) and not name.startswith("."):
                number += 1
                if number > MAX_FILES:
                    return
                yield os.path.relpath(os.path.join(folder, name), vault).replace(os.sep, "/")  # noqa: PTH118


def _written_type(path: Path) -> str | None:
    head = read_regular(path, _HEAD) or b""
    front = head.partition(b"\n---")[0] if head.startswith(b"---") else b""
    match = _TYPE.search(front)
    return match[1].decode() if match else None
