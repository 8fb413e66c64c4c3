"""The forms of requests and replies of rerankers. Pure functions.

There are two. Jina's, `{"results": [{"index": 0, "relevance_score": 0.9}]}`, is that of the servers
of llama.cpp, vLLM, Infinity and LocalAI. text-embeddings-inference takes `texts` instead of
`documents`, and replies with a list of `{"index": 0, "score": 0.9}`.
"""

from __future__ import annotations

import math
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

import orjson

from vault_agent.models.faults import Fault, Kind
from vault_agent.models.post import utf8

if TYPE_CHECKING:
    from collections.abc import Sequence


class Form(Enum):
    """How a server names the parts of a request."""

    JINA = auto()
    TEI = auto()

    @property
    def other(self) -> Form:
        """The form to try if this one is rejected."""
        return Form.TEI if self is Form.JINA else Form.JINA


def request_of(form: Form, model: str, query: str, texts: Sequence[str]) -> bytes:
    """Return the body of a request. A server with one model needs no name of it."""
    sent = [utf8(text) for text in texts]
    body: dict[str, Any] = {"query": utf8(query)}
    if form is Form.TEI:
        return orjson.dumps({**body, "texts": sent, "truncate": True})
    if model:
        body["model"] = model
    return orjson.dumps({**body, "documents": sent, "top_n": len(sent)})


def scores_of(body: bytes, count: int) -> tuple[float, ...]:
    """Return the score of each text, in the order of the request.

    Their scale is the model's: some servers send probabilities, others any number.

    Raises:
        Fault: BAD_REPLY if a text has no score, or two.
    """
    try:
        reply: Any = orjson.loads(body)
        items = reply if isinstance(reply, list) else reply["results"]
        scores = {
            item["index"]: float(item["relevance_score" if "relevance_score" in item else "score"])
            for item in items
        }
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError):
        raise Fault(Kind.BAD_REPLY) from None
    complete = len(items) == count and scores.keys() == set(range(count))
    if not complete or not all(map(math.isfinite, scores.values())):
        raise Fault(Kind.BAD_REPLY)
    return tuple(scores[index] for index in range(count))
