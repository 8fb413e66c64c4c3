"""Interprets an endpoint's reply as checked vectors. Pure functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

from vault_agent.models.faults import Fault, Kind

if TYPE_CHECKING:
    from vault_agent.models.outcomes import Vectors


def vectors_of(body: bytes, count: int, dimension: int | None) -> Vectors:
    """Return the unit vectors of a reply, in the order of its texts, shape (count, dimension).

    Raises:
        Fault: BAD_REPLY unless there are exactly `count` vectors, each index once, all of one
            dimension (`dimension` if it is known), finite and not zero.
    """
    try:
        reply = orjson.loads(body)
    except orjson.JSONDecodeError:  # also for NaN and Infinity, which are not JSON
        raise Fault(Kind.BAD_REPLY) from None
    data = reply.get("data") if isinstance(reply, dict) else None
    if not isinstance(data, list) or len(data) != count:
        raise Fault(Kind.BAD_REPLY)
    rows: list[Any] = [None] * count
    for position, item in enumerate(data):
        if not isinstance(item, dict):
            raise Fault(Kind.BAD_REPLY)
        # Without indexes the order counts. With indexes, each must be there once.
        index = item.get("index", position if "index" not in data[0] else None)
        if type(index) is not int or not 0 <= index < count or rows[index] is not None:
            raise Fault(Kind.BAD_REPLY)
        rows[index] = item.get("embedding")
    return _units(rows, dimension)


def _units(rows: list[Any], dimension: int | None) -> Vectors:
    width = len(rows[0]) if isinstance(rows[0], list) else 0
    if width == 0 or (dimension is not None and width != dimension):
        raise Fault(Kind.BAD_REPLY)
    if not all(isinstance(row, list) and len(row) == width for row in rows):
        raise Fault(Kind.BAD_REPLY)
    try:
        matrix = np.array(rows)
    except (ValueError, TypeError, OverflowError):
        raise Fault(Kind.BAD_REPLY) from None
    # A string or null among the numbers changes the kind of the whole array.
    if matrix.ndim != 2 or matrix.dtype.kind not in "iuf":
        raise Fault(Kind.BAD_REPLY)
    with np.errstate(all="ignore"):
        matrix = matrix.astype(np.float64)
        norms = np.linalg.norm(matrix, axis=1, keepdims=True)
        units = (matrix / norms).astype(np.float32)
    if not (np.isfinite(norms).all() and norms.min() > 1e-12):
        raise Fault(Kind.BAD_REPLY)
    return np.ascontiguousarray(units)
