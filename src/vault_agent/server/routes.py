"""The table of routes: the method and path of each operation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes

from aiohttp import web

from vault_agent.api import (
    graph,
    operations,
)
from vault_agent.api import web as pages
from vault_agent.api.operation import Http, Operation, check_switch
from vault_agent.errors import InvalidRequest, NotFound, Unsupported
from vault_agent.model.pages import PageSession, SessionsEnded, Ticket
from vault_agent.server import handlers, ui
from vault_agent.server.body import (
    check_media,
    check_size,
    read_body,
    read_model,
)
from vault_agent.server.conditions import MAX_ATTACHMENT_BYTES, with_content, with_headers
from vault_agent.server.handlers import Call
from vault_agent.server.keys import APP, CONFIG, TRACE
from vault_agent.server.replies import SAFE_HEADERS
from vault_agent.wire.base import parse_strings, unknown_field, wire_names
from vault_agent.wire.queries import repeatable
from vault_agent.wire.requests import AttachmentRequest, NoParams
from vault_agent.wire.web import SessionBody, TicketBody
from vault_agent.wire.writing import WriteBody

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from vault_agent.api.context import CallContext
    from vault_agent.vaults.open_vault import OpenVault
    from vault_agent.wire.base import Model

_VAULT = "vault"
_OF_VAULT = f"/vaults/{{{_VAULT}}}"


@dataclass(frozen=True, slots=True)
class Route:
    """The HTTP binding of an operation, and the function that replies."""

    operation: Operation[Any, Any]
    http: Http
    handler: Callable[[Call], Awaitable[web.StreamResponse]] = handlers.reply

    @property
    def method(self) -> str:
        """GET, POST or DELETE."""
        return self.http.method

    @property
    def path(self) -> str:
        """The template."""
        return self.http.path

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        """Validate a request by the operation's model and perform it."""
        request[TRACE].route = self.path if _VAULT not in request.match_info else self.of_vault
        check_media(request, self.http.octets)
        if self.operation.needs is not None:
            check_switch(self.operation.needs, request.app[CONFIG])
        limit = self._limit(request)
        check_size(request, limit)
        if not (self.http.takes_body or self.http.octets) and request.body_exists:
            raise InvalidRequest("INVALID_REQUEST", "This route takes no body.")
        given = _query_values(request, repeatable(self.request))
        if not given.keys() <= set(self.in_query):
            raise unknown_field(self.in_query)
        if self.http.takes_body:
            inside = _path_values(self, request) if self.http.in_path else {}
            sent = with_headers(request, await read_model(request, self.request, limit, inside))
        else:
            sent = parse_strings(self.request, {**_path_values(self, request), **given})
        if self.http.octets:
            sent = with_content(request, sent, await read_body(request, limit))
        vaults = request.app[APP].vaults
        name = request.match_info.get(_VAULT)
        if name is None:
            return await self._answer(request, vaults.default, sent)
        async with vaults.open(name) as vault:
            return await self._answer(request, vault, sent)

    async def _answer(
        self, request: web.Request, vault: OpenVault, sent: Any
    ) -> web.StreamResponse:
        call = Call(request, vault, self.operation, sent, self.http.status, _prefix(request))
        return await self.handler(call)

    @property
    def of_vault(self) -> str:
        """The same path below that of a vault."""
        return f"{_OF_VAULT}{self.path}"

    def _limit(self, request: web.Request) -> int:
        """Return the most bytes of a body."""
        if self.http.octets:
            return MAX_ATTACHMENT_BYTES
        is_write = issubclass(self.request, WriteBody)
        return request.app[CONFIG].write.max_body_bytes if is_write else self.http.max_body

    @property
    def request(self) -> type[Model]:
        """The model of the request."""
        return self.http.wider or self.operation.request

    @property
    def in_query(self) -> tuple[str, ...]:
        """The request fields that are query parameters."""
        if self.http.takes_body:
            return ()
        return tuple(name for name in wire_names(self.request) if name not in self.http.in_path)

    @property
    def codes(self) -> tuple[str, ...]:
        """The error codes, besides those of every route."""
        switched = ("FEATURE_DISABLED",) if self.operation.needs is not None else ()
        return (*switched, *self.operation.codes, *self.http.more_codes)

    @property
    def pattern(self) -> str:
        """The template for aiohttp. An attachment's path may contain any text."""
        return self.path.replace("{path}", "{path:(?s:.*)}")


async def _describe(_: CallContext, __: NoParams) -> None:
    """Describe this interface."""


async def _page(_: CallContext, __: NoParams) -> None:
    """Return the web page itself, which holds no data."""


async def _redirect(_: CallContext, __: NoParams) -> None:
    """Redirect to the web page at /ui/."""


async def _asset(_: CallContext, __: AttachmentRequest) -> None:
    """Return a static file of the web page. Its path begins with the version of all of them."""


async def _ticket(_: CallContext, __: TicketBody) -> None:
    """Make a ticket that a browser exchanges for a session."""


async def _session(_: CallContext, __: SessionBody) -> None:
    """Exchange a ticket for a session of the web page, or renew a session."""


async def _sign_out(_: CallContext, __: NoParams) -> None:
    """End all sessions of the web page."""


DESCRIPTION = Operation("openapi", NoParams, _describe, http=Http("GET", "/openapi.json"))
"""Only in HTTP, because other protocols have their own descriptions."""

# Only in HTTP, because they are about browsers. The gate checks the switch of everything in /ui/.
PAGE = Operation(
    "ui",
    NoParams,
    _page,
    needs="web.enabled",
    http=Http("GET", "/ui/", media=("text/html",)),
)
PAGE_FILE = Operation(
    "ui_asset",
    AttachmentRequest,
    _asset,
    codes=("INVALID_PATH",),
    needs="web.enabled",
    http=Http(
        "GET",
        "/ui/assets/{path}",
        media=("text/javascript", "text/css"),
        more_codes=("ROUTE_NOT_FOUND",),
    ),
)
TICKET = Operation(
    "ui_ticket",
    TicketBody,
    _ticket,
    (Ticket,),
    needs="web.enabled",
    http=Http("POST", "/ui/tickets", body=None),
)
SESSION = Operation(
    "ui_session",
    SessionBody,
    _session,
    (PageSession,),
    ("SESSION_ENDED", "TOO_MANY_REQUESTS", "ROUTE_NOT_FOUND"),
    needs="web.enabled",
    http=Http("POST", "/ui/session", body=True),
)
SIGN_OUT = Operation(
    "ui_sign_out",
    NoParams,
    _sign_out,
    (SessionsEnded,),
    ("INDEX_IO_ERROR",),
    needs="web.enabled",
    http=Http("DELETE", "/ui/session"),
)

PAGE_WITHOUT_SLASH = replace(PAGE, run=_redirect, http=Http("GET", "/ui", status=308, media=()))
ROOT = replace(PAGE, run=_redirect, http=Http("GET", "/", status=308, media=()))

_OF_HTTP = (PAGE, PAGE_WITHOUT_SLASH, ROOT, PAGE_FILE, TICKET, SESSION, SIGN_OUT, DESCRIPTION)
"""The operations that only HTTP has."""

_HANDLERS = {
    operations.ATTACHMENT: handlers.attachment,
    graph.GRAPH: handlers.whole_graph,
    pages.LAYOUT: handlers.layout,
    pages.SHOWN_FILE: ui.shown_file,
    operations.JOB_EVENTS: handlers.job_events,
    operations.EVENTS: handlers.events,
    PAGE: ui.shell,
    PAGE_WITHOUT_SLASH: ui.forward,
    ROOT: ui.forward,
    PAGE_FILE: ui.asset,
    TICKET: ui.ticket,
    SESSION: ui.session,
    SIGN_OUT: ui.sign_out,
    DESCRIPTION: handlers.description,
}
"""The operations whose reply is not only JSON."""

ROUTES: tuple[Route, ...] = tuple(
    Route(each, each.http, _HANDLERS.get(each, handlers.reply))
    for each in (*operations.OPERATIONS, *_OF_HTTP)
    if each.http is not None
)


OF_THE_SERVER = (
    "/",
    "/vaults",
    "/sessions/events",
    "/openapi.json",
    "/ui",
    "/ui/",
    "/ui/assets/{path:(?s:.*)}",
    "/ui/tickets",
    "/ui/session",
)
"""The routes that are not about one vault."""


def add_routes(router: web.UrlDispatcher) -> None:
    """Register the routes, each also for a named vault, and the replies to unknown ones."""
    by_pattern: dict[str, list[Route]] = {}
    for route in ROUTES:
        by_pattern.setdefault(route.pattern, []).append(route)
    for pattern, routes in by_pattern.items():
        _add(router, pattern, routes)
    for pattern, routes in by_pattern.items():
        if pattern not in OF_THE_SERVER:
            _add(router, f"{_OF_VAULT}{pattern}", routes)
    router.add_route("*", "/{path:(?s:.*)}", _unknown, expect_handler=_expect)


def _add(router: web.UrlDispatcher, place: str, routes: list[Route]) -> None:
    """Register the routes of one place."""
    resource = router.add_resource(place)
    methods: list[str] = []
    for route in routes:
        methods += ["GET", "HEAD"] if route.method == "GET" else [route.method]
        resource.add_route(route.method, _entry(route), expect_handler=_expect)
        if route.method == "GET":
            resource.add_route("HEAD", _entry(route), expect_handler=_expect)
    resource.add_route("*", _other_method((*methods, "OPTIONS")), expect_handler=_expect)


def _entry(route: Route) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    async def entry(request: web.Request) -> web.StreamResponse:
        return await route(request)

    return entry


def _other_method(
    allowed: tuple[str, ...],
) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    async def other_method(request: web.Request) -> web.StreamResponse:
        if request.method == "OPTIONS":
            return web.Response(status=204, headers={**SAFE_HEADERS, "Allow": ", ".join(allowed)})
        raise Unsupported(
            "METHOD_NOT_ALLOWED", f"Use {', '.join(allowed)} here.", {"allowed": list(allowed)}
        )

    return other_method


async def _unknown(request: web.Request) -> web.StreamResponse:
    if ui.is_ui(request.path):
        check_switch(PAGE.needs or "", request.app[CONFIG])
    raise NotFound("ROUTE_NOT_FOUND", "There is no such route.")


async def _expect(_request: web.Request) -> None:
    """Do nothing: aiohttp would reply to `Expect: 100-continue` before the gate runs."""


def _path_values(route: Route, request: web.Request) -> dict[str, str]:
    """Return the parts of the path, decoded once and strictly.

    aiohttp keeps escapes that are not UTF-8 as text, which would name another file.
    """
    values = dict(request.match_info)
    values.pop(_VAULT, None)
    if "path" in values:
        prefix = _prefix(request) + route.path.partition("{")[0]
        raw = request.rel_url.raw_path.removeprefix(prefix)
        try:
            values["path"] = unquote_to_bytes(raw).decode("utf-8")
        except UnicodeError:
            raise InvalidRequest("INVALID_PATH", "The path's escapes are not UTF-8.") from None
    return values


def _prefix(request: web.Request) -> str:
    """Return the beginning of a path that names a vault, as it was sent, or ""."""
    if _VAULT not in request.match_info:
        return ""
    return "/".join(request.rel_url.raw_path.split("/", 3)[:3])


def _query_values(
    request: web.Request, repeated: frozenset[str]
) -> dict[str, str | tuple[str, ...]]:
    """Return the query parameters. Only those in `repeated`, which are lists, may appear twice."""
    values: dict[str, str | tuple[str, ...]] = dict(request.query)
    for name in values:
        several = request.query.getall(name)
        if name in repeated:
            values[name] = tuple(several)
        elif len(several) > 1:
            raise InvalidRequest("INVALID_REQUEST", "A query parameter appears twice.")
    return values
