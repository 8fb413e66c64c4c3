"""Starts the server of the settings for a command that needs one, as agents do too."""

from __future__ import annotations

import json
import re
import subprocess
import time
from typing import TYPE_CHECKING

from vault_agent.cli.terminal import tell
from vault_agent.config.connection import connection, own_server
from vault_agent.errors import Failed, error_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from vault_agent.config.layers import Layer

_SECONDS_TO_START = 60.0
_SECONDS_BETWEEN_LOOKS = 0.1
_ERROR = re.compile(r"([A-Z][A-Z_]+): (.+)")


def wake(layers: Sequence[Layer], config_file: Path | None) -> None:
    """Start the server of `vault.root`, and say so. It ends when it is idle.

    Nothing happens while a server of another vault has its address: the reply warns of it.

    Raises:
        VaultAgentError: why the server did not start.
    """
    from vault_agent.system.ports import is_answering  # slow, and seldom needed

    if is_answering(connection(layers).endpoint):
        return
    tell("No server runs. Starting one, which ends when nobody asks it for a while …")
    flags = [] if config_file is None else ["--config", str(config_file)]

    def look() -> str | None:
        server = own_server(layers)
        return None if server is None else server.endpoint

    start_until_idle(flags, look)


def start_until_idle(flags: Sequence[str], look: Callable[[], str | None]) -> str:
    """Start a server in the background that ends when it is idle, and return its address.

    `look` returns the address of one that another command starts at the same moment, or None.

    Raises:
        VaultAgentError: why it did not start.
    """
    from vault_agent.system.processes import PROGRAM  # slow, and seldom needed

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
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        if b"INDEX_LOCKED" not in done.stderr or time.monotonic() > deadline:
            said = _ERROR.fullmatch(lines[-1]) if lines else None
            if said is not None:
                raise error_of(said[1], said[2])
            raise Failed("SERVER_FAILED", "The server did not start.")
        # The server that holds the index is starting or ending.
        time.sleep(_SECONDS_BETWEEN_LOOKS)
        if (endpoint := look()) is not None:
            return endpoint
