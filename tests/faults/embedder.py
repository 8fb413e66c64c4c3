"""An embedder without an endpoint. It computes vectors from the text."""

from __future__ import annotations

from collections.abc import Sequence

from tests.support.local_model import hashed_vector

from vault_agent.model.vectors import VectorSpace
from vault_agent.models.settings import EndpointSettings, Prefixes
from vault_agent.models.vectors import Embedded, Outcome

DIMENSION = 16


def settings() -> EndpointSettings:
    """Return settings for an endpoint that does not exist."""
    return EndpointSettings(
        url="http://127.0.0.1:9/v1/embeddings", model="made-up", batch_size=4, concurrency=2
    )


class MadeUp:
    """The part of an embedder that an index run needs."""

    prefixes = Prefixes()

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def prepare(self) -> VectorSpace:
        probe = hashed_vector("probe", DIMENSION).astype("<f4").tobytes()
        return VectorSpace("made-up", DIMENSION, "", "", probe)

    async def embed_documents(self, texts: Sequence[str]) -> list[Outcome]:
        self.asked += texts
        return [Embedded(hashed_vector(text, DIMENSION).astype("f4")) for text in texts]
