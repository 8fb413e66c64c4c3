"""What an endpoint's reply means: checked vectors, or a fault of a known kind. Pure.

Replies are judged and never repeated: some servers send the input back within their errors.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import orjson

if TYPE_CHECKING:
    from vault_agent.embedding.embedder import Vectors


class Kind(Enum):
    """What went wrong with one request, by what there is to be done about it."""

    # The endpoint as a whole. Retried, since all of it may pass.
    UNREACHABLE = auto()  # nobody listens
    BUSY = auto()  # 408, 429, 502, 503, 504
    # This request, or the endpoint: not to be told apart without asking it something else.
    DISCONNECTED = auto()
    TIMED_OUT = auto()
    SERVER_ERROR = auto()  # other 5xx, 424, "the model has crashed"
    BAD_REPLY = auto()  # 200 and yet no usable vectors
    # This request. The same again gives the same again.
    REJECTED = auto()  # other 4xx
    TOO_LONG = auto()  # too many tokens, or too many bytes
    # Nothing will help but the user.
    MODEL_MISSING = auto()
    ROUTE_MISSING = auto()
    UNAUTHORIZED = auto()
    REDIRECTED = auto()
    ADDRESS_REFUSED = auto()


FATAL: Final = frozenset(
    {
        Kind.MODEL_MISSING,
        Kind.ROUTE_MISSING,
        Kind.UNAUTHORIZED,
        Kind.REDIRECTED,
        Kind.ADDRESS_REFUSED,
    }
)


class Fault(Exception):
    """One request that brought no vectors. Holds nothing that the endpoint wrote."""

    def __init__(self, kind: Kind, *, retry_after: float | None = None) -> None:
        super().__init__(kind.name)
        self.kind = kind
        self.retry_after = retry_after


_BUSY: Final = frozenset({408, 429, 502, 503, 504})

# Ollama, llama.cpp, vLLM, text-embeddings-inference, LM Studio, each in several versions.
_TOO_LONG: Final = re.compile(
    r"context (length|size|window)|input length|too (large|long)|maximum (context|length|input)"
    r"|max(imum)?[ _](seq|input|length|tokens)|must have less than \d+ tokens"
    r"|exceeds? .{0,40}(token|context|length)|(token|context|length).{0,40} exceed"
    r"|larger than .{0,40}(batch|context) size",
    re.IGNORECASE,
)
_BATCH: Final = re.compile(
    r"batch size \d+ >|maximum (allowed )?batch|too many inputs", re.IGNORECASE
)
_MODEL_MISSING: Final = re.compile(
    r"try pulling|model\b.{0,120}\b(not found|does not exist|not exist)|no such model"
    r"|no models? (is |are )?loaded|unknown model",
    re.IGNORECASE | re.DOTALL,
)
_CRASHED: Final = re.compile(r"crashed|exit code|runner .{0,20}terminated|NaN|\bEOF\b")


def fault_of(status: int, body: bytes, retry_after: str | None) -> Fault:
    """Return what a reply other than 200 means, by its status and the words of its message."""
    if 300 <= status < 400:
        return Fault(Kind.REDIRECTED)
    if status in (401, 403):
        return Fault(Kind.UNAUTHORIZED)
    if status in _BUSY:
        return Fault(Kind.BUSY, retry_after=_seconds(retry_after))
    message = _message(body)
    if status == 404 or (status == 400 and _MODEL_MISSING.search(message)):
        # A path that does not exist is answered with any page at all; a missing model by words.
        known = _MODEL_MISSING.search(message) or "model" in message.lower()
        return Fault(Kind.MODEL_MISSING if known else Kind.ROUTE_MISSING)
    if _BATCH.search(message):
        return Fault(Kind.REJECTED)
    if status == 413 or _TOO_LONG.search(message):
        return Fault(Kind.TOO_LONG)
    if status >= 500 or status == 424 or _CRASHED.search(message):
        return Fault(Kind.SERVER_ERROR)
    return Fault(Kind.REJECTED)


def _message(body: bytes) -> str:
    """Return the words of an error in any of the shapes in use; 400 characters at most.

    Only fields that hold the server's own words: validation errors (a list) repeat the input,
    and a note that says "model not found" must not end the run.
    """
    try:
        found: Any = orjson.loads(body)
    except orjson.JSONDecodeError:
        return body[:400].decode("utf-8", "replace")
    if isinstance(found, dict):
        found = found.get("error") or found.get("message") or found.get("detail")
    if isinstance(found, dict):
        found = found.get("message")
    return found[:400] if isinstance(found, str) else ""


def _seconds(header: str | None) -> float | None:
    """Return the seconds of a Retry-After header; its form with a date is not worth a clock."""
    try:
        seconds = float(header or "")
    except ValueError:
        return None
    return seconds if 0 <= seconds < 1e6 else None


def vectors_of(body: bytes, count: int, dimension: int | None) -> Vectors:
    """Return the unit vectors of a reply to `count` texts, in the texts' order: (count, dimension).

    Raises `Fault` BAD_REPLY unless there are exactly `count` vectors, each index once, all of one
    dimension (`dimension` where that is known), finite and not zero.
    """
    try:
        reply = orjson.loads(body)
    except orjson.JSONDecodeError:  # also NaN and Infinity, which are no JSON
        raise Fault(Kind.BAD_REPLY) from None
    data = reply.get("data") if isinstance(reply, dict) else None
    if not isinstance(data, list) or len(data) != count:
        raise Fault(Kind.BAD_REPLY)
    rows: list[Any] = [None] * count
    for position, item in enumerate(data):
        if not isinstance(item, dict):
            raise Fault(Kind.BAD_REPLY)
        # Without any index the order is all there is; with some, each must be there once.
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
    # One text or null among the numbers changes the kind of the whole array.
    if matrix.ndim != 2 or matrix.dtype.kind not in "iuf":
        raise Fault(Kind.BAD_REPLY)
    with np.errstate(all="ignore"):
        matrix = matrix.astype(np.float64)
        norms = np.linalg.norm(matrix, axis=1, keepdims=True)
        units = (matrix / norms).astype(np.float32)
    if not (np.isfinite(norms).all() and norms.min() > 1e-12):
        raise Fault(Kind.BAD_REPLY)
    return np.ascontiguousarray(units)
