"""Our hooks in the agents whose sessions are remembered.

Most have a JSON file with hooks by event, whose other bytes are kept. opencode gets a plugin.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from vault_agent.cli import foreign, jsonc
from vault_agent.cli.clients import CLIENTS, Hooks
from vault_agent.cli.jsonc_items import with_item, without_item
from vault_agent.errors import Misconfigured

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

State = Literal["installed", "outdated", "missing"]

_SECTION = "hooks"
_NOT_HOOKS = (jsonc.NotJson, AttributeError, TypeError)
_MARK = "vault-agent hooks install opencode"


def hook_command(name: str, program: list[str], config: Path | None) -> list[str]:
    """Return the command that an agent calls."""
    more = [] if config is None else ["--config", str(config.absolute())]
    return [*program, "memory", "hook", "--agent", name, *more]


def install(name: str, path: Path, command: list[str]) -> bool:
    """Let an agent call our hook. Return False if it does already.

    Raises:
        Misconfigured: `CLIENT_CONFIG_INVALID` if its file cannot be read or written. It is
            unchanged then.
    """
    agent = _hooks_of(name)
    try:
        if agent.events:
            return foreign.put_in(path, _hooks(name, _joined(command)))
        text, plugin = foreign.read(path), _plugin_text(command)
        if text and _MARK not in text:
            raise _unchanged(name, path, "is another plugin")
        if text != plugin:
            foreign.write(path, plugin)
    except foreign.NotEdited as error:
        raise _unchanged(name, path, error.why) from None
    return text != plugin


def remove(name: str, path: Path) -> bool:
    """Take our hook out of an agent's file. Return False if it is not there.

    Raises:
        Misconfigured: as `install`.
    """
    agent = _hooks_of(name)
    try:
        if agent.events:
            text = foreign.read(path)
            return foreign.take_out(path, _hooks(name, _called(text, name)))
        if not _is_ours(path):
            return False
        foreign.write(path, "")
    except foreign.NotEdited as error:
        raise _unchanged(name, path, error.why) from None
    except _NOT_HOOKS:
        raise _unchanged(name, path, "is not valid JSON") from None
    return True


def _hooks(name: str, joined: str) -> foreign.Ours:
    """Return our hooks for an agent, which call the command `joined`."""
    agent = _hooks_of(name)

    def add(text: str) -> str:
        for event, more in reversed(agent.events):  # each goes before the others
            entry = _entry(agent, joined, more)
            ours = list(_ours(text, name, event))
            if [each.entry for each in ours] == [entry]:
                continue
            text = with_item(_without(text, name, event), _SECTION, event, {"hooks": [entry]})
        return text

    def take_out(text: str) -> str:
        for event in _events(text):
            text = _without(text, name, event)
        return text

    return foreign.Ours(add, take_out)


def _called(text: str, name: str) -> str:
    """Return the command of ours that a file has, "" if it has none."""
    found = (each.entry["command"] for event in _events(text) for each in _ours(text, name, event))
    return str(next(found, ""))


def state(name: str, path: Path, command: list[str]) -> State:
    """Return whether an agent's file has our hook, for all events and with this command.

    Raises:
        Misconfigured: `CLIENT_CONFIG_INVALID` if the file cannot be read.
    """
    agent = _hooks_of(name)
    try:
        text = foreign.read(path)
    except foreign.NotEdited as error:
        raise _unchanged(name, path, error.why) from None
    if not agent.events:
        if not _is_ours(path):
            return "missing"
        return "installed" if text == _plugin_text(command) else "outdated"
    try:
        found = {
            event: [each.entry for each in _ours(text, name, event)] for event in _events(text)
        }
    except _NOT_HOOKS:
        raise _unchanged(name, path, "is not valid JSON") from None
    found = {event: entries for event, entries in found.items() if entries}
    wanted = {event: [_entry(agent, _joined(command), more)] for event, more in agent.events}
    return "installed" if found == wanted else "outdated" if found else "missing"


class _Ours(NamedTuple):
    group: int
    place: int
    entry: dict[str, Any]
    alone: bool  # whether the group has no other entry


def _joined(command: list[str]) -> str:
    return subprocess.list2cmdline(command) if sys.platform == "win32" else shlex.join(command)


def _entry(agent: Hooks, joined: str, more: dict[str, Any]) -> dict[str, Any]:
    return {"type": "command", "command": joined, **dict(agent.entry), **more}


def _events(text: str) -> list[str]:
    """Return the events that a file has hooks for."""
    known = jsonc.loads(text) if text.strip() else {}
    section = known.get(_SECTION, {})
    return [event for event, groups in section.items() if isinstance(groups, list)]


def _ours(text: str, name: str, event: str) -> Iterator[_Ours]:
    """Yield our entries for an event of an agent."""
    known = jsonc.loads(text) if text.strip() else {}
    for group, each in enumerate(known.get(_SECTION, {}).get(event, [])):
        entries = each.get("hooks", []) if isinstance(each, dict) else []
        for place, entry in enumerate(entries):
            command = entry.get("command") if isinstance(entry, dict) else None
            if isinstance(command, str) and _calls_us(command, name):
                yield _Ours(group, place, entry, len(entries) == 1)


def _calls_us(command: str, name: str) -> bool:
    words = command.replace('"', " ").replace("'", " ").split()
    ours = any("vault-agent" in word or "vault_agent" in word for word in words)
    return ours and f" memory hook --agent {name}" in " ".join(words)


def _without(text: str, name: str, event: str) -> str:
    """Return the text without our entries for an event."""
    while found := next(iter(_ours(text, name, event)), None):
        path = (found.group,) if found.alone else (found.group, "hooks", found.place)
        text = without_item(text, _SECTION, event, path)
    return text


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


def _unchanged(name: str, path: Path, why: str) -> Misconfigured:
    return Misconfigured(
        "CLIENT_CONFIG_INVALID", f"{path.name} of {CLIENTS[name].title} {why}. It is unchanged."
    )
