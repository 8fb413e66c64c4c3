"""Changes settings and agents in the user's TOML file, and keeps every other byte."""

from __future__ import annotations

import secrets
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from vault_agent.config.agents import NAME, SECTION
from vault_agent.config.layers import (
    Layer,
    Problem,
    absolute,
    agents_of,
    invalid,
    known_setting,
    parse_file,
    read_text,
    unused_settings,
)
from vault_agent.config.private import rewrite
from vault_agent.config.setting_names import SECTIONS, SETTINGS, Setting
from vault_agent.config.settings import check, convert, index_directory
from vault_agent.errors import Misconfigured, NotFound

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import tomlkit

_PLACES = {"vault.root", "index.dir"}
"""Settings of folders: the index must not be inside the vault."""


def in_full(setting: Setting, text: str) -> str:
    """Return a value as it is written to the file: a folder as an absolute path."""
    if not setting.path or not text.strip() or text.startswith("~"):
        return text
    return str(absolute(text))


def set_values(
    path: Path, changes: Mapping[str, str | None], *, accept: Callable[[Layer], None] | None = None
) -> list[Problem]:
    """Write settings to the file in one step: all of them, or none. A missing file is made.

    None removes a setting, so that its default applies. Other problems of the file are returned,
    so that a file can be repaired step by step.

    `accept` gets the file's new settings before they are written, and may refuse them.

    Raises:
        Misconfigured: `CONFIG_INVALID` for an invalid value, and what `accept` raises.
    """
    edits: list[tuple[Setting, object]] = []
    for name, text in changes.items():
        if text is None:
            edits.append((_any_setting(name), None))
        else:
            edits.append((known_setting(name), _typed(known_setting(name), text)))
    problems: list[Problem] = []

    def change(before: str) -> str:
        parse_file(before, name=path.name, unknown=[])
        after = before
        for setting, value in edits:
            after = _edited(after, setting, value, name=path.name)
        file = Layer("file", parse_file(after, name=path.name, unknown=problems))
        config, broken = check([file])
        if mine := [problem for problem in broken if problem.key in changes]:
            raise invalid(mine)
        if config is not None and config.vault.root is not None and changes.keys() & _PLACES:
            index_directory(config)  # raises if it would be inside the vault
        if accept is not None:
            accept(file._replace(agents=agents_of(after)))
        problems.extend([*broken, *unused_settings(after)])
        return after

    rewrite(path, change)
    return problems


def has_setting(path: Path, name: str) -> bool:
    """Whether the file has a setting, even a wrong one, or one that only another version knows.

    A name without a dot is that of a table or key at the top of the file. It counts only if this
    version does not know it.

    Raises:
        Misconfigured: `CONFIG_INVALID` if the file is not TOML.
    """
    setting = _any_setting(name)
    section = parsed_document(read_text(path) or "", path.name).get(setting.section)
    if not setting.option:
        return section is not None and setting.section not in (*SECTIONS, SECTION)
    return isinstance(section, dict) and setting.option in section


def _any_setting(name: str) -> Setting:
    return SETTINGS.get(name) or Setting(name, "")


def parsed_document(text: str, name: str) -> tomlkit.TOMLDocument:
    """Return a TOML document that keeps comments.

    Raises:
        Misconfigured: `CONFIG_INVALID` with the file's `name`.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        return tomlkit.parse(text)
    except TOMLKitError:
        # The parser's message may quote the file, and the file may hold a key.
        raise Misconfigured(
            "CONFIG_INVALID", f"{name} is not valid TOML: repair it in an editor first."
        ) from None


def _typed(setting: Setting, text: str) -> object:
    """Return a value for the TOML file. A folder that begins with `~` stays as typed."""
    text = in_full(setting, text)
    value = convert(setting.name, text)
    if setting.path or setting.secret:
        return text
    return list(value) if isinstance(value, tuple) else value


def _edited(text: str, setting: Setting, value: object, *, name: str) -> str:
    import tomlkit

    document = parsed_document(text, name)
    section = document.get(setting.section)
    if not setting.option:
        del document[setting.section]
        return tomlkit.dumps(document)
    if section is not None and not isinstance(section, dict):
        rule = f"must be a section, written [{setting.section}]"
        raise invalid([Problem(setting.section, rule, "file", f"`{setting.section}`")])
    if value is None:
        if section and setting.option in section:
            del section[setting.option]
            if setting.section not in SECTIONS and not document[setting.section]:
                del document[setting.section]
        return tomlkit.dumps(document)
    if section is None:
        section = document[setting.section] = tomlkit.table()
        section = document[setting.section]
    section[setting.option] = value
    return tomlkit.dumps(document)


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
        settings = {
            "key_sha256": _digest(key),
            "folders": list(folders),
            "deny": list(deny),
            "write": list(write),
            "toolset": toolset,
        }
        agents[name] = {option: value for option, value in settings.items() if value}

    _edit(path, add)
    return key


def change_agent(path: Path, name: str, changes: Mapping[str, str | list[str]]) -> None:
    """Change settings of an agent, such as `write`, but not its key. An empty list unsets one.

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
    import tomlkit

    def edited(before: str) -> str:
        parse_file(before, name=path.name, unknown=[])
        document = parsed_document(before, path.name)
        if SECTION not in document:
            document[SECTION] = tomlkit.table(is_super_table=True)
        change(document[SECTION])
        if not document[SECTION]:
            del document[SECTION]
        after = tomlkit.dumps(document)
        values = parse_file(after, name=path.name, unknown=[])
        _, problems = check([Layer("file", values, agents_of(after))])
        if mine := [problem for problem in problems if problem.key.startswith(f"{SECTION}.")]:
            raise invalid(mine)
        return after

    rewrite(path, edited)
