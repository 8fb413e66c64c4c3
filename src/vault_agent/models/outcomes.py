"""The embedder protocol and its values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vault_agent.model.vectors import VectorSpace

Vector: TypeAlias = NDArray[np.float32]
"""One unit vector, shape (dimension,)."""

Vectors: TypeAlias = NDArray[np.float32]
"""Unit vectors, shape (count, dimension)."""


class Reason(StrEnum):
    """Why one text has no vector although the endpoint works."""

    REJECTED = "rejected"  # rejected, also when sent alone or shortened
    BAD_VECTOR = "bad_vector"  # not finite, all zero, or of another dimension
    SERVER_ERROR = "server_error"  # a server error each time
    TIMED_OUT = "timed_out"  # no reply in time, even alone


@dataclass(frozen=True, slots=True, eq=False)
class Embedded:
    """A text's vector; `truncated` if the endpoint accepted only the beginning of the text."""

    vector: Vector
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class Failure:
    """A text that cannot be embedded now, although others can."""

    reason: Reason


Outcome: TypeAlias = Embedded | Failure


class Embedder(Protocol):
    """Turns texts into comparable unit vectors.

    Documents are exact inputs, as `prefixes.document_input` returns them. The embedder adds the
    prefix of a query itself. Every method raises `Unavailable` (`EMBEDDING_UNAVAILABLE` with
    `details.reason`) if the endpoint does not work.
    """

    @property
    def space(self) -> VectorSpace | None:
        """The space of the vectors, or None before anything was embedded."""
        ...

    @property
    def request_size(self) -> int:
        """How many texts one request has at present. More texts are sent in several requests."""
        ...

    async def prepare(self) -> VectorSpace:
        """Return the space for a run of documents, after checking the endpoint."""
        ...

    async def embed_documents(self, texts: Sequence[str]) -> list[Outcome]:
        """Return one outcome a text, in order."""
        ...

    async def embed_query(self, text: str) -> Vector:
        """Return the query's vector within the query deadline."""
        ...
