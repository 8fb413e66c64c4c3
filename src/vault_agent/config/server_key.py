"""Who may change notes, and the key that a server needs for it.

A server has a key if other computers can reach it, or if it changes notes.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from pydantic import SecretStr

from vault_agent.config import rules
from vault_agent.config.edit import set_values
from vault_agent.config.layers import Problem, config_path, default_config_path, invalid
from vault_agent.errors import Unauthorized

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from vault_agent.config.settings import Config


def server_writes(config: Config) -> bool:
    """Whether the server may write notes of its own, such as promoted ones.

    It writes them into the vaults of projects and the global one, also while `write.enabled` is
    false.
    """
    return config.vaults.enabled and (config.memory.enabled or config.journal.enabled)


def changes_notes(config: Config) -> bool:
    """Whether notes may be changed in any vault, on request or by the server itself."""
    return config.write.enabled or server_writes(config)


def is_exposed(config: Config) -> bool:
    """Whether other computers can reach the server."""
    return not rules.is_loopback(config.server.host)


def needs_key(config: Config) -> bool:
    """Whether every request needs a key."""
    return is_exposed(config) or changes_notes(config)


def require_key(
    config: Config, chosen: Path | None = None, environ: Mapping[str, str] | None = None
) -> tuple[Config, bool]:
    """Return the settings, with a generated key if one is required, and whether it is new.

    A generated key is written only to the user's default config file. If another file is in use
    (`chosen`, the `--config` flag, or VAULT_AGENT_CONFIG), Unauthorized API_KEY_REQUIRED is
    raised, because that file may be anywhere. A key that is too short raises CONFIG_INVALID.
    """
    if not needs_key(config):
        return config, False
    exposed = is_exposed(config)
    key = config.server.api_key
    if key is not None:
        if exposed and len(key.get_secret_value()) < rules.SHORTEST_KEY_OFF_LOOPBACK:
            rule = (
                f"must have {rules.SHORTEST_KEY_OFF_LOOPBACK} characters or more"
                " if other computers can reach the server"
            )
            raise invalid([Problem("server.api_key", rule)])
        return config, False
    path = config_path(chosen, environ)
    if path.resolve() != default_config_path().resolve():
        why = "other computers can reach this server" if exposed else "this server changes notes"
        raise Unauthorized("API_KEY_REQUIRED", f"{why}, so it needs a key.")
    made = secrets.token_urlsafe(32)
    set_values(path, {"server.api_key": made})
    server = config.server.model_copy(update={"api_key": SecretStr(made)})
    return config.model_copy(update={"server": server}), True
