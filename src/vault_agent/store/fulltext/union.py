"""Several full-text indexes as one, without writing any text.

Segments never change, and their names are unique. So the files of several indexes, linked into one
folder beneath a `meta.json` that lists them all, are one index: the engine adds up the counts of
notes and of terms, and the lengths of texts, as it does for the segments of one index. A score is
then what one index of all notes would give. The folder is removed as soon as it is open.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import orjson

from vault_agent.store.fulltext.reader import FulltextReader

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from vault_agent.model.numbering import Numbering

PREFIX = "combined-"
_META = "meta.json"
_SHELVES = ("notes", "chunks")
_NOT_LINKED = {_META, ".managed.json"}


@dataclass(frozen=True, slots=True)
class Union:
    """What a combined index is made of: the index of each segment, by its place."""

    numbering: Numbering
    notes: tuple[int, ...]
    chunks: tuple[int, ...]
    files: tuple[Path, ...]  # the originals


def open_union(
    readers: Sequence[FulltextReader], numbering: Numbering, workplace: Path
) -> FulltextReader:
    """Open several revisions as one. Blocking: it links files in the folder `workplace`.

    Raises:
        FileNotFoundError: if a revision was removed meanwhile.
        IndexUnavailable: `INDEX_INCOMPATIBLE` if the files are damaged.
    """
    folders = [reader.directory for reader in readers]
    with TemporaryDirectory(dir=workplace, prefix=PREFIX, ignore_cleanup_errors=True) as made:
        place = workplace / made
        notes, chunks = (_link_all(folders, place, shelf) for shelf in _SHELVES)
        files = tuple(path for folder in folders for path in folder.glob("*/*"))
        union = Union(numbering, notes, chunks, files)
        return FulltextReader(place, union)


def _link_all(folders: Sequence[Path], place: Path, shelf: str) -> tuple[int, ...]:
    """Link the files of one shelf of each index, and return the index of each segment."""
    target = place / shelf
    target.mkdir()
    meta: dict[str, Any] = {}
    segments: list[Any] = []
    places: list[int] = []
    for number, folder in enumerate(folders):
        meta = orjson.loads((folder / shelf / _META).read_bytes())
        segments += meta["segments"]
        places += [number] * len(meta["segments"])
        for entry in os.scandir(folder / shelf):
            if entry.name not in _NOT_LINKED and not entry.name.endswith(".lock"):
                _link(entry.path, target / entry.name)
    (target / _META).write_bytes(orjson.dumps({**meta, "segments": segments}))
    return tuple(places)


def _link(source: str, target: Path) -> None:
    try:
        target.hardlink_to(source)
    except FileNotFoundError:
        raise
    except OSError:  # another file system, or one without links
        shutil.copyfile(source, target)
