"""A real server with a real vault and the web page, for tests in this folder."""

from __future__ import annotations

import asyncio
import io
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp

from vault_agent.app import open_app
from vault_agent.config.settings import Config
from vault_agent.server.log import EventLog, Level, captured_logging
from vault_agent.server.serve import listening

from .conftest import Running

KEY = "k" * 32 + "-Key~1"


@asynccontextmanager
async def in_one_task(context):
    """Enter and leave a context in one task, as its cancel scopes need. A fixture has two."""
    entered, left = asyncio.get_running_loop().create_future(), asyncio.Event()

    async def hold():
        async with context as value:
            entered.set_result(value)
            await left.wait()

    task = asyncio.create_task(hold())
    await asyncio.wait([task, entered], return_when=asyncio.FIRST_COMPLETED)
    try:
        yield entered.result() if entered.done() else await task
    finally:
        left.set()
        await task


def page_server(folder: Path, notes: dict[str, str | bytes] | None = None, **sections):
    """Serve a vault with these files and with the web page. Wait until it is indexed."""
    return in_one_task(_page_server(folder, notes, sections))


@asynccontextmanager
async def _page_server(folder: Path, notes: dict[str, str | bytes] | None, sections):
    vault = folder / "vault"
    vault.mkdir(exist_ok=True)
    for path, text in (notes or {"Here.md": "# Here\n"}).items():
        file = vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
    config = Config(
        vault={"root": vault}, index={"dir": folder / "data"},
        **{"web": {"enabled": True}, **sections},
    )  # fmt: skip
    log = io.StringIO()
    events = EventLog(Level.DEBUG, log)
    with captured_logging(events):
        async with (
            listening(config, open_app=open_app, log=events, port=0) as server,
            aiohttp.ClientSession() as session,
        ):
            vault_open = server.app.vaults.default
            while (job := vault_open.jobs.running) is not None:
                async for _ in vault_open.jobs.watch(job.id):
                    pass
            yield Running(server.host, server.port, vault_open, log, session)


async def signed_in(server: Running) -> dict[str, str]:
    """Return the headers of a new session."""
    owner = {"Authorization": f"Bearer {KEY}"}
    _, made, _ = await server.ask("POST", "/ui/tickets", json={}, headers=owner)
    _, opened, _ = await server.ask("POST", "/ui/session", json={"ticket": made["data"]["ticket"]})
    return {"Authorization": f"Bearer {opened['data']['token']}"}
