"""A running server follows its config file."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from tests.support.clocks import PATIENCE

from vault_agent.config import build_config
from vault_agent.config.layers import read_layers
from vault_agent.config.live import LiveConfig

if TYPE_CHECKING:
    from pathlib import Path

    from vault_agent.config import Config


def following(file: Path) -> tuple[Config, LiveConfig]:
    """Return the settings of a server that was started with a file, and what follows the file."""
    file.write_text("[memory]\nshow = true\n")
    layers = read_layers(chosen=file, environ={})
    config = build_config(layers)
    return config, LiveConfig(config, layers, file, file.parent)


@pytest.mark.skipif(sys.platform == "win32", reason="named pipes of POSIX")
def test_a_pipe_in_place_of_the_file_is_not_waited_for(tmp_path: Path):
    file = tmp_path / "config.toml"
    config, live = following(file)
    file.unlink()
    os.mkfifo(file)
    with ThreadPoolExecutor(1) as pool:
        looking = pool.submit(live.follow)
        try:
            assert not looking.result(PATIENCE)
        finally:
            os.close(os.open(file, os.O_RDWR))  # ends the wait of a reader
    assert config.memory.show


@pytest.mark.fault(
    "Agents",
    "an editor writes the config file in place, piece by piece",
    "a running server takes it over when it has not changed between two looks",
)
def test_half_a_file_is_not_taken_over(tmp_path: Path):
    file = tmp_path / "config.toml"
    config, live = following(file)
    file.write_text("[memory]\nshow = false\n")
    assert not live.follow()
    assert config.memory.show
    assert live.follow()
    assert not config.memory.show
    other = tmp_path / "other"  # as `config set` and most editors save
    other.write_text("[memory]\nshow = true\n")
    other.replace(file)
    assert live.follow()
    assert config.memory.show
