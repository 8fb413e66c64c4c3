"""Settings as tests read and write them, with what `read_layers` and `set_values` take."""

from typing import Any

from vault_agent.config.edit import set_values
from vault_agent.config.layers import read_layers
from vault_agent.config.settings import Config, build_config


def load_config(*flags_and_file: Any, **environ: Any) -> Config:
    return build_config(read_layers(*flags_and_file, **environ))


def set_value(path: Any, name: str, text: str | None) -> list[Any]:
    return set_values(path, {name: text})
