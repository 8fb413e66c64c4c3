"""What is asked over HTTP: every route, and its common errors. What reads comes first."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.golden.house import Case, House

JSON = "application/json"


def ask(route: str, target: str = "", body: Any = None, **more: Any) -> Case:
    """Return the case of a route: where it is asked, if the path has parameters, and its body."""
    sent = {"target": target or route.partition(" ")[2], **({} if body is None else {"body": body})}
    if "headers" in more:
        sent["headers"] = more.pop("headers")
    return Case(route, sent, **more)


def recorded(house: House, case: Case) -> dict[str, Any]:
    """Return the status and the reply to a case. Of what is not JSON, only its form."""
    sent = house.named(case.sent)
    body = sent.get("body")
    if isinstance(body, dict) and "bytes" in body:
        body = body["bytes"].encode()
    method = case.of.partition(" ")[0]
    status, reply, headers = house.ask(method, sent["target"], body, sent.get("headers"))
    media = headers.get("Content-Type", "").partition(";")[0]
    if isinstance(reply, bytes):
        return {"status": status, "type": media, "isEmpty": not reply}
    if case.of.endswith("/openapi.json"):
        reply = outline(reply)
    if media == JSON:
        return {"status": status, "reply": reply}
    return {"status": status, "type": media, "reply": [_line(line) for line in reply]}


def outline(description: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an OpenAPI description says, in short: the whole is 300 KB.

    Of each operation the statuses, of each schema the fields; `*` marks those that are required.
    """
    schemas = description["components"]["schemas"]
    return {
        **description,
        "info": sorted(description["info"]),
        "paths": {
            path: {method: " ".join(one["responses"]) for method, one in methods.items()}
            for path, methods in description["paths"].items()
        },
        "components": {
            **{name: sorted(part) for name, part in description["components"].items()},
            "schemas": {
                name: " ".join(
                    f"{field}{'*' * (field in schema.get('required', ()))}"
                    for field in schema.get("properties", {})
                )
                for name, schema in schemas.items()
            },
        },
    }


def _line(line: str) -> Any:
    """Return a line of a stream, with its data as a value."""
    name, _, value = line.partition(": ")
    return {name: json.loads(value)} if name == "data" else {name: value}


BREAD = "/notes/«Bread.md»"
SHOP = "/vaults/project:shop"
SESSION = "golden-session-1"
OTHER = "golden-session-2"
UNKNOWN = "0" * 32


def event(kind: str, session: str = SESSION, **more: Any) -> Case:
    """Return an event of an agent's session, as hooks send it."""
    body = {
        "version": 1, "agent": "claude-code", "event": kind, "name": kind, "sessionId": session,
        "cwd": "«cwd»", "at": "«now»", "vault": "«project:shop»", **more,
    }  # fmt: skip
    return ask("POST /sessions/events", "", body, what=kind)


SEARCHES = (
    ask("POST /search", "", {"query": "sourdough rye", "limit": 1},
        keep={"cursor": "reply.data.nextCursor"}),
    ask("POST /search", "", {"query": "sourdough rye", "limit": 1, "cursor": "«cursor»"},
        what="the next page"),
    ask("POST /search", "", {"query": "oven", "explain": True, "limit": 1}, what="explained"),
    ask("POST /search", "", {"query": "round prices", "limit": 2,
        "vaults": ["project:shop", "global"]}, what="two vaults"),
    ask("POST /search", "", {"query": "  "}, what="an empty query"),
    ask("POST /search", "", {"query": "a", "limit": 51}, what="a limit too high"),
    ask("POST /search", "", {"query": "a", "mode": "semantic"}, what="no embeddings"),
    ask("POST /search", "", {"query": "a", "mode": "best"}, what="an unknown mode"),
    ask("POST /search", "", {"query": "a", "cursor": "x"}, what="no cursor of ours"),
    ask("POST /search", "", {"query": "a", "vaults": ["none"]}, what="an unknown vault"),
    ask("POST /search", "", {"question": "a"}, what="an unknown field"),
    ask("POST /related", "", {"id": "«Bread.md»", "limit": 2}),
    ask("POST /related", "", {"id": UNKNOWN}, what="an unknown note"),
    ask("POST /related", "", {"id": "«Bread.md»:99"}, what="an unknown chunk"),
    ask("POST /grep", "", {"pattern": "rye|oven", "context": 1, "limit": 2}),
    ask("POST /grep", "", {"pattern": "("}, what="no regular expression"),
    ask("POST /context", "", {"queries": [{"query": "crust steam", "limit": 1},
        {"kind": "read", "query": "Starter", "section": "Feeding"},
        {"kind": "read", "query": "None"}]}),
    ask("GET /suggest", "/suggest?q=sta&limit=3"),
    ask("GET /suggest", "/suggest?q=crust&kinds=headings&from=«Starter.md»", what="headings"),
    ask("GET /resolve", "/resolve?name=Loaf"),
    ask("GET /resolve", "/resolve?name=Same", what="ambiguous"),
    ask("GET /resolve", "/resolve?name=Brad", what="unknown"),
)  # fmt: skip
NOTES = (
    ask("GET /notes/{noteId}", BREAD),
    ask("GET /notes/{noteId}", f"/notes/{UNKNOWN}", what="unknown"),
    ask("GET /notes/{noteId}", "/notes/x", what="no ID"),
    ask("GET /notes/{noteId}/outline", f"{BREAD}/outline"),
    ask("GET /notes/{noteId}/frontmatter", f"{BREAD}/frontmatter"),
    ask("GET /notes/{noteId}/html", f"{BREAD}/html", keep={"picture": "reply.data.assets.0.url"}),
    ask("GET /chunks/{noteId}/{chunkIndex}", "/chunks/«Bread.md»/0"),
    ask("GET /chunks/{noteId}/{chunkIndex}", "/chunks/«Bread.md»/99", what="unknown"),
    ask("GET /attachments/{path}", "/attachments/jar.png"),
    ask("GET /attachments/{path}", "/attachments/jar.png?download=true", what="its bytes"),
    ask("GET /attachments/{path}", "/attachments/none.png", what="unknown"),
    ask("GET /attachments/{path}", "/attachments/../jar.png", what="outside"),
    ask("GET /attachments/{path}", "/attachments/Bread.md", what="a note"),
    ask("GET /attachments"),
    ask("GET /attachments", "/attachments?folder=none", what="no such folder"),
    ask("GET /attachments", "/attachments?folder=../x", what="outside"),
    ask("POST /render", "", {"text": "See [[Starter]] and **this**.", "path": "x.md"}),
    ask("GET /notes", "/notes?tag=baking&tag=meeting"),
    ask("GET /notes", "/notes?path=A&path=B&limit=1", what="a page"),
    ask("GET /tasks", "/tasks?status=all&limit=2"),
    ask("GET /tags"),
    ask("GET /folders"),
    ask("GET /templates"),
    ask("GET /stats"),
)  # fmt: skip
LINKS = (
    ask("GET /notes/{noteId}/links", "/notes/«Starter.md»/links"),
    ask("GET /notes/{noteId}/backlinks", f"{BREAD}/backlinks?contexts=1"),
    ask("GET /notes/{noteId}/mentions", f"{BREAD}/mentions"),
    ask("GET /links/broken"),
    ask("GET /notes/{noteId}/graph", f"{BREAD}/graph?depth=1"),
    ask("GET /graph", "/graph?paths=A&paths=B"),
    ask("GET /graph", "/graph?paths=A&format=objects", what="objects"),
    ask("GET /graph/layout", until=("status", 200)),
    ask("GET /graph/path", "/graph/path?from=«A/Same.md»&to=«Starter.md»"),
    ask("GET /graph/path", "/graph/path?from=«Alone.md»&to=«Starter.md»", what="none"),
    ask("GET /graph/communities", "/graph/communities?limit=1&members=true"),
)  # fmt: skip
SERVER = (
    ask("GET /health"),
    ask("GET /health", "/health?x=1", what="an unknown parameter"),
    ask("GET /health", headers={"Authorization": ""}, what="no key"),
    ask("GET /health", headers={"Origin": "https://notes.example"}, what="another origin"),
    ask("GET /health", headers={"Host": "notes.example"}, what="another host"),
    ask("GET /health", "/vaults/none/health", what="an unknown vault"),
    ask("POST /health", what="another method"),
    ask("GET /nothing", what="an unknown route"),
    ask("GET /vaults"),
    ask("GET /openapi.json"),
    ask("GET /watch"),
    ask("POST /watch/scan", settle=True),
    ask("POST /index", keep={"job": "reply.data.job.id"}, settle=True),
    ask("GET /jobs/{jobId}", "/jobs/«job»"),
    ask("GET /jobs/{jobId}", "/jobs/none", what="unknown"),
    ask("DELETE /jobs/{jobId}", "/jobs/«job»", what="ended"),
    ask("GET /jobs/{jobId}/events", "/jobs/«job»/events"),
    ask("POST /reindex", settle=True),
    ask("GET /jobs"),
    ask("GET /events"),
    ask("GET /ui/"),
    ask("GET /ui"),
    ask("GET /"),
    ask("GET /ui/assets/{path}", "/ui/assets/0/app/none.js", what="unknown"),
    ask("GET /ui/files/{path}", "«picture»"),
    ask("GET /ui/files/{path}", "/ui/files/jar.png?k=none", what="a false key"),
    ask("POST /ui/tickets", "", {}, keep={"ticket": "reply.data.ticket"}),
    ask("POST /ui/session", "", {"ticket": "«ticket»"}),
    ask("POST /ui/session", "", {"ticket": "«ticket»"}, what="used"),
    ask("DELETE /ui/session"),
)  # fmt: skip
MEMORY = (
    ask("POST /memory", f"{SHOP}/memory", {"prompt": "round prices in src/costs.py"}),
    ask("POST /memory", f"{SHOP}/memory", {"prompt": "prices", "explain": True, "maxNotes": 1},
        what="explained"),
    event("start", source="startup"),
    event("prompt", prompt="src/costs.py: prices must be rounded once"),
    ask("GET /memory/sessions"),
    ask("GET /memory/sessions/{sessionId}", f"/memory/sessions/{SESSION}"),
    ask("GET /memory/sessions/{sessionId}", "/memory/sessions/none", what="unknown"),
    ask("POST /memory/sessions/{sessionId}/refresh", f"/memory/sessions/{SESSION}/refresh", {}),
    ask("POST /memory/sessions/{sessionId}/notes", f"/memory/sessions/{SESSION}/notes",
        {"vault": "global", "noteId": "«patterns/Money in integers.md»"}),
    event("end", reason="other"),
    ask("GET /journals", "/journals?state=all",
        until=("reply.data.journals.0.reason", "asked")),
    event("start", OTHER, source="startup"),
    event("prompt", OTHER, prompt="Add a test of the prices"),
    ask("POST /journals", f"{SHOP}/journals", {"sessionId": OTHER}),
    ask("POST /journals", f"{SHOP}/journals", {"sessionId": "none"}, what="unknown"),
    ask("GET /journals", what="of two sessions",
        until=("reply.data.journals.0.state", "incomplete")),
    ask("POST /memory/forget", "", {"sessionId": SESSION}),
    ask("POST /memory/forget", "", {}, what="nothing said"),
    ask("POST /notes/{noteId}/promote", f"{SHOP}/notes/«decisions/Round prices.md»/promote",
        settle=True),
    ask("POST /notes/{noteId}/promote", f"{SHOP}/notes/«decisions/Round prices.md»/promote",
        what="again", settle=True),
    ask("DELETE /notes/{noteId}/promote", f"{SHOP}/notes/«decisions/Round prices.md»/promote",
        settle=True),
    ask("POST /notes/{noteId}/supersede", f"{SHOP}/notes/«decisions/Round prices.md»/supersede",
        settle=True),
    ask("POST /notes/{noteId}/supersede", f"{SHOP}/notes/«decisions/Round prices.md»/supersede",
        {"superseded": False}, what="taken back", settle=True),
)  # fmt: skip
HERE = "Drafts/Http.md"
WRITES = (
    ask("POST /write/note", "", {"path": "Drafts/New.md", "content": "# New\n"}),
    ask("POST /write/note", "", {"path": "Drafts/New.md", "content": "# New\n"}, what="it exists"),
    ask("POST /write/note", "", {"path": "../New.md", "content": "x"}, what="outside"),
    ask("POST /write/note", "", {"path": HERE, "content": "x", "mode": "overwrite"},
        what="no hash"),
    ask("POST /write/note", "", {"path": HERE, "content": "End.", "mode": "append", "dryRun": True},
        what="tried"),
    ask("POST /write/frontmatter", "", {"path": HERE, "set": {"rank": 2}, "delete": ["none"]}),
    ask("POST /write/tags", "", {"path": HERE, "add": ["made"], "remove": ["draft"]}),
    ask("POST /write/replace", "", {"path": HERE, "search": "Old", "replace": "New"}),
    ask("POST /write/replace", "", {"path": HERE, "search": "Old", "replace": "New"}, what="none"),
    ask("POST /write/section", "", {"path": HERE, "heading": "Log", "content": "More.",
        "action": "append"}),
    ask("POST /write/section", "", {"path": HERE, "heading": "Logs", "content": "x",
        "action": "append"},
        what="an unknown heading"),
    ask("POST /write/section", "", {"path": "Bread.md", "heading": "Log", "content": "x",
        "action": "append"},
        what="two such headings"),
    ask("POST /write/section", "", {"path": HERE, "heading": "Log", "content": "x",
        "action": "append",
        "expectedHash": "0" * 64}, what="another hash"),
    ask("POST /write/tasks/add", "", {"path": HERE, "text": "Second step", "section": "Tasks",
        "due": "2026-03-01"}),
    ask("POST /write/tasks/set", "", {"path": HERE, "line": 11, "text": "First step",
        "status": "cancelled"}),
    ask("POST /write/template", "", {"template": "Invitation", "path": "Drafts/Meeting.md",
        "variables": {"who": "A friend"}}),
    ask("POST /write/template", "", {"template": "None", "path": "x.md"}, what="unknown"),
    ask("POST /write/folder", "", {"path": "Drafts/Empty"}),
    ask("POST /write/attachment", "/write/attachment?path=Drafts/a.png", {"bytes": "a picture"}),
    ask("POST /write/move", "", {"path": "Drafts/New.md", "to": "Drafts/Moved.md",
        "expectedHash": "«hash Drafts/New.md»"}),
    ask("POST /write/move", "", {"path": HERE, "to": "id:moved", "dryRun": True}, what="bad name"),
    ask("POST /write/delete", "", {"path": "Drafts/Moved.md", "confirm": True}, what="no hash"),
    ask("POST /write/delete", "", {"path": "Drafts/Moved.md", "confirm": True,
        "expectedHash": "«hash Drafts/Moved.md»"}),
    ask("POST /write/delete", "", {"path": HERE}, what="not confirmed"),
    ask("POST /write/undo", "", {}),
    ask("POST /write/undo", "", {"writeId": "none"}, what="no ID"),
    ask("GET /writes", "/writes?limit=2", keep={"write": "reply.data.writes.0.writeId"}),
    ask("GET /writes/{writeId}", "/writes/«write»"),
    ask("GET /writes/{writeId}", "/writes/none", what="unknown"),
    ask("POST /writes/forget", "", {"writeId": "«write»"}),
)  # fmt: skip
READING = {
    "searches": SEARCHES, "notes": NOTES, "links": LINKS, "server": SERVER,
    "memory": MEMORY,
}  # fmt: skip
