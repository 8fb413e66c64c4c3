"""The table of rooms that `python -m tests.counts` prints."""

from __future__ import annotations

from tests.counts import ROOMS, SOURCE, documents, rows


def test_every_room_of_the_table_exists():
    assert all((SOURCE / name).is_dir() for row in ROOMS for name in row)
    assert all(count.files and count.lines for _, count in rows())
    assert documents() > 0
