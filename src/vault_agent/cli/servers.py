"""The servers of this user: finds, starts and stops them, without printing."""

from __future__ import annotations

import shlex
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from vault_agent.cli import detached
from vault_agent.cli.terminal import clean
from vault_agent.config.fast_settings import configured_endpoint, index_folder, index_folders
from vault_agent.config.followed_file import SettingsInUse, settings_in_use
from vault_agent.errors import Failed, Misconfigured
from vault_agent.system.address import ServerAddress, live_address, recorded_vault
from vault_agent.system.files import is_folder, make_private_folder, reason_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vault_agent.cli.command import Invocation
    from vault_agent.config.layers import Layer
    from vault_agent.config.settings import Config

STOP = "vault-agent serve --stop"
START = "vault-agent serve --background"


class Server(NamedTuple):
    """A server that runs: the folder of its index, its address, and its vault if it is known."""

    folder: Path
    address: ServerAddress
    vault: Path | None

    @property
    def in_use(self) -> SettingsInUse | None:
        """The settings that it uses, if it has noted them."""
        return settings_in_use(self.folder, self.address.pid)

    @property
    def refused(self) -> str:
        """Why it goes on with older settings than those of its config file, "" if it does not."""
        in_use = self.in_use
        return in_use.refused if in_use is not None else ""


def server_in(folder: Path | None) -> Server | None:
    """Return the server of an index, or None if none runs."""
    address = live_address(folder) if folder is not None else None
    if folder is None or address is None:
        return None
    return Server(folder, address, recorded_vault(folder))


def running_servers(layers: Sequence[Layer]) -> list[Server]:
    """Return all servers of this user whose indexes are where the settings have them."""
    servers = []
    for parent in index_folders(layers):
        with suppress(OSError):
            servers += [server_in(folder) for folder in sorted(parent.glob("*/"))]
    return [server for server in servers if server is not None]


def server_here(layers: Sequence[Layer]) -> Server | None:
    """Return the server of `vault.root`, or else the one that answers at the configured address."""
    with suppress(Misconfigured):  # an invalid folder: who starts a server is told
        if (server := server_in(index_folder(layers))) is not None:
            return server
    endpoint = configured_endpoint(layers)
    servers = running_servers(layers)
    return next((server for server in servers if server.address.endpoint == endpoint), None)


def in_home(path: Path | None) -> str:
    """Return a path for people, in the home folder with `~`."""
    rest = _below_home(path)
    if rest is None:
        return clean(str(path)) if path is not None else "another vault"
    return clean(str(Path("~") / rest))


def as_argument(path: Path | None) -> str:
    """Return a path as a shell takes it, in the home folder with `~`."""
    rest = _below_home(path)
    return clean(shlex.quote(str(path)) if rest is None else f"~/{shlex.quote(str(rest))}")


def _below_home(path: Path | None) -> Path | None:
    if path is not None:
        with suppress(ValueError, RuntimeError):
            return path.relative_to(Path.home())
    return None


def which_vault(invocation: Invocation, flags: Mapping[str, Any]) -> str:
    """Return the flags that name the same vault and index again."""
    named = {
        "--config": invocation.config,
        "--vault-root": flags.get("vault.root"),
        "--index-dir": flags.get("index.dir"),
    }
    return clean("".join(f" {flag} {shlex.quote(str(at))}" for flag, at in named.items() if at))


def require_servable(config: Config) -> None:
    """Check that a server can start with these settings, before another one is stopped.

    Makes the folder of the index.

    Raises:
        VaultAgentError: what the server would end with.
    """
    from vault_agent.config.settings import index_directory

    folder = index_directory(config)
    if config.vault.root is None or not is_folder(config.vault.root):
        raise Misconfigured("VAULT_NOT_FOUND", "The folder of vault.root does not exist.")
    try:
        make_private_folder(folder)
    except OSError as error:
        raise Failed(
            "INDEX_IO_ERROR",
            f"The folder of the index cannot be made: {reason_of(error)}.",
            remedy="To keep indexes in the usual folder: `vault-agent config unset index.dir`.",
        ) from None


def agents_without_folder(config: Config) -> dict[str, str]:
    """Return the agents that the server refuses, each with what it sees that is not there."""
    from vault_agent.config.agents import missing_in, not_in_vault

    return {
        name: not_in_vault(missing)
        for name, agent in config.agents.items()
        if (missing := missing_in(config.vault.root, agent.folders, agent.write))
    }


class Running(NamedTuple):
    """A server that runs after a command.

    Args:
        address: where it listens.
        folder: the folder of its index.
        before: the server that ran when the command began, if one did.
        about_port: that the usual port could not be used, for the user.
    """

    address: ServerAddress
    folder: Path
    before: Server | None = None
    about_port: str = ""

    @property
    def is_new(self) -> bool:
        """Whether the command has started it."""
        return self.before is None or self.before.address.pid != self.address.pid


def start(
    invocation: Invocation, flags: Mapping[str, Any], config: Config, *, until_idle: bool = False
) -> Running:
    """Start the server of `config`, whose vault must exist, and wait until it answers.

    If another program has the port and none was chosen, the system chooses one.

    Raises:
        VaultAgentError: the error with which the server ended; `PORT_IN_USE`.
    """
    from vault_agent.config.settings import index_directory

    folder = index_directory(config)
    taken = taken_port(invocation, flags, config)
    if taken is not None:
        flags = {**flags, "server.port": "0"}
    how = detached.start_of(invocation.layers(flags), invocation.named_config())
    if until_idle:
        how = how._replace(arguments=(*how.arguments, "--until-idle"))
    running = Running(detached.start_server(how, folder), folder)
    if taken is None:
        return running
    about_port = (
        f"Port {taken.details['port']} is in use, so this time it is"
        f" {urlsplit(running.address.endpoint).port}. To keep one: vault-agent config set"
        f" server.port {taken.details['other']}"
    )
    return running._replace(about_port=about_port)


def taken_port(
    invocation: Invocation, flags: Mapping[str, Any], config: Config
) -> Misconfigured | None:
    """Return the error if another program has the port of `config`, which nobody has chosen.

    Raises:
        Misconfigured: `PORT_IN_USE` if the port was chosen; `CONFIG_INVALID`.
    """
    from vault_agent.system.address import require_bindable

    try:
        require_bindable(config.server.host, config.server.port)
    except Misconfigured as error:
        chosen = any("server.port" in layer.values for layer in invocation.layers(flags))
        if error.code != "PORT_IN_USE" or chosen:
            raise
        return error
    return None


def stop(layers: Sequence[Layer], *, only_of_vault: bool = False) -> Server | None:
    """Stop the server of `vault.root`, or else the one that answers at the configured address.

    With `only_of_vault`, stop no server of another vault. Return the server, None if none ran.

    Raises:
        Failed: `SERVER_FAILED` if it does not end.
    """
    folder = index_folder(layers)
    if folder is not None:
        detached.running(folder)  # it may still be starting
    server = server_in(folder) if only_of_vault else server_here(layers)
    if server is not None:
        detached.stop(server.folder)
    return server
