"""The parts of replies about links and the graph that commands read from the JSON."""

from __future__ import annotations

from typing import TypeAlias

Parts: TypeAlias = dict[str, type | tuple[type, ...]]

_PAGE: Parts = {"hasMore": bool}
_COUNTED: Parts = {**_PAGE, "total": int}
_NOTE: Parts = {"path": str, "noteId": str}
_LINKING: Parts = {**_NOTE, "title": str, "count": int, "places": list}

LINK_PARTS: dict[str, Parts] = {
    "LinksData": {"links": list, **_PAGE},
    "BacklinksData": {"backlinks": list, **_COUNTED},
    "MentionsData": {"mentions": list, **_COUNTED},
    "LocalGraphData": {"nodes": list, "truncated": bool},
    "GraphData": {"nodes": (dict, list), "edges": list, "truncated": bool},
    "PathData": {"notes": list},
    "GraphNotesData": {"notes": list, **_COUNTED},
    "CommunitiesData": {"communities": list, **_COUNTED},
    "BrokenLinksData": {"links": list, "revision": str, **_COUNTED},
    "TagsData": {"tags": list, "truncated": bool},
    "FoldersData": {"folders": list, "truncated": bool},
}

LINK_ENTRIES: dict[str, dict[str, Parts]] = {
    "LinksData": {"links": {"kind": str, "target": str, "line": int, "status": str}},
    "BacklinksData": {"backlinks": _LINKING},
    "MentionsData": {"mentions": _LINKING},
    "LocalGraphData": {"nodes": {**_NOTE, "distance": int, "in": int, "out": int}},
    "PathData": {"notes": _NOTE},
    "GraphNotesData": {"notes": {**_NOTE, "in": int, "out": int}},
    "CommunitiesData": {"communities": {"size": int, "label": str, "central": list}},
    "BrokenLinksData": {
        "links": {"path": str, "line": int, "column": int, "fault": str, "kind": str, "target": str}
    },
    "TagsData": {"tags": {"tag": str, "count": int, "total": int, "children": list}},
    "FoldersData": {"folders": {"folder": str, "count": int, "total": int, "children": list}},
}
