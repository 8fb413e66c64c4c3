"""Damaged positions of the graph are as good as none."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from vault_agent.indexing.lay_out import Positions, read_positions, write_positions


def test_positions_are_read_as_they_were_written(tmp_path: Path):
    file = tmp_path / "positions"
    handles = np.array([-(1 << 62), 7], np.int64)
    places = np.array([[0.5, -1], [2, 3e5]], np.float32)
    write_positions(file, Positions("7.12", handles, places))
    found = read_positions(file)
    assert found.revision == "7.12"
    assert (found.handles == handles).all()
    assert (found.places == places).all()


def test_damaged_positions_are_not_read(tmp_path: Path):
    file = tmp_path / "positions"
    assert read_positions(file) is None
    write_positions(file, Positions("1.1", np.arange(3), np.ones((3, 2), np.float32)))
    whole = file.read_bytes()
    for damage in (b"", whole[:10], whole[:-1], whole + b"x", b"X" + whole[1:]):
        file.write_bytes(damage)
        assert read_positions(file) is None
    for number in (np.nan, np.inf, 1e20, -3e38):
        places = np.array([[number, 1]], np.float32)
        write_positions(file, Positions("1.1", np.arange(1), places))
        assert read_positions(file) is None
