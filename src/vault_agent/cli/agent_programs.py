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
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import asyncclick as click
import yaml

from vault_agent.cli.command import read_table
from vault_agent.errors import Misconfigured
from vault_agent.system.files import replace_file

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Settings = dict[str, Any]
NAME = "vault-agent"
_FOLDER = re.compile(r"\$\{(\w+):-(.+?)\}")


class Hooks(NamedTuple):
    """How a client calls a command at the events of its sessions: `clients.toml` has the rows."""

    user: Callable[[], Path]
    events: dict[str, Settings]
    entry: Settings
    advice: str = "They take effect in new sessions."


class Program(NamedTuple):
    """A client: a row of `clients.toml`. Its paths are looked up when they are needed."""

    title: str
    aliases: Sequence[str] = ()
    program: str = ""
    add: Sequence[str] = ()
    remove: Sequence[str] = ()
    file: Callable[[], Path] | None = None
    section: str = "mcpServers"
    entry: Settings | None = None
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

    def entry_of(self, command: list[str]) -> Settings:
        """Return the entry that starts a command."""
        form = self.entry or {"command": "{program}", "args": "{arguments}"}
        words = {"{}": command, "{program}": command[0], "{arguments}": command[1:]}
        return {
            key: words.get(value, value) if isinstance(value, str) else value
            for key, value in form.items()
        }


def _read_clients() -> dict[str, Program]:
    rows = read_table("clients.toml")
    for row in rows.values():
        for place in row.keys() & {"file", "kept"}:
            row[place] = partial(_path, row[place])
        if hooks := row.get("hooks"):
            row["hooks"] = Hooks(**{**hooks, "user": partial(_path, hooks["user"])})
    return {name: Program(**row) for name, row in rows.items()}


def _path(place: str | dict[str, str]) -> Path:
    """Return the path of a row on this system, now."""
    if isinstance(place, dict):
        place = place.get(sys.platform, place["linux"])
    text = _FOLDER.sub(lambda match: os.environ.get(match[1]) or match[2], place)
    return Path.cwd() / Path(text).expanduser()


CLIENTS = _read_clients()
"""The clients by name."""
ALIASES = {alias: name for name, client in CLIENTS.items() for alias in client.aliases}


class ClientType(click.Choice[str]):
    """The name of a client as a person types it. Any alias will do."""

    def __init__(self) -> None:
        super().__init__(tuple(CLIENTS))

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the client's own name."""
        return super().convert(ALIASES.get(value, value), param, ctx)


_COMMENT = re.compile(r'("(?:[^"\\\n]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_LAST_COMMA = re.compile(r'("(?:[^"\\\n]|\\.)*")|,(?=\s*[}\]])')
_BROKEN = (ValueError, RecursionError, yaml.YAMLError)
_NOT_PLAIN = "is not plain JSON, so it is not written"


class NotChanged(Exception):
    """The file is as it was. The text continues a sentence that begins with its name."""


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
    entry = {client.section: {NAME: client.entry_of(command)}}
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
        return "installed" if entry == client.entry_of(command) else "other"
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
        place = f"where only it can change them. Paste this at {client.by_hand}:"
        raise _refusal(client, f"{client.title} keeps its settings {place}", command)
    path = client.file()

    def add(settings: Settings) -> None:
        if NAME in _section(client, settings) and not force:
            raise NotChanged("has an entry vault-agent already: add --force")
        if not settings.get(client.section):
            settings[client.section] = {}
        settings[client.section][NAME] = client.entry_of(command)

    try:
        change_settings(path, add)
    except NotChanged as error:
        what = f"{path.name} of {client.title} {error}. It is unchanged. The entry is:"
        raise _refusal(client, what, command) from None
    return f"{client.title}: vault-agent is in {path}. Restart it."


def uninstall(client: Program) -> str:
    """Remove our server from the client, and return what was done.

    Raises:
        Misconfigured: `CLIENT_CONFIG_INVALID` with what to do instead.
    """
    if client.program:
        _run(client, client.remove, [])
        return f"{client.title} does not know vault-agent any more."
    assert client.file is not None  # noqa: S101 - nothing is known of an entry without a file

    def take_out(settings: Settings) -> None:
        _section(client, settings).pop(NAME, None)
        if not settings.get(client.section):
            settings.pop(client.section, None)

    path = client.file()
    try:
        change_settings(path, take_out)
    except NotChanged as error:
        what = f"{path.name} of {client.title} {error}. Remove the entry {NAME} of"
        raise Misconfigured("CLIENT_CONFIG_INVALID", f"{what} {client.section} there.") from None
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


def _refusal(client: Program, what: str, command: list[str]) -> Misconfigured:
    """Return the error for settings that are not changed, with what to type or to write."""
    return Misconfigured("CLIENT_CONFIG_INVALID", what, {"snippet": snippet(client, command)})


def _call(client: Program, arguments: Sequence[str], command: list[str]) -> list[str]:
    call = [client.program]
    for argument in arguments:
        call += command if argument == "{}" else [argument]
    return call


def _run(client: Program, arguments: Sequence[str], command: list[str]) -> None:
    program = shutil.which(client.program)
    if program is None:
        what = f"The command `{client.program}` is not on the PATH. Once it is, type:"
        raise _refusal(client, what, command)
    call = [program, *_call(client, arguments, command)[1:]]
    done = subprocess.run(  # noqa: S603 - the client's own program
        call, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    if done.returncode != 0:
        what = f"`{client.program}` refused. To see why, type:"
        raise _refusal(client, what, command)
