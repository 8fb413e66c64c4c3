"""Binds the web page to HTTP: its shell, static files, tickets and sessions."""

from __future__ import annotations

import gzip
import re
import secrets
from dataclasses import dataclass
from typing import Annotated

from aiohttp import web

from vault_agent import __version__
from vault_agent.api.caller import OWNER
from vault_agent.api.operation import OCTETS, Result, operation
from vault_agent.api.requests import NoParams, PathParams
from vault_agent.errors import Failed, NotFound, Unauthorized
from vault_agent.model.pages import PageSession, SessionsEnded, Ticket
from vault_agent.model.sent import Length
from vault_agent.server.access import bearer
from vault_agent.server.app_keys import ASSETS, CALLER, CONFIG, PAGE_SESSIONS
from vault_agent.server.replies import accepts_gzip, send_shown
from vault_agent.server.sending import RouteCall
from vault_agent.system.cancelling import in_thread
from vault_agent.web.page_sessions import PREFIX
from vault_agent.web.shell import fill, frame_headers, page_headers

PATH = "/ui"
_ASSETS = f"{PATH}/assets/"
_FILES = re.compile(r"(?:/vaults/[^/]+)?/ui/files/")
_SESSION = f"{PATH}/session"
_READING = ("GET", "HEAD")
_COMPRESSION = 6
NEEDS = "web.enabled"


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketBody:
    """A request for a ticket."""

    printed: bool = False
    """Whether a person copies its address: it then lives for 300 s."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionBody:
    """A request for a session."""

    ticket: Annotated[str, Length(1, 200)] | None = None
    """Null renews the session whose token is sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownFileRequest(PathParams):
    """A request for a file in a note."""

    k: Annotated[str, Length(1, 80)]
    """The code in the address that the HTML of a note has."""


def is_shell(method: str, path: str) -> bool:
    """Whether a request is for the page, a redirect to it or a static file: none holds data."""
    return method in _READING and (path in ("/", PATH, f"{PATH}/") or path.startswith(_ASSETS))


def needs_no_key(method: str, path: str) -> bool:
    """Whether a request needs no key: for the page itself, or because it carries a ticket or MAC.

    The gate gives such a request no caller, so no other route can reply to it.
    """
    return (
        is_shell(method, path)
        or (method in _READING and _FILES.match(path) is not None)
        or (method == "POST" and path == _SESSION)
    )


@operation("GET", "/ui/", media=("text/html",), needs=NEEDS)
async def ui(call: RouteCall, _: NoParams) -> web.StreamResponse:
    """Return the web page itself, which holds no data."""
    app = call.request.app
    config, assets = app[CONFIG], app[ASSETS]
    nonce = secrets.token_urlsafe(16)
    values = {
        "assets": f"{_ASSETS}{assets.version}",
        "nonce": nonce,
        "version": __version__,
        "diagrams": "true" if config.web.diagrams else "false",
        "pictures": "true" if config.web.remote_pictures else "false",
        "key": "required" if PAGE_SESSIONS in app else "none",
    }
    body = fill(assets.shell, values)
    headers = {
        **page_headers(nonce, remote_pictures=config.web.remote_pictures),
        "Cache-Control": "no-store",
        "Vary": "Accept-Encoding",
    }
    if accepts_gzip(call.request):
        body = gzip.compress(body, _COMPRESSION, mtime=0)
        headers["Content-Encoding"] = "gzip"
    return web.Response(body=body, headers=headers, content_type="text/html", charset="utf-8")


@operation("GET", "/ui", status=308, media=(), needs=NEEDS)
async def ui_redirect(_call: RouteCall, _: NoParams) -> web.StreamResponse:
    """Redirect to the web page at /ui/."""
    return _forward()


@operation("GET", "/", status=308, media=(), needs=NEEDS)
async def root(_call: RouteCall, _: NoParams) -> web.StreamResponse:
    """Redirect to the web page at /ui/."""
    return _forward()


def _forward() -> web.Response:
    # The address ends with a slash, because relative addresses need it.
    headers = {**page_headers(), "Location": f"{PATH}/", "Cache-Control": "no-store"}
    return web.Response(status=308, headers=headers)


@operation("GET", "/ui/assets/{path}", media=("text/javascript", "text/css"), needs=NEEDS)
async def ui_asset(call: RouteCall, params: PathParams) -> web.StreamResponse:
    """Return a static file of the web page. Its path begins with the version of all of them."""
    version, _, path = params.path.partition("/")
    file = call.request.app[ASSETS].get(version, path)
    if file is None:
        raise NotFound("ROUTE_NOT_FOUND", "There is no such file, or it is of another version.")
    headers = {
        **(page_headers() if file.policy is None else frame_headers(file.policy)),
        "Cache-Control": "public, max-age=31536000, immutable",
        "Vary": "Accept-Encoding",
    }
    body = file.body
    if accepts_gzip(call.request):
        body = await in_thread(lambda: file.compressed)  # the first time, it takes a while
        headers["Content-Encoding"] = "gzip"
    return web.Response(body=body, headers=headers, content_type=file.media_type, charset="utf-8")


@operation("GET", "/ui/files/{path}", media=(OCTETS,), has_etag=True, ranged=True, needs=NEEDS)
async def ui_file(call: RouteCall, params: ShownFileRequest) -> web.StreamResponse:
    """Return a file that a note shows. Its address has a code instead of a key."""
    opened = await call.vault.web_view.open_file(params.path, params.k)
    with opened.file:
        return await send_shown(call.request, opened)


@operation("POST", "/ui/tickets", needs=NEEDS)
async def ui_ticket(call: RouteCall, body: TicketBody) -> Result[Ticket]:
    """Make a ticket that a browser exchanges for a session."""
    if call.request[CALLER] != OWNER:
        raise Unauthorized("UNAUTHORIZED", "A ticket needs the API key itself.")
    sessions = call.request.app.get(PAGE_SESSIONS)
    if sessions is None:
        return Result(Ticket(None, 0))
    return Result(sessions.make_ticket(printed=body.printed))


@operation("POST", "/ui/session", needs=NEEDS)
async def ui_session(call: RouteCall, body: SessionBody) -> Result[PageSession]:
    """Exchange a ticket for a session of the web page, or renew a session."""
    sessions = call.request.app.get(PAGE_SESSIONS)
    if sessions is None:
        raise NotFound("ROUTE_NOT_FOUND", "This server has no key, so it has no sessions.")
    if body.ticket is not None:
        return Result(sessions.open(body.ticket))
    token = bearer(call.request.headers.getall("Authorization", []))
    if token is None or not token.startswith(PREFIX):
        raise Unauthorized("SESSION_ENDED", "Neither a ticket nor a session was sent.")
    return Result(sessions.renew(token))


@operation("DELETE", "/ui/session", needs=NEEDS)
async def ui_sign_out(call: RouteCall, _: NoParams) -> Result[SessionsEnded]:
    """End all sessions of the web page."""
    sessions = call.request.app.get(PAGE_SESSIONS)
    if sessions is not None:
        try:
            sessions.end_all()
        except OSError:
            raise Failed(
                "INDEX_IO_ERROR", "The secret of the sessions cannot be written."
            ) from None
    return Result(SessionsEnded())
