"""The index follows writes, and the event loop never waits for the disk."""

from __future__ import annotations

import threading
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from tests.support.waiting import eventually_async

from vault_agent.freshness.background import Background
from vault_agent.freshness.following import Following
from vault_agent.freshness.own_writes import OwnWrites
from vault_agent.model.writing import IndexState
from vault_agent.vault.root import VaultRoot

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from pathlib import Path


class Followed:
    """A following of one vault, with the runs that it made and the threads that read the disk."""

    def __init__(self, folder: Path, background: Background) -> None:
        self.folder = folder
        self.runs: list[tuple[str, ...]] = []
        self.readers: set[threading.Thread] = set()
        self.own = OwnWrites(self._open)
        self.following = Following(self, background, self.own, print, embed_delay=None)

    def _open(self) -> VaultRoot:
        self.readers.add(threading.current_thread())
        return VaultRoot.open(self.folder)

    async def follow(self, paths: Sequence[str], on_served: Callable[[IndexState], object]) -> None:
        self.runs.append(tuple(paths))
        on_served(IndexState(1, 1))


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[Followed]:
    """Follow a vault. A task group must be entered and left by one task, so it is no fixture."""
    async with Background(lambda _: None) as background:
        yield Followed(folder, background)


async def test_the_disk_is_read_in_threads_only(tmp_path: Path):
    async with opened(tmp_path) as followed:
        (followed.folder / "A.md").write_text("one\n")
        assert (await followed.following(["A.md"], 60_000)).indexed
        assert await followed.own.among(["A.md"]) == {"A.md"}
        assert followed.readers
        assert threading.current_thread() not in followed.readers


async def test_a_file_is_own_until_somebody_changes_it(tmp_path: Path):
    async with opened(tmp_path) as followed:
        note = followed.folder / "A.md"
        note.write_text("one\n")
        await followed.following(["A.md", "gone.md"], 0)
        assert followed.own.pending == 2
        assert await followed.own.among(["A.md", "B.md"]) == {"A.md"}  # it waits
        await eventually_async(lambda: followed.following.is_busy, lambda busy: not busy)
        assert followed.own.pending == 0
        assert await followed.own.among(["A.md", "gone.md"]) == {"A.md", "gone.md"}
        note.write_text("by a person\n")
        assert await followed.own.among(["A.md", "gone.md"]) == {"gone.md"}
        assert followed.runs == [("A.md", "gone.md")]
