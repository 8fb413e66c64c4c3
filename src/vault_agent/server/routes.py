"""The table of routes: the method and path of each operation."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes

from aiohttp import web

from vault_agent.api.operation import Operation, check_switch, operation, operations_of
from vault_agent.api.operations import OPERATIONS
from vault_agent.api.requests import NoParams, parse, parse_strings, repeatable, unknown_field
from vault_agent.errors import InvalidRequest, NotFound, Unsupported
from vault_agent.server import ui
from vault_agent.server.app_keys import APP, CONFIG, OPENAPI, TRACE
from vault_agent.server.body import (
    await_gate,
    check_media,
    check_size,
    read_body,
    with_content,
    with_headers,
)
from vault_agent.server.replies import SAFE_HEADERS, bytes_reply
from vault_agent.server.sending import RouteCall, perform_and_send, send

if TYPE_CHECKING:
    from vault_agent.vaults.open_vault import OpenVault

_VAULT = "vault"
_OF_VAULT = f"/vaults/{{{_VAULT}}}"


@operation("GET", "/openapi.json")
async def openapi(call: RouteCall, _: NoParams) -> web.Response:
    """Describe this interface."""
    return bytes_reply(call.request.app[OPENAPI]())


_OF_HTTP = (*operations_of(ui), openapi)
"""The operations that only HTTP has, because they are about browsers or HTTP itself."""

ROUTES: tuple[Operation[Any, Any], ...] = (
    *(route for route in OPERATIONS if route.path),
    *_OF_HTTP,
)


async def _respond(route: Operation[Any, Any], request: web.Request) -> web.StreamResponse:
    """Validate a request by the class that the operation takes, and reply."""
    of_vault = _VAULT in request.match_info
    request[TRACE].route = f"{_OF_VAULT}{route.path}" if of_vault else route.path
    check_media(request, route.octets)
    if route.needs is not None:
        # Before the body is read. `perform` checks the settings of the vault, which may differ.
        check_switch(route.needs, request.app[CONFIG])
    check_size(request, route.max_body)
    if not (route.takes_body or route.octets) and request.body_exists:
        raise InvalidRequest("INVALID_REQUEST", "This route takes no body.")
    in_query = _query_values(request, repeatable(route.fields))
    if not in_query.keys() <= set(route.in_query):
        raise unknown_field(route.in_query)
    in_path = _path_values(route, request)
    if route.takes_body:
        body = await read_body(request, route.max_body) if request.body_exists else b"{}"
        parsed = with_headers(request, parse(route.request, body, in_path))
    else:
        parsed = parse_strings(route.request, {**in_path, **in_query})
    if route.octets:
        parsed = with_content(request, parsed, await read_body(request, route.max_body))
    vaults = request.app[APP].vaults
    if not of_vault:
        return await _answer(route, request, vaults.default, parsed)
    vault = await vaults.open(request.match_info[_VAULT])
    return await _answer(route, request, vault, parsed)


async def _answer(
    route: Operation[Any, Any], request: web.Request, vault: OpenVault, parsed: Any
) -> web.StreamResponse:
    call = RouteCall(request, vault, route, parsed, _prefix(request))
    if route in _OF_HTTP:
        return await send(call, await route.run(call, parsed))
    return await perform_and_send(call)


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
    by_pattern: dict[str, list[Operation[Any, Any]]] = {}
    for route in ROUTES:
        pattern = route.path.replace("{path}", "{path:(?s:.*)}")  # it may contain any text
        by_pattern.setdefault(pattern, []).append(route)
    for pattern, routes in by_pattern.items():
        _add(router, pattern, routes)
    for pattern, routes in by_pattern.items():
        if pattern not in OF_THE_SERVER:
            _add(router, f"{_OF_VAULT}{pattern}", routes)
    router.add_route("*", "/{path:(?s:.*)}", _unknown, expect_handler=await_gate)


def _add(router: web.UrlDispatcher, place: str, routes: list[Operation[Any, Any]]) -> None:
    """Register the routes of one place."""
    resource = router.add_resource(place)
    allowed: list[str] = []
    for route in routes:
        methods = ["GET", "HEAD"] if route.method == "GET" else [route.method]
        for method in methods:
            resource.add_route(method, partial(_respond, route), expect_handler=await_gate)
        allowed += methods
    refuse = partial(_other_method, (*allowed, "OPTIONS"))
    resource.add_route("*", refuse, expect_handler=await_gate)


async def _other_method(allowed: tuple[str, ...], request: web.Request) -> web.StreamResponse:
    if request.method == "OPTIONS":
        return web.Response(status=204, headers={**SAFE_HEADERS, "Allow": ", ".join(allowed)})
    raise Unsupported(
        "METHOD_NOT_ALLOWED", f"Use {', '.join(allowed)} here.", {"allowed": list(allowed)}
    )


async def _unknown(request: web.Request) -> web.StreamResponse:
    if request.path.startswith(f"{ui.PATH}/"):
        check_switch(ui.NEEDS, request.app[CONFIG])
    raise NotFound("ROUTE_NOT_FOUND", "There is no such route.")


def _path_values(route: Operation[Any, Any], request: web.Request) -> dict[str, str]:
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


def _query_values(request: web.Request, repeated: set[str]) -> dict[str, str | tuple[str, ...]]:
    """Return the query parameters. Only those in `repeated`, which are lists, may appear twice."""
    values: dict[str, str | tuple[str, ...]] = dict(request.query)
    for name in values:
        several = request.query.getall(name)
        if name in repeated:
            values[name] = tuple(several)
        elif len(several) > 1:
            raise InvalidRequest("INVALID_REQUEST", "A query parameter appears twice.")
    return values
