"""Random moves in a vault: renames, moves, folders, attachments, and names of other notes."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence


class RandomMove(NamedTuple):
    """A move to try."""

    kind: str
    path: str
    to: str


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


def moves_at_random(
    chance: random.Random, files: Sequence[str], folders: Sequence[str]
) -> RandomMove:
    """Return one move that names nothing that exists."""
    taken = {path.lower() for path in (*files, *folders)}
    notes = [path for path in files if path.endswith(".md")]
    others = [path for path in files if not path.lower().endswith((".md", ".markdown"))]
    while True:
        kind = chance.choice(
            ("rename", "rename", "move", "move", "folder", "attachment", "name", "case")
        )
        if (kind == "folder" and not folders) or (kind == "attachment" and not others):
            continue
        path = chance.choice(
            folders if kind == "folder" else others if kind == "attachment" else notes
        )
        folder, name = posixpath.split(path)
        stem, suffix = posixpath.splitext(name) if kind != "folder" else (name, "")
        target = chance.choice(["", *folders])
        match kind:
            case "rename":
                to = posixpath.join(folder, chance.choice(NAMES) + suffix)
            case "move":
                to = posixpath.join(target, name)
            case "folder" | "attachment":
                new = chance.choice((stem, chance.choice(NAMES)))
                to = posixpath.join(target, new + suffix)
            case "name":
                to = posixpath.join(
                    chance.choice((folder, target)), posixpath.basename(chance.choice(notes))
                )
            case _:
                to = posixpath.join(folder, stem.swapcase() + suffix)
        same = to.lower() == path.lower()
        if to == path or (to + "/").startswith(path + "/") or (to.lower() in taken and not same):
            continue
        if same and kind != "case":
            continue
        return RandomMove(kind, path, to)
