"""Changes the files of other programs: every byte that is not ours stays, and can come back.

The text before is kept beside the file with the suffix `.bak`, unless it has something of ours in
it. A later one that differs gets a number. When ours is taken out and nothing else has changed
since, the file is again what it was, to the byte. A file that we have made is removed then.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from vault_agent.cli import jsonc, yaml_members
from vault_agent.system.files import replace_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_NOT_A_MAPPING = (ValueError, AttributeError, TypeError, KeyError)


class NotEdited(Exception):
    """The file is as it was. `why` continues a sentence that begins with its name."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class Form(NamedTuple):
    """How a file is written: its name, and how a member `section.name` is added and removed."""

    name: str
    loads: Callable[[str], Any]
    with_member: Callable[[str, str, str, object], str]
    without_member: Callable[[str, str, str], str]


JSON = Form("JSON", jsonc.loads, jsonc.with_member, jsonc.without_member)
YAML = Form("YAML", yaml_members.loads, yaml_members.with_member, yaml_members.without_member)


def form_of(path: Path) -> Form:
    """Return how a file is written, by its name."""
    return YAML if path.suffix in (".yaml", ".yml") else JSON


class Ours(NamedTuple):
    """What we add to a text, and how it is taken out again. Both leave all else as it is."""

    add: Callable[[str], str]
    remove: Callable[[str], str]


def put_in(path: Path, ours: Ours) -> bool:
    """Add what is ours to a file, which is made if it is missing. Return False if it was there.

    Raises:
        NotEdited: if it is not in its form, such as JSON, or cannot be read or written.
    """
    text, form = read(path), form_of(path)
    after = _changed(text, ours.add, form)
    if after == text:
        return False
    if text and _changed(text, ours.remove, form) == text:
        _keep(Path(os.path.realpath(path)), text)
    write(path, after)
    return True


def take_out(path: Path, ours: Ours) -> bool:
    """Take what is ours out of a file. Return False if there was nothing.

    Raises:
        NotEdited: as `put_in`.
    """
    text, form = read(path), form_of(path)
    without = _changed(text, ours.remove, form)
    if without == text:
        return False
    for original in (*_originals(Path(os.path.realpath(path))), ""):
        try:
            if _changed(original, ours.add, form) == text:
                without = original
                break
        except NotEdited:
            continue
    write(path, without)
    return True


def read(path: Path) -> str:
    """Return the text of a file, "" if it is missing.

    Raises:
        NotEdited: if it cannot be read.
    """
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError:
        raise NotEdited(f"is not valid {form_of(path).name}") from None
    except OSError:
        raise NotEdited("cannot be read") from None


def _changed(text: str, change: Callable[[str], str], form: Form) -> str:
    try:
        if text.strip():
            form.loads(text)
        after = change(text)
        if after.strip():
            form.loads(after)
    except _NOT_A_MAPPING:
        raise NotEdited(f"is not valid {form.name}") from None
    return after


def _backups(target: Path) -> Iterator[Path]:
    """Yield the names of backups in their order. The first that does not exist is free."""
    yield target.with_name(f"{target.name}.bak")
    for number in range(2, 100):
        yield target.with_name(f"{target.name}.bak{number}")


def _originals(target: Path) -> list[str]:
    """Return the texts that were kept, the newest first."""
    found = []
    for backup in _backups(target):
        try:
            found.append(backup.read_bytes().decode())
        except (OSError, UnicodeDecodeError):
            break
    return found[::-1]


def _keep(target: Path, text: str) -> None:
    if text in _originals(target):
        return
    free = next((each for each in _backups(target) if not os.path.lexists(each)), None)
    if free is not None:
        try:
            replace_file(free, text.encode())
        except OSError:
            raise NotEdited("cannot be written") from None


def write(path: Path, text: str) -> None:
    """Replace a file, or remove it for an empty text. A link is followed. Raises `NotEdited`."""
    target = Path(os.path.realpath(path))
    try:
        if target.exists() and not os.access(target, os.W_OK):
            raise PermissionError
        if not text:
            target.unlink(missing_ok=True)
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        replace_file(target, text.encode(), keep_mode=True)
    except OSError:
        raise NotEdited("cannot be written") from None
