"""The one table of routes: what is routed, validated, let in and documented comes from here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes

from aiohttp import web

from vault_agent.errors import InvalidRequest, NotFound, Unsupported
from vault_agent.server import handlers
from vault_agent.server.body import check_media, check_size, read_model
from vault_agent.server.handlers import Call
from vault_agent.server.keys import TRACE
from vault_agent.server.replies import SAFE_HEADERS
from vault_agent.wire.base import parse_strings
from vault_agent.wire.replies import (
    AttachmentData,
    ChunkData,
    CompactResultsData,
    HealthData,
    JobList,
    NoteData,
    OneJob,
    Reply,
    ResultsData,
)
from vault_agent.wire.requests import (
    AttachmentParams,
    AttachmentPath,
    ChunkPath,
    IndexBody,
    JobPath,
    NoParams,
    NoteParams,
    NotePath,
    RelatedBody,
    SearchBody,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from vault_agent.wire.base import Model


@dataclass(frozen=True, slots=True)
class Route:
    """One route: who handles it, and what may be sent to it.

    `path` is an OpenAPI template; `codes` are the errors of its own, besides those that every
    route can reply with.
    """

    method: str
    path: str
    handler: Callable[[Call[Any, Any, Any]], Awaitable[web.StreamResponse]]
    replies: tuple[type[Model], ...] = ()
    codes: tuple[str, ...] = ()
    path_model: type[Model] = NoParams
    params: type[Model] = NoParams
    body: type[Model] | None = None
    body_required: bool = False
    status: int = 200
    media: tuple[str, ...] = ("application/json",)

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        """Validate a request by the models of this route and handle it."""
        request[TRACE].route = self.path
        check_media(request)
        check_size(request)
        if self.body is None and request.body_exists:
            raise InvalidRequest("INVALID_REQUEST", "This route takes no body.")
        path = parse_strings(self.path_model, _path_values(self, request))
        params = parse_strings(self.params, _query_values(request))
        body = await read_model(request, self.body) if self.body else NoParams()
        return await self.handler(Call(request, path, params, body))

    @property
    def pattern(self) -> str:
        """The template as aiohttp wants it; an attachment's path may hold any text."""
        return self.path.replace("{path}", "{path:(?s:.*)}")


_INDEX = ("INDEX_NOT_FOUND", "INDEX_INCOMPATIBLE", "INDEX_IO_ERROR")
_JOBS = ("INDEX_IO_ERROR", "JOBS_DAMAGED")
_RANKING = ("INVALID_MODE", "INVALID_LIMIT", *_INDEX, "EMBEDDING_UNAVAILABLE")

ROUTES: tuple[Route, ...] = (
    Route("GET", "/health", handlers.health, replies=(Reply[HealthData],)),
    Route(
        "POST",
        "/index",
        handlers.index,
        replies=(Reply[OneJob],),
        codes=("INDEX_BUSY", "DISK_FULL", *_JOBS),
        body=IndexBody,
        status=202,
    ),
    Route(
        "POST",
        "/reindex",
        handlers.reindex,
        replies=(Reply[OneJob],),
        codes=("INDEX_BUSY", "DISK_FULL", *_JOBS),
        body=IndexBody,
        status=202,
    ),
    Route("GET", "/jobs", handlers.jobs, replies=(Reply[JobList],), codes=_JOBS),
    Route(
        "GET",
        "/jobs/{jobId}",
        handlers.job,
        replies=(Reply[OneJob],),
        codes=("INVALID_ID", "JOB_NOT_FOUND", *_JOBS),
        path_model=JobPath,
    ),
    Route(
        "DELETE",
        "/jobs/{jobId}",
        handlers.cancel_job,
        replies=(Reply[OneJob],),
        codes=("INVALID_ID", "JOB_NOT_FOUND", *_JOBS),
        path_model=JobPath,
    ),
    Route(
        "GET",
        "/jobs/{jobId}/events",
        handlers.job_events,
        codes=("INVALID_ID", "JOB_NOT_FOUND", *_JOBS),
        path_model=JobPath,
        media=("text/event-stream",),
    ),
    Route(
        "POST",
        "/search",
        handlers.search,
        replies=(Reply[ResultsData], Reply[CompactResultsData]),
        codes=("INVALID_QUERY", *_RANKING),
        body=SearchBody,
        body_required=True,
    ),
    Route(
        "POST",
        "/related",
        handlers.related,
        replies=(Reply[ResultsData], Reply[CompactResultsData]),
        codes=("INVALID_ID", "NOTE_NOT_FOUND", "CHUNK_NOT_FOUND", *_RANKING),
        body=RelatedBody,
        body_required=True,
    ),
    Route(
        "GET",
        "/notes/{noteId}",
        handlers.note,
        replies=(Reply[NoteData],),
        codes=(
            "INVALID_ID",
            "NOTE_NOT_FOUND",
            "PATH_OUTSIDE_VAULT",
            "NOTE_TOO_LARGE",
            "VAULT_NOT_FOUND",
            *_INDEX,
        ),
        path_model=NotePath,
        params=NoteParams,
    ),
    Route(
        "GET",
        "/chunks/{noteId}/{chunkIndex}",
        handlers.chunk,
        replies=(Reply[ChunkData],),
        codes=("INVALID_ID", "NOTE_NOT_FOUND", "CHUNK_NOT_FOUND", *_INDEX),
        path_model=ChunkPath,
    ),
    Route(
        "GET",
        "/attachments/{path}",
        handlers.attachment,
        replies=(Reply[AttachmentData],),
        codes=(
            "INVALID_PATH",
            "PATH_OUTSIDE_VAULT",
            "ATTACHMENT_NOT_ALLOWED",
            "ATTACHMENT_NOT_FOUND",
            "ATTACHMENT_TOO_LARGE",
            "RANGE_NOT_SATISFIABLE",
            "VAULT_NOT_FOUND",
        ),
        path_model=AttachmentPath,
        params=AttachmentParams,
        media=("application/json", "application/octet-stream"),
    ),
    Route("GET", "/openapi.json", handlers.openapi),
)


def add_routes(router: web.UrlDispatcher) -> None:
    """Register the table, and what replies to methods and paths that are not in it."""
    for pattern in dict.fromkeys(route.pattern for route in ROUTES):
        resource = router.add_resource(pattern)
        methods: list[str] = []
        for route in ROUTES:
            if route.pattern == pattern:
                methods += ["GET", "HEAD"] if route.method == "GET" else [route.method]
                resource.add_route(route.method, _entry(route), expect_handler=_expect)
                if route.method == "GET":
                    resource.add_route("HEAD", _entry(route), expect_handler=_expect)
        resource.add_route("*", _other_method((*methods, "OPTIONS")), expect_handler=_expect)
    router.add_route("*", "/{path:(?s:.*)}", _unknown, expect_handler=_expect)


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


async def _unknown(_request: web.Request) -> web.StreamResponse:
    raise NotFound("ROUTE_NOT_FOUND", "There is no such route.")


async def _expect(_request: web.Request) -> None:
    """Leave `Expect: 100-continue` for later: aiohttp asks before the gate has let anybody in."""


def _path_values(route: Route, request: web.Request) -> dict[str, str]:
    """Return the path's parts, decoded once and strictly.

    aiohttp's own decoding keeps escapes that are not UTF-8 as text, which names another file.
    """
    values = dict(request.match_info)
    if "path" in values:
        prefix = route.path.partition("{")[0]
        raw = request.rel_url.raw_path.removeprefix(prefix)
        try:
            values["path"] = unquote_to_bytes(raw).decode("utf-8")
        except UnicodeError:
            raise InvalidRequest("INVALID_PATH", "The path's escapes are not UTF-8.") from None
    return values


def _query_values(request: web.Request) -> dict[str, str]:
    """Return the query parameters; a doubled one is refused, as either could be meant."""
    values = dict(request.query)
    if len(values) != len(request.query):
        raise InvalidRequest("INVALID_REQUEST", "A query parameter appears twice.")
    return values
