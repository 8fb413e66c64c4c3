"""The calls about links and the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from vault_agent.client.client import Client, Parameter, Reply

MOST_FINDINGS = 1_000
"""Broken links of one reply."""


async def of_note(client: Client, note_id: str, part: str, **parameters: Parameter) -> Reply[Any]:
    """Return the `links`, `backlinks`, `mentions` or `graph` of a note."""
    models = {
        "links": "graph.LinksPage",
        "backlinks": "graph.BacklinksPage",
        "mentions": "graph.Mentions",
        "graph": "graph.LocalGraph",
    }
    return await client.get(f"/notes/{note_id}/{part}", models[part], **parameters)


async def graph(client: Client, **parameters: Parameter) -> Reply[Any]:
    """Return the whole graph, as columns or with `format="objects"`."""
    model = "graph.GraphObjects" if parameters.get("format") == "objects" else "graph.WholeGraph"
    return await client.get("/graph", model, **parameters)


async def path(client: Client, start: str, end: str, **parameters: Parameter) -> Reply[Any]:
    """Return a shortest path. Raises NotFound PATH_NOT_FOUND if there is none."""
    ends: Mapping[str, Parameter] = {"from_": start, "to": end}
    return await client.get("/graph/path", "graph.PathOfNotes", **ends, **parameters)


async def report(client: Client, name: str, **parameters: Parameter) -> Reply[Any]:
    """Return `orphans`, `dead-ends`, `central` or `communities`."""
    model = "graph.CommunitiesPage" if name == "communities" else "graph.GraphNotesPage"
    return await client.get(f"/graph/{name}", model, **parameters)


async def tree(client: Client, name: str, **parameters: Parameter) -> Reply[Any]:
    """Return the tree of `tags` or `folders`."""
    return await client.get(
        f"/{name}", "graph.TagTree" if name == "tags" else "graph.FolderTree", **parameters
    )


async def broken(client: Client, kinds: str) -> AsyncGenerator[Reply[Any]]:
    """Yield the broken links of the whole vault, in several replies of one revision."""
    cursor = None
    while True:
        reply = await client.get(
            "/links/broken",
            "graph.BrokenLinksPage",
            kinds=kinds,
            limit=MOST_FINDINGS,
            cursor=cursor,
        )
        yield reply
        cursor = reply.envelope["data"].get("nextCursor")
        if not reply.envelope["data"]["hasMore"] or not isinstance(cursor, str):
            return
