"""Vectors from an embedding endpoint, checked before they are used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import orjson
from numpy.typing import NDArray

from vault_agent.models.faults import EndpointFault, Kind, ModelService

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

EMBEDDING: Final = ModelService.of("embedding")
BUILT_IN_MODEL: Final = ModelService.of("built-in")

PROBE: Final = "The lighthouse keeper wrote down the weather every evening before supper."
"""The text whose vector shows which model answers."""
# 4,096 dimensions of 25 characters are 100 KB a text.
REPLY_BYTES_PER_TEXT: Final = 1 << 17


def vectors_of(body: bytes, count: int, dimension: int | None) -> Vectors:
    """Return the unit vectors of a reply, in the order of its texts, shape (count, dimension).

    Raises:
        EndpointFault: BAD_REPLY unless there are exactly `count` vectors, each index once, all of
            one dimension (`dimension` if it is known), finite and not zero.
    """
    try:
        data = orjson.loads(body)["data"]  # NaN and Infinity are not JSON
        # Without indexes the order counts. With indexes, each must be there once.
        is_ordered = "index" not in data[0]
        places = [item.get("index", at if is_ordered else None) for at, item in enumerate(data)]
        if any(type(place) is not int for place in places):
            raise EndpointFault(Kind.BAD_REPLY)
        rows = dict(zip(places, (item["embedding"] for item in data), strict=True))
        matrix = np.array([rows[place] for place in range(count)])
    except (AttributeError, LookupError, TypeError, ValueError, OverflowError):
        raise EndpointFault(Kind.BAD_REPLY) from None
    # A string or null among the numbers changes the kind of the whole array.
    if len(data) != count or matrix.ndim != 2 or matrix.dtype.kind not in "iuf":
        raise EndpointFault(Kind.BAD_REPLY)
    if dimension not in (None, matrix.shape[1]):
        raise EndpointFault(Kind.BAD_REPLY)
    with np.errstate(all="ignore"):
        matrix = matrix.astype(np.float64)
        norms = np.linalg.norm(matrix, axis=1, keepdims=True)
        units = (matrix / norms).astype(np.float32)
    if not (np.isfinite(norms).all() and norms.min() > 1e-12):
        raise EndpointFault(Kind.BAD_REPLY)
    return np.ascontiguousarray(units)
