"""Lets a running server follow its config file, for the settings that it can change meanwhile.

These are the rows with `live`: each is read from its section at every use. The tables of agents
belong to them.
"""

from __future__ import annotations

import stat
import time
from typing import TYPE_CHECKING, Any

from vault_agent.config.keys import KEYS
from vault_agent.config.layers import Layer, agents_of, parse_file, read_text
from vault_agent.config.settings import build_config
from vault_agent.config.started import note_started
from vault_agent.errors import Misconfigured

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from vault_agent.config.settings import Config


QUIET_SECONDS = 10.0
"""How long a file that is written in place must stay as it is. It may be a valid half till then,
and give an agent more than the whole."""


class LiveConfig:
    """The settings of a running server, and the file that they follow.

    Args:
        config: the settings in use. All parts of the server hold this object or its sections.
        layers: the settings with which it was started.
        file: the config file.
        folder: the folder of the index, which has the record of the settings in use.
        now: the time in seconds.
    """

    def __init__(
        self,
        config: Config,
        layers: Sequence[Layer],
        file: Path,
        folder: Path,
        *,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._config = config
        self._given = [layer for layer in layers if layer.origin != "file"]
        self._used = next(layer for layer in layers if layer.origin == "file")
        self._file = file
        self._folder = folder
        self._now = now
        self._seen = self._before = _state(file)
        self._whole_at = now()

    def note(self) -> None:
        """Record the settings in use, for commands."""
        note_started(self._folder, [*self._given, self._used])

    def follow(self) -> bool:
        """Take over what has changed in the file, and return whether anything has.

        A file that replaces another one is taken over at once. One that is written in place, or
        made anew, is taken over after `QUIET_SECONDS`. A file that is missing or invalid changes
        nothing: commands say what is wrong with it. Nor does a pipe, which the event loop would
        wait for.
        """
        state, before = _state(self._file), self._before
        if state != before:
            self._before = state
            replaces = state and before and state[2] != before[2]
            self._whole_at = self._now() + (0 if replaces else QUIET_SECONDS)
        if state is None or state == self._seen or self._now() < self._whole_at:
            return False
        self._seen = state
        try:
            text = read_text(self._file)
            if text is None:
                return False
            file = Layer("file", parse_file(text, name=self._file.name), agents_of(text))
            now = build_config([*self._given, file])
        except Misconfigured:
            return False
        for key in KEYS.values():
            if key.live:
                value = getattr(getattr(now, key.section), key.option)
                # Sections are frozen for all others, which only read them.
                getattr(self._config, key.section).__dict__[key.option] = value
        self._config.agents.clear()
        self._config.agents.update(now.agents)
        kept = {name: each for name, each in self._used.values.items() if not KEYS[name].live}
        new = {name: each for name, each in file.values.items() if KEYS[name].live}
        self._used = Layer("file", kept | new, file.agents)
        self.note()
        return True


def _state(file: Path) -> Any:
    """Return what differs after a change of a file, None while there is no regular file."""
    try:
        found = file.stat()
    except OSError:
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
