"""`vault-agent vaults`: the folders of notes, and their indexes, also of folders that are gone."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, NamedTuple

import asyncclick as click

from vault_agent.cli.command import Invocation, Noun
from vault_agent.cli.features import Applied, apply, switch, tell_applied
from vault_agent.cli.init import count_notes, entry_of, shown_name
from vault_agent.cli.names import name_of
from vault_agent.cli.servers import in_home
from vault_agent.cli.terminal import DECLINED, agreed, clean, envelope, say, tell, warn
from vault_agent.config import rules
from vault_agent.config.fast_settings import index_folders, several_vaults, vault_root
from vault_agent.config.project import (
    Project,
    find_project,
    is_trusted,
    project_at,
    read_project_file,
    trusted_entry,
)
from vault_agent.config.settings import build_config
from vault_agent.config.vault_list import (
    DEFAULT,
    Registered,
    Role,
    add_vault,
    clean_name,
    forget_vault,
    is_uid,
    new_uid,
    read_registry,
)
from vault_agent.errors import Busy, Failed, Forbidden, Misconfigured, NotFound, counted
from vault_agent.model.identifiers import GLOBAL
from vault_agent.system.address import is_serving, recorded_vault
from vault_agent.system.files import expanded, is_folder, reason_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vault_agent.cli.command import Invocation
    from vault_agent.config.layers import Layer

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
        what = f"The index cannot be removed: {reason_of(error)}."
        raise Failed("INDEX_IO_ERROR", what, remedy="") from None
    return True


def _require_unused(index: IndexFolder) -> None:
    if is_serving(index.folder):
        raise Busy(
            "INDEX_LOCKED", f"A server uses the index {index.folder.name[:8]}. Stop it first."
        )


def folder_of_indexes(invocation: Invocation) -> Path:
    """Return the folder that has one folder for each index."""
    from vault_agent.config.settings import build_config

    return rules.data_folder(build_config(invocation.layers()).index.dir) / "indexes"


def known_indexes(parent: Path) -> list[IndexFolder]:
    """Return the indexes by the folders of their vaults, those of unknown vaults last."""
    from datetime import UTC, datetime

    indexes = []
    for folder in parent.iterdir() if parent.is_dir() else ():
        if not _NAME.fullmatch(folder.name) or folder.is_symlink():
            continue
        files = [file.lstat() for file in folder.rglob("*") if not file.is_dir()]
        size = sum(file.st_size for file in files)
        changed = max((file.st_mtime for file in files), default=folder.stat().st_mtime)
        when = datetime.fromtimestamp(changed, UTC).isoformat()
        indexes.append(IndexFolder(folder, recorded_vault(folder), size, when, is_serving(folder)))
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


command = Noun("vaults")


@command.by_itself
def show(invocation: Invocation) -> None:
    """List, add and forget folders of notes.

    It also names the indexes of folders that are gone, or no vaults any more.
    """
    entries, layers = read_registry(), invocation.layers()
    default = vault_root(layers)
    indexes = known_indexes(folder_of_indexes(invocation))
    if invocation.json:
        rows = [_row(entry) for entry in entries]
        if default is not None:
            row = {"name": DEFAULT, "role": DEFAULT, "identity": rules.vault_identity(default)}
            rows.insert(0, {**row, "path": str(default), "state": "ok", "uid": None, "added": None})
        index_rows = [
            {
                "id": index.folder.name,
                "vault": str(index.vault) if index.vault else None,
                "vaultExists": not index.is_gone if index.vault else None,
                "bytes": index.size,
                "changed": index.changed,
                "served": index.served,
            }
            for index in indexes
        ]
        envelope({"vaults": rows, "indexes": index_rows})
        return
    lines = [(DEFAULT, str(default), "")] if default is not None else []
    lines += [(name_of(entry, entries), str(entry.root), _state(entry)) for entry in entries]
    widest = max((len(name) for name, _, _ in lines), default=0)
    for name, root, state in lines:
        note = f"  ({state})" if state not in ("", "ok") else ""
        say(f"{clean(name):<{widest}}  {clean(root)}{note}")
    for index in _unlisted(indexes, layers):
        state = "gone" if index.is_gone else "in use" if index.served else "not on the list"
        vault = in_home(index.vault) if index.vault else "unknown vault"
        say(f"{index.name}  {vault}  ({state}; its index has {megabytes(index.size)})")
    removable = [index.name for index in indexes if index.is_gone and not index.served]
    if removable:
        tell(f"To remove such an index: vault-agent vaults forget {removable[0]}")
    if not entries:
        tell(
            "No other vaults. `vault-agent vaults add FOLDER` adds one, and `vault-agent init` in a"
            " project makes one."
        )
    elif not several_vaults(layers):
        tell("Several vaults are off: vault-agent enable vaults")


def _unlisted(indexes: Sequence[IndexFolder], layers: Sequence[Layer]) -> list[IndexFolder]:
    """Return the indexes of folders that are no vault of the list."""
    listed = {vault_root(layers), *(entry.root for entry in read_registry())}
    return [index for index in indexes if index.vault is None or index.vault not in listed]


@command.command("add")
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@click.option("--name", help="Its name. Default: the one that it has, or that of the folder.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask before the notes of a project.")
def add(invocation: Invocation, folder: Path | None, name: str | None, yes: bool) -> int | None:
    """Add another folder of notes, as a vault of its own.

    Without a FOLDER, or with that of a project, it allows the vault of the project: its notes
    become part of what agents read. Look at them first if others have written them. A project that
    was moved must be allowed again.

    It turns on the feature of several vaults, and a server that runs indexes the folder at once.
    """
    build_config(invocation.layers())  # raises before anything is changed
    project = _project(folder)
    if project is not None and name is not None:
        raise click.UsageError("--name is for a folder that is no project: this one has its own")
    if project is not None:
        return _allow(invocation, project, yes=yes)
    if folder is None:
        raise NotFound(
            "VAULT_UNKNOWN",
            "This folder is in no project with a vault.",
            remedy="Run `vault-agent init` to make one, or name a folder of notes:"
            " `vault-agent vaults add FOLDER`.",
        )
    root = Path(os.path.realpath(expanded(folder)))
    if not is_folder(root):
        raise Misconfigured(
            "CONFIG_INVALID",
            f"There is no folder {in_home(root)}.",
            remedy="Name one that is there: `vault-agent vaults add FOLDER`.",
        )
    entries = read_registry()
    same = next((vault for vault in entries if vault.root == root), None)
    chosen = clean_name(name or (root.name if same is None else same.name))
    refusal = _why_not(root, chosen, entries, invocation.layers())
    if refusal is not None:
        raise Misconfigured("CONFIG_INVALID", refusal, remedy="")
    uid = same.uid if same is not None else new_uid()
    entry = add_vault(Registered(root, Role.OTHER, chosen, uid))
    applied = _turn_on(invocation)
    if invocation.json:
        envelope({"added": _row(entry)})
        return None
    tell(f"{clean(entry.full_name)} is {'on the list already' if same else 'added'}.")
    _tell_next(entry, applied)
    return None


def _why_not(
    root: Path, name: str, entries: Sequence[Registered], layers: Sequence[Layer]
) -> str | None:
    """Return why a folder cannot be a vault of its own with this name."""
    if name in (DEFAULT, GLOBAL) or is_uid(name):
        return "This name has a meaning already. Use another --name."
    for vault in entries:
        if vault.root == root and vault.role is not Role.OTHER:
            return f"This folder is the vault {vault.full_name} already."
        if vault.root != root and vault.full_name == name:
            return f"{in_home(vault.root)} has this name. Use another --name, or forget that vault."
    if root == vault_root(layers):
        return "This folder is the default vault already: vault.root."
    indexes = (Path(os.path.realpath(folder)) for folder in index_folders(layers))
    if any(folder.is_relative_to(root) for folder in indexes):
        return "This folder holds the indexes. Name the folder of the notes."
    return None


def _project(folder: Path | None) -> Project | None:
    """Return the project that is named by its folder or that of its vault, or the one here."""
    if folder is None:
        return find_project()
    root = Path(os.path.realpath(expanded(folder)))
    for place in (root, root.parent.parent):
        project = project_at(place) if is_folder(place) else None
        if project is not None and root in (place, project.vault):
            return project
    return None


def _allow(invocation: Invocation, project: Project, *, yes: bool) -> int | None:
    """Put the vault of a project on the list, after a question if it has notes."""
    warn((*project.warnings, *read_project_file(project.folder).warnings))
    is_known = trusted_entry(project, read_registry()) is not None
    number = count_notes(project.vault)
    if not is_known:
        if not invocation.json:
            say(f"{clean(str(project.vault))}")
            say(f"project {shown_name(project)}: {counted(number, 'note')}")
        if not agreed("Index these notes and give them to agents?", yes=yes):
            tell("Nothing was changed.")
            return DECLINED
    entry = add_vault(entry_of(project))
    applied = _turn_on(invocation)
    if invocation.json:
        row = {"name": entry.full_name, "path": str(entry.root), "notes": number}
        envelope({**row, "added": not is_known})
        return None
    tell(f"{clean(entry.full_name)} is allowed{' already' if is_known else ''}.")
    _tell_next(entry, applied)
    return None


def _turn_on(invocation: Invocation) -> Applied:
    """Turn on several vaults, unless they are on."""
    is_on = several_vaults(invocation.layers())
    return apply(invocation, [] if is_on else switch(["vaults"], on=True))


def _tell_next(entry: Registered, applied: Applied) -> None:
    name = clean(quote(name_of(entry, read_registry())))
    tell_applied(
        applied, then=f"vault-agent --vault {name} search what I look for", needs_server=False
    )


@command.command("forget")
@click.argument("name", metavar="NAME|FOLDER|INDEX")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
def forget(invocation: Invocation, name: str, yes: bool) -> int | None:
    """Take a vault off the list, or remove an index. Notes are not touched.

    INDEX is the ID of an index of a folder that is no vault of the list. It can be built again. The
    undo of writes and embeddings cannot, so it names those, and asks.
    """
    indexes = known_indexes(folder_of_indexes(invocation))
    index = index_of(_unlisted(indexes, invocation.layers()), name)
    if index is not None:
        if not remove_index(index, yes=yes):
            tell("Nothing was removed.")
            return DECLINED
        if invocation.json:
            envelope({"removed": [index.folder.name], "bytes": index.size})
        else:
            say(f"Removed an index of {megabytes(index.size)}.")
        return None
    forgotten = forget_vault(name)
    if invocation.json:
        envelope({"forgotten": _row(forgotten)})
        return None
    tell(f"{clean(forgotten.full_name)} is forgotten. Its notes are where they were.")
    for index in indexes:
        if index.vault == forgotten.root:
            tell(f"Its index stays. To remove it: vault-agent vaults forget {index.name}")
    return None


def problems() -> Iterator[tuple[str, str]]:
    """Yield the vaults that are missing, replaced or named alike, each with what to do."""
    entries = read_registry()
    for entry in entries:
        if (problem := _problem(entry)) is not None:
            yield entry.full_name, problem
        if name_of(entry, entries) != entry.full_name:
            yield entry.full_name, "Several vaults have this name. Forget one."
    try:
        project = find_project()
    except Forbidden as refusal:
        yield "this project", refusal.message
        return
    if project is not None and project.warnings:
        yield project.folder.name, project.warnings[0].message


def _problem(entry: Registered) -> str | None:
    state = _state(entry)
    if state == "missing":
        return (
            "The folder is missing. If it was moved, run `vault-agent vaults add` in its new place:"
            f" the index is kept. If it is gone, run `vault-agent vaults forget {entry.full_name}`."
        )
    if state == "not trusted":
        return "Another vault is in the folder now. Run `vault-agent vaults add` there to allow it."
    return None


def _state(entry: Registered) -> str:
    if not is_folder(entry.root):
        return "missing"
    return "ok" if is_trusted(entry) else "not trusted"


def _row(entry: Registered) -> dict[str, str | None]:
    return {
        "name": entry.full_name,
        "role": entry.role.value,
        "identity": entry.identity,
        "path": str(entry.root),
        "state": _state(entry),
        "uid": entry.uid,
        "added": entry.added,
    }
