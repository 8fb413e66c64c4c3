"""What an embedder promises, and the values it speaks in."""

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

    REJECTED = "rejected"  # refused, whatever was tried
    BAD_VECTOR = "bad_vector"  # not finite, all zero, or of another dimension
    SERVER_ERROR = "server_error"  # breaks the endpoint's request every time
    TIMED_OUT = "timed_out"  # no reply in time, even alone


@dataclass(frozen=True, slots=True, eq=False)
class Embedded:
    """A text's vector; `truncated` where the endpoint took only a beginning of the text."""

    vector: Vector
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class Failure:
    """A text that cannot be embedded now; the others can."""

    reason: Reason


Outcome: TypeAlias = Embedded | Failure


class Embedder(Protocol):
    """Turns texts into comparable unit vectors.

    Texts are exact inputs: `prefixes.document_input` has been applied to documents already, while
    a query's prefix is the embedder's own business. Every method raises `Unavailable`
    (EMBEDDING_UNAVAILABLE) where the endpoint as a whole is of no use, with `details.reason`.
    """

    @property
    def space(self) -> VectorSpace | None:
        """The space of the vectors, as far as it is known; known once anything was embedded."""
        ...

    @property
    def request_size(self) -> int:
        """Texts that go together in one request now; more are sent in several, one by one."""
        ...

    async def prepare(self) -> VectorSpace:
        """Return the space for a run of documents, after whatever makes sure of it."""
        ...

    async def embed_documents(self, texts: Sequence[str]) -> list[Outcome]:
        """Return one outcome a text, in order."""
        ...

    async def embed_query(self, text: str) -> Vector:
        """Return the query's vector within the query deadline."""
        ...
