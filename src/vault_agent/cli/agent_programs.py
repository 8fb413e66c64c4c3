"""The programs that agents run in: one row for each, and our MCP entry in its settings.

A JSON file is read, changed and written whole. The text before our first change stays beside it
with the suffix `.bak`. A file with comments, YAML or TOML is only read: who owns it gets the lines
to paste.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from copy import deepcopy
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import asyncclick as click
import yaml

from vault_agent.errors import Misconfigured
from vault_agent.system.files import replace_file

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from asyncclick.shell_completion import CompletionItem

    Settings = dict[str, Any]

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
        raise click.UsageError(
            f"{what} must be one of {', '.join(among)}. Which are here: `vault-agent agent`",
            context,
        )
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


_COMMENT = re.compile(r'("(?:[^"\\\n]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_LAST_COMMA = re.compile(r'("(?:[^"\\\n]|\\.)*")|,(?=\s*[}\]])')
_BROKEN = (ValueError, RecursionError, yaml.YAMLError)
_NOT_PLAIN = "is not plain JSON, so it is not written"


class NotChanged(Exception):
    """The file is as it was. `why` continues a sentence that begins with its name."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


def read_settings(path: Path) -> Settings:
    """Return what a file says: JSON, also with comments, YAML or TOML. A missing one says nothing.

    Raises:
        NotChanged: if it cannot be read.
    """
    text = read_text(path)
    if not text.strip():
        return {}
    kind = {".yaml": "YAML", ".yml": "YAML", ".toml": "TOML"}.get(path.suffix, "JSON")
    try:
        if kind == "YAML":
            settings = yaml.safe_load(text)
        elif kind == "TOML":
            settings = tomllib.loads(text)
        else:
            plain = _COMMENT.sub(lambda match: match[1] or " ", text)
            settings = json.loads(_LAST_COMMA.sub(lambda match: match[1] or "", plain))
    except _BROKEN:
        raise NotChanged(f"is not valid {kind}") from None
    if not isinstance(settings, dict):
        raise NotChanged(f"is not valid {kind}")
    return settings


def change_settings(path: Path, change: Callable[[Settings], None]) -> bool:
    """Change a JSON file, which is made if it is missing. Return False if nothing is different.

    A file that has nothing left is removed. A link is followed.

    Raises:
        NotChanged: if it is not plain JSON, or cannot be read or written.
    """
    text = read_text(path)
    try:
        settings = json.loads(text) if text.strip() else {}
        if not isinstance(settings, dict):
            raise NotChanged(_NOT_PLAIN)
        changed = deepcopy(settings)
        change(changed)
        if changed == settings:
            return False
        after = json.dumps(changed, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        write_text(path, after if changed else "", before=text)
    except (ValueError, RecursionError):  # also of a number or a character that JSON cannot have
        raise NotChanged(_NOT_PLAIN) from None
    return True


def read_text(path: Path) -> str:
    """Return the text of a file, "" if it is missing.

    Raises:
        NotChanged: if it cannot be read.
    """
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError):
        raise NotChanged("cannot be read") from None


def write_text(path: Path, text: str, *, before: str) -> None:
    """Replace a file, or remove it for an empty text. Keep the text before, once.

    Raises:
        NotChanged: if it cannot be written.
    """
    target = Path(os.path.realpath(path))
    backup = target.with_name(f"{target.name}.bak")
    try:
        if target.exists() and not os.access(target, os.W_OK):
            raise PermissionError
        if before and not os.path.lexists(backup):
            replace_file(backup, before.encode())
        if not text:
            target.unlink(missing_ok=True)
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        replace_file(target, text.encode(), keep_mode=True)
    except OSError:
        raise NotChanged("cannot be written") from None


State = Literal["installed", "other", "missing", "unreadable"]
"""Whether a client has our entry: `other` is one with another command."""


def our_command(arguments: list[str]) -> list[str]:
    """Return the command that starts the relay."""
    return [*our_program(), "mcp", *arguments]


def our_program() -> list[str]:
    """Return the command that starts this program, with an absolute path.

    Desktop programs do not have the `PATH` of the user's shell.
    """
    script = Path(sys.argv[0])
    if script.name.startswith(NAME) and script.exists():
        return [str(script.absolute())]
    program = shutil.which(NAME)
    return [program] if program else [sys.executable, "-m", "vault_agent"]


def snippet(client: Program, command: list[str]) -> str:
    """Return what to type, or what to write into the client's file."""
    if client.program:
        return shlex.join(_call(client, client.add, command))
    entry = {client.section: {NAME: client.entry(command)}}
    if client.file is not None and client.file().suffix in (".yaml", ".yml"):
        return yaml.safe_dump(entry, sort_keys=False).rstrip()
    return json.dumps(entry, indent=2)


def _entry_in(client: Program) -> dict[str, Any] | None:
    """Return our entry in a client's settings. None if there is none, or they cannot be found.

    Raises:
        NotChanged: if the settings cannot be read.
    """
    place = client.file or client.kept
    entry = None if place is None else _section(client, read_settings(place())).get(NAME)
    return entry if isinstance(entry, dict) else None


def state(client: Program, command: list[str]) -> State:
    """Return whether a client has our entry, with this command. Its programs are not started."""
    try:
        entry = _entry_in(client)
    except NotChanged:
        return "unreadable"
    if entry is None:
        return "missing"
    if client.file is not None:
        return "installed" if entry == client.entry(command) else "other"
    args = entry.get("args")
    call = [entry.get("command"), *(args if isinstance(args, list) else [])]
    return "installed" if call == command else "other"


def agent_in(client: Program) -> str | None:
    """Return the agent of the config file that a client's entry names, or None."""
    try:
        entry = _entry_in(client) or {}
    except NotChanged:
        return None
    words: list[object] = []
    for value in entry.values():
        words += value if isinstance(value, list) else [value]
    for word, following in pairwise(words):
        if word == "--agent" and isinstance(following, str):
            return following
    return None


def install(client: Program, command: list[str], *, force: bool) -> str:
    """Tell the client of our server, and return what was done.

    Raises:
        Misconfigured: `CLIENT_CONFIG_INVALID` if its file cannot be read or written, or has an
            entry already; `details.snippet` has what to type or to write.
    """
    if client.program:
        _run(client, client.add, command)
        return f"{client.title} knows vault-agent now."
    if client.file is None:
        raise Misconfigured(
            "CLIENT_CONFIG_INVALID",
            f"{client.title} keeps its settings where only it can change them. Paste this at"
            f" {client.by_hand}:",
            {"snippet": snippet(client, command)},
        )

    def add(settings: Settings) -> None:
        if NAME in _section(client, settings) and not force:
            raise NotChanged("has an entry vault-agent already: add --force")
        if not settings.get(client.section):
            settings[client.section] = {}
        settings[client.section][NAME] = client.entry(command)

    path = client.file()
    try:
        change_settings(path, add)
    except NotChanged as error:
        raise _unchanged(client, f"{error.why}. It is unchanged. The entry is:", command) from None
    return f"{client.title}: vault-agent is in {path}. Restart it."


def uninstall(client: Program) -> str:
    """Remove our server from the client, and return what was done.

    Raises:
        Misconfigured: `CLIENT_CONFIG_INVALID` with what to do instead.
    """
    if client.program:
        _run(client, client.remove, [])
        return f"{client.title} does not know vault-agent any more."
    if client.file is None:
        raise Misconfigured(
            "CLIENT_CONFIG_INVALID", f"Remove vault-agent in {client.title}, at {client.by_hand}."
        )

    def take_out(settings: Settings) -> None:
        _section(client, settings).pop(NAME, None)
        if not settings.get(client.section):
            settings.pop(client.section, None)

    path = client.file()
    try:
        change_settings(path, take_out)
    except NotChanged as error:
        what = f"{error.why}. Remove the entry {NAME} of {client.section} there."
        raise _unchanged(client, what) from None
    return f"{client.title}: vault-agent is no longer in {path}."


def _section(client: Program, settings: Settings) -> Settings:
    """Return the servers of a client.

    Raises:
        NotChanged: if what its file has there are no servers.
    """
    section = settings.get(client.section) or {}
    if not isinstance(section, dict):
        raise NotChanged("is written in another way than expected")
    return section


def _unchanged(client: Program, what: str, command: list[str] | None = None) -> Misconfigured:
    assert client.file is not None  # noqa: S101 - the callers have looked
    return Misconfigured(
        "CLIENT_CONFIG_INVALID",
        f"{client.file().name} of {client.title} {what}",
        {} if command is None else {"snippet": snippet(client, command)},
    )


def _call(client: Program, arguments: tuple[str, ...], command: list[str]) -> list[str]:
    call = [client.program]
    for argument in arguments:
        call += command if argument == "{}" else [argument]
    return call


def _run(client: Program, arguments: tuple[str, ...], command: list[str]) -> None:
    program = shutil.which(client.program)
    if program is None:
        raise Misconfigured(
            "CLIENT_CONFIG_INVALID",
            f"The command `{client.program}` is not on the PATH. Once it is, type:",
            {"snippet": snippet(client, command)},
        )
    call = [program, *_call(client, arguments, command)[1:]]
    done = subprocess.run(  # noqa: S603 - the client's own program
        call, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    if done.returncode != 0:
        raise Misconfigured(
            "CLIENT_CONFIG_INVALID",
            f"`{client.program}` refused. To see why, type:",
            {"snippet": snippet(client, command)},
        )
