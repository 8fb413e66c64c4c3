"""The list of vaults that a server may open besides `vault.root`: `vaults.toml`.

It lies beside the default config file, with mode 0600. Only commands write it. A server reads it
and never takes a folder from a request. This module imports neither pydantic nor a TOML writer
before it writes.
"""

from __future__ import annotations

import os
import re
import tomllib
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from vault_agent.config.layers import default_config_path, read_text
from vault_agent.config.rules import vault_identity
from vault_agent.errors import Misconfigured, NotFound
from vault_agent.model.identifiers import GLOBAL, PROJECT
from vault_agent.system.files import expanded, is_folder
from vault_agent.text.names import CONTROLS, HIDDEN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

DEFAULT: Final = "default"
"""The name of the vault of `vault.root`."""
MAX_NAME: Final = 64

_HEX: Final = "0123456789abcdef"
_NOT_IN_NAMES = re.compile(rf"[{CONTROLS}{HIDDEN}\u200c\u200d/\\:%?#]+")


class Role(StrEnum):
    """What a vault is for."""

    PROJECT = "project"
    GLOBAL = "global"
    OTHER = "other"


class Registered(NamedTuple):
    """One vault of the list. `root` is a resolved path, and `uid` has 32 hexadecimal digits."""

    root: Path
    role: Role
    name: str
    uid: str
    added: str = ""  # ISO 8601, UTC

    @property
    def identity(self) -> str:
        """The identity of the vault: a hash of its resolved root."""
        return vault_identity(self.root)

    @property
    def full_name(self) -> str:
        """What requests and commands call it: `project:NAME`, `global` or its name."""
        if self.role is Role.PROJECT:
            return PROJECT + self.name
        return GLOBAL if self.role is Role.GLOBAL else self.name

    @property
    def is_there(self) -> bool:
        """Whether its folder exists and is still the folder itself, not a link to another."""
        return is_folder(self.root) and os.path.realpath(self.root) == str(self.root)

    @property
    def has_note_types(self) -> bool:
        """Whether its notes get a type from their folder, and are linked by `id` and type."""
        return self.role is not Role.OTHER

    def answers_to(self, name: str) -> bool:
        """Whether a request that names a vault so means this one."""
        return name in (self.full_name, self.name, self.identity)


def registry_path() -> Path:
    """Return the file of the list, whether or not it exists."""
    return default_config_path().with_name("vaults.toml")


def read_registry(path: Path | None = None) -> tuple[Registered, ...]:
    """Return the vaults of the list, in its order. A missing file is an empty list.

    Raises:
        Misconfigured: `CONFIG_INVALID` if the file cannot be read or understood.
    """
    chosen = path or registry_path()
    return _parsed(read_text(chosen) or "", chosen.name)


def add_vault(added: Registered, path: Path | None = None) -> Registered:
    """Add a vault to the list, and return its entry.

    An entry for the same folder is replaced, and keeps its date. So is an entry with the same `uid`
    whose folder is gone: the vault was moved. There is one global vault.
    """
    now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    entry = added._replace(added=added.added or now)

    def change(entries: tuple[Registered, ...]) -> list[Registered]:
        nonlocal entry
        same = next((listed for listed in entries if listed.root == entry.root), None)
        if same is not None:
            entry = entry._replace(added=same.added)
        kept = [listed for listed in entries if not _is_replaced(listed, entry)]
        return [*kept, entry]

    _rewrite(path or registry_path(), change)
    return entry


def forget_vault(name: str, path: Path | None = None) -> Registered:
    """Remove a vault from the list, by its name or folder, and return its entry.

    Raises:
        NotFound: `VAULT_UNKNOWN` if there is no such vault.
        Misconfigured: `CONFIG_INVALID` if several have this name.
    """
    entries = read_registry(path)
    folder = Path(os.path.realpath(expanded(name)))
    named = [entry for entry in entries if entry.root == folder]
    named = named or [entry for entry in entries if entry.answers_to(name)]
    if not named:
        raise unknown_vault(name, (entry.full_name for entry in entries))
    if len(named) > 1:
        raise Misconfigured("CONFIG_INVALID", "Several vaults have this name. Name a folder.")
    (forgotten,) = named
    _rewrite(path or registry_path(), lambda old: [vault for vault in old if vault != forgotten])
    return forgotten


def unknown_vault(name: str, full_names: Iterable[str]) -> NotFound:
    """Return the error for a name that is not in the list, with the one most like it."""
    from difflib import get_close_matches  # seldom needed

    vaults = sorted(set(full_names))
    folded = {vault.casefold(): vault for vault in vaults}
    near = get_close_matches(name.casefold(), folded, n=1, cutoff=0.7)
    hint = f' Did you mean "{folded[near[0]]}"?' if near else ""
    return NotFound("VAULT_UNKNOWN", f"There is no vault of this name.{hint}", {"vaults": vaults})


def new_uid() -> str:
    """Return a random ID for a vault: 32 hexadecimal digits."""
    return os.urandom(16).hex()


def is_uid(value: object) -> bool:
    """Whether a value has the form of a vault's ID."""
    return isinstance(value, str) and len(value) == 32 and not value.strip(_HEX)


def clean_name(name: str) -> str:
    """Return a name that can be typed and shown: without separators and control characters."""
    text = name.encode("utf-8", "replace").decode("utf-8")
    return _NOT_IN_NAMES.sub("-", text).strip(" .-")[:MAX_NAME].strip() or "vault"


def _is_replaced(old: Registered, new: Registered) -> bool:
    if old.root == new.root or (old.role is new.role is Role.GLOBAL):
        return True
    return old.uid == new.uid and not is_folder(old.root)


def _parsed(text: str, name: str) -> tuple[Registered, ...]:
    try:
        tables = tomllib.loads(text).get("vault", [])
        return tuple(_entry(table) for table in tables)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise Misconfigured(
            "CONFIG_INVALID", f"{name} is not a valid list of vaults: correct or remove it."
        ) from None


def _entry(table: dict[str, Any]) -> Registered:
    root = Path(table["root"])
    if not (root.is_absolute() and is_uid(table["uid"]) and isinstance(table["name"], str)):
        raise ValueError
    return Registered(
        root,
        Role(table["role"]),
        clean_name(table["name"]),
        table["uid"],
        str(table["added"]),
    )


def _rewrite(path: Path, change: Callable[[tuple[Registered, ...]], list[Registered]]) -> None:
    import tomlkit

    from vault_agent.config.private import rewrite

    def changed(text: str) -> str:
        array = tomlkit.aot()
        for entry in change(_parsed(text, path.name)):
            values = {name: str(value) for name, value in entry._asdict().items()}
            array.append(tomlkit.item(values))
        document = tomlkit.document()
        document.add(tomlkit.comment("Written by `vault-agent init` and `vaults`."))
        document.add("vault", array)
        return tomlkit.dumps(document)

    rewrite(path, changed)
