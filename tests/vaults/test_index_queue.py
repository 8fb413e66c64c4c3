"""The index follows writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.support.waiting import eventually_async

from vault_agent.errors import Failed
from vault_agent.model.writing import IndexState
from vault_agent.vaults.embeddings import EmbedLater
from vault_agent.vaults.index_queue import IndexQueue
from vault_agent.vaults.runs import Background


class Runs:
    """Takes the place of the runs of a vault. `failure` ends the next one."""

    def __init__(self) -> None:
        self.paths: list[tuple[str, ...]] = []
        self.failure: Failed | None = None

    async def index_paths(
        self, paths: Sequence[str], on_served: Callable[[IndexState], object]
    ) -> None:
        self.paths.append(tuple(paths))
        if self.failure is not None:
            raise self.failure
        on_served(IndexState("indexed", 1, 1))


async def never() -> bool:
    raise AssertionError


async def test_writes_at_the_same_time_are_one_run_and_a_failed_one_is_for_the_watch():
    runs, failed = Runs(), []
    async with Background(lambda _: None) as background:
        embed_later = EmbedLater(never, background.spawn, enabled=False)
        queue = IndexQueue(runs, background, embed_later, failed.append)
        await queue.index(["A.md", "gone.md"], 0)
        assert (await queue.index(["A.md", "B.md"], 60_000)).indexed
        assert runs.paths == [("A.md", "gone.md", "B.md")]
        runs.failure = Failed("DISK_FULL", "Full.")
        assert not (await queue.index(["C.md"], 60_000)).indexed
        await eventually_async(lambda: not queue.is_busy)
        assert failed == [("C.md",)]
