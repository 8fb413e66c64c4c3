"""The file with the positions of the notes in the drawing of the graph. It is disposable."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vault_agent.system.files import read_optional, replace_file

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

_MAGIC = b"VALF2\n"
_FARTHEST = 1e6
"""No drawing has a note so far from its middle. Far larger numbers overflow in the layout."""
_HEAD = struct.Struct("<6sH32sI")  # the magic, the length of the revision, the revision, the nodes


class Positions(NamedTuple):
    """The positions of one revision: the handle and the place of each note, by path."""

    revision: str
    handles: NDArray[np.int64]
    places: NDArray[np.float32]  # of shape (nodes, 2)


def read_positions(file: Path) -> Positions | None:
    """Return what a file holds, or None if it is missing, damaged or has no usable number."""
    try:
        data = read_optional(file)
        magic, length, name, count = _HEAD.unpack_from(data)
        if magic != _MAGIC or len(data) != _HEAD.size + count * 16:
            return None
        revision = name[:length].decode("ascii")
    except (struct.error, UnicodeError):
        return None
    handles = np.frombuffer(data, "<i8", count, _HEAD.size)
    places = np.frombuffer(data, "<f4", count * 2, _HEAD.size + count * 8).reshape(count, 2)
    if not (np.abs(places) < _FARTHEST).all():  # nor is one that is not a number
        return None
    return Positions(revision, handles, places)


def write_positions(file: Path, positions: Positions) -> None:
    """Replace the file. Raises OSError."""
    name = positions.revision.encode("ascii")
    head = _HEAD.pack(_MAGIC, len(name), name, len(positions.handles))
    handles = positions.handles.astype("<i8").tobytes()
    places = positions.places.astype("<f4").tobytes()
    replace_file(file, head + handles + places, durable=False)
