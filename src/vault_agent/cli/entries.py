"""Our MCP entry in a client: whether it has one, and how it gets and loses it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from vault_agent.cli import foreign, jsonc
from vault_agent.cli.clients import NAME
from vault_agent.errors import Misconfigured

if TYPE_CHECKING:
    from vault_agent.cli.clients import Client

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
    found = shutil.which(NAME)
    return [found] if found else [sys.executable, "-m", "vault_agent"]


def snippet(client: Client, command: list[str]) -> str:
    """Return what to type, or what to write into the client's file."""
    if client.program:
        import shlex

        return shlex.join(_call(client, client.add, command))
    return json.dumps({client.section: {NAME: client.entry(command)}}, indent=2)


def state(client: Client, command: list[str]) -> State:
    """Return whether a client has our entry, with this command. Its programs are not started."""
    place = client.file or client.kept
    assert place is not None  # noqa: S101 - each client has one of the two
    path = place()
    try:
        text = path.read_text("utf-8")
        known = tomllib.loads(text) if path.suffix == ".toml" else jsonc.loads(text)
        entry = known.get(client.section, {}).get(NAME)
    except FileNotFoundError:
        return "missing"
    except (OSError, ValueError, jsonc.NotJson, AttributeError):
        return "unreadable"
    if not isinstance(entry, dict):
        return "missing"
    if client.file is not None:
        return "installed" if entry == client.entry(command) else "other"
    args = entry.get("args")
    found = [entry.get("command"), *(args if isinstance(args, list) else [])]
    return "installed" if found == command else "other"


def install(client: Client, command: list[str], *, force: bool) -> str:
    """Tell the client of our server, and return what was done.

    Raises:
        Misconfigured: `CLIENT_CONFIG_INVALID` if its file cannot be read or written, or has an
            entry already; `details.snippet` has what to type or to write.
    """
    if client.program:
        _run(client, client.add, command)
        return f"{client.title} knows vault-agent now."
    assert client.file is not None  # noqa: S101 - a client without a command has a file
    ours = _ours(client, client.entry(command))
    try:
        known = jsonc.loads(text) if (text := foreign.read(client.file())).strip() else {}
        if NAME in known.get(client.section, {}) and not force:
            raise _unchanged(client, command, "has an entry vault-agent already: add --force")
        foreign.put_in(client.file(), ours)
    except foreign.NotEdited as error:
        raise _unchanged(client, command, error.why) from None
    except (jsonc.NotJson, AttributeError, TypeError):
        raise _unchanged(client, command, "is not valid JSON") from None
    return f"{client.title}: vault-agent is in {client.file()}. Restart it."


def uninstall(client: Client, command: list[str]) -> str:
    """Remove our server from the client. Raises as `install`."""
    if client.program:
        _run(client, client.remove, command)
        return f"{client.title} does not know vault-agent any more."
    assert client.file is not None  # noqa: S101 - a client without a command has a file
    try:
        text = foreign.read(client.file())
        known = jsonc.loads(text) if text.strip() else {}
        entry = known.get(client.section, {}).get(NAME)
        foreign.take_out(client.file(), _ours(client, entry))
    except foreign.NotEdited as error:
        raise _unchanged(client, command, error.why) from None
    except (jsonc.NotJson, AttributeError, TypeError):
        raise _unchanged(client, command, "is not valid JSON") from None
    return f"{client.title}: vault-agent is no longer in {client.file()}."


def _ours(client: Client, entry: Any) -> foreign.Ours:
    return foreign.Ours(
        add=lambda text: jsonc.with_member(text, client.section, NAME, entry),
        remove=lambda text: jsonc.without_member(text, client.section, NAME),
    )


def _unchanged(client: Client, command: list[str], why: str) -> Misconfigured:
    assert client.file is not None  # noqa: S101 - as above
    return Misconfigured(
        "CLIENT_CONFIG_INVALID",
        f"{client.file().name} of {client.title} {why}. It is unchanged. The entry is:",
        {"snippet": snippet(client, command)},
    )


def _call(client: Client, arguments: tuple[str, ...], command: list[str]) -> list[str]:
    call = [client.program]
    for each in arguments:
        call += command if each == "{}" else [each]
    return call


def _run(client: Client, arguments: tuple[str, ...], command: list[str]) -> None:
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
