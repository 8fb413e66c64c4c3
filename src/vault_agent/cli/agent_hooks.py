"""The agents whose sessions are remembered, and how each is told to call our hook.

Three of them have a JSON file with hooks by event. Its other bytes are kept. opencode gets a
plugin.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from vault_agent.cli import foreign, jsonc
from vault_agent.cli.clients import folder_named
from vault_agent.cli.jsonc_items import with_item, without_item
from vault_agent.errors import Misconfigured

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Scope = Literal["user", "project"]
State = Literal["installed", "outdated", "missing"]

_SECTION = "hooks"
_NOT_HOOKS = (jsonc.NotJson, AttributeError, TypeError)
_MARK = "vault-agent hooks install opencode"
_SECONDS = 10
"""The time that an agent gives our hook, which takes far less. Without it, some give too little."""
_MILLISECONDS = 10_000


class Agent(NamedTuple):
    """An agent with hooks.

    Args:
        title: its name for people.
        program: its command.
        user: its file for all projects.
        project: its file in a project's folder.
        events: its events that we want, with what is added to the entry of each.
        entry: what each entry has besides `type` and `command`.
        advice: what the user must do after a change.
    """

    title: str
    program: str
    user: Callable[[], Path]
    project: tuple[str, ...]
    events: tuple[tuple[str, dict[str, Any]], ...] = ()
    entry: tuple[tuple[str, Any], ...] = (("timeout", _SECONDS),)
    advice: str = ""

    @property
    def is_here(self) -> bool:
        """Whether the agent seems to be installed."""
        return shutil.which(self.program) is not None or self.user().parent.is_dir()

    def file(self, scope: Scope, folder: Path) -> Path:
        """Return the file of a scope. `folder` is the project's."""
        return self.user() if scope == "user" else folder.joinpath(*self.project)


AGENTS: dict[str, Agent] = {
    "claude-code": Agent(
        "Claude Code",
        "claude",
        lambda: folder_named("CLAUDE_CONFIG_DIR", ".claude") / "settings.json",
        (".claude", "settings.local.json"),
        (
            ("SessionStart", {}),
            ("UserPromptSubmit", {}),
            ("PostCompact", {}),
            ("Stop", {"async": True}),
            ("SessionEnd", {}),
        ),
        advice="It takes effect in new sessions.",
    ),
    "codex": Agent(
        "Codex CLI",
        "codex",
        lambda: folder_named("CODEX_HOME", ".codex") / "hooks.json",
        (".codex", "hooks.json"),
        tuple((name, {}) for name in ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd")),
        advice="Codex runs it only after you have trusted it: type /hooks there.",
    ),
    "gemini": Agent(
        "Gemini CLI",
        "gemini",
        lambda: Path.home() / ".gemini" / "settings.json",
        (".gemini", "settings.json"),
        tuple((name, {}) for name in ("SessionStart", "BeforeAgent", "AfterAgent", "SessionEnd")),
        entry=(("name", "vault-agent"), ("timeout", _MILLISECONDS)),
        advice="It takes effect in new sessions.",
    ),
    "opencode": Agent(
        "opencode",
        "opencode",
        lambda: folder_named("XDG_CONFIG_HOME", ".config") / "opencode/plugins/vault-agent.js",
        (".opencode", "plugins", "vault-agent.js"),
        advice="Restart it.",
    ),
}


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
    agent = AGENTS[name]
    try:
        if agent.events:
            return foreign.put_in(path, _hooks(name, _joined(command)))
        target = Path(os.path.realpath(path))
        text, plugin = foreign.read(target), _plugin_text(command)
        if text and _MARK not in text:
            raise _unchanged(agent, path, "is another plugin")
        if text != plugin:
            foreign.write(target, plugin)
    except foreign.NotEdited as error:
        raise _unchanged(agent, path, error.why) from None
    return text != plugin


def remove(name: str, path: Path) -> bool:
    """Take our hook out of an agent's file. Return False if it is not there.

    Raises:
        Misconfigured: as `install`.
    """
    agent = AGENTS[name]
    try:
        if agent.events:
            text = foreign.read(Path(os.path.realpath(path)))
            return foreign.take_out(path, _hooks(name, _called(text, name)))
        if not _is_ours(path):
            return False
        foreign.write(path, "")
    except foreign.NotEdited as error:
        raise _unchanged(agent, path, error.why) from None
    except _NOT_HOOKS:
        raise _unchanged(agent, path, "is not valid JSON") from None
    return True


def _hooks(name: str, joined: str) -> foreign.Ours:
    """Return our hooks for an agent, which call the command `joined`."""
    agent = AGENTS[name]

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
    agent = AGENTS[name]
    try:
        text = foreign.read(path)
    except foreign.NotEdited as error:
        raise _unchanged(agent, path, error.why) from None
    if not agent.events:
        if not _is_ours(path):
            return "missing"
        return "installed" if text == _plugin_text(command) else "outdated"
    try:
        found = {
            event: [each.entry for each in _ours(text, name, event)] for event in _events(text)
        }
    except _NOT_HOOKS:
        raise _unchanged(agent, path, "is not valid JSON") from None
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


def _entry(agent: Agent, joined: str, more: dict[str, Any]) -> dict[str, Any]:
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


def _unchanged(agent: Agent, path: Path, why: str) -> Misconfigured:
    return Misconfigured(
        "CLIENT_CONFIG_INVALID", f"{path.name} of {agent.title} {why}. It is unchanged."
    )
