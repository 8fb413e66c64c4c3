"""The server in the background: start it, wait until it answers, stop it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from vault_agent.config.fast_settings import connection, own_server
from vault_agent.config.setting_names import CONFIG_ENV, SETTINGS
from vault_agent.errors import Failed, VaultAgentError, error_of
from vault_agent.system.address import ServerAddress, is_serving, live_address, recorded_address
from vault_agent.system.files import make_private_folder, reason_of
from vault_agent.system.processes import (
    PROGRAM,
    ask_to_end,
    kill,
    leave_running,
    start_detached,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from vault_agent.config.layers import Layer

LOG: Final = "server.log"
_OLD_LOG: Final = "server.log.old"
_MAX_LOG_BYTES: Final = 1 << 20

_SECONDS_TO_START: Final = 60.0
_SECONDS_TO_STOP: Final = 10.0
_SECONDS_BETWEEN_LOOKS: Final = 0.05
FLAGS: Final = {
    "vault.root": "--vault-root",
    "server.host": "--host",
    "server.port": "--port",
    "index.dir": "--index-dir",
}
"""The flags of `serve`, by their settings."""

_ERROR: Final = re.compile(r"([A-Z][A-Z_]+): (.+)")


class StartCommand(NamedTuple):
    """How to start the server: its arguments and its environment."""

    arguments: tuple[str, ...]
    environment: Mapping[str, str]


def start_of(layers: tuple[Layer, ...], config_file: Path | None) -> StartCommand:
    """Return how to start a server with these settings from any folder.

    `config_file` is a file that was chosen instead of the user's default one. Relative paths become
    absolute. The API key goes into the environment, because other users can see arguments.
    """
    flags, variables, _ = layers
    environment = dict(os.environ)
    for name, value in variables.values.items():
        if SETTINGS[name].path:
            environment[SETTINGS[name].environment] = str(value)
    arguments = ["serve"]
    if config_file is not None:
        environment[CONFIG_ENV] = str(config_file)
    for name, value in flags.values.items():
        if name in FLAGS:
            arguments += [FLAGS[name], str(value)]
        elif SETTINGS[name].of_server:
            environment[SETTINGS[name].environment] = str(value)
    return StartCommand(tuple(arguments), environment)


def start_server(how: StartCommand, folder: Path) -> ServerAddress:
    """Start a server for the index in `folder`, and return its address once it answers.

    Raises:
        VaultAgentError: the error with which the server ended, or `SERVER_FAILED`.
    """
    log = folder / LOG
    # A server that was killed leaves its address, until the next one has the index.
    killed = None if is_serving(folder) else recorded_address(folder)
    try:
        make_private_folder(folder)
        _keep_short(log)
        before = log.stat().st_size if log.exists() else 0
        process = start_detached((*PROGRAM, *how.arguments), environment=how.environment, log=log)
    except OSError as error:
        what = f"The server cannot be started: {reason_of(error)}."
        raise Failed("SERVER_FAILED", what) from None
    deadline = time.monotonic() + _SECONDS_TO_START
    try:
        while process.poll() is None:
            if (address := live_address(folder)) not in (None, killed):
                return address
            if time.monotonic() > deadline:
                raise Failed("SERVER_FAILED", "The server runs, but does not answer yet.")
            time.sleep(_SECONDS_BETWEEN_LOOKS)
        with log.open("rb") as file:
            file.seek(before)
            raise _reason(file.read(_MAX_LOG_BYTES))
    finally:
        leave_running(process)


def stop(folder: Path) -> ServerAddress | None:
    """Stop the server of the index in `folder`. Return its address, or None if none runs.

    Raises:
        Failed: `SERVER_FAILED` if the server does not end.
    """
    address = running(folder)
    if address is None:
        return None
    for end in (ask_to_end, kill):
        end(address.pid)
        deadline = time.monotonic() + _SECONDS_TO_STOP
        while time.monotonic() < deadline:
            # Another one that was starting may have the index at once.
            now = live_address(folder)
            if not is_serving(folder) or (now is not None and now.pid != address.pid):
                return address
            time.sleep(_SECONDS_BETWEEN_LOOKS)
    raise Failed("SERVER_FAILED", f"The server does not end. Its process is {address.pid}.")


def running(folder: Path, *, within: float = 0) -> ServerAddress | None:
    """Return the address of the server that has this index, or None. Wait while it starts.

    If no server holds the index yet, wait `within` seconds for one that starts.

    Raises:
        Failed: `SERVER_FAILED` if it does not answer.
    """
    deadline = time.monotonic() + _SECONDS_TO_START
    until = time.monotonic() + within
    while is_serving(folder) or time.monotonic() < until:
        if (address := live_address(folder)) is not None:
            return address
        if time.monotonic() > deadline:
            raise Failed("SERVER_FAILED", "A server runs, but does not answer.")
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    return None


def _keep_short(log: Path) -> None:
    """Set a long log aside, so that the two together stay small."""
    with suppress(FileNotFoundError):
        if log.stat().st_size > _MAX_LOG_BYTES:
            log.replace(log.with_name(_OLD_LOG))


def _reason(printed: bytes) -> VaultAgentError:
    """Return the error that a server printed last before it ended."""
    for line in reversed(printed.decode("utf-8", "replace").splitlines()):
        if error := _ERROR.fullmatch(line):
            return error_of(error[1], error[2])
    return Failed("SERVER_FAILED", "The server ended at its start.")


def wake(layers: Sequence[Layer], config_file: Path | None) -> None:
    """Start the server of `vault.root`, and say so. It ends when it is idle.

    Nothing happens while a server of another vault has its address: the reply warns of it.

    Raises:
        VaultAgentError: why the server did not start.
    """
    from vault_agent.system.address import is_answering  # slow, and seldom needed

    if is_answering(connection(layers).endpoint):
        return
    from vault_agent.cli.terminal import tell

    tell("No server runs. Starting one, which ends when nobody asks it for a while …")
    flags = [] if config_file is None else ["--config", str(config_file)]
    start_until_idle(flags, layers)


def start_until_idle(flags: Sequence[str], layers: Sequence[Layer]) -> str:
    """Run `serve --background --until-idle`, and return the address of the server.

    If another command starts the server of these settings at the same moment, it is that one.

    Raises:
        VaultAgentError: why it did not start.
    """
    deadline = time.monotonic() + _SECONDS_TO_START
    while True:
        done = subprocess.run(  # noqa: S603 - our own program
            (*PROGRAM, "serve", "--background", "--until-idle", "--json", *flags),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        if done.returncode == 0:
            return str(json.loads(done.stdout)["data"]["endpoint"])
        if b"INDEX_LOCKED" not in done.stderr or time.monotonic() > deadline:
            raise _reason(done.stderr)
        # The server that holds the index is starting or ending.
        time.sleep(_SECONDS_BETWEEN_LOOKS)
        if (server := own_server(layers)) is not None:
            return server.endpoint
