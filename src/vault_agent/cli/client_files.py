"""Reads and changes the settings of other programs.

A JSON file is read, changed and written whole. The text before our first change stays beside it
with the suffix `.bak`. A file with comments, YAML or TOML is only read: who owns it gets the lines
to paste.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from vault_agent.system.files import replace_file

if TYPE_CHECKING:
    from collections.abc import Callable

    Settings = dict[str, Any]

_COMMENT = re.compile(r'("(?:[^"\\\n]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_LAST_COMMA = re.compile(r'("(?:[^"\\\n]|\\.)*")|,(?=\s*[}\]])')
_BROKEN = (ValueError, RecursionError, yaml.YAMLError)
_NOT_PLAIN = "is not plain JSON, so it is not written"


class NotChanged(Exception):
    """The file is as it was. `why` continues a sentence that begins with its name."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


def read_settings(path: Path) -> Settings:
    """Return what a file says: JSON, also with comments, YAML or TOML. A missing one says nothing.

    Raises:
        NotChanged: if it cannot be read.
    """
    text = read_text(path)
    if not text.strip():
        return {}
    kind = {".yaml": "YAML", ".yml": "YAML", ".toml": "TOML"}.get(path.suffix, "JSON")
    try:
        if kind == "YAML":
            settings = yaml.safe_load(text)
        elif kind == "TOML":
            settings = tomllib.loads(text)
        else:
            plain = _COMMENT.sub(lambda match: match[1] or " ", text)
            settings = json.loads(_LAST_COMMA.sub(lambda match: match[1] or "", plain))
    except _BROKEN:
        raise NotChanged(f"is not valid {kind}") from None
    if not isinstance(settings, dict):
        raise NotChanged(f"is not valid {kind}")
    return settings


def change_settings(path: Path, change: Callable[[Settings], None]) -> bool:
    """Change a JSON file, which is made if it is missing. Return False if nothing is different.

    A file that has nothing left is removed. A link is followed.

    Raises:
        NotChanged: if it is not plain JSON, or cannot be read or written.
    """
    text = read_text(path)
    try:
        settings = json.loads(text) if text.strip() else {}
        if not isinstance(settings, dict):
            raise NotChanged(_NOT_PLAIN)
        changed = deepcopy(settings)
        change(changed)
        if changed == settings:
            return False
        after = json.dumps(changed, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        write_text(path, after if changed else "", before=text)
    except (ValueError, RecursionError):  # also of a number or a character that JSON cannot have
        raise NotChanged(_NOT_PLAIN) from None
    return True


def read_text(path: Path) -> str:
    """Return the text of a file, "" if it is missing.

    Raises:
        NotChanged: if it cannot be read.
    """
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError):
        raise NotChanged("cannot be read") from None


def write_text(path: Path, text: str, *, before: str) -> None:
    """Replace a file, or remove it for an empty text. Keep the text before, once.

    Raises:
        NotChanged: if it cannot be written.
    """
    target = Path(os.path.realpath(path))
    backup = target.with_name(f"{target.name}.bak")
    try:
        if target.exists() and not os.access(target, os.W_OK):
            raise PermissionError
        if before and not os.path.lexists(backup):
            replace_file(backup, before.encode())
        if not text:
            target.unlink(missing_ok=True)
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        replace_file(target, text.encode(), keep_mode=True)
    except OSError:
        raise NotChanged("cannot be written") from None
