"""The indexes on this computer: those of vaults, and those whose vaults are gone."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING, NamedTuple

from vault_agent.cli.servers import in_home
from vault_agent.cli.terminal import agreed, tell
from vault_agent.errors import Busy, Failed
from vault_agent.system.address import is_serving, noted_vault
from vault_agent.system.files import is_folder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from vault_agent.cli.command import Invocation

_SHORTEST_ID = 4
_NAME = re.compile(r"[0-9a-f]{32}")


class IndexFolder(NamedTuple):
    """The folder of an index: its vault, its size in bytes, and when it last changed."""

    folder: Path
    vault: Path | None  # as noted by the last server; None by an older version
    size: int
    changed: str  # ISO 8601
    served: bool

    @property
    def is_gone(self) -> bool:
        """Whether the folder of its notes no longer exists."""
        return self.vault is not None and not is_folder(self.vault)

    @property
    def name(self) -> str:
        """Its ID, as short as it is printed."""
        return self.folder.name[:8]

    @property
    def of(self) -> str:
        """The folder of its vault, for people."""
        return in_home(self.vault) if self.vault else "unknown vault"

    @property
    def irreplaceable(self) -> list[str]:
        """Name what of it cannot be made again from the notes."""
        kept = {
            "the undo of writes": "writes/before/*",
            "embeddings": "vectors/*.rows",
            "state that was set aside": "*.damaged",
        }
        return [what for what, files in kept.items() if any(self.folder.glob(files))]


def remove_index(index: IndexFolder, *, yes: bool) -> bool:
    """Delete an index, and ask first if it has what cannot be made again. Return whether.

    Raises:
        Busy: `INDEX_LOCKED` if a server uses it.
        Failed: `INDEX_IO_ERROR` if it cannot be deleted.
    """
    _require_unused(index)
    if kept := index.irreplaceable:
        tell(f"Notes stay. It has what cannot be made again: {', '.join(kept)}.")
        if not agreed("Remove it?", yes=yes):
            return False
        _require_unused(index)  # a server may have started since
    try:
        shutil.rmtree(index.folder)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        what = f"The index cannot be removed: {reason}."
        raise Failed("INDEX_IO_ERROR", what, remedy="") from None
    return True


def described(indexes: Sequence[IndexFolder]) -> str:
    """Return the number and the size of indexes."""
    number = "1 index" if len(indexes) == 1 else f"{len(indexes)} indexes"
    return f"{number}, {megabytes(sum(index.size for index in indexes))}"


def _require_unused(index: IndexFolder) -> None:
    if is_serving(index.folder):
        raise Busy(
            "INDEX_LOCKED", f"A server uses the index {index.folder.name[:8]}. Stop it first."
        )


def gone(indexes: Sequence[IndexFolder]) -> list[IndexFolder]:
    """Return the indexes whose vaults are not in their places, and that no server uses."""
    return [index for index in indexes if index.is_gone and not index.served]


def folder_of_indexes(invocation: Invocation) -> Path:
    """Return the folder that has one folder for each index."""
    from vault_agent.config import build_config, index_parent

    return index_parent(build_config(invocation.layers())) / "indexes"


def known_indexes(parent: Path) -> list[IndexFolder]:
    """Return the indexes by the folders of their vaults, those of unknown vaults last."""
    from datetime import UTC, datetime

    indexes = []
    for folder in parent.iterdir() if parent.is_dir() else ():
        if not _NAME.fullmatch(folder.name) or folder.is_symlink():
            continue
        files = [file.lstat() for file in folder.rglob("*") if not file.is_dir()]
        # Revisions share files by hard links. Each file counts once.
        sizes = {(file.st_dev, file.st_ino): file.st_size for file in files}
        changed = max((file.st_mtime for file in files), default=folder.stat().st_mtime)
        when = datetime.fromtimestamp(changed, UTC).isoformat()
        indexes.append(
            IndexFolder(folder, noted_vault(folder), sum(sizes.values()), when, is_serving(folder))
        )
    return sorted(indexes, key=lambda index: (index.vault is None, str(index.vault), index.folder))


def index_of(indexes: Sequence[IndexFolder], text: str) -> IndexFolder | None:
    """Return the index whose ID begins so, or the one of a vault in this folder."""
    if len(text) < _SHORTEST_ID:
        return None
    matching = [index for index in indexes if index.folder.name.startswith(text)]
    return matching[0] if len(matching) == 1 else None


def megabytes(size: int) -> str:
    """Return a size for people."""
    return f"{size / 1e6:,.1f} MB"
