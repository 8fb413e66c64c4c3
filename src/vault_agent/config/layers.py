"""Reads settings from flags, environment and the user's TOML file, in this order.

This module does not import pydantic. `settings.py` validates all settings, and
`fast_settings.py` the few that a client needs.
"""

from __future__ import annotations

import os
import re
import sys
import tomllib
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from vault_agent.config.setting_names import (
    CONFIG_ENV,
    ENV_PREFIX,
    ENVIRONMENT,
    NOT_SETTINGS,
    SECTIONS,
    SETTINGS,
    UNUSED,
    nearest,
)
from vault_agent.errors import Misconfigured
from vault_agent.system.files import NotRegular, expanded, read_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from vault_agent.config.setting_names import Setting

_AGENTS = "agents"
_ON_LINUX: bool = sys.platform.startswith("linux")

# Patterns are compiled at their first use: a hook has use for none of them.
_ITEM = r"(item \d+) (.*)"
_WHERE = r"at line (\d+), column (\d+)"
_FROM_SHELL = r"/dev/(fd/)?[^/]+\Z|/proc/"
"""Files that a shell makes, such as `/dev/fd/63`, are read even if they are pipes."""


_NO_AGENTS: Final[Mapping[str, Any]] = MappingProxyType({})


class Layer(NamedTuple):
    """The values of one source, by dotted key. An empty text means unset."""

    origin: str  # "flag", "environment" or "file"
    values: Mapping[str, Any]
    agents: Mapping[str, Any] = _NO_AGENTS  # the tables `[agents.NAME]`


class Problem(NamedTuple):
    """A rule that a setting breaks. It never contains the value.

    A rule about one item of a list starts with `item N`.
    """

    key: str
    rule: str
    origin: str | None = None
    label: str | None = None  # the name as it was written, if it is not the key

    def __str__(self) -> str:
        """Name the key, where it was set, and the rule. There is no full stop."""
        place = {
            "flag": " (flag)",
            "environment": f" ({SETTINGS[self.key].environment})" if self.key in SETTINGS else "",
            "file": " (config file)",
        }.get(self.origin or "", "")
        if item := re.match(_ITEM, self.rule):
            return f"{item[1]} of {self.key}{place} {item[2]}"
        return f"{self.label or self.key}{place} {self.rule}"


def invalid(problems: Iterable[Problem]) -> Misconfigured:
    """Return the error CONFIG_INVALID that lists all problems."""
    listed = list(problems)
    return Misconfigured(
        "CONFIG_INVALID",
        "; ".join(map(str, listed)) + ".",
        {"problems": [{"key": problem.key, "rule": problem.rule} for problem in listed]},
    )


def known_setting(name: str) -> Setting:
    """Return the setting of that name, or raise CONFIG_INVALID with the nearest one."""
    if name not in SETTINGS:
        rule = f"is an unknown setting{nearest(name, list(SETTINGS))}"
        raise invalid([Problem(name, rule, label=name if "." in name else f"`{name}`")])
    return SETTINGS[name]


def absolute(path: str | Path) -> Path:
    """Return an absolute path. Raises CONFIG_INVALID if the current folder is missing."""
    try:
        return Path(path).absolute()
    except FileNotFoundError:
        raise Misconfigured(
            "CONFIG_INVALID",
            "A path is relative, and the current folder no longer exists: change to another one.",
        ) from None


def default_config_path() -> Path:
    """Return the user's config file, whether or not it exists."""
    return user_folder("config") / "config.toml"


def user_folder(kind: Literal["config", "data"]) -> Path:
    """Return the user's folder of settings or of data, whether or not it exists.

    On Linux it is found without `platformdirs`, whose import takes longer than the rest of a hook.
    """
    if _ON_LINUX:
        chosen = os.environ.get(f"XDG_{kind.upper()}_HOME", "")
        usual = ".config" if kind == "config" else ".local/share"
        base = Path(chosen) if chosen.startswith("/") else expanded(Path("~", usual))
        return base / "vault-agent"
    from platformdirs import user_config_path, user_data_path

    path = user_config_path if kind == "config" else user_data_path
    return path("vault-agent", appauthor=False)


def config_path(chosen: Path | None = None, environ: Mapping[str, str] | None = None) -> Path:
    """Return the config file in use, from the flag, VAULT_AGENT_CONFIG, or the default."""
    named = (os.environ if environ is None else environ).get(CONFIG_ENV)
    if chosen is None and named:
        chosen = Path(named)
    return absolute(expanded(chosen)) if chosen is not None else default_config_path()


def read_layers(
    flags: Mapping[str, Any] | None = None,
    chosen: Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> tuple[Layer, ...]:
    """Return the layers, strongest first.

    `flags` maps dotted keys to values, None if a flag was not given. A config file that is named
    explicitly must exist. Raises CONFIG_INVALID for unknown keys and variables, with the nearest
    known one, and for a file that is not TOML.
    """
    environ = os.environ if environ is None else environ
    path = config_path(chosen, environ)
    text = read_text(path)
    if text is None and (chosen is not None or environ.get(CONFIG_ENV)):
        raise Misconfigured(
            "CONFIG_INVALID", f"The config file {path.name} does not exist or cannot be read."
        )
    by_flag = {name: value for name, value in (flags or {}).items() if value not in (None, "")}
    return (
        Layer("flag", _placed(by_flag)),
        Layer("environment", _placed(_environment(environ))),
        Layer("file", parse_file(text or "", name=path.name), agents_of(text or "")),
    )


def agents_of(text: str) -> Mapping[str, Any]:
    """Return the tables of agents in a valid TOML file, not validated yet."""
    if "agents" not in text:
        return {}
    agents: Any = tomllib.loads(text).get(_AGENTS, {})
    return agents if isinstance(agents, dict) else {_AGENTS: agents}  # no table: refused later


def read_text(path: Path) -> str | None:
    """Return the text of a config file with its line ends, or None if it does not exist."""
    try:
        real = os.path.realpath(path)  # a link may lead to one
        is_made = real.startswith(("/dev/", "/proc/")) and re.match(_FROM_SHELL, real)
        data = path.read_bytes() if is_made else read_file(path)
        return data.decode("utf-8-sig")
    except FileNotFoundError:
        return None
    except NotRegular as error:
        raise Misconfigured(
            "CONFIG_INVALID",
            f"The config file {path.name} is {error.kind}, and must be a file: remove it.",
        ) from None
    except (OSError, UnicodeDecodeError):
        raise Misconfigured(
            "CONFIG_INVALID",
            f"The config file {path.name} cannot be read as UTF-8 text: correct or remove it.",
        ) from None


def parse_file(text: str, *, name: str, unknown: list[Problem] | None = None) -> dict[str, Any]:
    """Return a TOML file's values by dotted key, or raise CONFIG_INVALID.

    `name` is the file's name for the message, without its private folder. With `unknown`, unknown
    keys are added to it, so that a file can be repaired step by step.
    """
    try:
        tables = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        # The parser's own message may quote the file, and the file may hold a key.
        place = re.search(_WHERE, str(error))
        where = f":{place[1]}:{place[2]}" if place else ""
        raise Misconfigured("CONFIG_INVALID", f"{name}{where} is not valid TOML.") from None
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    for section, table in tables.items():
        if section == _AGENTS:
            continue  # any number of tables, validated by `settings.py`
        # The name is shown as it was written, so that it can be found in the file.
        if section not in SECTIONS and not _is_unused(section, table):
            kind = "section" if isinstance(table, dict) else "setting"
            heading = f"[{section}]" if isinstance(table, dict) else f"`{section}`"
            rule = f"is an unknown {kind}{nearest(section, list(SECTIONS))}"
            problems.append(Problem(section, rule, "file", heading))
        elif not isinstance(table, dict):
            rule = f"must be a section, written [{section}]"
            problems.append(Problem(section, rule, "file", f"`{section}`"))
        else:
            for option, value in table.items():
                key = f"{section}.{option}"
                values[key] = value
                if key not in SETTINGS and key not in UNUSED:
                    hint = nearest(key, list(SETTINGS))
                    problems.append(Problem(key, f"is an unknown setting{hint}", "file"))
    if unknown is not None:
        unknown += problems
    elif problems:
        raise invalid(problems)
    return {key: value for key, value in values.items() if value != "" and key in SETTINGS}


def unused_settings(text: str) -> list[Problem]:
    """Return the settings of a valid TOML file that only earlier versions had."""
    rule = "is no longer used: remove it"
    return [
        Problem(key, rule, "file")
        for section, table in tomllib.loads(text).items()
        if isinstance(table, dict)
        for key in (f"{section}.{option}" for option in table)
        if key in UNUSED
    ]


def _is_unused(section: str, table: object) -> bool:
    unused = {key for key in UNUSED if key.startswith(f"{section}.")}
    return bool(unused) and isinstance(table, dict) and unused >= {f"{section}.{o}" for o in table}


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    values: dict[str, str] = {}
    problems: list[Problem] = []
    for name, value in environ.items():
        # Names are compared exactly. Windows converts them to upper case.
        if not name.startswith(ENV_PREFIX) or name in NOT_SETTINGS:
            continue
        if setting := ENVIRONMENT.get(name):
            if value:
                values[setting.name] = value
        elif name.removeprefix(ENV_PREFIX).lower().replace("_", ".", 1) not in UNUSED:
            hint = nearest(name, [*ENVIRONMENT, *sorted(NOT_SETTINGS)])
            problems.append(Problem(name, f"is an unknown setting{hint}"))
    if problems:
        raise invalid(problems)
    return values


def _placed(values: Mapping[str, Any]) -> dict[str, Any]:
    """Make relative folders absolute. They are relative to the current folder."""
    placed = dict(values)
    for name, value in values.items():
        if SETTINGS[name].path and not str(value).startswith("~"):
            placed[name] = str(absolute(value))
    return placed
