"""The application: the gate, the routes, and the app that is open while it runs."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from aiohttp import web

from vault_agent.api.operation import MAX_BODY_BYTES
from vault_agent.server.access import Access
from vault_agent.server.app_keys import (
    ACCESS,
    ACTIVITY,
    APP,
    ASSETS,
    CONFIG,
    LIMITS,
    LOG,
    OPENAPI,
    PAGE_SESSIONS,
    STOPPING,
    Activity,
)
from vault_agent.server.connection import Limits
from vault_agent.server.events import OPEN_STREAMS, OpenStreams
from vault_agent.server.gate import gate, stamp
from vault_agent.server.mcp import MCP, Endpoint, add_mcp
from vault_agent.server.openapi import openapi_json
from vault_agent.server.routes import add_routes
from vault_agent.system.cancelling import in_thread
from vault_agent.web.assets import Assets
from vault_agent.web.page_sessions import PageSessions

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from contextlib import AbstractAsyncContextManager

    from vault_agent.app import App
    from vault_agent.config.settings import Config
    from vault_agent.server.log import EventLog


def create_app(
    *,
    config: Config,
    log: EventLog,
    open_app: Callable[[Config], AbstractAsyncContextManager[App]],
    limits: Limits | None = None,
) -> web.Application:
    """Return the application. `open_app` is entered at its start and left at its end."""
    app = web.Application(middlewares=[gate], client_max_size=MAX_BODY_BYTES)
    app[ACTIVITY] = Activity()
    app[CONFIG] = config
    app[LOG] = log
    app[LIMITS] = limits or Limits()
    app[STOPPING] = asyncio.Event()
    app[OPEN_STREAMS] = OpenStreams(app[LIMITS])
    description: Callable[[], bytes] = openapi_json
    app[OPENAPI] = description
    app[ACCESS] = Access(
        host=config.server.host,
        api_key=config.server.api_key,
        names=config.server.allowed_hosts,
        origins=config.cors.allowed_origins if config.cors.enabled else (),
        agents=config.agents,
    )

    async def opened_app(app: web.Application) -> AsyncIterator[None]:
        async with open_app(config) as opened:
            app[APP] = opened
            if config.web.enabled:
                app[ASSETS] = Assets()
                await in_thread(app[ASSETS].load)
                if config.server.api_key is not None:
                    vault = opened.vaults.default
                    app[PAGE_SESSIONS] = PageSessions(
                        vault.secret,
                        config.server.api_key.get_secret_value(),
                        vault=vault.identity,
                        ended=vault.ended_sessions,
                    )
            yield

    async def mcp(app: web.Application) -> AsyncIterator[None]:
        endpoint = app[MCP] = Endpoint()
        yield
        await endpoint.close()

    async def stop_streams(app: web.Application) -> None:
        app[STOPPING].set()

    if config.mcp.enabled:
        app.cleanup_ctx.append(mcp)
    app.cleanup_ctx.append(opened_app)
    app.on_response_prepare.append(stamp)
    app.on_shutdown.append(stop_streams)
    add_mcp(app.router)
    add_routes(app.router)
    return app
