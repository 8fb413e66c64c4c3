"""The embedding client with a real model finds paraphrases without shared words."""

import numpy as np
import pytest
from tests.real.notes import NOTES, PARAPHRASES

from vault_agent.models.embedder import Embedder, check_endpoint
from vault_agent.models.run import embed_all
from vault_agent.models.settings import document_input, vector_key
from vault_agent.search.rank import fuse
from vault_agent.search.semantic import nearest
from vault_agent.store.vectors import open_matrix, open_vectors

pytestmark = pytest.mark.real_embedding


async def test_the_check_describes_a_real_endpoint(settings):
    check = await check_endpoint(settings)
    assert check.dimension >= 32
    assert check.seconds > 0


async def test_a_paraphrase_without_shared_words_is_found(settings, tmp_path):
    titles = list(NOTES)
    async with Embedder(settings) as embedder:
        prefix = embedder.prefixes.document
        inputs = [document_input(prefix, title, (), text) for title, text in NOTES.items()]
        keys = [vector_key(settings.model, text) for text in inputs]
        with open_vectors(tmp_path / "vectors.db") as store:
            store.use(await embedder.prepare())
            plan = store.plan(np.arange(len(keys), dtype=np.int64), keys)

            async def save(arrived):
                plan.fill(arrived.keys, store.save(arrived.keys, np.array(arrived.vectors)))

            documents = [(key, inputs[place]) for key, place in plan.missing]
            await embed_all(embedder, documents, save, batch_size=4, concurrency=2)
            store.publish(plan, 1)
        matrix = open_matrix(tmp_path / "vectors.db", 1)
        for query, expected in PARAPHRASES.items():
            vector = await embedder.embed_query(query)
            found = nearest(matrix.vectors, vector, matrix.used, len(titles))
            chunks, cosines = matrix.chunks_of(found.rows, found.cosines)
            by_title = {titles[c]: float(s) for c, s in zip(chunks, cosines, strict=True)}
            assert next(iter(by_title)) == expected, query
            # A word that is in the wrong note, and common, does not hide it in hybrid search.
            wrong = next(title for title in titles if title != expected)
            fused = fuse(
                {wrong: 0.2}, by_title, ceiling=10, background=float(matrix.centre @ vector)
            )
            assert max(fused, key=lambda title: fused[title].score) == expected, query
