"""The servers of this user that run now, as their indexes have them.

A server notes its address in the folder of its index, and holds a lock there. So the one that
answers at the configured address is known even if it serves another vault than `vault.root`.
"""

from __future__ import annotations

import shlex
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from vault_agent.cli.terminal import clean, warn
from vault_agent.config.connection import configured_endpoint, index_folder, index_folders
from vault_agent.config.follow import InUse, settings_in_use
from vault_agent.errors import Failed, Misconfigured
from vault_agent.model.warning import Warning as Notice
from vault_agent.system.address import ServerAddress, live_address, noted_vault
from vault_agent.system.files import make_private_folder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from vault_agent.cli.command import Invocation
    from vault_agent.config import Config
    from vault_agent.config.layers import Layer

STOP = "vault-agent serve --stop"
START = "vault-agent serve --background"


class Server(NamedTuple):
    """A server that runs: the folder of its index, its address, and its vault if it is known."""

    folder: Path
    address: ServerAddress
    vault: Path | None

    @property
    def in_use(self) -> InUse | None:
        """The settings that it uses, if it has noted them."""
        return settings_in_use(self.folder, self.address.pid)

    @property
    def name(self) -> str:
        """The name of its vault, for messages."""
        return clean(self.vault.name) if self.vault is not None else "another vault"

    @property
    def is_gone(self) -> bool:
        """Whether the folder of its vault is no longer there."""
        return self.vault is not None and not self.vault.is_dir()

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
    return Server(folder, address, noted_vault(folder))


def running_servers(layers: Sequence[Layer]) -> list[Server]:
    """Return all servers of this user whose indexes are where the settings have them."""
    found = []
    for parent in index_folders(layers):
        with suppress(OSError):
            found += [server_in(folder) for folder in sorted(parent.glob("*/"))]
    return [each for each in found if each is not None]


def server_at(layers: Sequence[Layer]) -> Server | None:
    """Return the server of this user that listens at the configured address."""
    endpoint = configured_endpoint(layers)
    found = running_servers(layers)
    return next((each for each in found if each.address.endpoint == endpoint), None)


def server_here(layers: Sequence[Layer]) -> Server | None:
    """Return the server of `vault.root`, or else the one that answers at the configured address."""
    with suppress(Misconfigured):  # an invalid folder: who starts a server is told
        if (found := server_in(index_folder(layers))) is not None:
            return found
    return server_at(layers)


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
    from vault_agent.config import index_directory

    folder = index_directory(config)
    try:
        make_private_folder(folder)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise Failed(
            "INDEX_IO_ERROR",
            f"The folder of the index cannot be made: {reason}.",
            remedy="To keep indexes elsewhere: `vault-agent config set index.dir PATH`.",
        ) from None


def warn_of_folders_of_agents(config: Config) -> None:
    """Name the agents whose folder is missing or misspelt: the server refuses their calls."""
    root = config.vault.root
    if not config.mcp.enabled or root is None:
        return
    for name, agent in config.agents.items():
        if agent.lacks_folder(root, writes=config.write.enabled):
            what = f"The folder of the agent {name} is not in the vault, so it is refused."
            warn([Notice.of("AGENT_FOLDER_NOT_FOUND", what)])
