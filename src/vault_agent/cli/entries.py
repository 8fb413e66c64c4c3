"""Our MCP entry in a client: whether it has one, and how it gets and loses it."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import yaml

from vault_agent.cli import client_files
from vault_agent.cli.clients import NAME
from vault_agent.errors import Misconfigured

if TYPE_CHECKING:
    from vault_agent.cli.client_files import Settings
    from vault_agent.cli.clients import Program

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


def state(client: Program, command: list[str]) -> State:
    """Return whether a client has our entry, with this command. Its programs are not started."""
    place = client.file or client.kept
    if place is None:
        return "missing"  # its settings cannot be read
    try:
        entry = _section(client, client_files.read_settings(place())).get(NAME)
    except client_files.NotChanged:
        return "unreadable"
    if not isinstance(entry, dict):
        return "missing"
    if client.file is not None:
        return "installed" if entry == client.entry(command) else "other"
    args = entry.get("args")
    call = [entry.get("command"), *(args if isinstance(args, list) else [])]
    return "installed" if call == command else "other"


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
            raise client_files.NotChanged("has an entry vault-agent already: add --force")
        if not settings.get(client.section):
            settings[client.section] = {}
        settings[client.section][NAME] = client.entry(command)

    path = client.file()
    try:
        client_files.change_settings(path, add)
    except client_files.NotChanged as error:
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
        client_files.change_settings(path, take_out)
    except client_files.NotChanged as error:
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
        raise client_files.NotChanged("is written in another way than expected")
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
