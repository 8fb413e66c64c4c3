"""The embedder over HTTP: one endpoint and one model.

Documents are retried; queries have a deadline.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Final, Self, cast

import anyio

from vault_agent.errors import Misconfigured, Unavailable
from vault_agent.models.address import check_model
from vault_agent.models.breaker import Breaker
from vault_agent.models.documents import Documents
from vault_agent.models.embedding_errors import EMBEDDING
from vault_agent.models.faults import Fault, Kind
from vault_agent.models.gate import Gate
from vault_agent.models.probe import Probe
from vault_agent.models.settings import (
    EndpointSettings as EndpointSettings,  # noqa: PLC0414, TC001 - offered here too
)
from vault_agent.models.vectors import Endpoint

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vault_agent.model.vectors import VectorSpace
    from vault_agent.models.outcomes import Outcome, Vector
    from vault_agent.models.prefixes import Prefixes

_QUERIES_KEPT: Final = 256
# Faults of one query; another query may succeed.
_OF_THE_QUERY: Final = frozenset({Kind.REJECTED, Kind.TOO_LONG})


class HttpEmbedder:
    """An `Embedder` over an OpenAI-compatible endpoint. An asynchronous context manager."""

    def __init__(
        self, settings: EndpointSettings, *, on_query: Callable[[], object] | None = None
    ) -> None:
        """Check the endpoint and the model. Nothing is sent.

        `on_query` is called before a query is sent, so that another process can hold its documents.

        Raises:
            Misconfigured: `CONFIG_INVALID` for an endpoint or model that would send text away.
        """
        model = settings.model.strip()
        if not model:
            raise Misconfigured("CONFIG_INVALID", "embedding.model must name a model.")
        check_model("embedding", model, sends="the notes' text")
        self.settings = settings
        self._on_query = on_query
        self._prefixes = settings.prefixes
        self._endpoint = Endpoint(settings.url, model, allow_private=settings.allow_private)
        self._probe = Probe(self._endpoint, model, self._prefixes)
        self._gate = Gate(settings.concurrency)
        self._documents = Documents(
            self._endpoint,
            self._probe,
            self._gate,
            model=model,
            batch_size=settings.batch_size,
            timeout=settings.timeout,
            patience=settings.patience,
        )
        self._breaker = Breaker(self._recover)
        self._queries: OrderedDict[str, Vector] = OrderedDict()
        self._preparing = anyio.Lock()
        self._prepared = False

    async def __aenter__(self) -> Self:
        await self._endpoint.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._breaker.aclose()
        await self._endpoint.__aexit__()

    @property
    def prefixes(self) -> Prefixes:
        """The prefixes of queries and of documents (see `document_input`)."""
        return self._prefixes

    @property
    def space(self) -> VectorSpace | None:
        """The space of the vectors, or None before the first reply."""
        return self._probe.space

    def check(self) -> None:
        """Raise `Unavailable` if the endpoint is known not to work now."""
        self._breaker.check()

    @property
    def request_size(self) -> int:
        """How many texts a document request has at present; fewer while a user searches."""
        return self._documents.request_size

    def warm_up(self) -> None:
        """Test the endpoint in the background, which also loads the model."""
        self._breaker.probe()

    def give_way(self) -> None:
        """Hold documents back for a query that another process is about to send."""
        self._gate.query()

    @property
    def is_prepared(self) -> bool:
        """Whether the space was checked, and no document has failed since by the endpoint."""
        return self._prepared

    async def prepare(self) -> VectorSpace:
        """Return the space for a run.

        The first call, and the first after a failure, waits for the model to load and checks it.

        Raises:
            Unavailable: if the endpoint does not work.
        """
        async with self._preparing:
            if self._prepared and self.space is not None:
                return self.space
            space = await self._documents.prepare()
            self._prepared = True
            return space

    async def embed_documents(self, texts: Sequence[str]) -> list[Outcome]:
        """Return one outcome a text, in order.

        Raises:
            Unavailable: if the endpoint fails, not single texts.
        """
        await self.prepare()
        try:
            return await self._documents.embed(texts)
        except Unavailable:
            self._prepared = False
            raise

    async def embed_query(self, text: str) -> Vector:
        """Return the query's vector within the query deadline. Afterwards `space` is known.

        After a fault of the endpoint, later calls raise at once, until a request in the background
        succeeds.

        Raises:
            Unavailable: if the endpoint fails, or rejects the query.
        """
        known = self._queries.get(text)
        if known is not None:
            self._queries.move_to_end(text)
            return known
        self._breaker.check()
        try:
            vector = await self._ask(text)
        except Fault as fault:
            error = EMBEDDING.unavailable(fault, self.settings.model)
            if fault.kind not in _OF_THE_QUERY:
                self._breaker.trip(error)
            raise error from None
        self._queries[text] = vector
        if len(self._queries) > _QUERIES_KEPT:
            self._queries.popitem(last=False)
        return vector

    async def _ask(self, text: str) -> Vector:
        self._gate.query()
        if self._on_query is not None:
            self._on_query()
        timeout = self.settings.query_timeout
        with anyio.move_on_after(timeout):
            if self._probe.space is None:
                await self._probe.ask(timeout)
            space = self._probe.space
            length = len(text)
            while True:
                try:
                    vectors = await self._endpoint.post(
                        [self._prefixes.query + text[:length]],
                        timeout=timeout,
                        dimension=None if space is None else space.dimension,
                    )
                except Fault as fault:
                    length //= 2
                    if fault.kind is not Kind.TOO_LONG or not length:
                        raise
                else:
                    return cast("Vector", vectors[0])
        raise Fault(Kind.TIMED_OUT)

    async def _recover(self) -> None:
        """Ask for the probe text, with a timeout long enough to load the model."""
        try:
            same = await self._probe.ask(self.settings.timeout)
        except Fault as fault:
            raise EMBEDDING.unavailable(fault, self.settings.model) from None
        if not same:
            self._queries.clear()
