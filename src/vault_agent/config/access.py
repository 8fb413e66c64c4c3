"""Who may ask: a server that other computers can reach needs a key."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from pydantic import SecretStr

from vault_agent.config import rules
from vault_agent.config.edit import set_value
from vault_agent.config.layers import Problem, config_path, default_config_path, invalid
from vault_agent.errors import Unauthorized

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from vault_agent.config.settings import Config


def require_key_off_loopback(
    config: Config, chosen: Path | None = None, environ: Mapping[str, str] | None = None
) -> tuple[Config, bool]:
    """Return the settings with a key wherever one is required, and whether it was made just now.

    A key is made only into the user's default config file. Where another file is in use
    (`chosen`, the `--config` flag, or VAULT_AGENT_CONFIG), which may lie anywhere, Unauthorized
    API_KEY_REQUIRED is raised. A key that is too short for the network is CONFIG_INVALID.
    """
    if rules.is_loopback(config.server.host):
        return config, False
    key = config.server.api_key
    if key is not None:
        if len(key.get_secret_value()) < rules.SHORTEST_KEY_OFF_LOOPBACK:
            rule = (
                f"must have {rules.SHORTEST_KEY_OFF_LOOPBACK} characters or more"
                " where other computers can reach the server"
            )
            raise invalid([Problem("server.api_key", rule)])
        return config, False
    path = config_path(chosen, environ)
    if path.resolve() != default_config_path().resolve():
        raise Unauthorized(
            "API_KEY_REQUIRED",
            "other computers can reach this server, so it needs a key.",
        )
    made = secrets.token_urlsafe(32)
    set_value(path, "server.api_key", made)
    server = config.server.model_copy(update={"api_key": SecretStr(made)})
    return config.model_copy(update={"server": server}), True
