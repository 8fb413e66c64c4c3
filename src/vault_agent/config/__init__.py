"""Settings: flags over environment over the user's TOML file over defaults.

`Config` and its loader are fetched when first asked for, because pydantic-settings takes longer
to import than a client needs for a whole search.
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
    )

__all__ = [
    "Config",
    "build_config",
    "endpoint_settings",
    "index_directory",
    "index_parent",
    "load_config",
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from vault_agent.config import settings

    return getattr(settings, name)
