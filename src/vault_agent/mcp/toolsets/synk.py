"""The toolset `synk`: the commands of a vault of notes with types, and its `VaultNote` as a reply.

A note is named by the `id` of its frontmatter, by its note ID or by its path. Replies are JSON.
`get_agent_memory`, `generate_session_journal` and
`promote_note_to_global` are ours.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from vault_agent.api import authoring, files, graph, links, memory, note_writes, search, vaults
from vault_agent.api.operation import perform
from vault_agent.errors import NotFound, VaultAgentError
from vault_agent.mcp.reading import named_note, note_at, properties_of
from vault_agent.mcp.text import excerpt, warnings_of
from vault_agent.mcp.toolsets.whole import overwrite_body, text_fields, whole_note
from vault_agent.mcp.writing import at_this_moment, change, given, perform_write, write_warnings
from vault_agent.model.graph import GraphQuery
from vault_agent.model.identifiers import GLOBAL, IN_GLOBAL, PROJECT, identify
from vault_agent.model.warning import Warning
from vault_agent.text.names import escaped

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vault_agent.mcp.view import RunTool, Shown, View
    from vault_agent.model.lists import ListedNote
    from vault_agent.model.names import NamedNote

_BACKLINKS = 100
_ALL = "all"
_NOT_OF_NODES = ("identifier", "vault")


async def _named(view: View, name: str) -> NamedNote:
    """Return the note that an `id`, a note ID, a path or a name means."""
    try:
        return (await named_note(view, f"id:{name}"))[0]
    except NotFound as error:
        if error.code != "NOTE_NOT_FOUND":
            raise
        return (await named_note(view, name))[0]


def _project(view: View) -> str:
    return view.vault.full_name.removeprefix(PROJECT)


def _id(view: View, identifier: object, note_id: str, vault: str | None = None) -> str:
    """Return what all tools call a note: the `id` of its frontmatter, or else its note ID."""
    prefix = IN_GLOBAL if vault == GLOBAL else view.prefix
    return prefix + escaped(str(identifier or note_id.removeprefix(IN_GLOBAL)))


def _row(view: View, note: ListedNote) -> dict[str, Any]:
    """Return a note of a list: a `VaultNote` with the beginning of its text."""
    return {
        "id": _id(view, note.id, note.note_id),
        "type": note.type or "note",
        "title": escaped(note.title),
        "tags": [escaped(tag) for tag in note.tags],
        "files": [escaped(file) for file in note.files],
        "excerpt": escaped(note.excerpt),
        "project": _project(view),
        "promoted": note.promoted,
        "createdAt": note.created or note.updated,
        "updatedAt": note.updated,
        "filePath": view.shown(note.path),
    }


async def _list(view: View, arguments: Mapping[str, Any]) -> Shown:
    request = {
        "type": [arguments["type"]] if "type" in arguments else [],
        "tag": [arguments["tag"]] if "tag" in arguments else [],
        "file": [arguments["file"]] if "file" in arguments else [],
        "after": arguments.get("after"),
        "before": arguments.get("before"),
        "sort": "updated",
        "limit": arguments["limit"],
        "cursor": arguments.get("cursor"),
    }
    reply = await view.perform(search.notes, request)
    listed = reply.data
    page = {
        "notes": [_row(view, note) for note in listed.notes],
        "total": listed.total,
        "nextCursor": listed.next_cursor,
    }
    return {**page, **warnings_of(reply.warnings)}


async def _get(view: View, arguments: Mapping[str, Any]) -> Shown:
    note = await _named(view, arguments["noteId"])
    whole = await whole_note(view, note)
    values = await properties_of(view, note)
    linked, warnings = await _backlinks(view, note.note_id)
    return {
        "id": _id(view, values.get("id"), note.note_id),
        "type": values.get("type") or "note",
        "title": escaped(note.title),
        **text_fields(whole, arguments.get("cursor")),
        "tags": _texts(values.get("tags")),
        "files": _texts(values.get("files")),
        "links": _texts(values.get("links")),
        "backlinks": linked,
        "project": _project(view),
        "session": values.get("session"),
        "agent": values.get("agent"),
        "promoted": values.get("promoted") is True,
        "createdAt": values.get("created"),
        "updatedAt": values.get("updated"),
        "filePath": view.shown(note.path),
        **warnings_of([*whole.warnings, *warnings]),
    }


async def _backlinks(view: View, note_id: str) -> tuple[list[str] | None, tuple[Warning, ...]]:
    """Return the notes that link to a note; None for an agent, which may not see all of them."""
    if view.caller.is_named_agent:
        return None, ()
    request = {"noteId": note_id, "limit": _BACKLINKS}
    try:
        reply = await view.perform(links.backlinks, request)
    except NotFound:  # its file is not in the index yet
        return [], ()
    return [view.shown(link.path) for link in reply.data.backlinks], reply.warnings


async def _search(view: View, arguments: Mapping[str, Any]) -> Shown:
    body = {
        "text": arguments.get("text", ""),
        "files": arguments.get("filePaths", []),
        "tags": [tag.removeprefix("#") for tag in arguments.get("tags", [])],
        "limit": arguments["maxResults"],
        "recencyDays": arguments.get("recencyBoostDays"),
        "project": None if arguments["project"] == _ALL else arguments["project"],
        "alone": not view.vaults,
    }
    reply = await view.perform(memory.note_search, body)
    results = [
        {
            "noteId": _id(view, note.id, note.note_id, note.vault),
            "filePath": view.shown(note.path, note.vault),
            "title": escaped(note.title),
            "type": note.type,
            "score": note.score,
            "matchType": note.match_type,
            "excerpt": excerpt(note.snippet, note.matches),
            "createdAt": note.created,
        }
        for note in reply.data.notes
    ]
    return {"results": results, **warnings_of(reply.warnings)}


async def _graph(view: View, arguments: Mapping[str, Any]) -> Shown:
    query = GraphQuery(format="objects", limit=arguments["limit"])
    reply = json.loads(await (await perform(graph.graph, view.context, query)).build())
    whole = reply["data"]
    ids = {
        row["id"]: _id(view, row["identifier"], row["id"], row.get("vault"))
        for row in whole["nodes"]
    }
    nodes = [
        {
            **{k: v for k, v in row.items() if v is not None and k not in _NOT_OF_NODES},
            "id": ids[row["id"]],
            "project": row.get("vault") or _project(view),
        }
        for row in whole["nodes"]
    ]
    edges = [
        {**row, "source": ids[row["source"]], "target": ids[row["target"]]}
        for row in whole["edges"]
    ]
    fields = {"nodes": nodes, "edges": edges, "truncated": whole["truncated"]}
    return {**fields, **warnings_of(Warning(**row) for row in reply["warnings"])}


async def _create(view: View, arguments: Mapping[str, Any]) -> Shown:
    body: dict[str, Any] = given(arguments, "type", "title", "content")
    more = given(arguments, "tags", "files", "links")
    if more:
        body["frontmatter"] = more
    reply = await perform_write(view, authoring.new_from_template, body)
    done = reply.data
    try:
        identifier = (await properties_of(view, note_at(view, done.path))).get("id")
    except VaultAgentError:
        identifier = None  # the note is made: its note ID names it too
    note_id = _id(view, identifier, identify(done.path))
    fields = {"id": note_id, "filePath": view.shown(done.path), "created": done.created}
    return {**fields, **write_warnings(reply)}


async def _update(view: View, arguments: Mapping[str, Any]) -> str:
    note = await _named(view, arguments["noteId"])
    path = escaped(note.path)
    more = given(arguments, "title", "tags", "files", "links")
    lines = []
    # The content first: what is refused then has changed nothing, and the hash is still that of
    # the note as it was read.
    if "content" in arguments:
        now = await whole_note(view, note)
        body = {"path": path, "mode": "overwrite", "content": now.text[: now.body]}
        body["content"] += arguments["content"]
        body = await overwrite_body(view, {**body, **given(arguments, "expectedHash")})
        lines.append(await change(view, note_writes.write_note, body))
    if more:
        lines.append(await change(view, note_writes.write_frontmatter, {"path": path, "set": more}))
    return "\n".join(lines) or "Nothing is to be changed."


async def _delete(view: View, arguments: Mapping[str, Any]) -> str:
    path = escaped((await _named(view, arguments["noteId"])).path)
    body = await at_this_moment(view, files.write_delete, {"path": path, "confirm": True})
    return await change(view, files.write_delete, body)


async def _rebuild(view: View, _: Mapping[str, Any]) -> Shown:
    reply = await view.perform(vaults.reindex, {})
    job = reply.data.job
    return {"jobId": job.id, "state": job.state.value}


def _texts(value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [escaped(str(item)) for item in values if item not in (None, "")]


TOOLS: Mapping[str, RunTool] = {
    "list_vault_notes": _list,
    "get_vault_note": _get,
    "search_vault": _search,
    "get_vault_graph": _graph,
    "create_vault_note": _create,
    "update_vault_note": _update,
    "delete_vault_note": _delete,
    "rebuild_vault_index": _rebuild,
}
