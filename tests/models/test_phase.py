"""The embedding phase of an index run: its vectors, its summary and its warnings."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest
from tests.support import local_model as misbehaviour
from tests.support.clocks import PATIENCE
from tests.support.index_runs import Vault

from vault_agent.errors import Busy, Failed
from vault_agent.indexing import embed as phase
from vault_agent.indexing.embed import embed
from vault_agent.indexing.protocol import EmbeddingCounts
from vault_agent.models.embedder import Embedder
from vault_agent.store import vectors
from vault_agent.store.index import notes as stored_notes
from vault_agent.store.index.meta import read_meta
from vault_agent.store.vectors import Matrix, open_matrix

NOTES = 6


class Embedded(Vault):
    """A vault whose chunks can be embedded."""

    def __init__(self, folder: Path, settings) -> None:
        super().__init__(folder)
        self.settings = settings
        for number in range(NOTES):
            self.write(f"{number}.md", f"# Note {number}\n\nText of note {number}.\n")

    async def embed(self, **options: bool) -> EmbeddingCounts:
        """Run the embedding phase."""
        async with Embedder(self.settings(batch_size=1, concurrency=1)) as embedder:
            settings = self.settings(batch_size=1, concurrency=1)
            return await embed(str(self.directory.path), embedder, settings, self.heard, **options)

    @property
    def matrix(self) -> Matrix | None:
        """Return the matrix that a server would search now."""
        with self.reader() as connection:
            return open_matrix(self.directory.vectors, read_meta(connection).identity)


@pytest.fixture
async def vault(tmp_path: Path, settings) -> Embedded:
    made = Embedded(tmp_path, settings)
    await made.index()
    return made


async def test_two_processes_never_embed_concurrently(vault: Embedded, endpoint, monkeypatch):
    monkeypatch.setattr("vault_agent.store.directory.WRITER_WAIT_SECONDS", 0.05)
    with vault.directory.embedding(), pytest.raises(Busy, match="INDEX_LOCKED"):
        await vault.embed()
    assert endpoint.requests == []
    assert await vault.embed() == EmbeddingCounts(NOTES, 0, 0)


async def test_a_failed_text_is_counted_and_the_others_succeed(vault: Embedded, endpoint):
    endpoint.poison["note 3"] = misbehaviour.status(422)
    assert await vault.embed() == EmbeddingCounts(NOTES - 1, 0, 1)
    assert vault.heard.phases[-1] == ("embed", NOTES, NOTES)
    assert vault.heard.codes == ["EMBEDDING_FAILED"]


async def test_texts_of_which_only_the_beginning_is_embedded_are_counted_in_a_warning(
    vault: Embedded, endpoint
):
    endpoint.max_words = 100
    vault.write("long.md", f"# Long\n\n{'word ' * 300}\n")
    vault.write("copy.md", f"# Long\n\n{'word ' * 300}\n")
    await vault.index()
    assert await vault.embed() == EmbeddingCounts(NOTES + 2, 0, 0)
    assert [(each.code, each.details) for each in vault.heard.warnings] == [
        ("EMBEDDING_TRUNCATED", {"count": 2})
    ]
    vault.heard.warnings.clear()
    vault.write("short.md", "# Short\n")
    await vault.index()
    await vault.embed()
    assert vault.heard.codes == ["EMBEDDING_TRUNCATED"]
    vault.heard.warnings.clear()
    for name in ("long.md", "copy.md"):
        (vault.root / name).unlink()
    vault.write("short.md", "# Shorter\n")
    await vault.index()
    await vault.embed()
    assert vault.heard.codes == []


@pytest.fixture
def hashed(monkeypatch) -> list[str]:
    """Return the inputs that are hashed from now on."""
    inputs: list[str] = []
    keyed = phase.vector_key

    def vector_key(model: str, text: str) -> bytes:
        inputs.append(text)
        return keyed(model, text)

    monkeypatch.setattr(phase, "vector_key", vector_key)
    return inputs


@pytest.fixture
def read(monkeypatch) -> list[int]:
    """Return the keys of chunks whose text is read from now on."""
    keys: list[int] = []
    texts_of = stored_notes.chunk_texts_of

    def chunk_texts_of(connection, chunks):
        found = texts_of(connection, chunks)
        keys.extend(chunk.key for chunk in found)
        return found

    monkeypatch.setattr(stored_notes, "chunk_texts_of", chunk_texts_of)
    return keys


async def test_an_unchanged_vault_reads_no_text_again(vault: Embedded, hashed, read):
    await vault.embed()
    hashed.clear()
    read.clear()
    assert await vault.embed() == EmbeddingCounts(0, NOTES, 0)
    assert (hashed, read) == ([], [])


async def test_a_renamed_note_is_hashed_again_and_not_sent_again(vault: Embedded, endpoint, hashed):
    await vault.embed()
    hashed.clear()
    asked = len(endpoint.requests)
    (vault.root / "0.md").rename(vault.root / "moved.md")
    (vault.root / "1.md").unlink()
    await vault.index()
    assert await vault.embed() == EmbeddingCounts(0, NOTES - 1, 0)
    assert len(hashed) == 1
    assert len(endpoint.requests) == asked


async def test_a_title_that_comes_from_the_file_name_is_hashed_again(vault: Embedded, hashed):
    vault.write("before.md", "Text without a heading.\n")
    await vault.index()
    await vault.embed()
    hashed.clear()
    (vault.root / "before.md").rename(vault.root / "after.md")
    await vault.index()
    assert await vault.embed() == EmbeddingCounts(1, NOTES, 0)
    assert [text.splitlines()[0] for text in hashed] == ["after"]


async def test_a_rebuilt_index_hashes_all_and_sends_nothing(vault: Embedded, endpoint, hashed):
    await vault.embed()
    hashed.clear()
    asked = len(endpoint.requests)
    await vault.index(rebuild=True)
    assert await vault.embed() == EmbeddingCounts(0, NOTES, 0)
    assert len(hashed) == NOTES
    assert len(endpoint.requests) == asked


async def test_a_vector_that_was_forgotten_is_made_again(vault: Embedded, endpoint, hashed):
    await vault.embed()
    space = vault.matrix.space
    with vectors.open_vectors(vault.directory.vectors) as store:
        store.use(space)
        store._connection.execute("DELETE FROM vector WHERE row = 2")
    hashed.clear()
    asked = len(endpoint.requests)
    vault.write("new.md", "# New\n")
    await vault.index()
    assert await vault.embed() == EmbeddingCounts(2, NOTES - 1, 0)
    assert len(hashed) == 2
    assert len(endpoint.requests) > asked


async def test_a_changed_model_is_detected_and_all_chunks_are_embedded_again(
    vault: Embedded, endpoint
):
    await vault.embed()
    assert await vault.embed(doubted=True) == EmbeddingCounts(0, NOTES, 0)
    endpoint.salt = "retrained"
    assert await vault.embed() == EmbeddingCounts(0, NOTES, 0)
    assert await vault.embed(doubted=True) == EmbeddingCounts(NOTES, 0, 0)
    assert vault.matrix.count == NOTES


async def test_if_fresh_vectors_fail_the_old_ones_stay(vault: Embedded, endpoint):
    await vault.embed()
    await vault.index(rebuild=True)
    endpoint.always = misbehaviour.status(401)
    assert await vault.embed(fresh=True) == EmbeddingCounts(0, 0, NOTES)
    assert vault.heard.codes == ["EMBEDDING_UNAVAILABLE"]
    assert vault.matrix.count == NOTES


async def test_fresh_vectors_are_used_once_complete(vault: Embedded, endpoint, monkeypatch):
    monkeypatch.setattr(phase, "PUBLISH_SECONDS", 0.0)
    await vault.embed()
    counts = []
    vault.heard.published = lambda: counts.append(vault.matrix.count)
    endpoint.latency = 0.02
    assert await vault.embed(fresh=True) == EmbeddingCounts(NOTES, 0, 0)
    assert set(counts) == {NOTES}


async def test_cancelling_a_publication_completes_it(vault: Embedded, endpoint, monkeypatch):
    monkeypatch.setattr(phase, "PUBLISH_SECONDS", 0.0)
    begun, go_on, publish = threading.Event(), threading.Event(), vectors.VectorStore.publish

    def slow(store, plan, generation):
        if len(plan.waiting) < NOTES:
            begun.set()
            go_on.wait(PATIENCE)
        publish(store, plan, generation)

    monkeypatch.setattr(vectors.VectorStore, "publish", slow)
    endpoint.next(*[None] * 4, misbehaviour.slow(5))
    run = asyncio.create_task(vault.embed())
    assert await asyncio.to_thread(begun.wait, 10)
    run.cancel()
    await asyncio.wait([run], timeout=0.1)
    assert not run.done()
    go_on.set()
    await asyncio.wait([run])
    assert not [task for task in asyncio.all_tasks() if "_publish_as_they_come" in repr(task)]
    assert vault.matrix.count


async def test_a_note_that_is_saved_while_the_phase_begins_is_left_to_the_next_run(
    vault: Embedded, endpoint, monkeypatch
):
    """Index runs of another process go on between the statements that read keys and texts."""
    read = stored_notes.chunk_texts_of
    saved = []

    loop = asyncio.get_running_loop()

    def read_later(connection, keys):
        if not saved:
            saved.append("1.md")
            vault.write("1.md", "# Note 1\n\nSaved meanwhile.\n")
            asyncio.run_coroutine_threadsafe(vault.index(), loop).result(PATIENCE)
        return read(connection, keys)

    monkeypatch.setattr(stored_notes, "chunk_texts_of", read_later)
    account = await vault.embed()
    assert account.embedded >= NOTES - 1
    assert account.failed == 0
    assert await vault.embed() == EmbeddingCounts(NOTES - account.embedded, account.embedded, 0)


async def test_an_error_while_vectors_are_published_is_the_error_of_the_phase(
    vault: Embedded, endpoint, monkeypatch
):
    monkeypatch.setattr(phase, "PUBLISH_SECONDS", 0.0)

    async def fail(self, plan):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(phase._EmbeddingRun, "_publish", fail)
    with pytest.raises(Failed, match="DISK_FULL"):
        await vault.embed()
