"""Embeds the documents and queries of one model.

Documents are retried; queries have a deadline.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, cast

import anyio

from vault_agent.errors import Unavailable
from vault_agent.models.built_in import served
from vault_agent.models.documents import Documents
from vault_agent.models.faults import EndpointFault, Kind
from vault_agent.models.vectors import VectorClient

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vault_agent.model.vectors import VectorSpace
    from vault_agent.models.settings import EndpointSettings, Prefixes
    from vault_agent.models.vectors import Outcome, Vector


class Embedder(VectorClient):
    """Turns texts into comparable unit vectors. An asynchronous context manager.

    Documents are exact inputs, as `settings.document_input` returns them. The prefix of a query is
    added here.
    """

    def __init__(
        self, settings: EndpointSettings, *, on_query: Callable[[], object] = lambda: None
    ) -> None:
        """Check the endpoint and the model. Nothing is sent.

        `on_query` is called before a query is sent, so that documents of another process give way.

        Raises:
            Misconfigured: `CONFIG_INVALID` for an endpoint or model that would send text away.
        """
        super().__init__(settings)
        self._on_query = on_query
        self._documents = Documents(self)
        self._preparing = anyio.Lock()
        self.is_prepared = False
        """Whether the space was checked, and no document has failed since by the endpoint."""

    def give_way(self) -> None:
        """Let the queries of a user go before documents for a while."""
        self._documents.give_way()

    async def prepare(self) -> VectorSpace:
        """Return the space for a run.

        The first call, and the first after a failure, waits for the model to load and checks it.

        Raises:
            Unavailable: if the endpoint does not work.
        """
        async with self._preparing:
            if not self.is_prepared:
                await self._documents.prepare()
                self.is_prepared = True
        return cast("VectorSpace", self.space)

    async def embed_documents(self, texts: Sequence[str]) -> list[Outcome]:
        """Return one outcome a text, in order.

        Raises:
            Unavailable: if the endpoint fails, not single texts.
        """
        await self.prepare()
        try:
            return await self._documents.embed(texts)
        except Unavailable:
            self.is_prepared = False
            raise

    async def embed_query(self, text: str) -> Vector:
        """Return the query's vector within the query deadline. Afterwards `space` is known.

        Raises:
            Unavailable: if the endpoint fails, or rejects the query.
        """
        return await self.answer(text, partial(self._embed_query, text))

    async def _embed_query(self, text: str) -> Vector:
        self.give_way()
        self._on_query()
        seconds = self.settings.query_timeout
        with anyio.move_on_after(seconds):
            if self.space is None:
                await self.probe(seconds)
            length = len(text)
            while True:
                try:
                    document = self.settings.prefixes.query + text[:length]
                    return cast("Vector", (await self.embed([document], seconds))[0])
                except EndpointFault as fault:
                    length //= 2
                    if fault.kind is not Kind.TOO_LONG or not length:
                        raise
        raise EndpointFault(Kind.TIMED_OUT)

    async def recover(self) -> None:
        """Ask for the probe text. Vectors of queries are forgotten if the model has changed."""
        if not await self.probe(self.settings.timeout):
            self.forget()


@dataclass(frozen=True, slots=True)
class EndpointCheck:
    """The properties of a working endpoint."""

    model: str
    dimension: int
    seconds: float  # for one short text, with the model loaded
    prefixes: Prefixes


async def check_endpoint(settings: EndpointSettings) -> EndpointCheck:
    """Prepare the endpoint as a run does, then measure one query.

    Raises:
        Unavailable: `EMBEDDING_UNAVAILABLE`; the message says what to do.
        Misconfigured: `CONFIG_INVALID`, a wrong endpoint or model.
    """
    async with served(settings) as endpoint, Embedder(endpoint) as embedder:
        space = await embedder.prepare()
        started = time.perf_counter()
        await embedder.embed_query("one short question")
        seconds = time.perf_counter() - started
    return EndpointCheck(space.model, space.dimension, seconds, settings.prefixes)
