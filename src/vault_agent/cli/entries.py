"""Our MCP entry in a client: whether it has one, and how it gets and loses it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from vault_agent.cli import foreign
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
    if client.file is not None:
        form = foreign.form_of(client.file())
        return form.with_member("", client.section, NAME, client.entry(command)).rstrip()
    return json.dumps({client.section: {NAME: client.entry(command)}}, indent=2)


def state(client: Client, command: list[str]) -> State:
    """Return whether a client has our entry, with this command. Its programs are not started."""
    place = client.file or client.kept
    if place is None:
        return "missing"  # its settings cannot be read
    path = place()
    loads = tomllib.loads if path.suffix == ".toml" else foreign.form_of(path).loads
    try:
        text = path.read_text("utf-8")
        known = loads(text) if text.strip() else {}
        entry = (known.get(client.section) or {}).get(NAME)
    except FileNotFoundError:
        return "missing"
    except (OSError, ValueError, AttributeError):
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
    if client.file is None:
        raise Misconfigured(
            "CLIENT_CONFIG_INVALID",
            f"{client.title} keeps its settings where only it can change them. Paste this at"
            f" {client.by_hand}:",
            {"snippet": snippet(client, command)},
        )
    ours = _ours(client, client.entry(command))
    form = foreign.form_of(client.file())
    try:
        known = form.loads(text) if (text := foreign.read(client.file())).strip() else {}
        if NAME in (known.get(client.section) or {}) and not force:
            raise _unchanged(client, command, "has an entry vault-agent already: add --force")
        foreign.put_in(client.file(), ours)
    except foreign.NotEdited as error:
        raise _unchanged(client, command, error.why) from None
    except (ValueError, AttributeError, TypeError):
        raise _unchanged(client, command, f"is not valid {form.name}") from None
    return f"{client.title}: vault-agent is in {client.file()}. Restart it."


def uninstall(client: Client, command: list[str]) -> str:
    """Remove our server from the client. Raises as `install`."""
    if client.program:
        _run(client, client.remove, command)
        return f"{client.title} does not know vault-agent any more."
    if client.file is None:
        raise Misconfigured(
            "CLIENT_CONFIG_INVALID", f"Remove vault-agent in {client.title}, at {client.by_hand}."
        )
    form = foreign.form_of(client.file())
    try:
        text = foreign.read(client.file())
        known = form.loads(text) if text.strip() else {}
        entry = (known.get(client.section) or {}).get(NAME)
        foreign.take_out(client.file(), _ours(client, entry))
    except foreign.NotEdited as error:
        raise _unchanged(client, command, error.why) from None
    except (ValueError, AttributeError, TypeError):
        raise _unchanged(client, command, f"is not valid {form.name}") from None
    return f"{client.title}: vault-agent is no longer in {client.file()}."


def _ours(client: Client, entry: Any) -> foreign.Ours:
    assert client.file is not None  # noqa: S101 - the callers have looked
    form = foreign.form_of(client.file())
    return foreign.Ours(
        add=lambda text: form.with_member(text, client.section, NAME, entry),
        remove=lambda text: form.without_member(text, client.section, NAME),
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
