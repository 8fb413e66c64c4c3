"""The names of all settings, without pydantic, so that simple commands start fast.

`sections.py` is the table of settings. `make docs` writes `generated_settings.json`
from it, and a test compares the two.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

ENV_PREFIX = "VAULT_AGENT_"
CONFIG_ENV = "VAULT_AGENT_CONFIG"  # the path of the config file; not a setting in it
PROJECT_ENV = "VAULT_AGENT_PROJECT"  # the folder of the project; not a setting
OFF_ENV = "VAULT_AGENT_OFF"  # agents' hooks do nothing where this is 1; not a setting
NOT_SETTINGS = frozenset({CONFIG_ENV, PROJECT_ENV, OFF_ENV, "VAULT_AGENT_BACKGROUND"})
"""Variables that are no settings. The last one is of earlier versions."""

Toolset = Literal["vault-agent", "agentiso", "obsidian-vault-mcp", "co-cli", "synk"]
"""The names and arguments of the tools that agents get."""

DEFAULT_PORT = 8787


class Setting(NamedTuple):
    """A setting: its dotted name, a summary in one line, and the kind of its value.

    `help` is what a user should know besides. `needs` are settings without which a switch cannot
    be true; `a or b` means one of them. `idle_without` are switches without which it may be true,
    but does little or nothing.
    """

    name: str
    summary: str
    help: str = ""
    secret: bool = False  # printed as set or unset only
    path: bool = False  # a folder: `~` is expanded; relative only in flags and environment
    many: bool = False  # a list; in a string, items are separated by commas
    of_server: bool = True  # a server reads it
    needs: Sequence[str] = ()
    idle_without: Sequence[str] = ()
    default: Any = None
    kind: str = "any"  # bool, int, float, str, or any that `check` takes
    check: str = ""  # the function of `rules`
    ge: float | None = None
    gt: float | None = None
    le: float | None = None
    choices: Sequence[str] = ()  # of the value, or of each item of a list

    @property
    def section(self) -> str:
        """The TOML table."""
        return self.name.partition(".")[0]

    @property
    def option(self) -> str:
        """The name within the table."""
        return self.name.partition(".")[2]

    @property
    def environment(self) -> str:
        """The environment variable."""
        return ENV_PREFIX + self.name.replace(".", "_").upper()


_ROWS = json.loads(Path(__file__).with_name("generated_settings.json").read_bytes())
SETTINGS: dict[str, Setting] = {name: Setting(name, **row) for name, row in _ROWS.items()}
SECTIONS = tuple(dict.fromkeys(setting.section for setting in SETTINGS.values()))
ENVIRONMENT: dict[str, Setting] = {setting.environment: setting for setting in SETTINGS.values()}


UNUSED = frozenset(Path(__file__).with_name("former_settings.txt").read_text("utf-8").split())
"""Settings that only earlier versions had. An old file that has them does not stop a server."""


def unmet(value_of: Callable[[str], Any], name: str, others: Iterable[str]) -> list[str]:
    """Return those of `others` that are neither set nor true, if `name` is true.

    One of `others` may be several settings with " or " between them.
    """
    if value_of(name) is not True:
        return []
    return [other for other in others if not any(map(value_of, other.split(" or ")))]


def nearest(name: str, names: list[str]) -> str:
    """Return ` (did you mean …?)` for the known name most like `name`, or an empty string."""
    from difflib import get_close_matches

    close = get_close_matches(name, names, n=1, cutoff=0.6)
    return f" (did you mean {close[0]}?)" if close else ""
