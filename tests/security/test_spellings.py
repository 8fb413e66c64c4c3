"""No path or ID reaches anything outside the vault, through any route or command."""

from __future__ import annotations

import json
import os
from itertools import chain
from urllib.parse import quote, quote_from_bytes

import pytest
from tests.security.conftest import Fortress
from tests.security.wire import Wire
from tests.support.privacy import CRASH
from tests.vault.spellings import HARMLESS, SECRET, refused

from vault_agent.cli.run import run
from vault_agent.model.identifiers import identify
from vault_agent.server.routes import ROUTES

# Links out of the vault, excluded and hidden files, and special files.
ENDS_ELSEWHERE = (
    "Garden/link.txt",
    "Garden/relative.txt",
    "Garden/folder/secret.png",
    "Garden/folder",
    "Garden/up/up/secret.txt",
    "Garden/up/../../secret.txt",
    "Garden/root/etc/passwd",
    "Garden/hidden.json",
    "Garden/loop",
    "Garden/loop/x.txt",
    "Garden/pipe.png",
    ".obsidian/secret.json",
    "node_modules/secret.txt",
    "Garden/Frost.md",
    "garden/Frost.MD",
)


def spellings(fortress: Fortress) -> list[str]:
    """Return every hostile path, including those around this vault."""
    outside = fortress.outside.parent
    absolute = [str(outside / "secret.txt"), str(outside / "vault2" / "secret.txt")]
    here = [
        prefix + path.lstrip("/") if prefix else path
        for path in absolute
        for prefix in ("", "/", "//", "///", "./", "../" * 20, "..\\" * 20, "file://", "a/../../")
    ]
    climbs = [
        f"{start}{'../' * depth}{end}"
        for depth in range(1, 6)
        for start in ("", "Garden/", "Garden/folder/", "./", "no such folder/")
        for end in ("secret.txt", "vault2/secret.txt")
    ]
    plain = [spelling for spelling, _ in refused()]
    return list(dict.fromkeys([*plain, *here, *climbs, *ENDS_ELSEWHERE, *HARMLESS]))


def encodings(spelling: str) -> list[str]:
    """Return URL encodings of a path: every byte escaped, few, or double."""
    data = spelling.encode("utf-8", "surrogatepass")
    every = "".join(f"%{byte:02x}" for byte in data)
    ways = [quote_from_bytes(data, safe="/"), quote_from_bytes(data, safe=""), every]
    if all(0x21 <= byte < 0x7F and byte not in b"?#" for byte in data):
        ways.append(spelling)  # as it is
    if len(every) < 5_000:
        ways.append(quote(every, safe=""))
    return [way for way in dict.fromkeys(ways) if len(way) < 15_000]


def requests(spelling: str) -> list[tuple[str, str, str, bytes | None]]:
    """Return a request for every route that takes a path or an identifier, and its template."""
    found: list[tuple[str, str, str, bytes | None]] = [
        ("/attachments/{path}", "GET", f"/attachments/{way}?download=true", None)
        for way in encodings(spelling)
    ]
    once = quote(spelling, safe="", errors="surrogatepass")
    found += [
        ("/attachments/{path}", "GET", f"/attachments/{once}", None),
        ("/attachments/{path}", "HEAD", f"/attachments/{once}?download=true", None),
        ("/notes/{noteId}", "GET", f"/notes/{once}", None),
        ("/chunks/{noteId}/{chunkIndex}", "GET", f"/chunks/{once}/0", None),
        ("/chunks/{noteId}/{chunkIndex}", "GET", f"/chunks/{identify('a')}/{once}", None),
        ("/jobs/{jobId}", "GET", f"/jobs/{once}", None),
        ("/jobs/{jobId}", "DELETE", f"/jobs/{once}", None),
        ("/jobs/{jobId}/events", "GET", f"/jobs/{once}/events", None),
        ("/writes/{writeId}", "GET", f"/writes/{once}", None),
        ("/ui/files/{path}", "GET", f"/ui/files/{once}?k=1", None),
        ("/ui/assets/{path}", "GET", f"/ui/assets/{once}", None),
        ("/notes/{noteId}/opened", "POST", f"/notes/{once}/opened", None),
        ("/notes/{noteId}/promote", "POST", f"/notes/{once}/promote", None),
        ("/notes/{noteId}/promote", "DELETE", f"/notes/{once}/promote", None),
        ("/notes/{noteId}/supersede", "POST", f"/notes/{once}/supersede", None),
        ("/journals/{sessionId}/draft", "GET", f"/journals/{once}/draft", None),
        ("/journals/{sessionId}/entries", "POST", f"/journals/{once}/entries", b'{"text": "a"}'),
        ("/journals/{sessionId}/review", "POST", f"/journals/{once}/review", b'{"accept": true}'),
    ]
    session = "/memory/sessions/{sessionId}"
    gone = f"{session}/notes/{{noteVault}}/{{noteId}}"
    found += [
        (session, "GET", f"/memory/sessions/{once}", None),
        (f"{session}/refresh", "POST", f"/memory/sessions/{once}/refresh", None),
        (f"{session}/notes", "POST", f"/memory/sessions/{once}/notes", None),
        (gone, "DELETE", f"/memory/sessions/a/notes/{once}/{identify('a')}", None),
        (gone, "DELETE", f"/memory/sessions/a/notes/global/{once}", None),
    ]
    found += [
        (f"/notes/{{noteId}}/{part}", "GET", f"/notes/{once}/{part}", None)
        for part in (
            "links",
            "backlinks",
            "mentions",
            "graph",
            "html",
            "outline",
            "frontmatter",
        )
    ]
    body = {"query": "frost", "filters": {"paths": [spelling]}}
    found += [
        ("/related", "POST", "/related", json.dumps({"id": spelling}).encode()),
        ("/related", "POST", "/related", json.dumps({**body, "id": identify("a")}).encode()),
        ("/resolve", "GET", f"/resolve?name={once}", None),
        ("/search", "POST", "/search", json.dumps(body).encode()),
        ("/search", "POST", "/search", json.dumps({"query": f'path:"{spelling}"'}).encode()),
    ]
    return found


def test_the_hostile_paths_cover_every_route_with_a_path(fortress: Fortress):
    assert len(spellings(fortress)) >= 300
    tried = {template for template, *_ in requests("x")}
    assert {route.path for route in ROUTES if "{" in route.path} <= tried


EVERY = 6
"""The sample asks every route that gives out a file, and one of so many requests of the others."""


@pytest.mark.fault(
    "Paths",
    "a path or ID with `..`, a leading `/`, `//`, backslashes, NUL, bytes that are "
    "not UTF-8, or nested escapes",
    "400 or 403 from every route and command",
)
@pytest.mark.parametrize("every", [EVERY, pytest.param(1, marks=pytest.mark.long)])
def test_no_hostile_path_works_on_any_route(fortress: Fortress, wire: Wire, every: int):
    asked = 0
    tried = set()
    for turn, spelling in enumerate(spellings(fortress)):
        for number, (template, method, target, body) in enumerate(requests(spelling)):
            if template != "/attachments/{path}" and (turn + number) % every:
                continue
            tried.add(template)
            answer = wire.ask(method, target, body)
            asked += 1
            place = (method, target[:80], spelling[:80], answer.status)
            assert answer.status in (200, 400, 403, 404, 409, 413), place
            assert SECRET not in answer.body, place
            if answer.status != 200:
                fortress.private.examine("a refusal", answer.head + answer.body)
            elif target.startswith("/attachments/") and method == "GET":
                # A name in HARMLESS would be allowed, but no file has one.
                raise AssertionError(place)
    assert tried == {template for template, *_ in requests("x")}
    print(f"\n{len(spellings(fortress))} spellings, {asked} requests, 0 bytes from outside")


def commands(spelling: str) -> list[list[str]]:
    """Return every command that takes a path or an identifier."""
    return [
        ["get", "attachment", "--download", "--output", "-", "--", spelling],
        ["get", "attachment", "--json", "--", spelling],
        ["get", "note", "--", spelling],
        ["get", "chunk", "--", spelling],
        ["related", "--", spelling],
        ["jobs", "show", "--", spelling],
        ["jobs", "follow", "--", spelling],
        ["jobs", "cancel", "--", spelling],
        ["search", "frost", "--path", spelling],
    ]


def hold_commands_to_it(fortress: Fortress, monkeypatch, capfd, chosen: list[list[str]]) -> None:
    """Run commands in this process, which allows thousands of them."""
    for name in [name for name in os.environ if name.startswith(("VAULT_AGENT_", "XDG_"))]:
        monkeypatch.delenv(name)
    for name, value in fortress.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("VAULT_AGENT_SERVER_LOG_LEVEL")
    capfd.readouterr()
    for command in chosen:
        code = run(command)
        out, err = capfd.readouterr()
        assert code in (0, 1, 2, 4), command
        assert SECRET.decode() not in out + err, command
        assert not [mark for mark in CRASH if mark in err], command  # it may repeat the path
        assert code == 0 or not out or '"error"' in out, command
        # Some spellings name a note inside the vault, which other commands may find.
        if command[:2] == ["get", "attachment"]:
            assert code != 0, command


def test_no_hostile_path_works_in_a_sample_of_commands(fortress: Fortress, monkeypatch, capfd):
    everything = [commands(spelling) for spelling in spellings(fortress)]
    # All with the command that prints bytes, and one other command in turn.
    chosen = [every[0] for every in everything]
    chosen += [every[1 + number % 8] for number, every in enumerate(everything)]
    hold_commands_to_it(fortress, monkeypatch, capfd, chosen)


@pytest.mark.long
def test_no_hostile_path_works_in_any_command(fortress: Fortress, monkeypatch, capfd):
    chosen = list(chain.from_iterable(map(commands, spellings(fortress))))
    hold_commands_to_it(fortress, monkeypatch, capfd, chosen)
    with capfd.disabled():
        print(f"\n{len(chosen)} commands, 0 bytes from outside")
