"""A server follows its config file, and notes in the folder of its index which text it uses.

`server.settings` is that note. Commands read it to say whether the server has taken a change over,
and to start it again with the same flags.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import orjson

from vault_agent.config.layers import Layer, agents_of, parse_file, read_text
from vault_agent.config.setting_names import SETTINGS
from vault_agent.errors import VaultAgentError
from vault_agent.system.files import read_optional, replace_file

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from vault_agent.config.settings import Config

QUIET_SECONDS: Final = 2.0
"""How long a file that is written in place must stay as it is. Until then, it may be half-written
and valid, and give an agent more than the whole file does."""
_RECORD: Final = "server.settings"


class SettingsInUse(NamedTuple):
    """What a running server records of its settings.

    Args:
        flags: the settings of its flags and environment, without secrets.
        file: the digest of the text of the config file that it looked at last.
        refused: why it does not use that text, "" if it does.
    """

    flags: Mapping[str, Any]
    file: str
    refused: str


def settings_in_use(folder: Path, pid: int) -> SettingsInUse | None:
    """Return what the server with this process ID has recorded, or None if it has not."""
    try:
        data = orjson.loads(read_optional(folder / _RECORD))
        in_use = SettingsInUse(data["given"], *(data[name] for name in SettingsInUse._fields[1:]))
        if data["pid"] != pid or not isinstance(in_use.flags, dict):
            return None
    except (ValueError, LookupError, TypeError):
        return None
    return in_use


def flags_to_repeat(in_use: SettingsInUse) -> dict[str, Any]:
    """Return the flags and variables of a server, without a port that the system chose."""
    return {
        name: value
        for name, value in in_use.flags.items()
        if name in SETTINGS
        and SETTINGS[name].of_server
        and (name, str(value)) != ("server.port", "0")
    }


def file_digest(file: Path) -> str:
    """Return the digest of the text of a config file, or that of no text if it cannot be read."""
    with suppress(VaultAgentError):
        return _digest(read_text(file))
    return _digest(None)


class FollowedFile:
    """The config file of a running server.

    Args:
        file: its path.
        layers: the settings with which the server was started.
        accept: gets the settings of a changed file and returns those to use. Its errors say why
            the server keeps the ones that it has.
        now: the time in seconds.
    """

    def __init__(
        self,
        file: Path,
        layers: Sequence[Layer],
        accept: Callable[[Config], Config],
        *,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._file = file
        self._given = [layer for layer in layers if layer.origin != "file"]
        self._accept = accept
        self._now = now
        self._seen = self._before = _state(file)
        self._whole_at = now()
        self._digest = file_digest(file)
        self._refused = ""

    def has_changed(self) -> bool:
        """Whether there is a text that `read` has not seen.

        A file that replaces another one counts at once. One that is written in place, or made
        anew, counts after `QUIET_SECONDS`. A missing file and a pipe never do.
        """
        state, before = _state(self._file), self._before
        if state != before:
            self._before = state
            replaces = state and before and state[2] != before[2]
            self._whole_at = self._now() + (0 if replaces else QUIET_SECONDS)
        return state is not None and state != self._seen and self._now() >= self._whole_at

    def read(self) -> Config | None:
        """Return the settings with the text of now, or None if the server cannot use them."""
        from vault_agent.config.settings import build_config

        self._seen = self._before
        try:
            text = read_text(self._file)
            self._digest, self._refused = _digest(text), ""
            parsed = parse_file(text or "", name=self._file.name)
            file = Layer("file", parsed, agents_of(text or ""))
            return self._accept(build_config([*self._given, file]))
        except VaultAgentError as error:
            self.refuse(error)
            return None

    def refuse(self, error: VaultAgentError) -> None:
        """Remember why the server does not use the text that was read last."""
        self._refused = error.what

    def record(self, folder: Path) -> None:
        """Record what is in use, for commands. Nothing happens if that cannot be written."""
        flags: dict[str, Any] = {}
        for layer in reversed(self._given):
            values = layer.values.items()
            flags |= {name: value for name, value in values if not SETTINGS[name].secret}
        data = {
            "pid": os.getpid(),
            "given": flags,
            "file": self._digest,
            "refused": self._refused,
        }
        with suppress(OSError):
            replace_file(folder / _RECORD, orjson.dumps(data, default=str), durable=False)


def _digest(text: str | None) -> str:
    return hashlib.sha256((text or "").encode("utf-8", "surrogateescape")).hexdigest()


def _state(file: Path) -> tuple[int, int, int] | None:
    """Return a file's time, size and inode, or None while there is no regular file."""
    try:
        status = file.stat()
    except OSError:
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
