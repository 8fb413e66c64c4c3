"""Our hooks in the agents whose sessions are remembered.

Most have a JSON file with hooks by event. opencode gets a plugin.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from importlib.resources import files
from typing import TYPE_CHECKING, Literal

from vault_agent.cli import agent_programs
from vault_agent.cli.agent_programs import CLIENTS, Hooks, Settings
from vault_agent.errors import Misconfigured

if TYPE_CHECKING:
    from pathlib import Path

State = Literal["installed", "outdated", "missing"]

_SECTION = "hooks"
_MARK = "vault-agent agent connect opencode"


def hook_command(name: str, program: list[str], config: Path | None) -> list[str]:
    """Return the command that an agent calls."""
    more = [] if config is None else ["--config", str(config.absolute())]
    return [*program, "memory", "hook", "--agent", name, *more]


def hooks_of(name: str, command: list[str]) -> Settings:
    """Return the settings of an agent that has no hooks but ours. Not for one with a plugin."""
    entries = _entries(name, command)
    return {_SECTION: {event: [{"hooks": [entry]}] for event, entry in entries.items()}}


def snippet(name: str, command: list[str]) -> str:
    """Return what to write into an agent's file."""
    if not _hooks_of(name).events:
        return _plugin_text(command).rstrip("\n")
    return json.dumps(hooks_of(name, command), indent=2)


def install(name: str, path: Path, command: list[str]) -> bool:
    """Let an agent call our hook. Return False if it does already.

    Raises:
        Misconfigured: `CLIENT_CONFIG_INVALID` if its file cannot be read or written. It is
            unchanged then.
    """
    hooks = _hooks_of(name)

    def add(settings: Settings) -> None:
        groups_of = _groups_of(settings)
        present = _ours(groups_of, name)
        for event, entry in _entries(name, command).items():
            if present.get(event) != [entry]:
                _take_out(groups_of, name, event)
                groups_of[event] = [{"hooks": [entry]}, *groups_of.get(event, [])]
        settings[_SECTION] = groups_of

    try:
        if hooks.events:
            return agent_programs.change_settings(path, add)
        text, plugin = agent_programs.read_text(path), _plugin_text(command)
        if text and _MARK not in text:
            raise _unchanged(name, path, "is another plugin")
        if text != plugin:
            agent_programs.write_text(path, plugin, before="")
    except agent_programs.NotChanged as error:
        raise _unchanged(name, path, error) from None
    return text != plugin


def remove(name: str, path: Path) -> bool:
    """Take our hook out of an agent's file. Return False if it is not there.

    Raises:
        Misconfigured: as `install`.
    """
    hooks = _hooks_of(name)

    def take_out(settings: Settings) -> None:
        groups_of = _groups_of(settings)
        for event in _ours(groups_of, name):
            _take_out(groups_of, name, event)
        if not groups_of:
            settings.pop(_SECTION, None)

    try:
        if hooks.events:
            return agent_programs.change_settings(path, take_out)
        if not _is_ours(path):
            return False
        agent_programs.write_text(path, "", before="")
    except agent_programs.NotChanged as error:
        raise _unchanged(name, path, error) from None
    return True


def state(name: str, path: Path, command: list[str]) -> State:
    """Return whether an agent's file has our hook, for all events and with this command.

    Raises:
        Misconfigured: `CLIENT_CONFIG_INVALID` if the file cannot be read.
    """
    hooks = _hooks_of(name)
    if not hooks.events:
        if not _is_ours(path):
            return "missing"
        is_same = agent_programs.read_text(path) == _plugin_text(command)
        return "installed" if is_same else "outdated"
    try:
        present = _ours(_groups_of(agent_programs.read_settings(path)), name)
    except agent_programs.NotChanged as error:
        raise _unchanged(name, path, error) from None
    wanted = {event: [entry] for event, entry in _entries(name, command).items()}
    return "installed" if present == wanted else "outdated" if present else "missing"


def _groups_of(settings: Settings) -> dict[str, list[Settings]]:
    """Return the groups of hooks in an agent's settings, by event.

    Raises:
        NotChanged: if they are written in another form.
    """
    groups_of: dict[str, list[Settings]] = settings.get(_SECTION, {})
    lists = list(groups_of.values()) if isinstance(groups_of, dict) else [None]
    if not all(isinstance(groups, list) and all(map(_is_group, groups)) for groups in lists):
        raise agent_programs.NotChanged("has hooks in another form than expected")
    return groups_of


def _is_group(group: object) -> bool:
    if not isinstance(group, dict):
        return False
    entries = group.get("hooks", [])
    return isinstance(entries, list) and all(isinstance(entry, dict) for entry in entries)


def _ours(groups_of: dict[str, list[Settings]], name: str) -> dict[str, list[Settings]]:
    """Return our entries for an agent, by event."""
    ours = {
        event: [
            entry
            for group in groups
            for entry in group.get("hooks", [])
            if _calls_us(entry.get("command"), name)
        ]
        for event, groups in groups_of.items()
    }
    return {event: entries for event, entries in ours.items() if entries}


def _take_out(groups_of: dict[str, list[Settings]], name: str, event: str) -> None:
    """Take our entries out of those for an event, and what is empty then."""
    kept = []
    for group in groups_of.pop(event, []):
        entries = group.get("hooks", [])
        others = [entry for entry in entries if not _calls_us(entry.get("command"), name)]
        if len(others) == len(entries):
            kept.append(group)
        elif others:
            kept.append({**group, "hooks": others})
    if kept:
        groups_of[event] = kept


def _entries(name: str, command: list[str]) -> dict[str, Settings]:
    """Return our entries for an agent, by event."""
    hooks = _hooks_of(name)
    join = subprocess.list2cmdline if sys.platform == "win32" else shlex.join
    entry = {"type": "command", "command": join(command), **hooks.entry}
    return {event: {**entry, **more} for event, more in hooks.events.items()}


def _calls_us(command: object, name: str) -> bool:
    """Whether a hook's command is ours for an agent, wherever this program was then."""
    if not isinstance(command, str):
        return False
    words = command.replace('"', " ").replace("'", " ").split()
    is_ours = any("vault-agent" in word or "vault_agent" in word for word in words)
    return is_ours and f" memory hook --agent {name}" in " ".join(words)


def _plugin_text(command: list[str]) -> str:
    text = files("vault_agent.cli").joinpath("opencode_plugin.js").read_text("utf-8")
    return text.replace("const COMMAND = []", f"const COMMAND = {json.dumps(command)}", 1)


def _is_ours(path: Path) -> bool:
    try:
        return _MARK in path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return False


def _hooks_of(name: str) -> Hooks:
    hooks = CLIENTS[name].hooks
    assert hooks is not None  # noqa: S101 - commands ask for the hooks of those that have some
    return hooks


def _unchanged(name: str, path: Path, why: object) -> Misconfigured:
    return Misconfigured(
        "CLIENT_CONFIG_INVALID", f"{path.name} of {CLIENTS[name].title} {why}. It is unchanged."
    )
