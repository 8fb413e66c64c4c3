"""If the disk fails, the run has a code, the old index serves, and the next run succeeds."""

from __future__ import annotations

import asyncio
import errno
import os
from collections import Counter
from pathlib import Path

import pytest
from tests.faults.disk import Point, build, compiler, fail_each

pytestmark = pytest.mark.skipif(compiler() is None, reason="needs Linux and a C compiler")

NAMES = {
    # For some files SQLite reports only an I/O error, not a full disk.
    errno.ENOSPC: {"done", "DISK_FULL", "INDEX_IO_ERROR"},
    errno.EIO: {"done", "INDEX_IO_ERROR"},
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the library that makes calls fail."""
    return build(tmp_path_factory.mktemp("failing"))


def check(points: list[Point]) -> None:
    """Assert that each run ended with a code and left no problem."""
    assert points
    for point in points:
        assert point.outcome in NAMES[getattr(errno, point.error)], point
        assert point.wrong == [], point


@pytest.mark.parametrize("scenario", ["incremental", "embed"])
def test_a_failing_disk_call_fails_the_run_with_its_code(
    library: Path, tmp_path: Path, scenario: str
):
    """A sample of the calls. The long test below covers all, of more runs."""
    step = 8 if scenario == "embed" else 46
    points = fail_each(
        library, tmp_path, scenario, error=errno.ENOSPC, lasting=False, step=step, start=2
    )
    check(points)
    assert any(point.outcome == "DISK_FULL" for point in points)


@pytest.mark.long
def test_a_disk_that_stays_full_fails_the_run_with_a_code(library: Path, tmp_path: Path):
    check(
        fail_each(
            library, tmp_path, "incremental", error=errno.ENOSPC, lasting=True, step=58, start=3
        )
    )


@pytest.mark.fault(
    "The index",
    "the disk is full, or any disk call fails",
    "the job fails with a code; the old index serves",
)
@pytest.mark.long
@pytest.mark.parametrize(
    "scenario", ["first", "incremental", "merge", "rewrite", "reindex", "embed"]
)
async def test_every_call_that_changes_the_disk_may_fail(
    library: Path, tmp_path: Path, scenario: str
):
    kinds = [(errno.ENOSPC, False), (errno.EIO, False), (errno.ENOSPC, True)]
    # A run that merges differs from others only at its end: there each call fails in one way.
    step = len(kinds) if scenario == "merge" else 1
    starts = range(1, 1 + len(kinds)) if scenario == "merge" else [1] * len(kinds)
    folders = [tmp_path / str(number) for number in range(len(kinds))]
    for folder in folders:
        folder.mkdir()
    gate = asyncio.Semaphore(os.cpu_count() or 1)

    async def run(folder: Path, error: int, start: int, *, lasting: bool) -> list[Point]:
        async with gate:
            return await asyncio.to_thread(
                fail_each,
                library,
                folder,
                scenario,
                error=error,
                lasting=lasting,
                step=step,
                start=start,
            )

    found = await asyncio.gather(
        *(
            run(folder, error, start, lasting=lasting)
            for folder, (error, lasting), start in zip(folders, kinds, starts, strict=True)
        )
    )
    points = [point for part in found for point in part]
    print(f"\n{scenario}: {len(points)} fault points,", Counter(p.outcome for p in points))
    check(points)
