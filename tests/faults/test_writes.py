"""Nothing that a person wrote is lost: kills, editors, failing disks, swapped folders."""

from __future__ import annotations

import asyncio
import errno
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.faults.disk import Point, build, compiler, run_module
from tests.faults.failing_writes import OPERATIONS
from tests.faults.saves import Rounds

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="forks, or needs Linux's own calls")
NEEDS_COMPILER = pytest.mark.skipif(compiler() is None, reason="needs Linux and a C compiler")


def account(module: str, *arguments: object) -> dict[str, Any]:
    """Run a program of this folder, and return what it prints."""
    found: dict[str, Any] = json.loads(run_module(module, *arguments)[-1])
    print(f"\n{module}:", found)
    return found


# --- kills ------------------------------------------------------------------------------------


@pytest.mark.fault(
    "Writing",
    "kill -9 at any moment of any write",
    "the old file or the new one; several files are finished at the next start; no "
    "temporary file stays",
)
@LINUX
def test_a_few_killed_writers_leave_old_files_or_new_ones(tmp_path: Path):
    found = account("killed_writes", tmp_path, 5, 1, 3_600)
    assert found["wrong"] == []
    assert found["kills"] == 5


@LINUX
@pytest.mark.long
def test_two_thousand_killed_writers_leave_old_files_or_new_ones(tmp_path: Path):
    """As many kills as an hour has, at most two thousand."""
    found = account("killed_writes", tmp_path, 2_000, 7, 3_600)
    assert found["wrong"] == []
    assert found["amid"] * 20 > found["kills"]  # of 2,000: 600 to 1,400, as busy as the machine is


# --- editors ----------------------------------------------------------------------------------


@pytest.mark.fault(
    "Writing",
    "a person saves in place, truncating, by rename, or from a file held open for a second",
    "their text is in the note, and ours is made of it anew, or both are kept",
)
def test_what_a_person_saves_at_the_same_time_is_never_lost(tmp_path: Path):
    found = account("saves", tmp_path, 120, 60, 1, 0.05)
    assert found["lost"] == []
    assert found["rounds"] >= 60


def test_a_text_is_not_looked_for_if_its_file_was_open_for_too_long(tmp_path: Path):
    """Else a busy machine would seem to lose texts."""
    rounds = Rounds(tmp_path, 1, 0.3, linger=0.02)
    asyncio.run(rounds.run(60, 60))
    assert rounds.counts["late"]
    assert rounds.lost == []


@pytest.mark.long
def test_a_hundred_thousand_saves_at_the_same_time_are_never_lost(tmp_path: Path):
    """As many rounds as an hour has, at most a hundred thousand."""
    found = account("saves", tmp_path, 100_000, 3_600, 2, 0.05)
    assert found["lost"] == []


@pytest.mark.long
def test_what_an_editor_saves_after_a_second_is_never_lost(tmp_path: Path):
    found = account("saves", tmp_path, 2_000, 900, 3, 1.0)
    assert found["lost"] == []


# --- the disk ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the library that makes calls fail."""
    return build(tmp_path_factory.mktemp("failing"))


def failed(
    library: Path, folder: Path, operation: str, error: int, *, step: int, start: int = 1
) -> list[Point]:
    """Fail every `step`th call of a write, and return the outcomes."""
    folder.mkdir(exist_ok=True)
    lines = run_module("failing_writes", operation, folder, error, step, start, library=library)
    points = [Point(**json.loads(line)) for line in lines]
    for point in points:
        assert point.wrong == [], point
    return points


@pytest.mark.fault(
    "Writing",
    "a full or failing disk at each call of a write",
    "`DISK_FULL` or `FILE_NOT_WRITABLE`; the old file, or the write is finished when "
    "the disk works",
)
@NEEDS_COMPILER
@pytest.mark.parametrize(
    ("operation", "error", "start"),
    [("append", errno.ENOSPC, 1), ("move", errno.EIO, 2), ("overwrite", errno.ENOSPC, 3)],
)
def test_a_failing_call_of_the_disk_leaves_the_old_file_or_the_new_one(
    library: Path, tmp_path: Path, operation: str, error: int, start: int
):
    """A sample of the calls. The long test below covers all."""
    points = failed(library, tmp_path, operation, error, step=6, start=start)
    assert len({point.outcome for point in points}) > 1


@NEEDS_COMPILER
@pytest.mark.long
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO, errno.EROFS])
def test_each_failing_call_of_the_disk_leaves_the_old_file_or_the_new_one(
    library: Path, tmp_path: Path, operation: str, error: int
):
    points = failed(library, tmp_path, operation, error, step=1)
    outcomes = Counter(point.outcome for point in points)
    print(f"\n{operation}, {errno.errorcode[error]}: {len(points)} fault points,", outcomes)
    assert len(points) > 20


# --- folders that are swapped -----------------------------------------------------------------


@pytest.mark.fault(
    "Writing",
    "a parent folder is swapped for a link to outside",
    "nothing outside changes",
)
@pytest.mark.parametrize(
    ("writes", "swaps"),
    # 12,000 swaps on a quiet machine. It ends after an hour.
    [(300, 20), pytest.param(50_000, 1_000, marks=pytest.mark.long)],
)
@LINUX
def test_a_folder_that_becomes_a_link_to_outside_leads_nothing_there(
    tmp_path: Path, writes: int, swaps: int
):
    found = account("swapped", tmp_path, writes, 1, 3_600)
    assert found["outside"] == []
    assert found["swaps"] > swaps
