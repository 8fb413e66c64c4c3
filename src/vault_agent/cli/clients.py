"""The programs that agents run in: one row for each, with its MCP entry and its hooks."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import asyncclick as click

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from asyncclick.shell_completion import CompletionItem

NAME = "vault-agent"
_SECONDS = 10
"""The time that an agent gives our hook, which takes far less. Without it, some give too little."""
_MILLISECONDS = 10_000


class Hooks(NamedTuple):
    """How a client calls a command at the events of its sessions.

    Args:
        user: its file for all projects.
        events: its events that we want, with what is added to the entry of each. Without any, the
            file is a plugin of ours.
        entry: what each entry has besides `type` and `command`.
        advice: what the user must do after a change.
    """

    user: Callable[[], Path]
    events: tuple[tuple[str, dict[str, Any]], ...] = ()
    entry: tuple[tuple[str, Any], ...] = (("timeout", _SECONDS),)
    advice: str = "They take effect in new sessions."


class Program(NamedTuple):
    """A client. It has a command of its own for MCP servers, a file with a section, or neither.

    Args:
        title: its name for people.
        program: its command, if it has one for adding servers.
        add: the arguments that add a server; `{}` stands for our command.
        remove: the arguments that remove it.
        file: its configuration file.
        section: the member of the file that holds the servers.
        entry: the form of an entry.
        by_hand: where a person adds a server, in a client that has neither.
        kept: the file in which its command keeps the servers, which is only read.
        hooks: how it calls our hook; None for a client whose sessions are not remembered.
    """

    title: str
    program: str = ""
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    file: Callable[[], Path] | None = None
    section: str = "mcpServers"
    entry: Callable[[list[str]], dict[str, Any]] = lambda command: {
        "command": command[0],
        "args": command[1:],
    }
    by_hand: str = ""
    kept: Callable[[], Path] | None = None
    hooks: Hooks | None = None

    @property
    def is_here(self) -> bool:
        """Whether the client seems to be installed."""
        if self.program and shutil.which(self.program) is not None:
            return True
        own_files = (self.file, self.hooks.user if self.hooks is not None else None)
        return any(file is not None and file().parent.is_dir() for file in own_files)


def _events(*names: str) -> tuple[tuple[str, dict[str, Any]], ...]:
    return tuple((name, {}) for name in names)


def _home(*parts: str) -> Callable[[], Path]:
    return lambda: Path.home().joinpath(*parts)


def _folder_named(variable: str, *parts: str) -> Path:
    """Return the folder that a variable names, or else one in the home folder."""
    named = os.environ.get(variable)
    return Path(named) if named else Path.home().joinpath(*parts)


def _of_programs() -> Path:
    """Return the folder in which desktop programs keep their settings."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA", Path.home()))
    return Path.home() / ".config"


def _desktop() -> Path:
    return _of_programs() / "Claude" / "claude_desktop_config.json"


def _goose() -> Path:
    if sys.platform == "win32":
        return _of_programs() / "Block" / "goose" / "config" / "config.yaml"
    return Path.home() / ".config" / "goose" / "config.yaml"


def _cline() -> Path:
    storage = _of_programs() / "Code" / "User" / "globalStorage" / "saoudrizwan.claude-dev"
    return storage / "settings" / "cline_mcp_settings.json"


ALIASES = {
    "claude": "claude-code",
    "codex-cli": "codex",
    "copilot": "copilot-cli",
    "gemini-cli": "gemini",
    "jetbrains-ai": "jetbrains",
    "lmstudio": "lm-studio",
    "vs-code": "vscode",
}
"""Other names of clients."""
CLIENTS: dict[str, Program] = {
    "amp": Program("Amp", file=_home(".config", "amp", "settings.json"), section="amp.mcpServers"),
    "claude-code": Program(
        "Claude Code",
        "claude",
        ("mcp", "add", "-s", "user", NAME, "--", "{}"),
        ("mcp", "remove", "-s", "user", NAME),
        kept=lambda: _folder_named("CLAUDE_CONFIG_DIR") / ".claude.json",
        hooks=Hooks(
            lambda: _folder_named("CLAUDE_CONFIG_DIR", ".claude") / "settings.json",
            (
                *_events("SessionStart", "UserPromptSubmit", "PostCompact"),
                ("Stop", {"async": True}),
                *_events("SessionEnd"),
            ),
        ),
    ),
    "claude-desktop": Program("Claude Desktop", file=_desktop),
    "cline": Program("Cline (VS Code)", file=_cline),
    "codex": Program(
        "Codex CLI",
        "codex",
        ("mcp", "add", NAME, "--", "{}"),
        ("mcp", "remove", NAME),
        section="mcp_servers",
        kept=lambda: _folder_named("CODEX_HOME", ".codex") / "config.toml",
        hooks=Hooks(
            lambda: _folder_named("CODEX_HOME", ".codex") / "hooks.json",
            _events("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"),
            advice="Codex runs them only after you have trusted them: type /hooks there.",
        ),
    ),
    "continue": Program(
        "Continue (this folder)",
        file=lambda: Path.cwd() / ".continue" / "mcpServers" / "vault-agent.json",
    ),
    "copilot-cli": Program(
        "Copilot CLI",
        file=_home(".copilot", "mcp-config.json"),
        entry=lambda command: {
            "type": "local",
            "command": command[0],
            "args": command[1:],
            "tools": ["*"],
        },
    ),
    "cursor": Program("Cursor", file=_home(".cursor", "mcp.json")),
    "gemini": Program(
        "Gemini CLI",
        "gemini",
        ("mcp", "add", "-s", "user", NAME, "{}"),
        ("mcp", "remove", "-s", "user", NAME),
        kept=_home(".gemini", "settings.json"),
        hooks=Hooks(
            _home(".gemini", "settings.json"),
            _events("SessionStart", "BeforeAgent", "AfterAgent", "SessionEnd"),
            entry=(("name", NAME), ("timeout", _MILLISECONDS)),
        ),
    ),
    "goose": Program(
        "Goose",
        file=_goose,
        section="extensions",
        entry=lambda command: {
            "enabled": True,
            "type": "stdio",
            "name": NAME,
            "description": "Search and read my notes.",
            "cmd": command[0],
            "args": command[1:],
            "timeout": 300,
        },
    ),
    "jetbrains": Program(
        "JetBrains AI Assistant",
        by_hand="Settings | Tools | AI Assistant | Model Context Protocol (MCP) | Add | As JSON",
    ),
    "junie": Program("Junie (JetBrains)", file=_home(".junie", "mcp", "mcp.json")),
    "lm-studio": Program("LM Studio", file=_home(".lmstudio", "mcp.json")),
    "opencode": Program(
        "opencode",
        file=_home(".config", "opencode", "opencode.json"),
        section="mcp",
        entry=lambda command: {"type": "local", "command": command, "enabled": True},
        hooks=Hooks(
            lambda: _folder_named("XDG_CONFIG_HOME", ".config") / "opencode/plugins/vault-agent.js",
            advice="Restart the program.",
        ),
    ),
    "vscode": Program(
        "VS Code (this folder)",
        file=lambda: Path.cwd() / ".vscode" / "mcp.json",
        section="servers",
        entry=lambda command: {"type": "stdio", "command": command[0], "args": command[1:]},
    ),
    "windsurf": Program("Windsurf", file=_home(".codeium", "windsurf", "mcp_config.json")),
    "zed": Program(
        "Zed",
        file=_home(".config", "zed", "settings.json"),
        section="context_servers",
        entry=lambda command: {"command": command[0], "args": command[1:], "env": {}},
    ),
}


def client_name(
    context: click.Context,
    parameter: click.Parameter,
    value: Any,
    *,
    among: Collection[str] = CLIENTS.keys(),
) -> Any:
    """Return the name of a client, or several, that a person has typed. Any alias will do.

    Raises:
        UsageError: if there is no such client.
    """
    if isinstance(value, tuple):
        return tuple(client_name(context, parameter, name, among=among) for name in value)
    name = ALIASES.get(value, value)
    if name is not None and name not in among and not context.resilient_parsing:
        what = (
            parameter.opts[0]
            if parameter.opts[0].startswith("-")
            else parameter.human_readable_name
        )
        raise click.UsageError(f"{what} must be one of {', '.join(among)}", context)
    return name


def complete_client(
    context: click.Context, parameter: click.Parameter, text: str
) -> list[CompletionItem[str]]:
    """Return the names of clients that begin with what was typed, for the shell."""
    from asyncclick.shell_completion import CompletionItem

    del context, parameter
    return [
        CompletionItem(name, help=client.title)
        for name, client in CLIENTS.items()
        if name.startswith(text)
    ]


def with_hooks() -> dict[str, tuple[Program, Hooks]]:
    """Return the clients that have hooks, by name."""
    return {
        name: (client, client.hooks) for name, client in CLIENTS.items() if client.hooks is not None
    }
