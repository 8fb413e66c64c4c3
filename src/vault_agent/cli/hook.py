"""`vault-agent memory hook`: what an agent calls when a session starts, goes on and ends.

It must never disturb the agent: it ends with code 0 whatever happens, prints one JSON object or
nothing, and gives up after `memory.hook_timeout_ms`. It asks nothing. Each event becomes a line of
its session's file, with or without a server; then a server is asked what it brings. It is reached
before the command line's parser, whose import takes longer than all it does. Where no server runs,
one is started after all is printed, for the events to come.
"""

from __future__ import annotations

import json
import os
import select
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlsplit

from vault_agent.config.fast_settings import (
    hook_settings,
    index_folder,
    is_mcp_off,
    names_any,
    own_server,
)
from vault_agent.config.layers import read_layers
from vault_agent.config.project import find_project, trusted_entry
from vault_agent.config.setting_names import OFF_ENV
from vault_agent.config.vault_list import Role, read_registry
from vault_agent.errors import at_terminal, explained
from vault_agent.model.sessions import PROMPT, START
from vault_agent.system.address import is_serving
from vault_agent.system.checkout import commit_at

if TYPE_CHECKING:
    from collections.abc import Callable

    from vault_agent.config.fast_settings import ServerAccess
    from vault_agent.config.layers import Layer
    from vault_agent.model.sessions import SessionEvent

MAX_INPUT_BYTES: Final = 1 << 20
_MAX_REPLY_BYTES: Final = 256 * 1024
_BLOCK: Final = 64 * 1024
_WITHIN: Final = 0.75
"""The part of the time that is left in which the server chooses."""
_SECONDS_AT_MOST: Final = 15.0
_STARTS: Final = ("SessionStart", "session.created", START)
_UNTRUSTED: Final = "This project has a vault that you have not allowed yet. It is not used."


class HookOptions(NamedTuple):
    """The options of `vault-agent memory hook`."""

    agent: str = "generic"
    config: str | None = None
    endpoint: str | None = None


class Sent(NamedTuple):
    """What a server replied to an event. None: no server answered in time, or it refused."""

    text: str | None = None
    message: str | None = None


def hook_options(arguments: list[str]) -> HookOptions | None:
    """Return the options of a hook, or None if the arguments are those of another command.

    What is not understood is left out: an agent may take an error as an order to stop.
    """
    if arguments[:2] != ["memory", "hook"] or {"--help", "-h"} & {*arguments}:
        return None
    values: dict[str, str] = {}
    remaining = iter(arguments[2:])
    for argument in remaining:
        name, assigned, value = argument.partition("=")
        if name in ("--agent", "--config", "--endpoint"):
            values[name.removeprefix("--")] = value if assigned else next(remaining, "")
    return HookOptions(**values)


def run_hook(options: HookOptions) -> None:
    """Read one event from standard input, pass it on, print what it brings, and end the process."""
    # The time since the process began is at least that of its CPU.
    began = time.monotonic() - time.process_time()
    try:
        _end_at_last(began)
        _handle(options, began)
    except BaseException:  # noqa: BLE001, S110 - an agent must not see any failure
        pass
    finally:
        os._exit(0)  # at once: nothing may print or wait at the end


def answer_to(event: SessionEvent, reply: Sent) -> dict[str, Any] | None:
    """Return what an agent's hook prints for an event, or None."""
    printed: dict[str, Any] = {}
    if reply.text and event.event in {START, PROMPT}:
        printed["hookSpecificOutput"] = {
            "hookEventName": event.name,
            "additionalContext": reply.text,
        }
    if reply.message:
        printed["systemMessage"] = reply.message
    return printed or None


def event_here(
    agent: str, payload: dict[str, Any], folder: Path
) -> tuple[SessionEvent, bool] | None:
    """Return the event in a project's folder, and whether the project's vault is trusted.

    None if it is no event that matters, or the folder is in no project with a vault.

    Raises:
        VaultAgentError: if the project or the list of vaults cannot be read.
    """
    from vault_agent.memory.events import read_event

    project = find_project(folder)
    if project is None:
        return None
    entry = trusted_entry(project, read_registry())
    if entry is not None and entry.role is not Role.PROJECT:
        return None
    event = read_event(
        agent,
        payload,
        vault=entry.identity if entry is not None else "",
        at=time.time(),
        commit=commit_at(folder) if payload.get("hook_event_name") in _STARTS else None,
    )
    return None if event is None else (event, entry is not None)


def send_event(event: SessionEvent, where: ServerAccess, deadline: float) -> Sent:
    """Send an event to the server, until a moment of `time.monotonic`, and return its reply."""
    from vault_agent.memory.events import to_line

    try:
        status, body = _post(where, json.dumps(to_line(event)).encode(), deadline)
    except (OSError, ValueError):
        return Sent()
    data = body.get("data")
    if status != 202 or not isinstance(data, dict):
        return Sent()
    text = data.get("text")
    messages = [*_warned(body.get("warnings")), data.get("message")]
    return Sent(
        text=text if isinstance(text, str) else None,
        message="\n".join(text for text in messages if isinstance(text, str)) or None,
    )


def _warned(warnings: object) -> list[str]:
    """Return the messages of a reply's warnings as they are at a terminal."""
    return [
        at_terminal(
            str(warning.get("code")), str(warning.get("message")), warning.get("details") or {}
        )
        for warning in (warnings if isinstance(warnings, list) else ())
        if isinstance(warning, dict)
    ]


def start_server(layers: tuple[Layer, ...], config: Path | None) -> bool:
    """Start the server in the background, as the relay of an agent does, and do not wait for it.

    None is started where another address is set, MCP is off, or a server has the index: it may be
    starting. Return whether one was.
    """
    folder = index_folder(layers)
    if folder is None or names_any(layers, "server.endpoint") or is_mcp_off(layers):
        return False
    if is_serving(folder):
        return False
    from vault_agent.cli.detached import LOG, start_of
    from vault_agent.system.files import make_private_folder
    from vault_agent.system.processes import PROGRAM, start_detached

    how = start_of(layers, config.absolute() if config is not None else None)
    make_private_folder(folder)
    command = (*PROGRAM, *how.arguments, "--background", "--mcp", "--until-idle")
    start_detached(command, environment=how.environment, log=folder / LOG)
    return True


def _handle(options: HookOptions, began: float) -> None:
    """Keep the event on standard input, and print what a server says to it, or start one."""
    if os.environ.get(OFF_ENV, "").lower() not in ("", "0", "false"):
        return
    config = Path(options.config) if options.config else None
    layers = read_layers({"server.endpoint": options.endpoint}, config)
    settings = hook_settings(layers)
    if not settings.enabled:
        return
    deadline = began + settings.timeout_seconds
    payload = _read_object(0, deadline)
    folder = payload.get("cwd") if payload is not None else None
    if payload is None or not isinstance(folder, str):
        return
    event_and_trust = event_here(options.agent, payload, Path(folder))
    if event_and_trust is None:
        return
    event, trusted = event_and_trust
    if not trusted:
        if event.event == START:
            told = explained("VAULT_NOT_TRUSTED", _UNTRUSTED)
            _print({"systemMessage": f"vault-agent: {told}"})
        return
    from vault_agent.memory.events import append_line, to_line

    with suppress(OSError):  # a full disk is no reason to tell the agent nothing
        append_line(settings.folder, event.agent, event.session_id, to_line(event))
    where = own_server(layers)
    if where is not None:
        if (answer := answer_to(event, send_event(event, where, deadline))) is not None:
            _print(answer)
    elif event.event in {START, PROMPT}:
        start_server(layers, config)


def _read_object(source: int, deadline: float) -> dict[str, Any] | None:
    """Return the JSON object on a descriptor, as soon as it is whole: it may stay open."""
    held = bytearray()
    while True:
        left = deadline - time.monotonic()
        # Windows cannot wait for a pipe. There the watchdog ends a hook that gets nothing.
        if sys.platform != "win32" and not select.select([source], [], [], max(left, 0))[0]:
            return None
        part = os.read(source, _BLOCK)
        held += part
        if len(held) > MAX_INPUT_BYTES:
            return None
        if not part or held.rstrip().endswith(b"}"):
            try:
                message = json.loads(held)
            except (ValueError, RecursionError):
                if not part:
                    return None
                continue
            return message if isinstance(message, dict) else None


def _post(where: ServerAccess, body: bytes, deadline: float) -> tuple[int, dict[str, Any]]:
    """Post JSON to the server, and return the status and the object of its reply.

    HTTP/1.0, so that the reply ends with its length or with the connection. `http.client` takes
    longer to import than all of this takes.

    Raises:
        OSError: if there is no reply in time.
        ValueError: if the reply is no HTTP with a JSON object.
    """
    parts = urlsplit(where.endpoint)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    lines = [
        f"POST {parts.path.rstrip('/')}/sessions/events HTTP/1.0",
        f"Host: {parts.netloc.rpartition('@')[2]}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        "User-Agent: vault-agent",
        f"Vault-Agent-Seconds: {_WITHIN * _left(deadline):.3f}",
    ]
    if where.api_key is not None:
        lines.append(f"Authorization: Bearer {where.api_key}")
    request = "\r\n".join([*lines, "", ""]).encode("latin-1") + body
    # As bytes: text would need the codec of international names, whose import takes 2 ms.
    address: Any = (host.encode("idna" if not host.isascii() else "ascii"), port)
    with socket.create_connection(address, timeout=_left(deadline)) as plain:
        stream = plain
        if parts.scheme == "https":
            import ssl

            stream = ssl.create_default_context().wrap_socket(plain, server_hostname=host)
        stream.settimeout(_left(deadline))
        stream.sendall(request)
        reply = bytearray()
        while True:
            stream.settimeout(_left(deadline))
            part = stream.recv(_BLOCK)
            if not part:
                break
            reply += part
            if len(reply) > _MAX_REPLY_BYTES:
                raise ValueError
            if _is_whole(reply):
                break
    head, _, content = bytes(reply).partition(b"\r\n\r\n")
    version, status, *_ = head.split(b" ", 2)
    if not version.startswith(b"HTTP/1."):
        raise ValueError
    answer = json.loads(content) if content else {}
    if not isinstance(answer, dict):
        raise ValueError  # noqa: TRY004 - one kind of error for a reply that is not the server's
    return int(status), answer


def _is_whole(reply: bytearray) -> bool:
    """Whether a reply has as many bytes as it says. The server still notes that it was read."""
    head, ended, content = reply.partition(b"\r\n\r\n")
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if ended and name.lower() == b"content-length" and value.strip().isdigit():
            return len(content) >= int(value)
    return False


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _print(value: dict[str, Any]) -> None:
    data = json.dumps(value).encode() + b"\n"
    with suppress(OSError):
        while data:
            data = data[os.write(1, data) :]


def _end_at_last(began: float) -> None:
    """End the process silently if anything waits for longer, such as a folder on a network."""
    import signal

    if hasattr(signal, "setitimer"):
        end: Callable[..., None] = lambda *_: os._exit(0)  # noqa: E731 - a signal's handler
        signal.signal(signal.SIGALRM, end)
        signal.setitimer(signal.ITIMER_REAL, max(0.1, began + _SECONDS_AT_MOST - time.monotonic()))
