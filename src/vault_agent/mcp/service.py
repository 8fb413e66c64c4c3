"""The SDK's server with our handlers."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
from mcp.server.caching import CacheHint
from mcp.server.lowlevel import Server

from vault_agent import __version__
from vault_agent.errors import IndexUnavailable, VaultAgentError, counted
from vault_agent.mcp.exchange import INVALID_PARAMS, TeachingError
from vault_agent.mcp.handshake import MEDIA, entries
from vault_agent.mcp.prompts import prompt_text, prompts_for
from vault_agent.mcp.resources import complete_path, read_resource
from vault_agent.mcp.text import as_json, for_models
from vault_agent.mcp.tool import check, tools_for
from vault_agent.mcp.toolsets import TOOLSETS
from vault_agent.text.names import escaped

if TYPE_CHECKING:
    from collections.abc import Mapping

    import mcp_types as types
    from mcp.server.context import ServerRequestContext

    from vault_agent.mcp.exchange import Call
    from vault_agent.mcp.tool import Tool
    from vault_agent.mcp.view import RunTool, Shown, View
    from vault_agent.model.jobs import Job

NAME = "vault-agent"
INSTRUCTIONS = " ".join(Path(__file__).with_name("instructions.txt").read_text("utf-8").split())
"""The instructions for models. They are about our own tools."""
INDEX_SECONDS = 25.0
"""How long a call waits while its index is made. It keeps one of its caller's few turns."""

_COMPLETE = {"resultType": "complete"}
"""Every result says so. The SDK leaves it out for older revisions."""
_KEPT = CacheHint(ttl_ms=300_000)
"""How long clients may keep a list: it changes only with the settings."""
_RESOURCE_NOT_FOUND = -32002  # before 2026-07-28


def make_server() -> Server[Any]:
    """Return a server with our tools. What a client may see comes with each request."""

    async def call_tool(
        context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> dict[str, Any]:
        call = _call(context)
        tools = {tool.name: tool for tool in tools_for(call.view.client_tools)}
        if params.name not in tools:
            raise TeachingError(INVALID_PARAMS, f"No such tool. There are: {', '.join(tools)}.")
        return await _result(tools[params.name], call.view, params.arguments)

    server: Server[Any] = Server(
        NAME,
        version=__version__,
        title="vault-agent",
        instructions=INSTRUCTIONS,
        cache_hints={
            "tools/list": _KEPT,
            "prompts/list": _KEPT,
            "resources/list": _KEPT,
            "resources/templates/list": _KEPT,
            "server/discover": _KEPT,
            "resources/read": CacheHint(),
        },
        # A dict is a result too.
        on_list_tools=_list_of("tools/list"),
        on_call_tool=call_tool,  # type: ignore[arg-type]
        on_list_resources=_list_of("resources/list"),
        on_list_resource_templates=_list_of("resources/templates/list"),
        on_read_resource=_read_resource,  # type: ignore[arg-type]
        on_list_prompts=_list_of("prompts/list"),
        on_get_prompt=_get_prompt,  # type: ignore[arg-type]
        on_completion=_complete,  # type: ignore[arg-type]
    )
    server.middleware.clear()  # OpenTelemetry: nothing of ours is traced
    return server


def _call(context: ServerRequestContext[Any]) -> Call:
    call: Call = context.request  # type: ignore[assignment]  # set by exchange.py
    return call


def _list_of(method: str) -> Any:
    """Return the handler of a list."""

    async def handler(context: ServerRequestContext[Any], _: Any) -> dict[str, Any]:
        return {**_COMPLETE, **entries(method, _call(context).view.client_tools)}

    return handler


async def _read_resource(
    context: ServerRequestContext[Any], params: types.ReadResourceRequestParams
) -> dict[str, Any]:
    call = _call(context)
    uri = str(params.uri)
    try:
        text = await read_resource(call.view, uri)
    except VaultAgentError as error:
        code = _RESOURCE_NOT_FOUND if call.legacy else INVALID_PARAMS
        raise TeachingError(code, error_text(error)) from None
    return {**_COMPLETE, "contents": [{"uri": uri, "mimeType": MEDIA, "text": text}]}


async def _get_prompt(
    context: ServerRequestContext[Any], params: types.GetPromptRequestParams
) -> dict[str, Any]:
    client = _call(context).view.client_tools
    text = prompt_text(params.name, dict(params.arguments or {}), client)
    if text is None:
        prompts = prompts_for(client)
        names = ", ".join(f"{name}({prompt.argument})" for name, prompt in prompts.items())
        raise TeachingError(INVALID_PARAMS, f"No such prompt. There are: {names}.")
    content = {"type": "text", "text": text}
    return {**_COMPLETE, "messages": [{"role": "user", "content": content}]}


async def _complete(
    context: ServerRequestContext[Any], params: types.CompleteRequestParams
) -> dict[str, Any]:
    call = _call(context)
    values: list[str] = []
    if params.ref.type == "ref/resource" and params.argument.name == "path":
        values = await complete_path(call.view, params.argument.value)
    return {**_COMPLETE, "completion": {"values": values, "hasMore": False}}


async def _result(tool: Tool, view: View, arguments: Mapping[str, Any] | None) -> dict[str, Any]:
    """Run a tool. Its failure is a result that the model sees, and not an error."""
    run = TOOLSETS[view.toolset][tool.name]
    try:
        checked = check(tool, arguments)
        target, arguments = await view.for_call(checked)
        reply = await _with_index(tool, run, target, arguments)
    except VaultAgentError as error:
        return _text(error_text(error), is_error=True)
    if isinstance(reply, str):
        return _text(reply, is_error=False)
    text = as_json(reply)
    return {**_text(text, is_error=False), "structuredContent": json.loads(text)}


def error_text(error: VaultAgentError) -> str:
    """Return an error as a model reads it: the code, what is wrong, what to do, suggestions."""
    details = error.details
    lines = [f"{error.code}: {for_models(error.code, *error.over_http())}"]
    lines += (f"- {suggestion}" for suggestion in details.get("suggestions", ()))
    lines += (f"- {_heading(heading)}" for heading in details.get("headings", ()))
    if details.get("more"):
        lines.append(f"… and {details['more']} more: use view: outline")
    return "\n".join(lines)


def _heading(heading: object) -> str:
    """Return a heading that an error lists: a line of the outline, or a place with its ID."""
    if not isinstance(heading, dict):
        return escaped(str(heading))
    path = " > ".join(escaped(str(name)) for name in heading.get("headingPath", ()))
    return f"{heading.get('line')}: {path} ({heading.get('headingId')})"


def _text(text: str, *, is_error: bool) -> dict[str, Any]:
    return {**_COMPLETE, "content": [{"type": "text", "text": text}], "isError": is_error}


async def _with_index(tool: Tool, run: RunTool, view: View, arguments: Mapping[str, Any]) -> Shown:
    """Run a tool. While a job makes its index, wait for it.

    A tool that writes runs once: it may have written before it needs the index.

    Raises:
        IndexUnavailable: `INDEX_NOT_FOUND` or `INDEX_INCOMPATIBLE` with how far the job is.
        VaultAgentError: as the tool.
    """
    deadline = time.monotonic() + INDEX_SECONDS
    while True:
        try:
            return await run(view, arguments)
        except IndexUnavailable as error:
            job_id = error.details.get("jobId")
            if job_id is None:
                raise
            if tool.writes or time.monotonic() >= deadline:
                raise _too_early(error, await view.vault.jobs.get(job_id)) from None
        await anyio.sleep(0.2)


def _too_early(error: IndexUnavailable, job: Job) -> IndexUnavailable:
    """Return the error with how far the job is, and when to call again."""
    # The text of a note is parsed once. The other phases are short.
    phase = next((phase for phase in job.phases if phase.name == "parse"), None)
    far = ""
    if phase is not None and phase.total:
        far = f": {phase.done:,} of {counted(phase.total, 'note')}"
    elif phase is not None and phase.done:
        far = f": {counted(phase.done, 'note')} so far"
    seconds = max(1, round(job.eta_seconds)) if job.eta_seconds else 10
    what = f"{error.what.removesuffix('.')}{far}; call again in about {seconds} s."
    return IndexUnavailable(error.code, what, remedy="")
