"""Whether a registered vault is still the one that its owner has allowed.

Trust belongs to a folder and to the `uid` that its project has. A vault without our config file,
such as that of `.synk`, has no `uid` of its own: then the folder alone counts.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from vault_agent.config.keys import PROJECT_ENV
from vault_agent.config.project import OURS, VAULT, project_folder
from vault_agent.config.project_file import read_project_file
from vault_agent.config.registry import Role
from vault_agent.system.files import is_folder

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


def missing_entry(
    project: Project | None, entries: Iterable[Registered], folder: Path | None = None
) -> Registered | None:
    """Return the entry of a project around a folder whose vault is missing, else None.

    `project` is what was found there: one that is nearer counts. The default is the current folder,
    or the one that `VAULT_AGENT_PROJECT` names.
    """
    named = os.environ.get(PROJECT_ENV) if folder is None else None
    here = Path(os.path.realpath(named or folder or Path.cwd()))
    around = {here} if named else {here, *here.parents, project_folder(here)}
    gone = [
        entry
        for entry in entries
        if entry.role is Role.PROJECT
        and not is_folder(entry.root)
        and (top := entry.root.parent.parent) in around
        and (project is None or (top != project.folder and top.is_relative_to(project.folder)))
    ]
    return max(gone, key=lambda entry: len(entry.root.parts), default=None)
