"""Adds, changes and removes agents in the user's TOML file, and keeps everything else."""

from __future__ import annotations

import secrets
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import tomlkit

from vault_agent.config.agents import NAME, SECTION
from vault_agent.config.edit import parsed_document
from vault_agent.config.layers import Layer, Problem, agents_of, invalid, parse_file
from vault_agent.config.private import rewrite
from vault_agent.config.settings import check
from vault_agent.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path


def add_agent(
    path: Path,
    name: str,
    folders: tuple[str, ...],
    deny: tuple[str, ...],
    write: tuple[str, ...] = (),
    *,
    toolset: str | None = None,
) -> str:
    """Write a new agent to the file, and return its key. Only the hash of the key is written.

    `write` has the rights to write, such as `create`. `toolset` is None for that of `mcp.toolset`.

    Raises:
        Misconfigured: `CONFIG_INVALID` for a name, folder or right that is not valid, or an agent
            that exists.
    """
    if NAME.fullmatch(name) is None:
        rule = "must have a name of a-z, 0-9, _ and -, at most 32 characters"
        raise invalid([Problem(SECTION, rule, label="an agent")])
    key = _new_key()

    def add(agents: Any) -> None:
        if name in agents:
            rule = f"exists already: `vault-agent agent set {name}` changes its rights"
            raise invalid([Problem(f"{SECTION}.{name}", rule)])
        table = tomlkit.table()
        table["key_sha256"] = _digest(key)
        table["folders"] = list(folders)
        if deny:
            table["deny"] = list(deny)
        if write:
            table["write"] = list(write)
        if toolset is not None:
            table["toolset"] = toolset
        agents[name] = table

    _edit(path, add)
    return key


def change_agent(path: Path, name: str, changes: Mapping[str, str | list[str]]) -> None:
    """Change settings of an agent, such as `write`, and keep its key. An empty list unsets one.

    Raises:
        NotFound: `AGENT_NOT_FOUND`.
        Misconfigured: `CONFIG_INVALID` for a folder or right that is not valid.
    """

    def change(agents: Any) -> None:
        table = _existing(agents, name)
        if "folders" in changes:
            table.pop("folder", None)  # its older name
        for setting, value in changes.items():
            if value == []:
                table.pop(setting, None)
            else:
                table[setting] = value

    _edit(path, change)


def rotate_key(path: Path, name: str) -> str:
    """Give an agent a new key, and return it. Raises NotFound `AGENT_NOT_FOUND`."""
    key = _new_key()

    def rotate(agents: Any) -> None:
        _existing(agents, name)["key_sha256"] = _digest(key)

    _edit(path, rotate)
    return key


def remove_agent(path: Path, name: str) -> None:
    """Remove an agent from the file. Raises NotFound `AGENT_NOT_FOUND`."""

    def remove(agents: Any) -> None:
        _existing(agents, name)
        del agents[name]

    _edit(path, remove)


def _existing(agents: Any, name: str) -> Any:
    if name not in agents:
        raise NotFound("AGENT_NOT_FOUND", "The config file has no agent of this name.")
    return agents[name]


def _new_key() -> str:
    return secrets.token_urlsafe(32)


def _digest(key: str) -> str:
    return sha256(key.encode()).hexdigest()


def _edit(path: Path, change: Callable[[Any], None]) -> None:
    """Change the tables of agents, and write the file if the result is valid."""

    def edited(before: str) -> str:
        parse_file(before, name=path.name, lenient=True)
        document = parsed_document(before, path.name)
        if SECTION not in document:
            document[SECTION] = tomlkit.table(is_super_table=True)
        change(document[SECTION])
        if not document[SECTION]:
            del document[SECTION]
        after = tomlkit.dumps(document)
        values = parse_file(after, name=path.name, lenient=True)
        _, problems = check([Layer("file", values, agents_of(after))])
        if mine := [problem for problem in problems if problem.key.startswith(f"{SECTION}.")]:
            raise invalid(mine)
        return after

    rewrite(path, edited)
