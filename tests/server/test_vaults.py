"""Several vaults over HTTP: every route for every vault, and no folder in any request."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from tests.support.registered_vaults import RegisteredVaults, indexed

from vault_agent.app import open_app
from vault_agent.config.vault_list import Role
from vault_agent.model.identifiers import identify
from vault_agent.model.search import MAX_VAULTS
from vault_agent.server.log import EventLog, Level
from vault_agent.server.serve import listening
from vault_agent.vaults.shared import VaultRegistry

PATH = "modules/cost tracker.md"


class Running:
    """A server with a default vault, a project's, the global one and another."""

    def __init__(
        self, session: aiohttp.ClientSession, app: Any, log: io.StringIO, port: int
    ) -> None:
        self.session, self.app, self.log, self.port = session, app, log, port

    async def call(self, method: str, path: str, body: object = None) -> tuple[int, dict[str, Any]]:
        async with self.session.request(method, path, json=body) as reply:
            self.headers = reply.headers
            return reply.status, await reply.json()

    async def data(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        status, found = await self.call(method, path, body)
        assert status < 300, found
        return found["data"]

    async def code(self, method: str, path: str, body: object = None) -> tuple[int, str]:
        status, found = await self.call(method, path, body)
        return status, found["error"]["code"]


@pytest.fixture
def world(tmp_path: Path) -> RegisteredVaults:
    made = RegisteredVaults(tmp_path)
    made.write(made.default, {"Bread.md": "# Bread\n\nflour\n"})
    root = made.project("shop", {PATH: "# Costs\n\nflour and tokens ![[a b.png]]\n"})
    (root / "a b.png").write_bytes(b"\x89PNG\r\n")
    made.registered(Role.GLOBAL, "global", {"patterns/retry.md": "# Retry\n\nflour again\n"})
    made.registered(Role.OTHER, "recipes", {"Cake.md": "# Cake\n\nflour and eggs\n"})
    return made


@asynccontextmanager
async def running(world: RegisteredVaults, **sections: Any) -> AsyncIterator[Running]:
    log = io.StringIO()
    opening = partial(open_app, registry=VaultRegistry(world.registry))
    async with listening(
        world.config(**sections), open_app=opening, log=EventLog(Level.DEBUG, log), port=0
    ) as server:
        await indexed(server.app.vaults.default)
        base = f"http://127.0.0.1:{server.port}"
        async with aiohttp.ClientSession(base) as session:
            yield Running(session, server.app, log, server.port)
    for text in (str(world.folder), "flour", "shop", "Cake"):
        assert text not in log.getvalue()


async def ready(server: Running, *names: str) -> None:
    for name in names:
        vault = await server.app.vaults.open(name)
        await indexed(vault)


async def test_every_route_answers_for_a_named_vault(world: RegisteredVaults):
    note = identify(PATH)
    async with running(world) as server:
        await ready(server, "project:shop")
        for vault in ("project:shop", "project%3Ashop", "shop"):
            found = await server.data("GET", f"/vaults/{vault}/notes/{note}")
            assert found["path"] == PATH
        at = "/vaults/project:shop"
        assert (await server.data("GET", f"{at}/health"))["index"]["notes"] == 1
        hits = await server.data("POST", f"{at}/search", {"query": "flour"})
        assert [hit["path"] for hit in hits["results"]] == [PATH]
        assert "vault" not in hits["results"][0]
        assert (await server.data("GET", f"{at}/attachments/a%20b.png"))["name"] == "a b.png"
        assert (await server.data("GET", f"{at}/chunks/{note}/0"))["path"] == PATH
        job = (await server.data("POST", f"{at}/reindex", {}))["job"]
        assert server.headers["Location"] == f"{at}/jobs/{job['id']}"
        assert server.headers["X-Vault-Id"] == server.app.vaults.default.identity
        assert (await server.data("GET", f"{at}/jobs/{job['id']}"))["job"]["kind"] == "reindex"
        assert await server.code("GET", f"/jobs/{job['id']}") == (404, "JOB_NOT_FOUND")
        assert await server.code("GET", f"/notes/{note}") == (404, "NOTE_NOT_FOUND")
        assert await server.code("GET", f"{at}/nothing") == (404, "ROUTE_NOT_FOUND")
        assert await server.code("PUT", f"{at}/search") == (405, "METHOD_NOT_ALLOWED")
        assert await server.code("GET", f"{at}/vaults") == (404, "ROUTE_NOT_FOUND")


async def test_the_list_of_vaults_has_no_folder(world: RegisteredVaults):
    async with running(world) as server:
        await ready(server, "global")
        status, reply = await server.call("GET", "/vaults")
        assert status == 200
        assert str(world.folder) not in str(reply)
        rows = {row["name"]: row for row in reply["data"]["vaults"]}
        assert list(rows) == ["default", "project:shop", "global", "recipes"]
        assert [row["open"] for row in rows.values()] == [True, False, True, False]
        assert rows["global"]["types"] == {"pattern": 1}
        assert rows["global"]["lastIndexed"]
        assert rows["project:shop"]["types"] is None
        assert rows["recipes"]["role"] == "other"


async def test_a_search_may_name_several_vaults(world: RegisteredVaults):
    names = ["project:shop", "global"]
    async with running(world) as server:
        await ready(server, *names)
        body = {"query": "flour", "vaults": names, "limit": 1}
        first = await server.data("POST", "/search", body)
        second = await server.data("POST", "/search", {**body, "cursor": first["nextCursor"]})
        found = [*first["results"], *second["results"]]
        assert sorted(hit["vault"] for hit in found) == ["global", "project:shop"]
        related = {"id": identify(PATH), "vaults": names}
        assert (await server.data("POST", "/vaults/project:shop/related", related))["results"]
        for wrong, code in (
            (["project:shop", "x"], "VAULT_UNKNOWN"),
            ([str(world.default)], "VAULT_UNKNOWN"),
            ([""], "INVALID_REQUEST"),
            ([*names, *map(str, range(MAX_VAULTS))], "INVALID_REQUEST"),
        ):
            asked = {"query": "flour", "vaults": wrong}
            assert (await server.code("POST", "/search", asked))[1] == code


@pytest.mark.fault(
    "Several vaults",
    "a request names a folder",
    "404 `VAULT_UNKNOWN`",
)
async def test_no_request_can_name_a_folder(world: RegisteredVaults):
    async with running(world) as server:
        for name in (
            "%2Fetc",
            "..%2F..%2Fetc",
            "file%3A%2F%2F%2Fetc",
            str(world.default).replace("/", "%2F"),
            "project:%2e%2e",
            "%00",
            "~",
            "global%0d%0a",
        ):
            status, code = await server.code("GET", f"/vaults/{name}/health")
            assert (status, code) in {
                (404, "VAULT_UNKNOWN"),
                (404, "ROUTE_NOT_FOUND"),
                (400, "INVALID_REQUEST"),
            }, name


async def test_notes_of_other_vaults_are_never_changed(world: RegisteredVaults):
    write = {"enabled": True, "folders": ["drafts"]}
    async with running(world, write=write, server={"api_key": "k" * 40}) as server:
        server.session.headers["Authorization"] = f"Bearer {'k' * 40}"
        await ready(server, "recipes", "global")
        body = {"path": "patterns/new.md", "content": "# New\n", "mode": "create"}
        status, refusal = await server.call("POST", "/vaults/recipes/write/note", body)
        assert (status, refusal["error"]["code"]) == (403, "VAULT_READ_ONLY")
        assert "write.folders" not in str(refusal)  # it is about the default vault alone
        vault = await server.app.vaults.open("global")
        assert vault.config.write.folders == (".",)
        vault.check_writable()
        assert server.app.vaults.default.config.write.folders == ("drafts",)
