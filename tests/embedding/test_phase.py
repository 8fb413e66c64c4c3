"""The embedding phase of an index run: its vectors, its summary and its warnings."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

import pytest
from tests import endpoint as misbehaviour
from tests.clocks import PATIENCE
from tests.index_runs import Vault

from vault_agent.embedding.client import HttpEmbedder
from vault_agent.errors import Busy
from vault_agent.indexing import embed as phase
from vault_agent.indexing.embed import Account, embed
from vault_agent.store.vectors import cache as vectors
from vault_agent.store.vectors.matrix import open_matrix

if TYPE_CHECKING:
    from pathlib import Path

    from vault_agent.store.vectors.matrix import Matrix

NOTES = 6


class Embedded(Vault):
    """A vault whose chunks can be embedded."""

    def __init__(self, folder: Path, settings) -> None:
        super().__init__(folder)
        self.settings = settings
        for number in range(NOTES):
            self.write(f"{number}.md", f"# Note {number}\n\nText of note {number}.\n")

    async def embed(self, **options: bool) -> Account:
        """Run the embedding phase."""
        async with HttpEmbedder(self.settings(batch_size=1, concurrency=1)) as embedder:
            settings = self.settings(batch_size=1, concurrency=1)
            return await embed(str(self.directory.path), embedder, settings, self.heard, **options)

    @property
    def matrix(self) -> Matrix | None:
        """Return the matrix that a server would search now."""
        number = self.directory.current()
        assert number is not None
        return open_matrix(self.directory.vectors_map(number), self.directory.vectors_folder)


@pytest.fixture
async def vault(tmp_path: Path, settings) -> Embedded:
    made = Embedded(tmp_path, settings)
    await made.index()
    return made


async def test_two_processes_never_embed_concurrently(vault: Embedded, endpoint, monkeypatch):
    monkeypatch.setattr("vault_agent.store.layout.WRITER_WAIT_SECONDS", 0.05)
    with vault.directory.writing(), pytest.raises(Busy, match="INDEX_LOCKED"):
        await vault.embed()
    assert endpoint.requests == []
    assert await vault.embed() == Account(NOTES, 0, 0)


async def test_a_failed_text_is_counted_and_the_others_succeed(vault: Embedded, endpoint):
    endpoint.poison["note 3"] = misbehaviour.status(422)
    assert await vault.embed() == Account(NOTES - 1, 0, 1)
    assert vault.heard.phases[-1] == ("embed", NOTES, NOTES)
    assert vault.heard.codes == ["EMBEDDING_FAILED"]
    async with vectors.open_vectors(vault.directory.vectors) as store:
        await store.use(vault.matrix.space)
        failures = await store._connection.execute_fetchall("SELECT reason FROM failure")
        assert [reason for (reason,) in failures] == ["rejected"]


async def test_an_unchanged_vault_sends_no_text(vault: Embedded, endpoint):
    await vault.embed()
    asked = len(endpoint.requests)
    assert await vault.embed() == Account(0, NOTES, 0)
    assert len(endpoint.requests) == asked


async def test_an_unchanged_vault_reads_no_text_again(vault: Embedded, endpoint, monkeypatch):
    await vault.embed()
    read: list[object] = []
    keyed = phase.vector_key
    monkeypatch.setattr(phase, "vector_key", lambda *text: read.append(text) or keyed(*text))
    assert await vault.embed() == Account(0, NOTES, 0)
    assert read == []
    vault.write("0.md", "# Another\n")
    await vault.index()
    assert await vault.embed() == Account(1, NOTES - 1, 0)
    assert read


async def test_a_changed_model_is_detected_and_all_chunks_are_embedded_again(
    vault: Embedded, endpoint
):
    await vault.embed()
    assert await vault.embed(doubted=True) == Account(0, NOTES, 0)
    endpoint.salt = "retrained"
    assert await vault.embed() == Account(0, NOTES, 0)
    assert await vault.embed(doubted=True) == Account(NOTES, 0, 0)
    assert vault.matrix.count == NOTES


async def test_if_fresh_vectors_fail_the_old_ones_stay(vault: Embedded, endpoint):
    await vault.embed()
    await vault.index(rebuild=True)
    endpoint.always = misbehaviour.status(401)
    assert await vault.embed(fresh=True) == Account(0, 0, NOTES)
    assert vault.heard.codes == ["EMBEDDING_UNAVAILABLE"]
    assert vault.matrix.count == NOTES


async def test_fresh_vectors_are_used_once_complete(vault: Embedded, endpoint, monkeypatch):
    monkeypatch.setattr(phase, "PUBLISH_SECONDS", 0.0)
    await vault.embed()
    counts = []
    vault.heard.published = lambda: counts.append(vault.matrix.count)
    endpoint.latency = 0.02
    assert await vault.embed(fresh=True) == Account(NOTES, 0, 0)
    assert set(counts) == {NOTES}


async def test_cancelling_a_publication_completes_it(vault: Embedded, endpoint, monkeypatch):
    monkeypatch.setattr(phase, "PUBLISH_SECONDS", 0.0)
    begun, go_on, write_map = threading.Event(), threading.Event(), vectors.write_map

    def slow(*args, **kwargs):
        if kwargs["rows_written"]:
            begun.set()
            go_on.wait(10)
        write_map(*args, **kwargs)

    monkeypatch.setattr(vectors, "write_map", slow)
    endpoint.next(*[None] * 7, misbehaviour.slow(5))
    run = asyncio.create_task(vault.embed())
    assert await asyncio.to_thread(begun.wait, 10)
    run.cancel()
    await asyncio.wait([run], timeout=0.1)
    assert not run.done()
    go_on.set()
    await asyncio.wait([run])
    assert not [task for task in asyncio.all_tasks() if "_publish_as_they_come" in repr(task)]
    assert vault.matrix.count


async def test_saved_vectors_are_published_even_if_no_more_arrive(
    vault: Embedded, endpoint, monkeypatch
):
    monkeypatch.setattr(phase, "PUBLISH_SECONDS", 0.1)
    # Two probes, three checks of consistency, two texts; then it hangs.
    endpoint.next(*[None] * 7, misbehaviour.slow(600))
    run = asyncio.create_task(vault.embed())
    async with asyncio.timeout(PATIENCE):
        while (matrix := vault.matrix) is None or matrix.count < 2:  # noqa: ASYNC110 - a file
            await asyncio.sleep(0.02)
    run.cancel()
    await asyncio.wait([run])
    assert vault.matrix.count == 2
