"""`.vault-agent/config.toml`: the few settings that a project shares with everybody who clones it.

A clone's file is untrusted. It can name the project, identify its vault and leave folders out. It
can never set an address, a folder outside, a key or a switch: other keys are ignored.
"""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from vault_agent.config.project import OURS
from vault_agent.config.registry import clean_name, is_uid, new_uid
from vault_agent.system.files import read_regular

if TYPE_CHECKING:
    from pathlib import Path

    from vault_agent.model.warning import Warning

KEYS: Final = ("project.name", "vault.uid", "journal.exclude", "memory.exclude_types")
MAX_BYTES: Final = 64 * 1024
_MAX_ITEMS: Final = 200
_MAX_CHARACTERS: Final = 500


class ProjectFile(NamedTuple):
    """The settings of a project. `uid` is None if it has none yet."""

    name: str | None = None
    uid: str | None = None
    journal_exclude: tuple[str, ...] = ()
    memory_exclude_types: tuple[str, ...] = ()
    warnings: tuple[Warning, ...] = ()


def read_project_file(folder: Path) -> ProjectFile:
    """Return the settings of the project in this folder. Never raises.

    What cannot be used is ignored, with the warning `PROJECT_CONFIG_IGNORED`.
    """
    text = _text_of(path_of(folder))
    if text is None:
        return ProjectFile()
    try:
        tables = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return ProjectFile(warnings=(_ignored("The project's config file is not valid TOML."),))
    values = {
        f"{section}.{option}": value
        for section, table in tables.items()
        for option, value in (table.items() if isinstance(table, dict) else [("", table)])
    }
    used = {name: value for name, value in values.items() if _is_valid(name, value)}
    ignored = len(values) - len(used)
    warnings: tuple[Warning, ...] = ()
    if ignored:
        what = f"{ignored} settings of the project's config file are ignored. It may only have"
        warnings = (_ignored(f"{what} {', '.join(KEYS)}.", ignored=ignored),)
    name = used.get("project.name")
    return ProjectFile(
        name=clean_name(name) if name is not None else None,
        uid=used.get("vault.uid"),
        journal_exclude=tuple(used.get("journal.exclude", ())),
        memory_exclude_types=tuple(used.get("memory.exclude_types", ())),
        warnings=warnings,
    )


def ensure_project_file(folder: Path, name: str) -> ProjectFile:
    """Return the settings of a project, after giving it a `uid` if it has none.

    A file that exists keeps its other lines and comments.

    Raises:
        OSError: if the file cannot be written.
    """
    settings = read_project_file(folder)
    if settings.uid is not None:
        return settings
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    from vault_agent.system.files import replace_file

    path = path_of(folder)
    try:
        document = tomlkit.parse(_text_of(path) or "")
    except TOMLKitError:
        document = tomlkit.document()  # it was ignored anyway
    for section, option, value in (("project", "name", name), ("vault", "uid", new_uid())):
        table: Any = document.setdefault(section, tomlkit.table())
        if not isinstance(table, dict):
            document[section] = table = tomlkit.table()
        if not _is_valid(f"{section}.{option}", table.get(option)):
            table[option] = value
    replace_file(path, tomlkit.dumps(document).encode(), mode=0o644)
    return read_project_file(folder)


def path_of(folder: Path) -> Path:
    """Return the file of the project in this folder, whether or not it exists."""
    return folder / OURS / "config.toml"


def _is_valid(name: str, value: object) -> bool:
    if name == "project.name":
        return isinstance(value, str) and 0 < len(value.strip()) <= _MAX_CHARACTERS
    if name == "vault.uid":
        return is_uid(value)
    if name in KEYS:
        return (
            isinstance(value, list)
            and len(value) <= _MAX_ITEMS
            and all(isinstance(item, str) and len(item) <= _MAX_CHARACTERS for item in value)
        )
    return False


def _ignored(what: str, **details: int) -> Warning:
    from vault_agent.model.warning import Warning

    return Warning("PROJECT_CONFIG_IGNORED", what, details)


def _text_of(path: Path) -> str | None:
    """Return the text of the file, or None if it is missing, too large or no regular file."""
    data = read_regular(path, MAX_BYTES + 1)
    return data.decode("utf-8", "replace") if data is not None and len(data) <= MAX_BYTES else None
