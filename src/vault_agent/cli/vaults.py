"""`vault-agent vaults`."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import asyncclick as click

from vault_agent.cli.command import Group, Invocation
from vault_agent.cli.terminal import clean, counted, envelope, say, tell
from vault_agent.config import rules
from vault_agent.config.connection import index_folders, several_vaults, vault_root
from vault_agent.config.project import find_project, project_at
from vault_agent.config.registry import (
    DEFAULT,
    GLOBAL,
    Registered,
    Role,
    add_vault,
    clean_name,
    forget_vault,
    is_uid,
    new_uid,
    read_registry,
)
from vault_agent.config.trust import is_trusted
from vault_agent.errors import Forbidden, Misconfigured

if TYPE_CHECKING:
    from collections.abc import Sequence


@click.group("vaults", cls=Group, invoke_without_command=True)
@click.pass_context
async def command(context: click.Context) -> None:
    """List, add and forget other folders of notes."""
    if context.invoked_subcommand is None:
        _list(context.obj)


@command.command("list")
@click.pass_obj
async def list_(invocation: Invocation) -> None:
    """List the vaults with their folders."""
    _list(invocation)


def _list(invocation: Invocation) -> None:
    entries, layers = read_registry(), invocation.layers()
    default = vault_root(layers)
    if invocation.json:
        rows = [_row(each) for each in entries]
        if default is not None:
            row = {"name": DEFAULT, "role": DEFAULT, "identity": rules.vault_identity(default)}
            rows.insert(0, {**row, "path": str(default), "state": "ok", "uid": None, "added": None})
        envelope({"vaults": rows})
        return
    shared = _shared(entries)
    lines = [(DEFAULT, str(default), "")] if default is not None else []
    lines += [
        (each.identity if each.address in shared else each.address, str(each.root), _state(each))
        for each in entries
    ]
    widest = max((len(name) for name, _, _ in lines), default=0)
    for name, root, state in lines:
        note = f"  ({state})" if state not in ("", "ok") else ""
        say(f"{clean(name):<{widest}}  {clean(root)}{note}")
    if not entries:
        tell(
            "No other vaults. `vault-agent vaults add FOLDER` adds one, and `vault-agent init` in a"
            " project makes one."
        )
    elif not several_vaults(layers):
        tell("Several vaults are off: vault-agent enable vaults")


@command.command("add")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--name", help="What to call it. Default: the name of the folder.")
@click.pass_obj
async def add(invocation: Invocation, folder: Path, name: str | None) -> None:
    """Add another folder of notes, as a vault of its own."""
    root = Path(os.path.realpath(folder.expanduser()))
    if not root.is_dir():
        raise Misconfigured("CONFIG_INVALID", "There is no such folder.")
    chosen = clean_name(name or root.name)
    if chosen in (DEFAULT, GLOBAL) or is_uid(chosen):
        raise Misconfigured(
            "CONFIG_INVALID", "This name has a meaning already. Use another --name."
        )
    entries = read_registry()
    same = next((each for each in entries if each.root == root), None)
    if same is not None and same.role is not Role.OTHER:
        raise Misconfigured(
            "CONFIG_INVALID", f"This folder is the vault {same.address} already.", remedy=""
        )
    if root == vault_root(invocation.layers()):
        raise Misconfigured(
            "CONFIG_INVALID", "This folder is the default vault already: vault.root.", remedy=""
        )
    indexes = (Path(os.path.realpath(each)) for each in index_folders(invocation.layers()))
    if any(folder.is_relative_to(root) for folder in indexes):
        raise Misconfigured(
            "CONFIG_INVALID", "This folder holds the indexes. Name the folder of the notes."
        )
    uid = same.uid if same is not None else new_uid()
    entry = add_vault(Registered(root, Role.OTHER, chosen, uid))
    if invocation.json:
        envelope({"added": _row(entry)})
        return
    name = clean(entry.address)
    if several_vaults(invocation.layers()):
        tell(f"{name} is added. Search it with --vault {name}.")
    else:
        tell(f"{name} is added. To search it with --vault {name}, first: vault-agent enable vaults")


@command.command("forget")
@click.argument("name", metavar="NAME|FOLDER")
@click.pass_obj
async def forget(invocation: Invocation, name: str) -> None:
    """Remove a vault from the list. Its notes are not touched."""
    entry = forget_vault(name)
    if invocation.json:
        envelope({"forgotten": _row(entry)})
        return
    tell(f"{clean(entry.address)} is forgotten. Its notes are where they were.")
    tell("To remove its index too: vault-agent indexes list")


@command.command("check")
@click.pass_obj
async def check(invocation: Invocation) -> int:
    """Find vaults that are missing, replaced or named alike.

    The exit code is 1 if there are problems.
    """
    entries = read_registry()
    problems = [(each.address, problem) for each in entries if (problem := _problem(each))]
    problems += [
        (address, "Several vaults have this name. Use their identities, or forget some.")
        for address in sorted(_shared(entries))
    ]
    try:
        project = find_project()
        if project is not None and project.warnings:
            problems.append((project.folder.name, project.warnings[0].message))
    except Forbidden as refusal:
        problems.append(("this project", refusal.message))
    if invocation.json:
        listed = [{"vault": name, "problem": what} for name, what in problems]
        envelope({"problems": listed})
    else:
        for name, what in problems:
            say(f"{clean(name)}: {what}")
        tell(counted(len(problems), "problem") if problems else "No problems.")
    return 1 if problems else 0


def _problem(entry: Registered) -> str | None:
    state = _state(entry)
    if state == "missing":
        return (
            "The folder is missing. If it was moved, run `vault-agent trust` in its new place: the"
            f" index is kept. If it is gone, run `vault-agent vaults forget {entry.address}`."
        )
    if state == "not trusted":
        return "Another vault is in the folder now. Run `vault-agent trust` there to allow it."
    if entry.role is Role.PROJECT and entry.root.parts[-2:] == (".synk", "vault"):
        ours = project_at(entry.root.parent.parent)
        if ours is not None and ours.is_ours:
            return "The project has a newer vault in .vault-agent. Run `vault-agent trust` there."
    return None


def _state(entry: Registered) -> str:
    if not entry.root.is_dir():
        return "missing"
    return "ok" if is_trusted(entry) else "not trusted"


def _shared(entries: Sequence[Registered]) -> set[str]:
    counts = Counter(each.address for each in entries)
    return {address for address, count in counts.items() if count > 1}


def _row(entry: Registered) -> dict[str, str | None]:
    return {
        "name": entry.address,
        "role": entry.role.value,
        "identity": entry.identity,
        "path": str(entry.root),
        "state": _state(entry),
        "uid": entry.uid,
        "added": entry.added,
    }
