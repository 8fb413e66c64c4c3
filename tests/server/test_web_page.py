"""The shell, static files and sessions of the web page over HTTP."""

from __future__ import annotations

import asyncio
import gzip
import re
from pathlib import Path

import pytest
import pytest_asyncio
from tests.support.clocks import PATIENCE

from vault_agent.model.health import WatchStatus
from vault_agent.server import events
from vault_agent.web.assets import FOLDER, FRAME, SCRIPTS, Assets

from .page import KEY, page_server, signed_in

OWNER = {"Authorization": f"Bearer {KEY}"}
OPENED = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-%s'; img-src 'self' blob:;"
    " media-src 'self'; font-src 'self'; connect-src 'self'; worker-src 'self'; frame-src 'self';"
    " form-action 'none'; base-uri 'none'; frame-ancestors 'none';"
    " require-trusted-types-for 'script'; trusted-types vault-agent"
)


pytestmark = pytest.mark.asyncio(loop_scope="module")  # that of `open_page`


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def open_page(tmp_path_factory: pytest.TempPathFactory):
    """Serve the page without a key, for all tests here. Nothing of it can be changed."""
    async with page_server(tmp_path_factory.mktemp("open")) as server:
        yield server


@pytest_asyncio.fixture(loop_scope="module")
async def locked_page(tmp_path: Path):
    """Serve the page with a key."""
    async with page_server(tmp_path, server={"api_key": KEY}) as server:
        yield server


async def shell(server, **headers: str):
    async with server.request("GET", "/ui/", headers=headers) as reply:
        return reply.status, await reply.text(), reply.headers


async def test_the_policy_of_the_page_is_exact(locked_page):
    _, text, headers = await shell(locked_page)
    nonce = re.search(r'<meta name="va-nonce" content="([\w-]{22})">', text)[1]
    assert headers["Content-Security-Policy"] == POLICY % nonce
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "no-store"
    powers = headers["Permissions-Policy"].split(", ")
    allowed = {power for power in powers if not power.endswith("=()")}
    assert allowed == {"clipboard-write=(self)", "fullscreen=(self)"}
    assert "X-Vault-Id" not in headers  # the page needs no key, so it says nothing of the vault
    assert "Set-Cookie" not in headers
    assert "{{" not in text
    assert (await shell(locked_page))[1] != text  # each reply has its own nonce


@pytest.mark.parametrize("path", ["/", "/ui"])
async def test_the_addresses_that_people_type_lead_to_the_page(locked_page, path: str):
    async with locked_page.request("GET", path, allow_redirects=False, headers=OPENED) as reply:
        assert (reply.status, reply.headers["Location"]) == (308, "/ui/")
        assert reply.headers["Cache-Control"] == "no-store"


async def test_the_page_is_compressed_if_the_browser_accepts_that(open_page):
    _, text, headers = await shell(open_page, **{"Accept-Encoding": "gzip"})
    assert headers["Content-Encoding"] == "gzip"
    assert text.startswith("<!doctype html>")
    assert headers["Vary"] == "Accept-Encoding"
    _, plain, headers = await shell(open_page, **{"Accept-Encoding": "identity"})
    assert "Content-Encoding" not in headers
    assert len(plain) == len(text)


async def test_static_files_are_immutable_and_compressed(open_page):
    assets = Assets()
    _, text, _ = await shell(open_page)
    assert f"/ui/assets/{assets.version}/" in text
    for file in [*FOLDER.rglob("*.js"), *FOLDER.rglob("*.css")]:
        path = file.relative_to(FOLDER).as_posix()
        if path in SCRIPTS:
            continue
        address = f"/ui/assets/{assets.version}/{path}"
        async with open_page.request(
            "GET", address, headers={"Accept-Encoding": "gzip"}, auto_decompress=False
        ) as reply:
            assert reply.status == 200
            assert gzip.decompress(await reply.read()) == file.read_bytes()
            assert reply.headers["Cache-Control"] == "public, max-age=31536000, immutable"
            assert reply.headers["Vary"] == "Accept-Encoding"
            assert reply.content_type == ("text/css" if path.endswith("css") else "text/javascript")
            nonceless = POLICY.replace(" 'nonce-%s'", "")
            assert reply.headers["Content-Security-Policy"] == nonceless
        async with open_page.request(
            "GET", address, headers={"Accept-Encoding": "identity"}
        ) as reply:
            assert await reply.read() == file.read_bytes()


async def test_a_file_is_compressed_once_and_not_at_the_start():
    assets = Assets()
    assets.load()
    frame = assets.get(assets.version, FRAME)
    assert "compressed" not in vars(frame)
    assert frame.compressed is frame.compressed


@pytest.mark.parametrize(
    "path",
    ["index.html", "shell.py", "../sessions.py", "app/%2e%2e/shell.py", "app", "", "app/none.js"],
)
async def test_nothing_but_the_static_files_is_served(open_page, path: str):
    version = Assets().version
    refusal = await open_page.refusal("GET", f"/ui/assets/{version}/{path}")
    assert refusal == (404, "ROUTE_NOT_FOUND")
    assert await open_page.refusal("GET", "/ui/assets/0/app/main.js") == (404, "ROUTE_NOT_FOUND")


async def test_everything_is_refused_while_the_page_is_off(tmp_path: Path):
    async with page_server(tmp_path, web={}, server={"api_key": KEY}) as server:
        for path in ("/", "/ui/", "/ui", "/ui/assets/0/app/main.js", "/ui/no", "/ui/session/x"):
            assert await server.refusal("GET", path, headers=OWNER) == (403, "FEATURE_DISABLED")
            assert await server.refusal("GET", path) in (
                (401, "UNAUTHORIZED"),
                (403, "FEATURE_DISABLED"),
            )
        _, body, _ = await server.ask("POST", "/ui/tickets", json={}, headers=OWNER)
        assert body["error"]["details"]["setting"] == "web.enabled"
        assert "web.enabled" in body["error"]["message"]


async def test_the_page_needs_no_key_and_everything_else_does(locked_page):
    assert (await shell(locked_page))[0] == 200
    async with locked_page.request("HEAD", "/ui/") as reply:
        assert reply.status == 200
    for method, path in [
        ("GET", "/health"), ("GET", "/notes"), ("GET", "/ui/nothing"), ("POST", "/ui/tickets"),
        ("DELETE", "/ui/session"), ("GET", "/ui/assets/../../notes"), ("GET", "/ui/assetsx"),
        ("GET", "//ui/"), ("GET", "/ui//../notes"), ("POST", "/ui/"), ("GET", "/ui%2f"),
    ]:  # fmt: skip
        status, code = await locked_page.refusal(method, path)
        assert (status, code) in ((401, "UNAUTHORIZED"), (404, "ROUTE_NOT_FOUND")), path


@pytest.mark.fault(
    "The web page",
    "a page of another site or port opens, frames or fetches ours",
    "the page opens in a tab of its own; everything else is 403",
)
@pytest.mark.parametrize("site", ["cross-site", "same-site"])
async def test_any_site_may_link_to_the_page_and_do_nothing_else(open_page, site: str):
    elsewhere = {"Sec-Fetch-Site": site}
    assert (await shell(open_page, **elsewhere, **OPENED))[0] == 200
    denied = (403, "ORIGIN_NOT_ALLOWED")
    asset = f"/ui/assets/{Assets().version}/app/main.js"
    for mode, dest in [
        ("navigate", "iframe"), ("navigate", "frame"), ("navigate", "embed"), ("no-cors", "script"),
        ("cors", "empty"), ("no-cors", "document"), ("no-cors", "image"), ("websocket", "document"),
    ]:  # fmt: skip
        headers = {**elsewhere, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": dest}
        assert await open_page.refusal("GET", "/ui/", headers=headers) == denied
        assert await open_page.refusal("GET", asset, headers=headers) == denied
    assert await open_page.refusal("GET", "/ui/", headers=elsewhere) == denied
    for path in ("/health", "/notes", "/openapi.json", "/ui/files/a.png?k=1"):
        headers = {**elsewhere, **OPENED}
        assert await open_page.refusal("GET", path, headers=headers) == denied
    twice = [*elsewhere.items(), *OPENED.items(), ("Sec-Fetch-Dest", "iframe")]
    assert await open_page.refusal("GET", "/ui/", headers=twice) == denied


async def test_a_ticket_becomes_a_session_that_reads(locked_page):
    headers = await signed_in(locked_page)
    status, _, replied = await locked_page.ask("GET", "/health", headers=headers)
    assert status == 200
    assert "X-Vault-Id" in replied
    status, renewed, _ = await locked_page.ask("POST", "/ui/session", json={}, headers=headers)
    assert status == 200
    assert renewed["data"]["expiresAt"] > 1_700_000_000
    again = {"Authorization": f"Bearer {renewed['data']['token']}"}
    assert (await locked_page.ask("GET", "/notes", headers=again))[0] == 200


async def test_a_session_cannot_make_tickets(locked_page):
    headers = await signed_in(locked_page)
    refusal = await locked_page.refusal("POST", "/ui/tickets", json={}, headers=headers)
    assert refusal == (401, "UNAUTHORIZED")


async def test_signing_out_ends_every_session(locked_page):
    headers = await signed_in(locked_page)
    assert (await locked_page.ask("DELETE", "/ui/session", headers=headers))[0] == 200
    ended = (401, "SESSION_ENDED")
    assert await locked_page.refusal("GET", "/notes", headers=headers) == ended
    assert (await locked_page.ask("GET", "/notes", headers=OWNER))[0] == 200


@pytest.mark.fault(
    "The web page",
    "a session ends while its page follows the news or a job",
    "nothing more is sent, and the stream ends",
)
@pytest.mark.parametrize("end", ["sign out", "a ticket used twice"])
@pytest.mark.parametrize("news", ["a change", "none"])
async def test_a_stream_ends_with_its_session(
    locked_page, monkeypatch: pytest.MonkeyPatch, end: str, news: str
):
    monkeypatch.setattr(events, "HEARTBEAT_SECONDS", 0.05 if news == "none" else 10 * PATIENCE)
    _, made, _ = await locked_page.ask("POST", "/ui/tickets", json={}, headers=OWNER)
    ticket = {"ticket": made["data"]["ticket"]}
    _, opened, _ = await locked_page.ask("POST", "/ui/session", json=ticket)
    session = {"Authorization": f"Bearer {opened['data']['token']}"}
    async with locked_page.request("GET", "/events", headers=session) as stream:
        assert (await stream.content.readuntil(b"\n\n")).startswith(b"id: ")
        if end == "sign out":
            await locked_page.ask("DELETE", "/ui/session", headers=OWNER)
        else:
            await locked_page.refusal("POST", "/ui/session", json=ticket)
        if news == "a change":
            locked_page.engine.events.add(WatchStatus())
        rest = await asyncio.wait_for(stream.read(), PATIENCE)
    assert b"event:" not in rest


async def test_wrong_tickets_and_tokens_say_how_to_go_on(locked_page):
    for body in ({"ticket": "x"}, {}, {"ticket": "va1.1.2.3"}):
        status, reply, _ = await locked_page.ask("POST", "/ui/session", json=body)
        assert status == 401
        assert "new ticket" in reply["error"]["message"]
    headers = await signed_in(locked_page)
    token = headers["Authorization"]
    for wrong in (token[:-2] + "xx", "Bearer va1.9999999999.aaaaaaaaaaaaaaaaaaaaaa." + "b" * 43):
        refusal = await locked_page.refusal("GET", "/notes", headers={"Authorization": wrong})
        assert refusal == (401, "SESSION_ENDED")


@pytest.mark.fault(
    "The web page",
    "a ticket used twice, old or cut; a token changed by a bit, past its day, of "
    "another vault or key",
    "401 `SESSION_ENDED`; the session of a doubled ticket ends",
)
async def test_a_doubled_ticket_ends_its_session(locked_page):
    _, made, _ = await locked_page.ask("POST", "/ui/tickets", json={}, headers=OWNER)
    body = {"ticket": made["data"]["ticket"]}
    _, opened, _ = await locked_page.ask("POST", "/ui/session", json=body)
    headers = {"Authorization": f"Bearer {opened['data']['token']}"}
    assert (await locked_page.ask("GET", "/notes", headers=headers))[0] == 200
    assert await locked_page.refusal("POST", "/ui/session", json=body) == (401, "SESSION_ENDED")
    assert await locked_page.refusal("GET", "/notes", headers=headers) == (401, "SESSION_ENDED")


async def test_a_session_is_not_for_agents(tmp_path: Path):
    async with page_server(tmp_path, server={"api_key": KEY}, mcp={"enabled": True}) as server:
        headers = await signed_in(server)
        async with server.request("POST", "/mcp", json={}, headers=headers) as reply:
            assert reply.status == 401


async def test_without_a_key_there_is_nothing_to_sign_in_to(open_page):
    _, made, _ = await open_page.ask("POST", "/ui/tickets", json={})
    assert made["data"] == {"ticket": None, "seconds": 0}
    assert 'data-key="none"' in (await shell(open_page))[1]
    refusal = await open_page.refusal("POST", "/ui/session", json={"ticket": "x"})
    assert refusal == (404, "ROUTE_NOT_FOUND")


@pytest.mark.fault(
    "The web page",
    "a rebound name with a good session",
    "421",
)
async def test_a_rebound_name_is_refused_with_a_good_session(locked_page):
    headers = {**await signed_in(locked_page), "Host": "evil.example"}
    assert await locked_page.refusal("GET", "/notes", headers=headers) == (421, "HOST_NOT_ALLOWED")
    refusal = await locked_page.refusal("GET", "/ui/", headers={"Host": "evil.example"})
    assert refusal == (421, "HOST_NOT_ALLOWED")


async def test_the_frame_of_diagrams_has_a_policy_of_its_own(open_page):
    """Its scripts are in it, and are no files that the page could load."""
    place = f"/ui/assets/{Assets().version}"
    async with open_page.request("GET", f"{place}/{FRAME}") as reply:
        text, headers = await reply.text(), reply.headers
    assert reply.status == 200
    assert reply.content_type == "text/html"
    assert "mermaid" in text
    assert re.fullmatch(
        r"sandbox allow-scripts; default-src 'none'; script-src 'sha256-\S{44}' 'sha256-\S{44}';"
        r" style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; frame-ancestors 'self'",
        headers["Content-Security-Policy"],
    )
    assert all(each.endswith("=()") for each in headers["Permissions-Policy"].split(", "))
    for script in SCRIPTS:
        refusal = await open_page.refusal("GET", f"{place}/{script}")
        assert refusal == (404, "ROUTE_NOT_FOUND")
    elsewhere = {
        "Sec-Fetch-Site": "cross-site",
        "Sec-Fetch-Mode": "navigate",
        "Sec-Fetch-Dest": "iframe",
    }
    refusal = await open_page.refusal("GET", f"{place}/{FRAME}", headers=elsewhere)
    assert refusal == (403, "ORIGIN_NOT_ALLOWED")


async def test_diagrams_are_drawn_where_the_settings_say_so(open_page, tmp_path: Path):
    assert 'data-diagrams="false"' in (await shell(open_page))[1]
    async with page_server(tmp_path, web={"enabled": True, "diagrams": True}) as server:
        assert 'data-diagrams="true"' in (await shell(server))[1]


async def test_pictures_of_other_servers_may_load_where_the_settings_say_so(tmp_path: Path):
    async with page_server(tmp_path, web={"enabled": True, "remote_pictures": True}) as server:
        _, text, headers = await shell(server)
        assert "img-src 'self' blob: https:;" in headers["Content-Security-Policy"]
        assert 'data-remote-pictures="true"' in text
