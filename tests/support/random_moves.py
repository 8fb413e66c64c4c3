"""Random moves in a vault: renames, moves, folders, attachments, and names of other notes."""

from __future__ import annotations

import posixpath
import random
from collections.abc import Iterable, Sequence
from typing import NamedTuple


class RandomMove(NamedTuple):
    """A move to try."""

    kind: str
    path: str
    to: str


KINDS = ("rename", "rename", "move", "move", "folder", "attachment", "name", "case")
NAMES = (
    "Renamed",
    "A new name (1)",
    "Ünïcode ñame",
    "it's 100% new",
    "v2.0",
    "a & b",
    "x, y; z = !",
    "日本 ノート",
    "emoji 🔥",
    "{braces} ~ $ @ +",
)


class RandomMoves:
    """Makes moves to paths that are free in one vault."""

    def __init__(
        self,
        chance: random.Random,
        files: Iterable[str],
        folders: Sequence[str],
        linked: Iterable[str] = (),
    ) -> None:
        """Take the vault's files and folders. Half of the moves are of files in `linked`."""
        self._chance = chance
        self._folders = folders
        files = list(files)
        self._taken = {path.lower() for path in (*files, *folders)}
        self._notes = [path for path in files if _is_note(path)]
        self._others = [path for path in files if not _is_note(path)]
        linked = list(linked)
        self._linked_notes = [path for path in linked if _is_note(path)] or self._notes
        self._linked_others = [path for path in linked if not _is_note(path)] or self._others

    def next(self) -> RandomMove:
        """Return a move."""
        while True:
            kind = self._chance.choice(KINDS)
            choices = self._choices(kind)
            if not choices:
                continue
            path = self._chance.choice(choices)
            to = self._target(kind, path)
            same = to.lower() == path.lower()
            free = to.lower() not in self._taken
            if (
                to != path
                and not f"{to}/".startswith(f"{path}/")
                and free != (same and kind == "case")
            ):
                return RandomMove(kind, path, to)

    def _choices(self, kind: str) -> Sequence[str]:
        any_file = self._chance.random() < 0.5
        if kind == "folder":
            return self._folders
        if kind == "attachment":
            return self._others if any_file else self._linked_others
        return self._notes if any_file else self._linked_notes

    def _target(self, kind: str, path: str) -> str:
        chance = self._chance
        folder, name = posixpath.split(path)
        stem, suffix = posixpath.splitext(name) if kind != "folder" else (name, "")
        other = chance.choice(["", *self._folders])
        match kind:
            case "rename":
                return posixpath.join(folder, chance.choice(NAMES) + suffix)
            case "move":
                return posixpath.join(other, name)
            case "folder" | "attachment":
                return posixpath.join(other, chance.choice((stem, chance.choice(NAMES))) + suffix)
            case "name":  # of another note
                taken = posixpath.basename(chance.choice(self._notes))
                return posixpath.join(chance.choice((folder, other)), taken)
            case _:
                return posixpath.join(folder, stem.swapcase() + suffix)


def _is_note(path: str) -> bool:
    return path.lower().endswith((".md", ".markdown"))
