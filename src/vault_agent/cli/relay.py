"""Finds or starts the server for `vault-agent mcp`, without the parser of the command line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from vault_agent import __version__
from vault_agent.config import rules
from vault_agent.config.fast_settings import (
    ServerAccess,
    connection,
    index_folder,
    is_mcp_off,
    names_any,
    own_server,
    setting,
    several_vaults,
)
from vault_agent.config.layers import read_layers
from vault_agent.config.rights import tool_settings
from vault_agent.errors import VaultAgentError
from vault_agent.mcp.handshake import is_handshake, is_list, result_for
from vault_agent.mcp.relay import NoServer, ServerAt, run_relay
from vault_agent.mcp.tool import TOOL_SWITCHES, ClientTools
from vault_agent.system.address import is_answering, live_address

if TYPE_CHECKING:
    from vault_agent.config.layers import Layer


class RelayOptions(NamedTuple):
    """The options of `vault-agent mcp`. They are paths and names as given."""

    config: str | None = None
    endpoint: str | None = None
    api_key: str | None = None
    vault_root: str | None = None
    agent: str | None = None
    no_start: bool = False


def options_of(arguments: list[str]) -> RelayOptions | None:
    """Return the options of a relay, or None if these arguments need the parser.

    The parser is needed for other commands and for wrong arguments. Its import takes longer than
    the relay needs for its first reply.
    """
    values: dict[str, str | bool] = {}
    command = False
    remaining = iter(arguments)
    for argument in remaining:
        name, assigned, value = argument.partition("=")
        field = name.removeprefix("--").replace("-", "_")
        if argument == "mcp" and not command:
            command = True
        elif argument == "--no-start":
            values["no_start"] = True
        elif name.startswith("--") and field in RelayOptions._fields:
            chosen = value if assigned else next(remaining, None)
            if chosen is None:
                return None
            values[field] = chosen
        else:
            return None
    return RelayOptions(**values) if command else None  # type: ignore[arg-type]  # by name, as above


def relay(options: RelayOptions) -> None:
    """Relay until the client is gone, and end the process.

    Raises:
        VaultAgentError: `CONFIG_INVALID`, before anything is relayed.
    """
    finder = _Finder(options)
    if sys.stdin.isatty():
        print("Waiting for MCP on stdin. Agents start this. Ctrl-C ends it.", file=sys.stderr)
    path = "/mcp" if options.agent is None else f"/mcp/{options.agent}"
    vault = finder.vault_here() if options.agent is None else None
    run_relay(
        finder.find,
        path,
        vault=vault,
        own=finder.own,
        is_up=finder.is_up,
    )


class _Finder:
    """Finds the server of the configured vault, or starts one in the background."""

    def __init__(self, options: RelayOptions) -> None:
        self._options = options
        self._flags = {
            "server.endpoint": options.endpoint,
            "server.api_key": options.api_key,
            "vault.root": options.vault_root,
        }
        self._config = Path(options.config) if options.config is not None else None
        self._warned = False
        self._layers = self._read()
        connection(self._layers)  # wrong settings are refused at the start

    def vault_here(self) -> str | None:
        """Return the identity of the current project's vault, if it is trusted, else None.

        The server says so of one that is missing. A server on another computer does not know it.
        """
        try:
            local = rules.is_local(connection(self._layers).endpoint)
            if not (local and several_vaults(self._layers)):
                return None
            from vault_agent.config.project import find_project, missing_entry, trusted_entry
            from vault_agent.config.vault_list import read_registry

            project, entries = find_project(), read_registry()
            entry = missing_entry(project, entries)
            if entry is None and project is not None:
                entry = trusted_entry(project, entries)
        except VaultAgentError as error:
            print(f"{error.code}: {error.message}", file=sys.stderr)
            return None
        if project is not None and entry is None:
            print("VAULT_NOT_TRUSTED: run `vault-agent vaults add` there.", file=sys.stderr)
        return entry.identity if entry is not None else None

    def own(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """Return the result of a handshake or list; None if only the server has it.

        The settings of a server on another computer are not known here.
        """
        if is_handshake(message):
            return result_for(message, None)
        if not is_list(message):
            return None
        try:
            local = rules.is_local(connection(self._layers).endpoint)
            tools = tool_settings(self._layers, self._options.agent) if local else None
            switched_on = [name for name in TOOL_SWITCHES if setting(self._layers, name)]
        except (ValueError, VaultAgentError):
            return None
        if tools is None:
            return None
        agent = self._options.agent is not None
        return result_for(message, ClientTools(*tools, switched_on, agent))

    def is_up(self) -> bool:
        """Whether a server runs that can be asked."""
        try:
            return own_server(self._layers) is not None
        except VaultAgentError:
            return False

    def find(self, failed: bool) -> ServerAt:
        """Return the server. `failed`: the one that was returned before does not answer.

        Raises:
            NoServer: if there is none and none can be started.
        """
        try:
            self._layers = self._read()  # a key may have been made meanwhile
            server = self._found(failed=failed)
        except VaultAgentError as error:
            raise NoServer(f"{error.code}: {error.message}") from None
        return ServerAt(server.endpoint, server.api_key)

    def _found(self, *, failed: bool) -> ServerAccess:
        server = own_server(self._layers)
        fixed = names_any(self._layers, "server.endpoint")
        if server is not None and fixed and not rules.is_local(server.endpoint):
            return server
        if (
            server is not None
            and not failed
            and is_answering(server.endpoint)
            and not self._is_old(server.endpoint, fixed=fixed)
        ):
            return server
        if fixed or self._options.no_start:
            raise NoServer(
                "SERVER_UNAVAILABLE: no server answers. Ask the user to run: vault-agent serve"
                " --mcp"
            )
        if is_mcp_off(self._layers):
            raise NoServer(
                "FEATURE_DISABLED: MCP is off. Ask the user to run: vault-agent enable mcp"
            )
        if index_folder(self._layers) is None:
            raise NoServer(
                "VAULT_NOT_FOUND: no vault is set. Ask the user to name the folder of the notes:"
                " vault-agent setup --folder PATH"
            )
        from vault_agent.cli.detached import start_until_idle  # slow, and seldom needed

        endpoint = start_until_idle(["--mcp", *self._same()], self._layers)
        return ServerAccess(endpoint, connection(self._read()).api_key)

    def _is_old(self, endpoint: str, *, fixed: bool) -> bool:
        """Whether a server is one of another version that a relay started: it is replaced.

        Another one may be what its user wants, so it only gets a warning.
        """
        folder = index_folder(self._layers)
        noted = live_address(folder) if folder is not None else None
        if noted is None or noted.endpoint != endpoint or noted.version == __version__:
            return False
        if noted.until_idle and not fixed and not self._options.no_start:
            return True
        if not self._warned:
            self._warned = True
            print("SERVER_OF_OTHER_VERSION: run `vault-agent serve --background`.", file=sys.stderr)
        return False

    def _same(self) -> list[str]:
        """Return the flags that name the same vault."""
        flags = []
        if self._options.config is not None:
            flags += ["--config", self._options.config]
        if self._options.vault_root is not None:
            flags += ["--vault-root", self._options.vault_root]
        return flags

    def _read(self) -> tuple[Layer, ...]:
        return read_layers(self._flags, self._config)
