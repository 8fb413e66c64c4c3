"""The settings that a client needs, one by one, without the slow import of pydantic.

A value that is not plainly valid by its row and by `rules` gets the full validation, which words
the error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from vault_agent.config import rules
from vault_agent.config.setting_names import DEFAULT_PORT, SETTINGS
from vault_agent.errors import Misconfigured
from vault_agent.system.address import live_address, recorded_address

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from vault_agent.config.layers import Layer
    from vault_agent.config.setting_names import Setting

_LONG = 200
"""Longer texts, and those with outer white space, are never plainly valid."""


def setting(layers: Sequence[Layer], name: str) -> Any:
    """Return one setting in its normal form, or its default. Raises CONFIG_INVALID."""
    described = SETTINGS[name]
    for layer in layers:
        if name in layer.values:
            try:
                return _checked(described, layer.values[name])
            except ValueError:
                from vault_agent.config.settings import convert

                return convert(name, layer.values[name], layer.origin)
    return tuple(described.default or ()) if described.many else described.default


def _checked(setting: Setting, raw: Any) -> Any:
    """Return the value in its normal form. Raises ValueError."""
    value = _typed(setting, raw)
    if setting.check:
        value = getattr(rules, setting.check)(value)
    is_valid = (
        (setting.ge is None or value >= setting.ge)
        and (setting.gt is None or value > setting.gt)
        and (setting.le is None or value <= setting.le)
        and (
            not setting.choices or set(value if setting.many else (value,)) <= set(setting.choices)
        )
    )
    if not is_valid:
        raise ValueError
    return value


def _typed(setting: Setting, raw: Any) -> Any:
    if setting.kind == "bool":
        return rules.switch(raw)
    if isinstance(raw, bool):
        raise ValueError  # noqa: TRY004 - as the rules
    if setting.kind in ("int", "float"):
        return float(raw) if setting.kind == "float" else int(str(raw))
    if setting.kind == "str" and not (
        isinstance(raw, str) and raw == raw.strip() and len(raw) <= _LONG
    ):
        raise ValueError
    return raw


class ServerAccess(NamedTuple):
    """The address and the key of the server."""

    endpoint: str
    api_key: str | None

    def __repr__(self) -> str:
        """Leave out the key, which no message may show."""
        return f"ServerAccess(endpoint={self.endpoint!r})"


def connection(layers: Sequence[Layer]) -> ServerAccess:
    """Return the server's address and key, checked like the full settings, or CONFIG_INVALID.

    Without `server.endpoint`, the address is that of the server that serves `vault.root` now, else
    the one of `server.host` and `server.port`.
    """
    endpoint = setting(layers, "server.endpoint")
    if endpoint is None:
        endpoint = _elsewhere(layers, configured_endpoint(layers))
    return ServerAccess(endpoint, setting(layers, "server.api_key"))


def own_server(layers: Sequence[Layer]) -> ServerAccess | None:
    """Return the server that the settings name, or else the one that serves `vault.root` now.

    None if there is neither. A server that listens at the usual port may serve another vault, and
    may be another user's.
    """
    if names_any(layers, "server.endpoint"):
        return connection(layers)
    folder = index_folder(layers)
    live = live_address(folder) if folder is not None else None
    return None if live is None else ServerAccess(live.endpoint, setting(layers, "server.api_key"))


def names_any(layers: Sequence[Layer], *settings: str) -> bool:
    """Whether one of these settings is set anywhere."""
    return any(name in layer.values for layer in layers for name in settings)


def is_mcp_off(layers: Sequence[Layer]) -> bool:
    """Whether `mcp.enabled` was set to false. Unset, a relay may still start a server with it."""
    return names_any(layers, "mcp.enabled") and not setting(layers, "mcp.enabled")


def several_vaults(layers: Sequence[Layer]) -> bool:
    """Return `vaults.enabled`."""
    return bool(setting(layers, "vaults.enabled"))


class HookSettings(NamedTuple):
    """What an agent's hook needs. `folder` is the data folder."""

    enabled: bool
    timeout_seconds: float
    folder: Path


def hook_settings(layers: Sequence[Layer]) -> HookSettings:
    """Return what an agent's hook needs, checked like the full settings, or CONFIG_INVALID."""
    used = [setting(layers, f"{section}.enabled") for section in ("memory", "journal")]
    return HookSettings(
        enabled=several_vaults(layers) and any(used),
        timeout_seconds=setting(layers, "memory.hook_timeout_ms") / 1_000,
        folder=rules.data_folder(setting(layers, "index.dir")),
    )


def vault_root(layers: Sequence[Layer]) -> Path | None:
    """Return `vault.root`, or None if it is not set."""
    root: Path | None = setting(layers, "vault.root")
    return root


def index_folder(layers: Sequence[Layer]) -> Path | None:
    """Return the folder of the index of `vault.root`, or None if that is not set."""
    root = vault_root(layers)
    return None if root is None else rules.index_folder(root, setting(layers, "index.dir"))


def index_folders(layers: Sequence[Layer]) -> list[Path]:
    """Return the folders in which indexes of this user may be: by `index.dir`, and by default."""
    parent = setting(layers, "index.dir")
    parents = dict.fromkeys(rules.data_folder(place) for place in (parent, None))
    return [place / "indexes" for place in parents]


def configured_endpoint(layers: Sequence[Layer]) -> str:
    """Return the URL by `server.host` and `server.port`, whoever listens there."""
    port = setting(layers, "server.port") or DEFAULT_PORT
    return rules.endpoint_of(setting(layers, "server.host"), port)


def _elsewhere(layers: Sequence[Layer], expected: str) -> str:
    """Return the URL of the server that serves the configured vault, or else `expected`."""
    try:
        folder = index_folder(layers)
    except Misconfigured:
        return expected  # commands that need the folder report that
    noted = recorded_address(folder) if folder is not None else None
    if folder is None or noted is None or noted.endpoint == expected:
        return expected  # most commands end here, without touching the lock
    live = live_address(folder)
    return expected if live is None else live.endpoint
