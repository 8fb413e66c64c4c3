"""The vaults that Obsidian knows, as it keeps them in its own settings."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NamedTuple

import orjson

from vault_agent.system.files import is_folder, read_regular

_LINUX = (
    ".var/app/md.obsidian.Obsidian/config/obsidian",  # flatpak
    "snap/obsidian/current/.config/obsidian",
)


class ObsidianVault(NamedTuple):
    """A folder that Obsidian has opened as a vault."""

    folder: Path
    is_open: bool


def obsidian_vaults() -> list[ObsidianVault]:
    """Return the vaults that are there: open ones first, then the last used ones."""
    rows = sorted(row for place in _settings() for row in _rows(place / "obsidian.json"))
    vaults = {folder: ObsidianVault(Path(folder), not closed) for closed, _, folder in rows}
    return [vault for vault in vaults.values() if is_folder(vault.folder)]


def _settings() -> list[Path]:
    """Return the folders in which Obsidian may keep its settings."""
    home = Path.home()
    if sys.platform == "darwin":
        return [home / "Library" / "Application Support" / "obsidian"]
    if sys.platform == "win32":
        return [Path(os.environ.get("APPDATA", home)) / "obsidian"]
    config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    return [config / "obsidian", *(home / place for place in _LINUX)]


def _rows(file: Path) -> list[tuple[bool, float, str]]:
    """Return whether each vault is closed, its age, and its folder. A broken file has none.

    Of the settings a megabyte is read: a vault takes a hundred bytes.
    """
    try:
        vaults = orjson.loads(read_regular(file, 1 << 20, follow=True) or b"")["vaults"].values()
        return [(not row.get("open"), -float(row.get("ts", 0)), str(row["path"])) for row in vaults]
    except (ValueError, LookupError, TypeError, AttributeError):
        return []
