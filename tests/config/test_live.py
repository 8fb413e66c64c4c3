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
from vault_agent.config.live import QUIET_SECONDS, LiveConfig
from vault_agent.errors import Misconfigured

if TYPE_CHECKING:
    from pathlib import Path

    from vault_agent.config import Config


class Clock:
    """A clock that stands still."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def following(file: Path, text: str, clock: Clock) -> tuple[Config, LiveConfig]:
    """Return the settings of a server that was started with a file, and what follows the file."""
    file.write_text(text)
    layers = read_layers(chosen=file, environ={})
    config = build_config(layers)
    return config, LiveConfig(config, layers, file, file.parent, now=clock)


@pytest.mark.skipif(sys.platform == "win32", reason="named pipes of POSIX")
def test_a_pipe_in_place_of_the_file_is_not_waited_for(tmp_path: Path):
    file = tmp_path / "config.toml"
    config, live = following(file, "[memory]\nshow = true\n", Clock())
    file.unlink()
    os.mkfifo(file)
    with ThreadPoolExecutor(1) as pool:
        looking = pool.submit(live.follow)
        try:
            assert not looking.result(PATIENCE)
        finally:
            os.close(os.open(file, os.O_RDWR))  # ends the wait of a reader
    assert config.memory.show


WHOLE = """[memory]
show = true
[agents.pub]
folder = "pub"
deny = ["pub/private"]
[write]
enabled = true
folders = ["pub"]
"""


def held(config: Config) -> tuple[object, ...]:
    """Return the settings in use that the tests change."""
    agents = {name: (agent.folder, agent.deny) for name, agent in config.agents.items()}
    return agents, config.memory.show, config.write.folders


@pytest.mark.fault(
    "Agents",
    "an editor writes the config file in place, or anew, and stops in the middle",
    "a running server takes over no half of it until it has been quiet for 10 s; an agent without"
    " `folder` sees nothing, ever",
)
@pytest.mark.parametrize("removed", [False, True])
def test_half_a_file_widens_no_right(tmp_path: Path, removed: bool):
    file = tmp_path / "config.toml"
    file.write_text(WHOLE)
    clock = Clock()
    config, live = following(file, WHOLE, clock)
    before = held(config)
    if removed:
        file.unlink()
        assert not live.follow()
    file.write_text("")
    for line in WHOLE.splitlines(keepends=True):  # slower than the looks
        with file.open("a") as text:
            text.write(line)
        for _ in range(4):
            clock.seconds += 2
            assert not live.follow()
            assert held(config) == before


def test_an_agent_without_a_folder_sees_nothing(tmp_path: Path):
    file = tmp_path / "config.toml"
    clock = Clock()
    config, live = following(file, WHOLE, clock)
    before = held(config)
    for half in ("[agents.pub]\n", '[agents.pub]\nfolder = ""\n', "[agents.pub]\ndeny = ['a']\n"):
        file.write_text(half)
        for _ in range(4):
            clock.seconds += 100
            assert not live.follow()
        assert held(config) == before
        with pytest.raises(Misconfigured, match=r'agents\.pub\.folder .* "\." for the whole vault'):
            build_config(read_layers(chosen=file, environ={}))
    file.write_text('[agents.pub]\nfolder = "."\n')
    assert build_config(read_layers(chosen=file, environ={})).agents["pub"].folder == ""


def test_a_file_that_is_whole_is_taken_over(tmp_path: Path):
    file = tmp_path / "config.toml"
    clock = Clock()
    config, live = following(file, WHOLE, clock)
    file.write_text("[memory]\nshow = false\n")
    assert not live.follow()
    clock.seconds += QUIET_SECONDS
    assert live.follow()
    assert not config.memory.show
    other = tmp_path / "other"  # as `config set` and most editors save
    other.write_text("[memory]\nshow = true\n")
    other.replace(file)
    assert live.follow()
    assert config.memory.show
