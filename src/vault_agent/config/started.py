"""With which settings a server was started, as it notes in the folder of its index.

`server.settings` has the flags, the environment and the config file of the server whose process it
names. So a restart repeats the flags, and commands say which settings have changed since. Secrets
are in it as hashes.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import orjson

from vault_agent.config.keys import BACKGROUND_ENV, KEYS
from vault_agent.config.layers import Layer
from vault_agent.errors import Misconfigured
from vault_agent.system.files import replace_file
from vault_agent.system.regular import read_optional

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

_FILE: Final = "server.settings"
_ANY_PORT: Final = "0"


class Started(NamedTuple):
    """The settings of a running server.

    Args:
        given: those of flags and environment, without secrets.
        file: those of the config file, without secrets.
        secrets: the hashes of the secrets in force.
        agents: the hash of the tables of agents.
        background: whether a command has started it in the background.
        at_terminal: whether a person sees it run.
    """

    given: Mapping[str, Any]
    file: Mapping[str, Any]
    secrets: Mapping[str, str]
    agents: str
    background: bool
    at_terminal: bool


def note_started(folder: Path, layers: Iterable[Layer]) -> None:
    """Record the settings of this process. Nothing happens if that cannot be written."""
    ordered = tuple(layers)
    background = bool(os.environ.get(BACKGROUND_ENV))
    at_terminal = not background and any(os.isatty(number) for number in (0, 1, 2))
    started = Started(*_sources(ordered), *_hashes(ordered), background, at_terminal)
    data = {"pid": os.getpid(), **started._asdict()}
    with suppress(OSError):
        replace_file(folder / _FILE, orjson.dumps(data, default=str), durable=False)


def noted_started(folder: Path, pid: int) -> Started | None:
    """Return the settings with which a process has started, or None if it has not recorded them."""
    try:
        data = orjson.loads(read_optional(folder / _FILE))
        found = Started(**{name: data[name] for name in Started._fields})
        if data["pid"] != pid or not all(isinstance(each, dict) for each in found[:3]):
            return None
    except (ValueError, LookupError, TypeError):
        return None
    return found


def repeated(started: Started, layers: Sequence[Layer]) -> dict[str, Any]:
    """Return the flags and variables of a server for its restart.

    A setting that now has another source is not repeated: a flag, a variable, or another value in
    the config file than at the start. Neither is a port that the system chose.
    """
    file = next(layer for layer in layers if layer.origin == "file").values
    given = [layer.values for layer in layers if layer.origin != "file"]
    return {
        name: value
        for name, value in _chosen(started).items()
        if not any(name in values for values in given) and file.get(name) == started.file.get(name)
    }


def changed_settings(started: Started, layers: Sequence[Layer]) -> list[str]:
    """Return the settings that would be other ones after a restart."""
    from vault_agent.config.settings import build_config

    secrets, agents = _hashes(layers)
    try:
        before = build_config([Layer("flag", _chosen(started)), Layer("file", started.file)])
        now = build_config([Layer("flag", repeated(started, layers)), *layers])
    except Misconfigured:
        return []  # commands that need valid settings report that
    changed = [
        key.name
        for key in KEYS.values()
        if key.of_server
        and (
            secrets.get(key.name) != started.secrets.get(key.name)
            if key.secret
            else attrgetter(key.name)(before) != attrgetter(key.name)(now)
        )
    ]
    return changed + ["agents"] * (agents != started.agents)


def _chosen(started: Started) -> dict[str, Any]:
    """Return the flags and variables, without a port that the system chose."""
    return {
        name: value
        for name, value in started.given.items()
        if name in KEYS
        and KEYS[name].of_server
        and (name, str(value)) != ("server.port", _ANY_PORT)
    }


def _sources(layers: Iterable[Layer]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what flags and environment give, and what the file does, without secrets."""
    given: dict[str, Any] = {}
    file: dict[str, Any] = {}
    for layer in reversed(tuple(layers)):
        into = file if layer.origin == "file" else given
        into |= {name: each for name, each in layer.values.items() if not KEYS[name].secret}
    return given, file


def _hashes(layers: Iterable[Layer]) -> tuple[dict[str, str], str]:
    """Return the hashes of the secrets in force, and that of the tables of agents."""
    secrets: dict[str, str] = {}
    agents: dict[str, Any] = {}
    for layer in reversed(tuple(layers)):
        secrets |= {name: _hash(each) for name, each in layer.values.items() if KEYS[name].secret}
        agents |= layer.agents
    return secrets, _hash(agents)


def _hash(value: object) -> str:
    text = orjson.dumps(value, default=str, option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(text).hexdigest()
