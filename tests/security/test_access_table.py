"""Default deny: every route refuses foreign clients, and a route missing here fails a test."""

from __future__ import annotations

import gzip

import pytest
from tests.security.conftest import Fortress
from tests.security.wire import Answer, Wire

from vault_agent.model.identifiers import identify
from vault_agent.server.routes import ROUTES

FROST = identify("Garden/Frost.md")

# A valid request for each route and the status of its reply.
ALLOWED: dict[tuple[str, str], tuple[str, bytes | None, int]] = {
    ("GET", "/health"): ("/health", None, 200),
    ("POST", "/index"): ("/index", b'{"requireEmbeddings": 0}', 400),  # refused after the checks
    ("POST", "/reindex"): ("/reindex", b'{"requireEmbeddings": 0}', 400),
    ("GET", "/jobs"): ("/jobs", None, 200),
    ("GET", "/jobs/{jobId}"): ("/jobs/none", None, 404),
    ("DELETE", "/jobs/{jobId}"): ("/jobs/none", None, 404),
    ("GET", "/jobs/{jobId}/events"): ("/jobs/none/events", None, 404),
    ("POST", "/search"): ("/search", b'{"query": "frost"}', 200),
    ("POST", "/related"): ("/related", b'{"id": "%s"}' % FROST.encode(), 200),
    ("GET", "/notes/{noteId}"): (f"/notes/{FROST}", None, 200),
    ("GET", "/chunks/{noteId}/{chunkIndex}"): (f"/chunks/{FROST}/0", None, 200),
    ("GET", "/attachments/{path}"): ("/attachments/Garden/photo.png?download=true", None, 200),
    ("GET", "/attachments"): ("/attachments", None, 200),
    ("GET", "/resolve"): ("/resolve?name=frost", None, 200),
    ("GET", "/watch"): ("/watch", None, 200),
    ("POST", "/watch/scan"): ("/watch/scan", b"{}", 403),  # switched off
    ("GET", "/events"): ("/events?x=1", None, 400),  # refused after the checks
    ("GET", "/notes/{noteId}/links"): (f"/notes/{FROST}/links", None, 200),
    ("GET", "/notes/{noteId}/backlinks"): (f"/notes/{FROST}/backlinks", None, 200),
    ("GET", "/notes/{noteId}/mentions"): (f"/notes/{FROST}/mentions", None, 200),
    ("GET", "/notes/{noteId}/graph"): (f"/notes/{FROST}/graph", None, 200),
    ("GET", "/graph"): ("/graph", None, 200),
    ("GET", "/graph/path"): (f"/graph/path?from={FROST}&to={FROST}", None, 200),
    ("GET", "/graph/communities"): ("/graph/communities", None, 200),
    ("GET", "/links/broken"): ("/links/broken", None, 200),
    ("GET", "/tags"): ("/tags", None, 200),
    ("GET", "/folders"): ("/folders", None, 200),
    ("POST", "/grep"): ("/grep", b'{"pattern": "frost"}', 200),
    ("GET", "/notes"): ("/notes?tag=x", None, 200),
    ("GET", "/tasks"): ("/tasks", None, 200),
    ("GET", "/templates"): ("/templates", None, 200),
    ("POST", "/context"): ("/context", b'{"queries": [{"query": "frost"}]}', 200),
    ("POST", "/memory"): ("/memory", b"{}", 403),  # switched off
    ("GET", "/memory/sessions"): ("/memory/sessions", None, 403),
    ("GET", "/memory/sessions/{sessionId}"): ("/memory/sessions/x", None, 403),
    ("POST", "/memory/sessions/{sessionId}/refresh"): ("/memory/sessions/x/refresh", b"{}", 403),
    ("POST", "/memory/sessions/{sessionId}/notes"): ("/memory/sessions/x/notes", b"{}", 403),
    ("POST", "/memory/forget"): ("/memory/forget", b"{}", 403),
    ("GET", "/journals"): ("/journals", None, 403),  # switched off
    ("POST", "/journals"): ("/journals", b"{}", 403),
    ("POST", "/sessions/events"): ("/sessions/events", b"{}", 403),  # switched off
    ("GET", "/vaults"): ("/vaults", None, 403),  # switched off
    ("POST", "/notes/{noteId}/promote"): (f"/notes/{FROST}/promote", b"{}", 403),
    ("DELETE", "/notes/{noteId}/promote"): (f"/notes/{FROST}/promote", None, 403),
    ("POST", "/notes/{noteId}/supersede"): (f"/notes/{FROST}/supersede", b"{}", 403),
    ("GET", "/ui/"): ("/ui/", None, 403),  # switched off, so it needs a key like everything
    ("GET", "/ui"): ("/ui", None, 403),
    ("GET", "/"): ("/", None, 403),
    ("GET", "/ui/assets/{path}"): ("/ui/assets/0/app/main.js", None, 403),
    ("GET", "/ui/files/{path}"): ("/ui/files/Garden/photo.png?k=1", None, 403),
    ("GET", "/notes/{noteId}/html"): (f"/notes/{FROST}/html", None, 200),
    ("GET", "/suggest"): ("/suggest?q=fr", None, 200),
    ("GET", "/stats"): ("/stats", None, 200),
    ("GET", "/graph/layout"): ("/graph/layout?x=1", None, 400),  # refused after the checks
    ("POST", "/render"): ("/render", b'{"text": "a", "path": "b.md"}', 200),
    ("POST", "/ui/tickets"): ("/ui/tickets", b"{}", 403),
    ("POST", "/ui/session"): ("/ui/session", b'{"ticket": "canary"}', 403),
    ("DELETE", "/ui/session"): ("/ui/session", None, 403),
    ("GET", "/openapi.json"): ("/openapi.json", None, 200),
}
ALLOWED |= {  # writing is switched off
    ("POST", f"/write/{name}"): (f"/write/{name}", b"{}", 403)
    for name in (
        "note", "frontmatter", "tags", "replace", "section", "delete", "move", "folder",
        "tasks/add", "tasks/set", "template", "undo",
    )
}  # fmt: skip
ALLOWED |= {
    ("POST", "/write/attachment"): ("/write/attachment?path=a.png", b"{}", 415),  # no octets
    ("GET", "/writes"): ("/writes", None, 403),
    ("GET", "/writes/{writeId}"): ("/writes/none", None, 403),
    ("POST", "/writes/forget"): ("/writes/forget", b"{}", 403),
    ("GET", "/notes/{noteId}/outline"): (f"/notes/{FROST}/outline", None, 200),
    ("GET", "/notes/{noteId}/frontmatter"): (f"/notes/{FROST}/frontmatter", None, 200),
}
# The same errors for unknown routes and methods.
NOWHERE = {
    ("GET", "/nothing"): ("/nothing", None, 404),
    ("PUT", "/search"): ("/search", None, 405),
    ("TRACE", "/health"): ("/health", None, 405),
    ("OPTIONS", "/search"): ("/search", None, 204),
}
EVERY = {**ALLOWED, **NOWHERE}

STRANGERS = {
    "no key": ({"Authorization": ""}, 401),
    "a wrong key": ({"Authorization": "Bearer " + "x" * 43}, 401),
    "a key of another scheme": ({"Authorization": "Basic canary"}, 401),
    "another host": ({"Host": "evil.example"}, 421),
    "the unspecified address": ({"Host": "0.0.0.0"}, 421),
    "no host": ({"Host": ""}, 400),  # HTTP requires one
    "another origin": ({"Origin": "https://evil.example"}, 403),
    "no origin to speak of": ({"Origin": "null"}, 403),
    "a page that embeds": ({"Sec-Fetch-Site": "cross-site"}, 403),
}
PREFLIGHT = {
    "Origin": "https://evil.example",
    "Access-Control-Request-Method": "POST",
    "Authorization": "",
}
DEEP = b'{"query": ' + b'{"a":' * 9_000 + b"1" + b"}" * 9_000 + b"}"
BODIES = {
    "plain text": (b'{"query": "a"}', {"Content-Type": "text/plain"}, 415),
    "a form": (b"query=a", {"Content-Type": "application/x-www-form-urlencoded"}, 415),
    "no type": (b'{"query": "a"}', {"Content-Type": ""}, 415),
    "gzip": (gzip.compress(b'{"query": "a"}'), {"Content-Encoding": "gzip"}, 415),
    "too large": (b" " * (64 * 1024 + 1), {}, 413),
    "too deep": (DEEP, {}, 400),
    "a number too long": (b'{"query": "a", "limit": ' + b"9" * 5000 + b"}", {}, 400),
    "no JSON": (b"canary", {}, 400),
    "no UTF-8": (b'{"query": "\xff"}', {}, 400),
}


@pytest.mark.fault(
    "HTTP and access",
    "a new route without an entry in the test table",
    "a failing test",
)
def test_every_route_is_in_the_access_table():
    assert set(ALLOWED) == {(route.method, route.path) for route in ROUTES}


def test_allowed_clients_get_an_answer_on_every_route(wire: Wire):
    for route, (target, body, status) in EVERY.items():
        assert wire.ask(route[0], target, body).status == status, route


@pytest.mark.fault(
    "HTTP and access",
    "a foreign `Host` (DNS rebinding), `0.0.0.0`",
    "421 on every route",
)
def test_foreign_hosts_and_origins_are_refused_on_every_route(fortress: Fortress, wire: Wire):
    for route, (target, body, _) in EVERY.items():
        before = jobs(wire)
        for who, (headers, status) in STRANGERS.items():
            answer = wire.ask(route[0], target, body, headers)
            assert answer.status == status, (who, route)
            assert_says_nothing(fortress, answer)
        answer = wire.ask("OPTIONS", target, None, PREFLIGHT)
        assert answer.status == 403, route
        assert b"access-control-allow" not in answer.head.lower()
        assert jobs(wire) == before, route


@pytest.mark.fault(
    "HTTP and access",
    "a web page posts `text/plain` or a form",
    "415 on every route",
)
def test_bodies_that_are_not_small_plain_json_are_refused_on_every_route(
    fortress: Fortress, wire: Wire
):
    for route, (target, _, usual) in ALLOWED.items():
        before = jobs(wire)
        for what, (given, headers, status) in BODIES.items():
            body = given
            if status == 413 and target == "/render":
                body = b" " * ((1 << 20) + 1)  # a note may be longer
            answer = wire.ask(route[0], target, body, headers)
            # What is switched off, or takes no JSON, may say so first.
            known = {status, usual} if usual in (403, 415) else {status}
            assert answer.status in known, (what, route)
            assert_says_nothing(fortress, answer)
            # A foreign client does not learn that the body was invalid.
            refused = wire.ask(route[0], target, body, {**headers, "Authorization": ""})
            assert refused.status == 401, (what, route)
        assert jobs(wire) == before, route


def test_every_reply_has_headers_against_rendering_and_embedding(wire: Wire):
    marks = (
        b"x-content-type-options: nosniff",
        b"content-security-policy: default-src 'none'; frame-ancestors 'none'; sandbox\r\n",
        b"cross-origin-resource-policy: same-origin",
        b"referrer-policy: no-referrer",
        b"server: vault-agent",
    )
    for route, (target, body, _) in EVERY.items():
        for headers in ({}, {"Authorization": ""}, {"Host": "evil.example"}):
            head = wire.ask(route[0], target, body, headers).head.lower()
            assert [mark for mark in marks if mark not in head] == [], route


def jobs(wire: Wire) -> list[str]:
    """Return all jobs."""
    return [job["id"] for job in wire.ask("GET", "/jobs").data["jobs"]]


def assert_says_nothing(fortress: Fortress, answer: Answer) -> None:
    """Assert that an error is an envelope without private or sent text."""
    fortress.private.examine("a refusal", answer.head + answer.body)
    assert b"canary" not in answer.body
    assert b"evil" not in answer.body
    if answer.body:
        assert answer.code
