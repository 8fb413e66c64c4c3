"""Settings from flags, environment, the user's TOML file, and defaults, in this order.

`Config` and its loader are imported at first use, because the import of pydantic-settings takes
longer than a whole search does in a client.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vault_agent.config.settings import (
        Config,
        build_config,
        endpoint_settings,
        index_directory,
        index_parent,
        load_config,
        rerank_settings,
        switched_on,
    )

__all__ = [
    "Config",
    "build_config",
    "endpoint_settings",
    "index_directory",
    "index_parent",
    "load_config",
    "rerank_settings",
    "switched_on",
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from vault_agent.config import settings

    return getattr(settings, name)
