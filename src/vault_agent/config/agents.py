"""Settings of agents: `[agents.NAME]` in the config file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
)

from vault_agent.config.rules import once, seen_folders, vault_folder
from vault_agent.config.setting_names import Toolset
from vault_agent.model.writing import Right
from vault_agent.system.files import is_folder
from vault_agent.text.names import escaped, fold

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from pathlib import Path

SECTION = "agents"
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}")


def _part_of_vault(path: str) -> str:
    if not (part := vault_folder(path)):
        raise ValueError("must be a folder or a note of the vault, not the vault itself")
    return part


DeniedPath = Annotated[str, AfterValidator(_part_of_vault)]

SeenFolders = Annotated[tuple[str, ...], BeforeValidator(seen_folders)]


WriteRights = Annotated[tuple[Right, ...], BeforeValidator(once)]


class AgentSettings(BaseModel):
    """What a named agent sees and may write, and the hash of its key.

    Without a key of its own it needs the server's. `folders` has no default: a half-written config
    file must not give an agent the whole vault. `folder` is the older name of `folders`.
    """

    model_config = ConfigDict(
        extra="forbid", frozen=True, hide_input_in_errors=True, loc_by_alias=False
    )

    key_sha256: Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")] | None = None
    folders: SeenFolders = Field(validation_alias=AliasChoices("folders", "folder"))
    deny: tuple[DeniedPath, ...] = ()
    # Never more than write.allow, and only in write.folders.
    write: WriteRights = ()
    toolset: Toolset | None = None  # None: that of `mcp.toolset`


def missing_in(root: Path | None, folders: Iterable[str], rights: Collection[str]) -> list[str]:
    """Return the folders of an agent that a vault lacks; none if the vault itself is missing.

    None either for an agent that may create notes: its first write makes them.
    """
    if root is None or "create" in rights or not is_folder(root):
        return []
    return [folder for folder in folders if not is_folder(root / folder)]


def as_on_disk(root: Path, folder: str) -> str:
    """Return a folder of a vault as it is spelled on the disk.

    A name stays as it is unless exactly one folder there has an equal name, as `fold` has it.
    """
    place = root
    for name in folder.split("/"):
        equal = [entry for entry in place.glob("*/") if fold(entry.name) == fold(name)]
        place = equal[0] if len(equal) == 1 else place / name
    return place.relative_to(root).as_posix()


def not_in_vault(folders: Sequence[str]) -> str:
    """Return that folders are missing, as in `Work, which is not in the vault`."""
    names = ", ".join(map(escaped, folders))
    return f"{names}, which {'is' if len(folders) == 1 else 'are'} not in the vault"


def named(agents: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the agents. Raises ValueError if a name cannot stand in a URL."""
    if not all(NAME.fullmatch(name) for name in agents):
        raise ValueError("needs names of a-z, 0-9, _ and -, at most 32 characters")
    return agents
