"""A running server follows its config file."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.support.clocks import PATIENCE

from vault_agent.config.followed_file import (
    QUIET_SECONDS,
    FollowedFile,
    file_digest,
    settings_in_use,
)
from vault_agent.config.layers import read_layers
from vault_agent.config.settings import build_config
from vault_agent.errors import Misconfigured


class Clock:
    """A clock that stands still."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def following(file: Path, text: str, clock: Clock) -> FollowedFile:
    """Return what follows the file of a server that was started with this text."""
    file.write_text(text)
    return FollowedFile(
        file, read_layers(chosen=file, environ={}), lambda config: config, now=clock
    )


@pytest.mark.skipif(sys.platform == "win32", reason="named pipes of POSIX")
def test_a_pipe_in_place_of_the_file_is_not_waited_for(tmp_path: Path):
    file = tmp_path / "config.toml"
    follow = following(file, "[memory]\nshow = true\n", Clock())
    file.unlink()
    os.mkfifo(file)
    with ThreadPoolExecutor(1) as pool:
        looking = pool.submit(follow.has_changed)
        try:
            assert not looking.result(PATIENCE)
        finally:
            os.close(os.open(file, os.O_RDWR))  # ends the wait of a reader


WHOLE = """[memory]
show = true
[agents.pub]
folder = "pub"
deny = ["pub/private"]
[write]
enabled = true
folders = ["pub"]
"""


@pytest.mark.fault(
    "Agents",
    "an editor writes the config file in place, or anew, and stops in the middle",
    "a running server takes over no half of it until it has been quiet for 2 s; an agent without"
    " `folders` sees nothing, ever",
)
@pytest.mark.parametrize("removed", [False, True])
def test_half_a_file_widens_no_right(tmp_path: Path, removed: bool):
    file = tmp_path / "config.toml"
    clock = Clock()
    follow = following(file, WHOLE, clock)
    if removed:
        file.unlink()
        assert not follow.has_changed()
    file.write_text("")
    for line in WHOLE.splitlines(keepends=True):  # slower than the looks
        with file.open("a") as text:
            text.write(line)
        for _ in range(3):
            clock.seconds += QUIET_SECONDS / 4
            assert not follow.has_changed()


def test_an_agent_without_a_folder_sees_nothing(tmp_path: Path):
    file = tmp_path / "config.toml"
    clock = Clock()
    follow = following(file, WHOLE, clock)
    for half in (
        "",
        'folder = ""\n',
        "folders = []\n",
        "folders = ['pub', '']\n",
        "folders = 1\n",
        "folders = ['pub', ['.']]\n",
        "deny = ['a']\n",
    ):
        file.write_text(f"[agents.pub]\n{half}")
        assert not follow.has_changed()
        clock.seconds += QUIET_SECONDS
        assert follow.has_changed()
        assert follow.read() is None
        with pytest.raises(Misconfigured, match=r"agents\.pub\.folders .* for the whole vault"):
            build_config(read_layers(chosen=file, environ={}))
    file.write_text('[agents.pub]\nfolder = "."\n')
    assert build_config(read_layers(chosen=file, environ={})).agents["pub"].folders == ()


def test_a_file_with_the_older_name_of_folders_means_that_folder_alone(tmp_path: Path):
    file = tmp_path / "config.toml"

    def folders(text: str) -> tuple[str, ...]:
        file.write_text(f"[agents.pub]\n{text}\n")
        return build_config(read_layers(chosen=file, environ={})).agents["pub"].folders

    assert folders("folder = 'pub/a/'") == ("pub/a",)
    assert file.read_text() == "[agents.pub]\nfolder = 'pub/a/'\n"
    assert folders("folders = ['pub/a', 'b', 'b/']") == ("pub/a", "b")
    assert folders("folders = ['pub', '.']") == ()
    for both in ("folder = 'a'\nfolders = ['a', 'b']", "folders = ['.']\nfolder = 'a'"):
        with pytest.raises(Misconfigured, match=r"agents\.pub\.folder "):
            folders(both)


def test_a_file_that_is_whole_is_taken_over(tmp_path: Path):
    file = tmp_path / "config.toml"
    clock = Clock()
    follow = following(file, WHOLE, clock)
    file.write_text("[memory]\nshow = false\n")
    assert not follow.has_changed()
    clock.seconds += QUIET_SECONDS
    assert follow.has_changed()
    config = follow.read()
    assert not config.memory.show
    assert not follow.has_changed()
    other = tmp_path / "other"  # as `config set` and most editors save
    other.write_text("[memory]\nshow = true\n")
    other.replace(file)
    assert follow.has_changed()


def test_what_is_wrong_with_a_file_is_noted_for_commands(tmp_path: Path):
    file = tmp_path / "config.toml"
    follow = following(file, WHOLE, Clock())
    follow.record(tmp_path)
    in_use = settings_in_use(tmp_path, os.getpid())
    assert (in_use.file, in_use.refused) == (file_digest(file), "")
    other = tmp_path / "other"
    other.write_text("[memory]\nshow = 3\n")
    other.replace(file)
    assert follow.has_changed()
    assert follow.read() is None
    follow.record(tmp_path)
    in_use = settings_in_use(tmp_path, os.getpid())
    assert in_use.file == file_digest(file)
    assert "memory.show" in in_use.refused
