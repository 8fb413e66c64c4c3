"""Hostile bodies and bytes get stable codes."""

from __future__ import annotations

import asyncio
import gzip
import json

import pytest
from tests.support.clocks import PATIENCE

from vault_agent.server.connection import Limits

from .conftest import NOTE_ID, run

JSON = {"Content-Type": "application/json"}


def post(body: bytes, *headers: str, path: str = "/search") -> bytes:
    """Return a POST as bytes. `{length}` in a header is replaced with the body's length."""
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", "Connection: close", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


@pytest.mark.parametrize(
    "media",
    [
        "text/plain",
        "application/jsonp",
        "application/json; charset=latin-1",
        "application/json; profile=x",
        "text/plain; application/json",
        "",
    ],
)
async def test_only_utf8_json_is_accepted(server, media: str):
    for path in ("/search", "/related", "/index", "/reindex"):
        refusal = await server.refusal(
            "POST", path, data=b'{"query": "a"}', headers={"Content-Type": media}
        )
        assert refusal == (415, "UNSUPPORTED_MEDIA_TYPE")
    assert server.engine.queries == []
    assert await server.engine.jobs.list() == ()


@pytest.mark.parametrize(
    "media",
    ["application/json", "Application/JSON; Charset=UTF-8", 'application/json;charset="utf-8"'],
)
async def test_every_spelling_of_the_json_type_is_accepted(server, media: str):
    status, _, _ = await server.ask(
        "POST", "/search", data=b'{"query": "a"}', headers={"Content-Type": media}
    )
    assert status == 200


@pytest.mark.fault(
    "HTTP and access",
    "a compressed body; a body over 64 KiB, with or without `Content-Length`",
    "415; 413",
)
@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd", "identity", "x"])
async def test_a_compressed_body_is_refused_without_decompressing(server, coding: str):
    body = gzip.compress(b'{"query": "' + b"a" * 10_000_000 + b'"}')
    raw = post(
        body, "Content-Type: application/json", f"Content-Encoding: {coding}",
        f"Content-Length: {len(body)}",
    )  # fmt: skip
    reply = await server.raw(raw)
    assert reply.startswith(b"HTTP/1.1 415 ")
    assert b"UNSUPPORTED_MEDIA_TYPE" in reply


@pytest.mark.fault(
    "HTTP and access",
    "`Transfer-Encoding: gzip, chunked`",
    "415",
)
@pytest.mark.parametrize(
    "codings",
    [("gzip, chunked",), ("gzip", "chunked"), ("identity, chunked",), ("deflate,chunked",)],
)
async def test_a_compressed_transfer_encoding_is_refused(server, codings: tuple[str, ...]):
    body = b'{"query": "a"}'
    raw = post(
        b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body),
        "Content-Type: application/json",
        *(f"Transfer-Encoding: {coding}" for coding in codings),
    )
    reply = await server.raw(raw)
    assert reply.split(b" ")[1] in (b"415", b"400")
    assert server.engine.queries == []


async def test_chunked_json_is_accepted(server):
    body = b'{"query": "a"}'
    raw = post(
        b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body),
        "Content-Type: application/json",
        "Transfer-Encoding: Chunked",
    )
    assert (await server.raw(raw)).startswith(b"HTTP/1.1 200 ")


async def test_a_body_over_64_kib_is_refused_with_413(server):
    fits = b'{"query": "' + b" " * (64 * 1024 - 14) + b'a"}'
    assert len(fits) == 64 * 1024
    assert (await server.ask("POST", "/search", data=fits, headers=JSON))[0] == 200
    too_long = await server.refusal("POST", "/search", data=fits + b" ", headers=JSON)
    assert too_long == (413, "BODY_TOO_LARGE")

    async def pieces():
        for _ in range(9):
            yield b" " * 8192

    assert await server.refusal("POST", "/search", data=pieces(), headers=JSON) == (
        413,
        "BODY_TOO_LARGE",
    )


async def test_a_huge_content_length_is_refused_at_once():
    raw = post(b"", "Content-Type: application/json", "Content-Length: 1099511627776")
    async with run(limits=Limits(linger_seconds=0.1)) as server, asyncio.timeout(PATIENCE):
        assert (await server.raw(raw)).startswith(b"HTTP/1.1 413 ")


@pytest.mark.fault(
    "HTTP and access",
    "very deeply nested JSON, a number of 5,000 digits, invalid UTF-8, `NaN`, lone "
    "surrogates, wrong types, `limit: true`, duplicate keys",
    "400",
)
@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"[" * 60_000, "INVALID_REQUEST"),
        (b'{"query": ' + b'{"a":' * 10_000 + b"1" + b"}" * 10_000 + b"}", "INVALID_REQUEST"),
        (b'{"query": "a", "limit": ' + b"9" * 5000 + b"}", "INVALID_REQUEST"),
        (b'{"query": "a", "limit": 1e400}', "INVALID_REQUEST"),
        (b'{"query": "\xff\xfe"}', "INVALID_REQUEST"),
        (b'{"query": "\xed\xa0\x80"}', "INVALID_REQUEST"),
        (rb'{"query": "\ud800"}', "INVALID_REQUEST"),
        ('{"query": "a"}'.encode("utf-16"), "INVALID_REQUEST"),
        (b'\xef\xbb\xbf{"query": "a"}', "INVALID_REQUEST"),
        (b'{"query": "a", "limit": NaN}', "INVALID_REQUEST"),
        (b'{"query": "a", "limit": true}', "INVALID_LIMIT"),
        (b'{"query": "a", "limit": 51}', "INVALID_LIMIT"),
        (b'{"query": "a", "mode": "fuzzy"}', "INVALID_MODE"),
        (b'{"query": " \\t\\n "}', "INVALID_QUERY"),
        (b"{}", "INVALID_QUERY"),
        (b"", "INVALID_REQUEST"),
        (b"[]", "INVALID_REQUEST"),
        (b'{"query": "a"} {}', "INVALID_REQUEST"),
        (b'{"query": "a", "query": "b"}', "INVALID_REQUEST"),
        (b'{"query": "a", "filters": {"tags": ["x"], "tags": []}}', "INVALID_REQUEST"),
        (b'{"query": "a", "unknown": 1}', "INVALID_REQUEST"),
        (b'{"query": "a", "filters": {"paths": [""]}}', "INVALID_REQUEST"),
    ],
)
async def test_a_bad_body_is_a_400_with_its_code(server, body: bytes, code: str):
    if body == b"":
        # With a length of zero there is no body at all, and a query is missing.
        code = "INVALID_QUERY"
    assert await server.refusal("POST", "/search", data=body, headers=JSON) == (400, code)
    assert server.engine.queries == []


@pytest.mark.parametrize(
    "given",
    ["", "x", NOTE_ID[:-1], NOTE_ID + ":", NOTE_ID + ":-1", NOTE_ID + ":01", NOTE_ID + "\n",
     NOTE_ID.upper(), 1, None],
)  # fmt: skip
async def test_a_bad_id_is_a_400_with_its_code(server, given):
    refusal = await server.refusal("POST", "/related", json={"id": given})
    assert refusal == (400, "INVALID_ID")


async def test_errors_do_not_quote_the_request(server):
    canary = "canary-7f3a"
    bodies = [
        {"query": "a", canary: 1},
        {"query": "a", "mode": canary},
        {"query": "a", "limit": canary},
        {"query": "a", "filters": {canary: 1}},
        {"query": "a", "filters": {"after": canary}},
        {"query": "a", "filters": canary},
        {"query": {canary: canary}},
        {"id": canary},
    ]
    for body in bodies:
        for path in ("/search", "/related", "/index"):
            status, reply, _ = await server.ask("POST", path, json=body)
            assert status == 400
            assert canary not in json.dumps(reply)
    for path in (f"/{canary}", f"/notes/{canary}", f"/health?{canary}={canary}",
                 f"/attachments/{canary}", f"/jobs/{canary}"):  # fmt: skip
        _, reply, headers = await server.ask("GET", path, headers={"X-Request-Id": canary})
        assert canary not in json.dumps(reply)
        assert canary not in str(headers)
    assert canary not in server.log.getvalue()


@pytest.mark.fault(
    "Queries",
    '`C++`, `foo-bar`, `"`, `NEAR(`, `*`, `AND`, NUL, 300 parentheses, 1,000 words of one letter',
    "results, or a 400 that gives the reason",
)
async def test_any_text_is_a_valid_query(server):
    for query in (
        "C++", "foo-bar", '"', "NEAR(", "*", "AND", "\x00", "(" * 300, "漢字", "🗝", "a" * 1000,
    ):  # fmt: skip
        status, _, _ = await server.ask("POST", "/search", json={"query": query})
        assert status == 200


@pytest.mark.fault(
    "HTTP and access",
    "a request that is not HTTP",
    "400 with a JSON error that quotes nothing",
)
@pytest.mark.parametrize(
    "raw",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03canary",
        b"canary\r\n\r\n",
        b"GET /canary\r\n\r\n",
        b"GET /health HTTP/1.1\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: localhost\r\nHost: canary\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: localhost\r\ncanary\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: a\x00canary\r\n\r\n",
        b"GET /health HTTP/9.9\r\nHost: canary\r\n\r\n",
        b"GET /" + b"canary" * 5000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: " + b"canary" * 5000 + b"\r\n\r\n",
        b"GET /health HTTP/1.1\r\n" + b"X: canary\r\n" * 5000 + b"\r\n",
        post(b"x", "Content-Length: 1", "Transfer-Encoding: chunked", "X: canary"),
        post(b"x", "Content-Length: canary"),
        post(b"x", "Content-Length: 1", "Content-Length: 2", "X: canary"),
        post(b"canary\r\n", "Transfer-Encoding: chunked", "Content-Type: application/json"),
        post(b"", "Transfer-Encoding: canary", "Content-Type: application/json"),
        b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\nExpect: canary\r\nConnection: close\r\n\r\n",
        b"GET /canary HTTP/1.1\r\nHost: localhost\r\nExpect: canary\r\nConnection: close\r\n\r\n",
        b"CONNECT canary:80 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET http://canary\xff/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ],
)
async def test_invalid_http_gets_a_json_error_that_does_not_quote_it(server, raw: bytes):
    reply = await server.first_reply(raw)
    head, _, body = reply.partition(b"\r\n\r\n")
    assert head.split(b" ")[1][:1] == b"4"
    assert set(json.loads(body)["error"]) == {"code", "message", "details"}
    assert b"nosniff" in head
    assert b"canary" not in reply
    assert "canary" not in server.log.getvalue()
    assert (await server.ask("GET", "/health"))[0] == 200


async def test_an_unexpected_body_is_refused(server):
    for method, path in (("GET", "/health"), ("DELETE", "/jobs/a"), ("GET", f"/notes/{NOTE_ID}")):
        refusal = await server.refusal(method, path, data=b"{}", headers=JSON)
        assert refusal == (400, "INVALID_REQUEST")


async def test_100_continue_is_sent_only_after_the_checks():
    body = b'{"query": "a"}'
    async with run(server={"api_key": "k" * 32}) as server:
        expecting = [
            "Content-Type: application/json",
            f"Content-Length: {len(body)}",
            "Expect: 100-continue",
        ]  # fmt: skip
        refused = await server.raw(post(body, *expecting))
        assert refused.startswith(b"HTTP/1.1 401 ")
        invited = await server.raw(post(body, *expecting, f"Authorization: Bearer {'k' * 32}"))
        assert invited.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 ")


async def test_an_upgrade_request_gets_a_normal_reply(server):
    reply = await server.first_reply(
        b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n"
        b"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\r\n"
    )
    assert reply.startswith(b"HTTP/1.1 200 ")


async def test_pipelined_requests_are_answered_in_order(server):
    one = b"GET /health HTTP/1.1\r\nHost: localhost\r\n"
    reply = await server.raw(one + b"\r\n" + one + b"Connection: close\r\n\r\n")
    assert reply.count(b"HTTP/1.1 200 OK") == 2


@pytest.mark.parametrize("path", ["%ff.png", "a%c0%ae%c0%ae/x", "%ed%a0%80"])
async def test_a_path_that_is_not_utf8_is_a_400(server, path: str):
    refusal = await server.refusal("GET", f"/attachments/{path}")
    assert refusal == (400, "INVALID_PATH")


async def test_a_percent_sign_in_a_name_is_not_decoded_twice(server):
    server.engine.files["100%.png"] = server.engine.files["my%20image.png"] = b"x"
    for path in ("100%25.png", "my%2520image.png"):
        assert (await server.ask("GET", f"/attachments/{path}"))[0] == 200
