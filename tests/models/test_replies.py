"""A reply is parsed into vectors or an error of a known kind."""

import json

import pytest

from vault_agent.codes import CODES
from vault_agent.models.faults import EndpointFault, Kind, fault_of
from vault_agent.models.reranker import RERANKER
from vault_agent.models.vectors import EMBEDDING, vectors_of


def reply(*vectors, **changes):
    data = [{"index": i, "embedding": list(v)} for i, v in enumerate(vectors)]
    return json.dumps({"data": data} | changes).encode()


def test_vectors_are_ordered_by_index():
    body = {"data": [{"index": 1, "embedding": [0, 1]}, {"index": 0, "embedding": [1, 0]}]}
    assert vectors_of(json.dumps(body).encode(), 2, None).tolist() == [[1, 0], [0, 1]]


def test_without_indices_the_order_counts():
    body = {"data": [{"embedding": [1, 0]}, {"embedding": [0, 1]}]}
    assert vectors_of(json.dumps(body).encode(), 2, None).tolist() == [[1, 0], [0, 1]]


@pytest.mark.fault(
    "The embedding endpoint",
    "NaN, infinite or zero vectors; wrong count, order or dimension; an index out of range",
    "refused, never stored",
)
@pytest.mark.parametrize(
    ("body", "count", "dimension"),
    [
        (b"", 1, None),
        (b"<html>", 1, None),
        (b"[]", 1, None),
        (b"null", 1, None),
        (b'{"data": null}', 1, None),
        (b'{"data": {}}', 1, None),
        (b'{"data": [null]}', 1, None),
        (b'{"data": [{"index": 0}]}', 1, None),
        (b'{"data": [{"index": 0, "embedding": []}]}', 1, None),
        (b'{"data": [{"index": 0, "embedding": "AAAA"}]}', 1, None),
        (b'{"data": [{"index": 0, "embedding": [NaN, 1]}]}', 1, None),
        (b'{"data": [{"index": 0, "embedding": [Infinity, 1]}]}', 1, None),
        (b'{"data": [{"index": 0, "embedding": [1e999, 1]}]}', 1, None),
        (b'{"data": [{"index": 0, "embedding": [1e300, 1e300]}]}', 1, None),
        (b'{"data": [{"index": 0, "embedding": ["1", 1]}]}', 1, None),
        (b'{"data": [{"index": 0, "embedding": [null, 1]}]}', 1, None),
        (b'{"data": [{"index": 0, "embedding": [[1], [2]]}]}', 1, None),
        (b'{"data": [{"index": false, "embedding": [1, 2]}]}', 1, None),
        (b'{"data": [{"index": 0.0, "embedding": [1, 2]}]}', 1, None),
        (b'{"data": [{"index": 0, "embedding": [1]}, {"embedding": [2]}]}', 2, None),
        (b'{"data": [{"embedding": [1]}, {"index": 0, "embedding": [2]}]}', 2, None),
        (b'{"data": [{"index": 1, "embedding": [1, 2]}]}', 1, None),
        (b'{"data": [{"index": -1, "embedding": [1, 2]}]}', 1, None),
        (reply((0, 0)), 1, None),
        (reply((1, 2)), 2, None),
        (reply((1, 2), (1, 2)), 1, None),
        (reply((1, 2)), 1, 3),
        (reply((1, 2), (1, 2, 3)), 2, None),
        (b'{"data": [{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}', 2, None),
        (b'{"data": [{"index":0,"embedding":[1]},{"embedding":[1]}]}', 2, None),
    ],
)
def test_invalid_vectors_are_a_bad_reply(body, count, dimension):
    with pytest.raises(EndpointFault) as caught:
        vectors_of(body, count, dimension)
    assert caught.value.kind is Kind.BAD_REPLY


def error(message):
    return json.dumps({"error": {"message": message}}).encode()


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        # Messages of Ollama, llama.cpp, vLLM, text-embeddings-inference, infinity, LM Studio.
        (404, error('model "x" not found, try pulling it first'), Kind.MODEL_MISSING),
        (400, error('model "x" not found, try pulling it first'), Kind.MODEL_MISSING),
        (404, error("The model `x` does not exist."), Kind.MODEL_MISSING),
        (404, b"404 page not found", Kind.ROUTE_MISSING),
        (404, b'{"detail": "Not Found"}', Kind.ROUTE_MISSING),
        (500, error("input is too large to process. increase the physical batch"), Kind.TOO_LONG),
        (400, error("input length exceeds maximum context length"), Kind.TOO_LONG),
        (400, b'{"error": "the input length exceeds the context length"}', Kind.TOO_LONG),
        (400, error("This model's maximum context length is 512 tokens."), Kind.TOO_LONG),
        (413, b'{"message": "`inputs` must have less than 512 tokens"}', Kind.TOO_LONG),
        (413, b"Payload Too Large", Kind.TOO_LONG),
        (422, b'{"message": "batch size 64 > maximum allowed batch size 32"}', Kind.REJECTED),
        (413, b'{"message": "batch size 64 > maximum allowed batch size 32"}', Kind.REJECTED),
        (422, b'{"detail": [{"input": "model x not found"}]}', Kind.REJECTED),
        (
            400,
            b'{"error": "The model has crashed without additional information"}',
            Kind.SERVER_ERROR,
        ),
        (500, b"Internal Server Error", Kind.SERVER_ERROR),
        (424, b'{"message": "inference failed"}', Kind.SERVER_ERROR),
        (429, b"", Kind.BUSY),
        (503, error("server busy, please try again"), Kind.BUSY),
        (408, b"", Kind.BUSY),
        (401, b"", Kind.UNAUTHORIZED),
        (403, b"", Kind.UNAUTHORIZED),
        (307, b"", Kind.REDIRECTED),
        (400, b"\xff\xfe\x00", Kind.REJECTED),
    ],
)
def test_error_messages_of_known_servers_are_recognised(status, body, kind):
    assert fault_of(status, body, None).kind is kind


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("3", 3.0), ("0.5", 0.5), (None, None), ("-1", None), ("nan", None), ("soon", None)],
)
def test_retry_after_is_seconds_or_nothing(header, seconds):
    assert fault_of(429, b"", header).retry_after == seconds


def test_each_fault_has_a_message_that_says_what_to_do():
    for service in (EMBEDDING, RERANKER):
        for kind in Kind:
            error = service.unavailable(EndpointFault(kind), "tiny{model}", "http://127.0.0.1:1")
            assert error.code in CODES
            assert "{section}" not in error.message
            assert error.details == {"reason": kind.name.lower()}
