"""`vault-agent indexes`."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING, NamedTuple

import asyncclick as click

from vault_agent.cli.asking import DECLINED, agreed
from vault_agent.cli.command import Group, Invocation
from vault_agent.cli.servers import in_home
from vault_agent.cli.terminal import envelope, say, tell
from vault_agent.cli.times import ago
from vault_agent.errors import Busy, Failed, IndexUnavailable
from vault_agent.system.address import is_serving, noted_vault

if TYPE_CHECKING:
    from pathlib import Path

_SHORTEST_ID = 4
_NAME = re.compile(r"[0-9a-f]{32}")


class Index(NamedTuple):
    """The folder of an index: its vault, its size in bytes, and when it last changed."""

    folder: Path
    vault: Path | None  # as noted by the last server; None by an older version
    size: int
    changed: str  # ISO 8601
    served: bool

    @property
    def is_gone(self) -> bool:
        """Whether the folder of its notes no longer exists."""
        return self.vault is not None and not self.vault.is_dir()

    @property
    def irreplaceable(self) -> list[str]:
        """Name what of it cannot be made again from the notes."""
        kept = {
            "the undo of writes": "writes/before/*",
            "embeddings": "vectors/*.rows",
            "state that was set aside": "*.damaged",
        }
        return [what for what, files in kept.items() if any(self.folder.glob(files))]


@click.group("indexes", cls=Group)
def command() -> None:
    """List and remove the indexes on this computer."""


@command.command("list")
@click.pass_obj
async def list_(invocation: Invocation) -> None:
    """List the indexes with their vaults, sizes, and last changes."""
    found = known_indexes(_parent(invocation))
    if invocation.json:
        envelope(
            {
                "indexes": [
                    {
                        "id": each.folder.name,
                        "vault": str(each.vault) if each.vault else None,
                        "vaultExists": not each.is_gone if each.vault else None,
                        "bytes": each.size,
                        "changed": each.changed,
                        "served": each.served,
                    }
                    for each in found
                ]
            }
        )
        return
    for each in found:
        vault = in_home(each.vault) if each.vault else "unknown vault"
        notes = [_megabytes(each.size), f"changed {ago(each.changed)}"]
        notes += ["in use"] * each.served + ["the vault is gone"] * each.is_gone
        say(f"{each.folder.name[:8]}  {vault}")
        say(f"          {', '.join(notes)}")
    if not found:
        tell("No indexes yet.")


@command.command("remove")
@click.argument("identifiers", metavar="[ID]...", nargs=-1)
@click.option("--gone", is_flag=True, help="Remove every index whose vault is not in its place.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
async def remove(
    invocation: Invocation, identifiers: tuple[str, ...], gone: bool, yes: bool
) -> int | None:
    """Remove indexes. Notes are never touched.

    ID is the beginning of an ID from `indexes list`. An index can be built again. The undo of
    writes and embeddings cannot, so it names the indexes that have them, and asks.
    """
    if bool(identifiers) == gone:
        raise click.UsageError("give the ID of an index, or --gone")
    found = known_indexes(_parent(invocation))
    chosen = [each for each in found if each.is_gone] if gone else _named(found, identifiers)
    for each in chosen:
        _require_unused(each)
    if asks := [each for each in chosen if each.irreplaceable]:
        tell("Notes stay. These cannot be made again:")
        for each in asks:
            vault = in_home(each.vault) if each.vault else "unknown vault"
            tell(f"{each.folder.name[:8]}  {vault}: {', '.join(each.irreplaceable)}")
        if not agreed("Remove them?", yes=yes):
            tell("Nothing was removed.")
            return DECLINED
    freed = 0
    for each in chosen:
        _require_unused(each)  # a server may have started since
        try:
            shutil.rmtree(each.folder)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise Failed(
                "INDEX_IO_ERROR", f"The index cannot be removed: {reason}.", remedy=""
            ) from None
        freed += each.size
    if invocation.json:
        envelope({"removed": [each.folder.name for each in chosen], "bytes": freed})
    else:
        number = "1 index" if len(chosen) == 1 else f"{len(chosen)} indexes"
        say(f"Removed {number}, {_megabytes(freed)}.")
    return None


def _require_unused(index: Index) -> None:
    if is_serving(index.folder):
        raise Busy(
            "INDEX_LOCKED", f"A server uses the index {index.folder.name[:8]}. Stop it first."
        )


def gone_indexes(parent: Path) -> tuple[int, int]:
    """Return how many indexes have no vault any more, and their size in bytes."""
    found = [each for each in known_indexes(parent) if each.is_gone and not each.served]
    return len(found), sum(each.size for each in found)


def _parent(invocation: Invocation) -> Path:
    from vault_agent.config import build_config, index_parent

    return index_parent(build_config(invocation.layers())) / "indexes"


def known_indexes(parent: Path) -> list[Index]:
    """Return the indexes, the largest first."""
    from datetime import UTC, datetime

    found = []
    for folder in parent.iterdir() if parent.is_dir() else ():
        if not _NAME.fullmatch(folder.name) or folder.is_symlink():
            continue
        files = [file.lstat() for file in folder.rglob("*") if not file.is_dir()]
        # Revisions share files by hard links. Each file counts once.
        sizes = {(file.st_dev, file.st_ino): file.st_size for file in files}
        changed = max((file.st_mtime for file in files), default=folder.stat().st_mtime)
        when = datetime.fromtimestamp(changed, UTC).isoformat()
        found.append(
            Index(folder, noted_vault(folder), sum(sizes.values()), when, is_serving(folder))
        )
    return sorted(found, key=lambda each: -each.size)


def _named(found: list[Index], identifiers: tuple[str, ...]) -> list[Index]:
    chosen = []
    for identifier in dict.fromkeys(identifiers):
        known = [each for each in found if each.folder.name.startswith(identifier)]
        if len(known) != 1 or len(identifier) < _SHORTEST_ID:
            raise IndexUnavailable(
                "INDEX_NOT_FOUND",
                "No index has this ID." if not known else "The ID is too short to be certain.",
                remedy="Run `vault-agent indexes list` to see them.",
            )
        chosen += known
    return chosen


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
