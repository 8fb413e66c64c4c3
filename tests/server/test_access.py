"""Access checks: Host, Origin, key, CORS."""

from __future__ import annotations

from hashlib import sha256

import pytest
from pydantic import SecretStr

from vault_agent.api.caller import OWNER
from vault_agent.config.rules import vault_identity
from vault_agent.errors import Forbidden, Unauthorized
from vault_agent.server.access import Access
from vault_agent.server.app_keys import CALLER

from .conftest import KEY, run

ORIGIN = "https://notes.example"


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8787",
        "0.0.0.0",
        "0.0.0.0:8787",
        "[::]",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "evil.localhost",
        "notlocalhost",
        "127.0.0.1@evil.example",
        "localhost:8787:1",
        "localhost:99999",
        "localhost:",
        "",
        "192.168.1.7",
        "2130706433",
        "[::1",
        "::1",
        "127.0.0.1 ",
    ],
)
def test_a_foreign_host_is_refused(host: str):
    access = Access(host="127.0.0.1", api_key=None, origins=())
    with pytest.raises(Forbidden) as refused:
        access.check_host(host, "127.0.0.1")
    assert refused.value.code == "HOST_NOT_ALLOWED"


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "127.0.0.1:8787", "localhost:8787", "LOCALHOST", "localhost.", "[::1]:8787"],
)
def test_loopback_host_names_are_allowed(host: str):
    Access(host="127.0.0.1", api_key=None, origins=()).check_host(host, "127.0.0.1")


def test_the_bound_host_and_the_connected_address_are_allowed():
    access = Access(host="notes.lan", api_key=None, origins=())
    access.check_host("Notes.LAN:8787", "192.168.1.7")
    access.check_host("192.168.1.7:8787", "192.168.1.7")
    with pytest.raises(Forbidden):
        access.check_host("192.168.1.8:8787", "192.168.1.7")
    wildcard = Access(host="0.0.0.0", api_key=None, origins=())
    with pytest.raises(Forbidden):
        wildcard.check_host("0.0.0.0:8787", "192.168.1.7")


def test_listed_names_are_allowed_exactly():
    access = Access(host="0.0.0.0", api_key=None, origins=(), names=("notes.lan", "nas.example"))
    access.check_host("Notes.LAN:1065", "192.168.1.7")
    access.check_host("nas.example", "192.168.1.7")
    for other in ("lan", "a.notes.lan", "notes.lan.example", "*"):
        with pytest.raises(Forbidden):
            access.check_host(other, "192.168.1.7")


async def test_an_absolute_request_target_is_checked_too(server):
    evil = (
        b"GET http://evil.example/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    )
    assert b" 421 " in (await server.raw(evil)).split(b"\r\n")[0]
    disguised = evil.replace(b"evil.example", b"evil.example@localhost")
    assert b" 421 " in (await server.raw(disguised)).split(b"\r\n")[0]
    own = evil.replace(b"evil.example", b"localhost")
    assert b" 200 " in (await server.raw(own)).split(b"\r\n")[0]


async def test_the_servers_own_origin_is_allowed(server):
    status, _, headers = await server.ask(
        "GET", "/health", headers={"Origin": f"http://{server.authority}"}
    )
    assert status == 200
    assert "Access-Control-Allow-Origin" not in headers


@pytest.mark.parametrize(
    "origin",
    ["http://{own}0", "http://{own}.evil.example", "http://{own}@evil.example", "http://{own}/",
     "http://evil.{own}", "http://evil.example/{own}", "https://{own}", "{own}"],
)  # fmt: skip
async def test_an_origin_that_resembles_the_servers_own_is_refused(server, origin: str):
    headers = {"Origin": origin.format(own=server.authority)}
    refusal = await server.refusal("GET", "/health", headers=headers)
    assert refusal == (403, "ORIGIN_NOT_ALLOWED")


@pytest.mark.parametrize("foreign", ["https://evil.example", "null"])
async def test_duplicate_origin_headers_are_refused(server, foreign: str):
    own = f"http://{server.authority}"
    for two in (
        [("Origin", own), ("Origin", foreign)],
        [("Origin", foreign), ("Origin", own)],
        [("Sec-Fetch-Site", "none"), ("Sec-Fetch-Site", "cross-site")],
    ):
        refusal = await server.refusal("GET", "/health", headers=two)
        assert refusal == (403, "ORIGIN_NOT_ALLOWED")


@pytest.mark.fault(
    "HTTP and access",
    "a web page embeds or links to the server, so the request has no `Origin`",
    "403, because of `Sec-Fetch-Site`",
)
@pytest.mark.parametrize("site", ["cross-site", "same-site", "", "other"])
async def test_requests_from_other_sites_without_an_origin_are_refused(server, site: str):
    for path in ("/health", "/attachments/a.png?download=true"):
        refusal = await server.refusal("GET", path, headers={"Sec-Fetch-Site": site})
        assert refusal == (403, "ORIGIN_NOT_ALLOWED")


@pytest.mark.parametrize("site", ["none", "same-origin"])
async def test_direct_navigation_is_allowed(server, site: str):
    assert (await server.ask("GET", "/health", headers={"Sec-Fetch-Site": site}))[0] == 200


async def test_an_allowed_origin_can_send_cross_site_requests():
    async with run(cors={"enabled": True, "allowed_origins": [ORIGIN]}) as server:
        headers = {"Origin": ORIGIN, "Sec-Fetch-Site": "cross-site"}
        assert (await server.ask("GET", "/health", headers=headers))[0] == 200


async def test_allowed_origins_have_no_effect_without_cors():
    async with run(cors={"enabled": False, "allowed_origins": [ORIGIN]}) as server:
        refusal = await server.refusal("GET", "/health", headers={"Origin": ORIGIN})
        assert refusal == (403, "ORIGIN_NOT_ALLOWED")


@pytest.mark.fault(
    "HTTP and access",
    "a foreign `Origin`, `null`, an origin that starts with an allowed one",
    "403 on every route",
)
@pytest.mark.parametrize(
    "origin",
    [ORIGIN + ".evil.example", ORIGIN + ":444", ORIGIN[:-1], "https://notes", "*",
     "http://notes.example", ORIGIN.upper(), ORIGIN + "/", "null", ORIGIN + ", " + ORIGIN],
)  # fmt: skip
async def test_an_origin_must_match_exactly(origin: str):
    async with run(cors={"enabled": True, "allowed_origins": [ORIGIN]}) as server:
        refusal = await server.refusal("GET", "/health", headers={"Origin": origin})
        assert refusal == (403, "ORIGIN_NOT_ALLOWED")


async def test_cors_replies_name_the_origin_and_allow_no_credentials():
    cors = {"enabled": True, "allowed_origins": [ORIGIN]}
    async with run(cors=cors, server={"api_key": KEY}) as server:
        preflight = {
            "Origin": ORIGIN,
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization,content-type",
        }
        status, _, headers = await server.ask("OPTIONS", "/search", headers=preflight)
        assert status == 204
        assert headers["Access-Control-Allow-Origin"] == ORIGIN
        assert "Authorization" in headers["Access-Control-Allow-Headers"]
        assert headers["Vary"] == "Origin"
        assert "Access-Control-Allow-Credentials" not in headers

        # The page can read the error and still needs the key.
        status, _, headers = await server.ask("GET", "/health", headers={"Origin": ORIGIN})
        assert (status, headers["Access-Control-Allow-Origin"]) == (401, ORIGIN)
        with_key = {"Origin": ORIGIN, "Authorization": f"Bearer {KEY}"}
        status, _, headers = await server.ask("GET", "/health", headers=with_key)
        assert (status, headers["Access-Control-Allow-Origin"]) == (200, ORIGIN)
        assert "Access-Control-Allow-Credentials" not in headers


async def test_options_needs_the_key_except_for_a_preflight_of_an_allowed_origin(guarded):
    for headers in ({"Access-Control-Request-Method": "POST"}, {}):
        refusal = await guarded.refusal("OPTIONS", "/search", headers=headers)
        assert refusal == (401, "UNAUTHORIZED")


async def test_the_key_works_on_every_route(guarded):
    headers = {"Authorization": f"Bearer {KEY}"}
    assert (await guarded.ask("GET", "/health", headers=headers))[0] == 200
    headers = {"Authorization": f"bearer   {KEY}"}
    assert (await guarded.ask("GET", "/health", headers=headers))[0] == 200
    assert await guarded.refusal("GET", "/nothing") == (401, "UNAUTHORIZED")


@pytest.mark.fault(
    "HTTP and access",
    "no key, a wrong key, two keys, a key that is not ASCII, a key in the URL",
    "401, always the same reply",
)
@pytest.mark.parametrize(
    "headers",
    [
        [],
        [("Authorization", "Bearer wrong")],
        [("Authorization", f"Bearer {KEY}x")],
        [("Authorization", f"Bearer {KEY[:-1]}")],
        [("Authorization", f"Basic {KEY}")],
        [("Authorization", KEY)],
        [("Authorization", "Bearer")],
        [("Authorization", "Bearer ")],
        [("Authorization", f"Bearer {KEY} {KEY}")],
        [("Authorization", f"Bearer {KEY}"), ("Authorization", f"Bearer {KEY}")],
        [("Authorization", f"Bearer {KEY}é")],
        [("X-Api-Key", KEY)],
    ],
)
async def test_every_wrong_key_gets_the_same_reply(guarded, headers):
    status, body, reply = await guarded.ask("GET", "/health", headers=headers)
    request_id = body["error"]["details"].pop("requestId")
    assert reply["X-Request-Id"] == request_id
    assert reply["WWW-Authenticate"] == "Bearer"
    assert (status, body) == (
        401,
        {
            "error": {
                "code": "UNAUTHORIZED",
                "message": "This server needs its API key. Send it as Authorization: Bearer.",
                "details": {"what": "This server needs its API key."},
            }
        },
    )


@pytest.mark.parametrize("name", ["api_key", "apiKey", "key", "token", "access_token"])
async def test_a_key_in_the_query_string_is_ignored(guarded, name: str):
    assert await guarded.refusal("GET", f"/health?{name}={KEY}") == (401, "UNAUTHORIZED")


def test_keys_are_compared_by_digest_in_constant_time(monkeypatch: pytest.MonkeyPatch):
    compared = []

    def compare_digest(digest: bytes, wanted: bytes) -> bool:
        compared.append((digest, wanted))
        return digest == wanted

    monkeypatch.setattr("vault_agent.server.access.hmac.compare_digest", compare_digest)
    access = Access(host="127.0.0.1", api_key=SecretStr(KEY), origins=())
    access.check_key([f"Bearer {KEY}"])
    with pytest.raises(Unauthorized):
        access.check_key([f"Bearer {KEY[:-1]}"])
    wanted = sha256(KEY.encode()).digest()
    assert compared == [(wanted, wanted), (sha256(KEY[:-1].encode()).digest(), wanted)]


def test_any_text_can_be_compared_with_the_key():
    access = Access(host="127.0.0.1", api_key=SecretStr(KEY), origins=())
    for text in ("Bearer \udcff", "Bearer ключ", "Bearer \x00"):
        with pytest.raises(Exception, match="UNAUTHORIZED"):
            access.check_key([text])


async def test_a_request_to_mcp_has_no_caller_before_mcp_makes_the_agent(monkeypatch):
    callers = []
    monkeypatch.setattr(
        "vault_agent.server.mcp._caller",
        lambda request: callers.append(request.get(CALLER)) or OWNER,
    )
    async with run(server={"api_key": KEY}, mcp={"enabled": True}) as server:
        for path in ("/mcp", "/mcp/desk"):
            await server.ask("POST", path, headers={"Authorization": f"Bearer {KEY}"})
    assert callers == [None, None]


async def test_replies_name_the_vault_only_to_allowed_clients(tmp_path):
    vault = tmp_path / "My notes"
    async with run(vault={"root": vault}, server={"api_key": KEY}) as server:
        bearer = {"Authorization": f"Bearer {KEY}"}
        status, body, headers = await server.ask("GET", "/health", headers=bearer)
        assert status == 200
        assert body["data"]["vault"] == {"id": vault_identity(vault), "name": "My notes"}
        assert headers["X-Vault-Id"] == vault_identity(vault)
        _, _, headers = await server.ask("GET", "/notes/x", headers=bearer)
        assert headers["X-Vault-Id"] == vault_identity(vault)  # on errors too
        for refused in ({}, {**bearer, "Host": "evil.example"}):
            _, _, headers = await server.ask("GET", "/health", headers=refused)
            assert "X-Vault-Id" not in headers


def test_a_vault_has_one_identity_for_all_paths_to_it(tmp_path):
    (tmp_path / "Notes").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "Notes")
    assert vault_identity(tmp_path / "link") == vault_identity(tmp_path / "Notes")
    assert vault_identity(tmp_path / "Notes") != vault_identity(tmp_path / "notes 2")
