"""Binds the web page to HTTP: its shell, static files, tickets and sessions."""

from __future__ import annotations

import gzip
import re
import secrets
from typing import TYPE_CHECKING

from aiohttp import web

from vault_agent import __version__
from vault_agent.api.caller import OWNER, PAGE
from vault_agent.api.context import CallContext
from vault_agent.api.operation import perform
from vault_agent.errors import Failed, NotFound, Unauthorized
from vault_agent.model.pages import PageSession, SessionsEnded, Ticket
from vault_agent.model.reply import Reply
from vault_agent.server.access import bearer
from vault_agent.server.downloads import send_shown
from vault_agent.server.keys import APP, ASSETS, CALLER, CONFIG, SESSIONS
from vault_agent.server.replies import accepts_gzip, bytes_reply
from vault_agent.system.cancelling import in_thread
from vault_agent.web.sessions import PREFIX
from vault_agent.web.shell import fill, frame_headers, page_headers
from vault_agent.wire.values import dump

if TYPE_CHECKING:
    from vault_agent.server.handlers import Call
    from vault_agent.web.sessions import Session

PATH = "/ui"
_ASSETS = f"{PATH}/assets/"
_FILES = re.compile(r"(?:/vaults/[^/]+)?/ui/files/")
_SESSION = f"{PATH}/session"
_READING = ("GET", "HEAD")
_COMPRESSION = 6


def is_ui(path: str) -> bool:
    """Whether a path belongs to the web page."""
    return path == PATH or path.startswith(f"{PATH}/")


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


async def shell(call: Call) -> web.StreamResponse:
    """Reply with the page. Each reply has another nonce."""
    app = call.request.app
    config, assets = app[CONFIG], app[ASSETS]
    nonce = secrets.token_urlsafe(16)
    values = {
        "assets": f"{_ASSETS}{assets.version}",
        "nonce": nonce,
        "version": __version__,
        "language": config.web.language,
        "math": "true" if config.web.math else "false",
        "diagrams": "true" if config.web.diagrams else "false",
        "pictures": "true" if config.web.remote_pictures else "false",
        "key": "required" if SESSIONS in app else "none",
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


async def forward(call: Call) -> web.StreamResponse:
    """Redirect to the page. Its address ends with a slash: relative addresses need it."""
    del call
    headers = {**page_headers(), "Location": f"{PATH}/", "Cache-Control": "no-store"}
    return web.Response(status=308, headers=headers)


async def asset(call: Call) -> web.StreamResponse:
    """Reply with a static file, compressed if the client accepts that."""
    version, _, path = call.sent.path.partition("/")
    found = call.request.app[ASSETS].get(version, path)
    if found is None:
        raise NotFound("ROUTE_NOT_FOUND", "There is no such file, or it is of another version.")
    headers = {
        **(page_headers() if found.policy is None else frame_headers(found.policy)),
        "Cache-Control": "public, max-age=31536000, immutable",
        "Vary": "Accept-Encoding",
    }
    body = found.body
    if accepts_gzip(call.request):
        body = await in_thread(lambda: found.compressed)  # the first time, it takes a while
        headers["Content-Encoding"] = "gzip"
    return web.Response(body=body, headers=headers, content_type=found.media_type, charset="utf-8")


async def shown_file(call: Call) -> web.StreamResponse:
    """Reply with a file of a note, so that a browser shows it only if that is harmless."""
    # The code in the address is the permission, so the gate knows no caller.
    opened = await perform(
        call.operation, CallContext(call.request.app[APP], call.vault, PAGE), call.sent
    )
    with opened.file:
        return await send_shown(call.request, opened)


async def ticket(call: Call) -> web.StreamResponse:
    """Reply with a ticket. Only the key itself may ask for one."""
    if call.request[CALLER] != OWNER:
        raise Unauthorized("UNAUTHORIZED", "A ticket needs the API key itself.")
    sessions = call.request.app.get(SESSIONS)
    if sessions is None:
        return bytes_reply(dump(Reply(Ticket(None, 0))))
    made = sessions.make_ticket(printed=call.sent.printed)
    data = Ticket(ticket=made.text, seconds=made.seconds)
    return bytes_reply(dump(Reply(data)))


async def session(call: Call) -> web.StreamResponse:
    """Exchange a ticket for a session, or renew the session whose token is sent."""
    sessions = call.request.app.get(SESSIONS)
    if sessions is None:
        raise NotFound("ROUTE_NOT_FOUND", "This server has no key, so it has no sessions.")
    if call.sent.ticket is not None:
        return _opened(sessions.open(call.sent.ticket))
    token = bearer(call.request.headers.getall("Authorization", []))
    if token is None or not token.startswith(PREFIX):
        raise Unauthorized("SESSION_ENDED", "Neither a ticket nor a session was sent.")
    return _opened(sessions.renew(token))


async def sign_out(call: Call) -> web.StreamResponse:
    """End all sessions."""
    sessions = call.request.app.get(SESSIONS)
    if sessions is not None:
        try:
            sessions.end_all()
        except OSError:
            raise Failed(
                "INDEX_IO_ERROR", "The secret of the sessions cannot be written."
            ) from None
    return bytes_reply(dump(Reply(SessionsEnded())))


def _opened(made: Session) -> web.Response:
    data = PageSession(token=made.token, expires_at=made.expires_at)
    return bytes_reply(dump(Reply(data)))
