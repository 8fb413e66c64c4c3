"""Whether a registered vault is still the one that its owner has allowed.

Trust belongs to a folder and to the `uid` that its project has. A vault without our config file,
such as that of `.synk`, has no `uid` of its own: then the folder alone counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_agent.config.project import OURS, VAULT
from vault_agent.config.project_file import read_project_file
from vault_agent.config.registry import Role

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vault_agent.config.project import Project
    from vault_agent.config.registry import Registered


def is_trusted(entry: Registered) -> bool:
    """Whether the folder of an entry is a real one and still has the entry's `uid`."""
    if not entry.is_there:
        return False
    if entry.role is not Role.PROJECT or entry.root.parts[-2:] != (OURS, VAULT):
        return True
    return read_project_file(entry.root.parent.parent).uid == entry.uid


def trusted_entry(project: Project, entries: Iterable[Registered]) -> Registered | None:
    """Return the entry of a project's vault if it is trusted, else None."""
    for entry in entries:
        if entry.root == project.vault and is_trusted(entry):
            return entry
    return None
