"""The table of routes: the method and path of each operation."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes

from aiohttp import web

from vault_agent.api import (
    authoring,
    deliveries,
    files,
    graph,
    journals,
    links,
    lists,
    memory,
    operations,
    promotion,
    sessions,
    vaults,
    writes,
    writing,
)
from vault_agent.api import web as pages
from vault_agent.api.operation import Operation, check_switch
from vault_agent.errors import InvalidRequest, NotFound, Unsupported
from vault_agent.model.pages import PageSession, SessionsEnded, Ticket
from vault_agent.server import handlers, ui
from vault_agent.server.body import (
    MAX_BODY_BYTES,
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
from vault_agent.wire.requests import AttachmentRequest, DownloadRequest, NoParams
from vault_agent.wire.web import SessionBody, TicketBody
from vault_agent.wire.writing import UploadRequest, WriteBody

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from vault_agent.api.caller import Caller
    from vault_agent.vaults.open_vault import OpenVault
    from vault_agent.wire.base import Model

MAX_RENDER_BYTES = 512 * 1024
MAX_EVENT_BYTES = 512 * 1024

_PARTS = re.compile(r"\{(\w+)\}")
_VAULT = "vault"
_OF_VAULT = f"/vaults/{{{_VAULT}}}"


@dataclass(frozen=True, slots=True)
class Route:
    """The HTTP binding of an operation.

    Request fields that are named in `path`, an OpenAPI template, are in the path. The others are
    in the JSON body if the route has one, otherwise in the query string. A field cannot be called
    `vault`: that part of a path names the vault that the request is to.

    Args:
        method: GET, POST or DELETE.
        path: the template.
        operation: the operation that is performed.
        body: whether the route has a JSON body; None if it is optional.
        status: the status of a success.
        handler: the function that replies.
        media: the content types of a success.
        wider: a request model with fields that only HTTP has, instead of the operation's.
        more_codes: errors that only HTTP has, besides those of every route.
        tagged: whether replies carry an ETag.
        max_body: the most bytes of a body.
        octets: whether the body is the bytes of a file, and the parameters are in the query string.
        creates: whether a success is 201 if something new was made.
    """

    method: str
    path: str
    operation: Operation[Any, Any]
    body: bool | None = False
    status: int = 200
    handler: Callable[[Call], Awaitable[web.StreamResponse]] = handlers.reply
    media: tuple[str, ...] = ("application/json",)
    wider: type[Model] | None = None
    more_codes: tuple[str, ...] = ()
    tagged: bool = False
    max_body: int = MAX_BODY_BYTES
    octets: bool = False
    creates: bool = False

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        """Validate a request by the operation's model and perform it."""
        request[TRACE].route = self.path if _VAULT not in request.match_info else self.of_vault
        check_media(request, self.octets)
        if self.operation.needs is not None:
            check_switch(self.operation.needs, request.app[CONFIG])
        limit = self._limit(request)
        check_size(request, limit)
        if not (self.takes_body or self.octets) and request.body_exists:
            raise InvalidRequest("INVALID_REQUEST", "This route takes no body.")
        given = _query_values(request, repeatable(self.request))
        if not given.keys() <= set(self.in_query):
            raise unknown_field(self.in_query)
        if self.takes_body:
            inside = _path_values(self, request) if self.in_path else {}
            sent = with_headers(request, await read_model(request, self.request, limit, inside))
        else:
            sent = parse_strings(self.request, {**_path_values(self, request), **given})
        if self.octets:
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
        call = Call(request, vault, self.operation, sent, self.status, _prefix(request))
        return await self.handler(call)

    @property
    def of_vault(self) -> str:
        """The same path below that of a vault."""
        return f"{_OF_VAULT}{self.path}"

    def _limit(self, request: web.Request) -> int:
        """Return the most bytes of a body."""
        if self.octets:
            return MAX_ATTACHMENT_BYTES
        is_write = issubclass(self.request, WriteBody)
        return request.app[CONFIG].write.max_body_bytes if is_write else self.max_body

    @property
    def request(self) -> type[Model]:
        """The model of the request."""
        return self.wider or self.operation.request

    @property
    def takes_body(self) -> bool:
        """Whether a JSON body is read."""
        return self.body is not False

    @property
    def in_path(self) -> tuple[str, ...]:
        """The request fields that are in the path."""
        return tuple(_PARTS.findall(self.path))

    @property
    def in_query(self) -> tuple[str, ...]:
        """The request fields that are query parameters."""
        if self.takes_body:
            return ()
        return tuple(name for name in wire_names(self.request) if name not in self.in_path)

    @property
    def codes(self) -> tuple[str, ...]:
        """The error codes, besides those of every route."""
        switched = ("FEATURE_DISABLED",) if self.operation.needs is not None else ()
        return (*switched, *self.operation.codes, *self.more_codes)

    @property
    def pattern(self) -> str:
        """The template for aiohttp. An attachment's path may contain any text."""
        return self.path.replace("{path}", "{path:(?s:.*)}")


async def _describe(_: OpenVault, __: Caller, ___: NoParams) -> None:
    """Describe this interface."""


async def _page(_: OpenVault, __: Caller, ___: NoParams) -> None:
    """Return the web page itself, which holds no data."""


async def _asset(_: OpenVault, __: Caller, ___: AttachmentRequest) -> None:
    """Return a static file of the web page. Its path begins with the version of all of them."""


async def _ticket(_: OpenVault, __: Caller, ___: TicketBody) -> None:
    """Make a ticket that a browser exchanges for a session."""


async def _session(_: OpenVault, __: Caller, ___: SessionBody) -> None:
    """Exchange a ticket for a session of the web page, or renew a session."""


async def _sign_out(_: OpenVault, __: Caller, ___: NoParams) -> None:
    """End all sessions of the web page."""


DESCRIPTION = Operation("openapi", NoParams, _describe)
"""Only in HTTP, because other protocols have their own descriptions."""

# Only in HTTP, because they are about browsers. The gate checks the switch of everything in /ui/.
PAGE = Operation("ui", NoParams, _page, needs="web.enabled")
PAGE_FILE = Operation(
    "ui_asset", AttachmentRequest, _asset, codes=("INVALID_PATH",), needs="web.enabled"
)
TICKET = Operation(
    "ui_ticket",
    TicketBody,
    _ticket,
    (Ticket,),
    needs="web.enabled",
)
SESSION = Operation(
    "ui_session",
    SessionBody,
    _session,
    (PageSession,),
    ("SESSION_ENDED", "TOO_MANY_REQUESTS", "ROUTE_NOT_FOUND"),
    needs="web.enabled",
)
SIGN_OUT = Operation(
    "ui_sign_out",
    NoParams,
    _sign_out,
    (SessionsEnded,),
    ("INDEX_IO_ERROR",),
    needs="web.enabled",
)

ROUTES: tuple[Route, ...] = (
    Route("GET", "/health", operations.HEALTH),
    Route("GET", "/vaults", vaults.VAULTS),
    Route("POST", "/search", operations.SEARCH, body=True),
    Route("POST", "/related", operations.RELATED, body=True),
    Route("GET", "/notes/{noteId}", operations.NOTE, tagged=True),
    Route("GET", "/notes/{noteId}/outline", writing.OUTLINE),
    Route("GET", "/notes/{noteId}/frontmatter", writing.FRONTMATTER),
    Route("GET", "/chunks/{noteId}/{chunkIndex}", operations.CHUNK, tagged=True),
    Route(
        "GET",
        "/attachments/{path}",
        operations.ATTACHMENT,
        handler=handlers.attachment,
        media=("application/json", "application/octet-stream"),
        wider=DownloadRequest,
        more_codes=("ATTACHMENT_TOO_LARGE", "RANGE_NOT_SATISFIABLE"),
        tagged=True,
    ),
    Route("GET", "/notes", lists.NOTES),
    Route("GET", "/resolve", lists.RESOLVE),
    Route("POST", "/grep", lists.GREP, body=True),
    Route("GET", "/tasks", lists.TASKS),
    Route("POST", "/context", lists.CONTEXT, body=True),
    Route("POST", "/memory", memory.MEMORY, body=True),
    Route("GET", "/memory/sessions", deliveries.MEMORY_SESSIONS),
    Route("GET", "/memory/sessions/{sessionId}", deliveries.MEMORY_SESSION),
    Route("POST", "/memory/sessions/{sessionId}/refresh", deliveries.REFRESH_SESSION, body=None),
    Route("POST", "/memory/sessions/{sessionId}/notes", deliveries.PUT_FIRST, body=True),
    Route("DELETE", "/memory/sessions/{sessionId}/notes/{noteVault}/{noteId}", deliveries.TAKE_OUT),
    Route("POST", "/memory/forget", deliveries.FORGET_MEMORY, body=True),
    Route("GET", "/journals", journals.JOURNALS),
    Route("POST", "/journals", journals.MAKE_JOURNAL, body=True, status=202),
    Route("POST", "/journals/{sessionId}/entries", journals.JOURNAL_ENTRY, body=True),
    Route("POST", "/journals/{sessionId}/review", journals.JOURNAL_REVIEW, body=True),
    Route("GET", "/journals/{sessionId}/draft", journals.JOURNAL_DRAFT),
    Route(
        "POST",
        "/sessions/events",
        sessions.SESSION_EVENT,
        body=True,
        status=202,
        max_body=MAX_EVENT_BYTES,
    ),
    Route("GET", "/notes/{noteId}/html", pages.HTML, tagged=True),
    Route("POST", "/render", pages.RENDER, body=True, max_body=MAX_RENDER_BYTES),
    Route("GET", "/suggest", pages.SUGGEST),
    Route("GET", "/stats", pages.STATS),
    Route("GET", "/notes/{noteId}/links", links.LINKS),
    Route("GET", "/notes/{noteId}/backlinks", links.BACKLINKS),
    Route("GET", "/notes/{noteId}/mentions", links.MENTIONS),
    Route("GET", "/links/broken", links.BROKEN_LINKS),
    Route("GET", "/tags", links.TAGS),
    Route("GET", "/folders", links.FOLDERS),
    Route("GET", "/notes/{noteId}/graph", graph.LOCAL_GRAPH),
    Route("GET", "/graph", graph.GRAPH, handler=handlers.whole_graph, tagged=True),
    Route(
        "GET",
        "/graph/layout",
        pages.LAYOUT,
        handler=handlers.layout,
        media=("application/octet-stream",),
        tagged=True,
    ),
    Route("GET", "/graph/path", graph.GRAPH_PATH),
    Route("GET", "/graph/orphans", graph.ORPHANS),
    Route("GET", "/graph/dead-ends", graph.DEAD_ENDS),
    Route("GET", "/graph/central", graph.CENTRAL),
    Route("GET", "/graph/communities", graph.COMMUNITIES),
    Route("GET", "/templates", authoring.TEMPLATES),
    Route("GET", "/devlog", authoring.DEVLOG),
    Route("GET", "/decisions", authoring.DECISIONS),
    Route("POST", "/index", operations.INDEX, body=None, status=202),
    Route("POST", "/reindex", operations.REINDEX, body=None, status=202),
    Route("GET", "/jobs", operations.JOBS),
    Route("GET", "/jobs/{jobId}", operations.JOB),
    Route(
        "GET",
        "/jobs/{jobId}/events",
        operations.JOB_EVENTS,
        handler=handlers.job_events,
        media=("text/event-stream",),
    ),
    Route("DELETE", "/jobs/{jobId}", operations.CANCEL_JOB),
    Route("POST", "/write/note", writing.WRITE_NOTE, body=True),
    Route("POST", "/write/frontmatter", writing.SET_FRONTMATTER, body=True),
    Route("POST", "/write/tags", writing.CHANGE_TAGS, body=True),
    Route("POST", "/write/replace", writing.REPLACE, body=True),
    Route("POST", "/write/section", writing.SECTION, body=True),
    Route("POST", "/write/delete", files.DELETE, body=True),
    Route("POST", "/write/move", files.MOVE, body=True),
    Route("POST", "/write/folder", files.FOLDER, body=True),
    Route("POST", "/write/attachment", files.ATTACH, wider=UploadRequest, octets=True),
    Route("POST", "/write/undo", writes.UNDO, body=None),
    Route("GET", "/writes", writes.WRITES),
    Route("GET", "/writes/{writeId}", writes.WRITE),
    Route("POST", "/writes/forget", writes.FORGET, body=True),
    Route("POST", "/write/tasks/add", authoring.ADD_TASK, body=True),
    Route("POST", "/write/tasks/set", authoring.SET_TASK, body=True),
    Route("POST", "/write/template", authoring.NEW_FROM_TEMPLATE, body=True),
    Route("POST", "/write/devlog", authoring.ADD_TO_DEVLOG, body=True),
    Route("POST", "/write/adr", authoring.NEW_DECISION, body=True),
    Route("POST", "/notes/{noteId}/promote", promotion.PROMOTE, body=None, creates=True),
    Route("DELETE", "/notes/{noteId}/promote", promotion.DEMOTE),
    Route("POST", "/vaults/check", promotion.CHECK, body=None),
    Route("GET", "/watch", operations.WATCH),
    Route("POST", "/watch/scan", operations.SCAN, body=None, status=202),
    Route(
        "GET",
        "/events",
        operations.EVENTS,
        handler=handlers.events,
        media=("text/event-stream",),
    ),
    Route("GET", "/ui/", PAGE, handler=ui.shell, media=("text/html",)),
    Route("GET", "/ui", PAGE, handler=ui.forward, status=308, media=()),
    Route(
        "GET",
        "/ui/assets/{path}",
        PAGE_FILE,
        handler=ui.asset,
        media=("text/javascript", "text/css"),
        more_codes=("ROUTE_NOT_FOUND",),
    ),
    Route(
        "GET",
        "/ui/files/{path}",
        pages.SHOWN_FILE,
        handler=ui.shown_file,
        media=("application/octet-stream",),
        more_codes=("RANGE_NOT_SATISFIABLE",),
        tagged=True,
    ),
    Route("POST", "/ui/tickets", TICKET, body=None, handler=ui.ticket),
    Route("POST", "/ui/session", SESSION, body=True, handler=ui.session),
    Route("DELETE", "/ui/session", SIGN_OUT, handler=ui.sign_out),
    Route("GET", "/openapi.json", DESCRIPTION, handler=handlers.description),
)


OF_THE_SERVER = (
    "/vaults",
    "/vaults/check",
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
    for pattern in dict.fromkeys(route.pattern for route in ROUTES):
        _add(router, pattern, pattern)
    for pattern in dict.fromkeys(route.pattern for route in ROUTES):
        if pattern not in OF_THE_SERVER:
            _add(router, pattern, f"{_OF_VAULT}{pattern}")
    router.add_route("*", "/{path:(?s:.*)}", _unknown, expect_handler=_expect)


def _add(router: web.UrlDispatcher, pattern: str, place: str) -> None:
    """Register the routes with this pattern at a place."""
    resource = router.add_resource(place)
    methods: list[str] = []
    for route in ROUTES:
        if route.pattern == pattern:
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
