"""Each route works as documented. Route table, access checks and OpenAPI agree."""

from __future__ import annotations

import json

from vault_agent.errors import IndexUnavailable, Unavailable
from vault_agent.model.jobs import JobKind, JobState
from vault_agent.model.warning import Warning
from vault_agent.server.openapi import describe
from vault_agent.server.replies import SAFE_HEADERS
from vault_agent.server.routes import ROUTES

from .conftest import NOTE_ID, run


def test_openapi_has_every_route_and_status():
    document = describe()
    described = {
        f"{method.upper()} {path}"
        for path, operations in document["paths"].items()
        for method in operations
    }
    assert described == {f"{route.method} {route.path}" for route in ROUTES}
    for route in ROUTES:
        responses = document["paths"][route.path][route.method.lower()]["responses"]
        assert {str(route.status), "4XX", "5XX"} <= set(responses)


async def test_an_unchanged_note_is_304(server):
    status, body, headers = await server.ask("GET", f"/notes/{NOTE_ID}")
    assert (status, body["data"]["content"]) == (200, "# Lamp\n")
    assert headers["Cache-Control"] == "private, no-cache"
    for known in (headers["ETag"], f'"x", W/{headers["ETag"]}', "*"):
        again, nothing, _ = await server.ask(
            "GET", f"/notes/{NOTE_ID}", headers={"If-None-Match": known}
        )
        assert (again, nothing) == (304, None)
    changed, _, _ = await server.ask(
        "GET", f"/notes/{NOTE_ID}", headers={"If-None-Match": '"other"'}
    )
    assert changed == 200


async def test_a_large_note_is_sent_in_pieces(server):
    whole = (await server.ask("GET", f"/notes/{NOTE_ID}?allowLarge=true"))[1]["data"]
    pieces = []
    for number in range(3):
        status, body, _ = await server.ask("GET", f"/notes/{NOTE_ID}?piece={number}")
        assert status == 200
        assert body["data"]["pieces"] == 2
        assert body["data"]["contentHash"] == whole["contentHash"]
        pieces.append(body["data"]["content"])
    assert "".join(pieces) == whole["content"]
    assert (len(pieces[0]), pieces[2]) == (204_800, "")


async def test_missing_or_malformed_ids_have_their_codes(server):
    for method, path, status, code in (
        ("GET", "/notes/" + "0" * 32, 404, "NOTE_NOT_FOUND"),
        ("GET", "/notes/nope", 400, "INVALID_ID"),
        ("GET", "/notes/" + NOTE_ID.upper(), 400, "INVALID_ID"),
        ("GET", f"/chunks/{NOTE_ID}/9", 404, "CHUNK_NOT_FOUND"),
        ("GET", f"/chunks/{NOTE_ID}/-1", 400, "INVALID_ID"),
        ("GET", f"/chunks/{NOTE_ID}/00", 400, "INVALID_ID"),
        ("GET", f"/chunks/{NOTE_ID}/02", 400, "INVALID_ID"),
        ("GET", f"/chunks/{NOTE_ID}/%D9%A2", 400, "INVALID_ID"),  # ARABIC-INDIC DIGIT TWO
        ("GET", f"/chunks/{NOTE_ID}/{'9' * 4000}", 400, "INVALID_ID"),
        ("GET", "/attachments/none.png", 404, "ATTACHMENT_NOT_FOUND"),
        ("GET", "/attachments/", 400, "INVALID_PATH"),
        ("GET", "/jobs/none", 404, "JOB_NOT_FOUND"),
        ("GET", "/jobs/none/events", 404, "JOB_NOT_FOUND"),
        ("DELETE", "/jobs/none", 404, "JOB_NOT_FOUND"),
        ("GET", "/jobs/a%20b", 400, "INVALID_ID"),
        ("GET", "/nothing", 404, "ROUTE_NOT_FOUND"),
        ("GET", "/health/", 404, "ROUTE_NOT_FOUND"),
        ("GET", "/health?x=1", 400, "INVALID_REQUEST"),
        ("GET", f"/notes/{NOTE_ID}?allowLarge=1", 400, "INVALID_REQUEST"),
        ("GET", f"/notes/{NOTE_ID}?allowLarge=True", 400, "INVALID_REQUEST"),
        ("GET", f"/notes/{NOTE_ID}?allowLarge=true&allowLarge=true", 400, "INVALID_REQUEST"),
        ("GET", f"/notes/{NOTE_ID}?allow_large=true", 400, "INVALID_REQUEST"),
    ):
        assert await server.refusal(method, path) == (status, code), path


async def test_a_wrong_method_is_405_with_the_allowed_ones(server):
    status, body, headers = await server.ask("DELETE", "/search")
    assert (status, body["error"]["code"]) == (405, "METHOD_NOT_ALLOWED")
    assert headers["Allow"] == "POST, OPTIONS"
    status, _, headers = await server.ask("PUT", "/jobs/job0")
    assert (status, headers["Allow"]) == (405, "GET, HEAD, DELETE, OPTIONS")


async def test_options_lists_the_methods(server):
    status, _, headers = await server.ask("OPTIONS", "/health")
    assert (status, headers["Allow"]) == (204, "GET, HEAD, OPTIONS")


async def test_streams_preflights_and_304_have_the_safety_headers():
    origin = "https://notes.example"
    asks = {"Origin": origin, "Access-Control-Request-Method": "POST"}
    async with run(cors={"enabled": True, "allowed_origins": [origin]}) as server:
        job = await server.engine.jobs.submit(JobKind.INDEX)
        server.engine.jobs.change(job.id, state=JobState.SUCCEEDED)
        for method, path, headers, status in (
            ("GET", f"/jobs/{job.id}/events", {}, 200),
            ("OPTIONS", "/search", asks, 204),
            ("GET", f"/notes/{NOTE_ID}", {"If-None-Match": "*"}, 304),
            ("GET", "/health", {"Origin": origin}, 200),
        ):
            async with server.request(method, path, headers=headers) as reply:
                assert reply.status == status, path
                for name in ("X-Content-Type-Options", "Content-Security-Policy", "Server"):
                    assert reply.headers[name] == SAFE_HEADERS[name], path


async def test_errors_are_not_cached(server):
    for method, path in (("GET", "/nothing"), ("GET", "/notes/x"), ("PUT", "/search")):
        async with server.request(method, path) as reply:
            assert reply.status >= 400
            assert reply.headers["Cache-Control"] == "no-store"


async def test_head_equals_get_without_the_body(server):
    status, body, headers = await server.ask("HEAD", f"/notes/{NOTE_ID}")
    assert (status, body) == (200, None)
    _, _, whole = await server.ask("GET", f"/notes/{NOTE_ID}")
    assert headers["Content-Length"] == whole["Content-Length"]
    assert headers["ETag"] == whole["ETag"]


async def test_errors_keep_their_code_and_details(server):
    server.engine.failure = IndexUnavailable("INDEX_NOT_FOUND", "Run index.", {"jobId": "j"})
    status, body, _ = await server.ask("POST", "/search", json={"query": "a"})
    assert (status, body["error"]["code"]) == (409, "INDEX_NOT_FOUND")
    assert body["error"]["details"]["jobId"] == "j"
    server.engine.failure = Unavailable("EMBEDDING_UNAVAILABLE", "Off.")
    refusal = await server.refusal("POST", "/search", json={"query": "a"})
    assert refusal == (503, "EMBEDDING_UNAVAILABLE")


async def test_an_internal_error_is_a_500_without_details(server):
    server.engine.failure = RuntimeError("/secret/path and a query")
    status, body, _ = await server.ask("POST", "/search", json={"query": "a"})
    assert (status, body["error"]["code"]) == (500, "INTERNAL_ERROR")
    assert "secret" not in json.dumps(body)
    (event,) = [event for event in server.events if event.get("status") == 500]
    assert event["error_type"] == "RuntimeError"
    assert event["request_id"] == body["error"]["details"]["requestId"]
    assert "secret" not in server.log.getvalue()


async def test_an_upstream_connection_error_is_not_a_client_disconnect(server):
    server.engine.failure = ConnectionResetError("elsewhere")
    refusal = await server.refusal("POST", "/search", json={"query": "a"})
    assert refusal == (500, "INTERNAL_ERROR")


async def test_a_reply_has_at_most_100_warnings(server):
    server.engine.search_warnings = tuple(Warning("W", str(n)) for n in range(250))
    _, body, _ = await server.ask("POST", "/search", json={"query": "a"})
    assert len(body["warnings"]) == 101
    assert body["warnings"][-1]["code"] == "WARNINGS_TRUNCATED"
    assert body["warnings"][-1]["details"] == {"omitted": 150}
