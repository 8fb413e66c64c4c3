"""The parts of replies that commands read from the JSON, without importing pydantic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

if TYPE_CHECKING:
    from collections.abc import Mapping

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


PARTS: dict[str, Parts] = {
    "HealthData": {"status": str, "vault": dict},
    "OneJob": {"job": dict},
    "JobList": {"jobs": list},
    "ResultsData": {"results": list},
    "NoteData": {"content": str},
    "ChunkData": {"content": str},
    "AttachmentData": {"path": str},
    "NamedData": {"notes": list},
    "WatchReport": {"state": str, "batches": list},
    **LINK_PARTS,
    "GrepData": {"lines": list, "hasMore": bool},
    "NotesData": {"notes": list, "hasMore": bool},
    "TasksData": {"tasks": list, "hasMore": bool},
    "SuggestionsData": {"suggestions": list},
    "WriteData": {"operation": str, "changed": bool, "path": str, "diff": str},
    "OutlineData": {"path": str, "headings": list, "blocks": list},
    "FrontmatterData": {"path": str, "frontmatter": dict},
    "TemplatesData": {"templates": list},
    "DevlogData": {"entries": list},
    "DecisionsData": {"decisions": list},
    "WritesData": {"writes": list, "hasMore": bool},
    "OneWrite": {"write": dict},
    "ForgottenData": {"forgotten": int},
    "ContextData": {"section": str, "tokens": int, "sources": list},
    "MemoryData": {"text": str, "tokens": int, "notes": list, "leftOut": list, "weights": dict},
    "MemorySessionsData": {"sessions": list, "nextCursor": (str, type(None))},
    "OneMemorySession": {"session": dict},
    "ForgottenMemoryData": {"forgotten": int},
    "JournalsData": {"journals": list},
    "OneJournal": {"journal": (dict, type(None))},
    "JournalDraftData": {"journal": dict, "text": str},
    "PromotedData": {"created": bool, "updated": bool, "outdated": bool, "global": dict},
    "DemotedData": {"changed": bool},
    "VaultCheckData": {"promotions": list},
    "TicketData": {"ticket": (str, type(None)), "seconds": int},
}
INNER: dict[str, dict[str, Parts]] = {
    "PromotedData": {"global": _NOTE},
    "HealthData": {"vault": {"id": str, "name": str}},
    "OneJob": {"job": {"id": str}},
    "OneMemorySession": {
        "session": {
            **dict.fromkeys(("sessionId", "agent", "vault", "state"), str),
            "project": (str, type(None)),
            **dict.fromkeys(("deliveries", "pinned", "removed"), list),
        }
    },
    "MemoryData": {"weights": dict.fromkeys(("tag", "semantic", "recency"), (int, float))},
}
_JOURNAL_PARTS: Parts = {
    **dict.fromkeys(("sessionId", "state", "startedAt"), str),
    **dict.fromkeys(("reason", "title", "path"), (str, type(None))),
}
_RESULT_PARTS: Parts = {
    "id": str,
    "path": str,
    "headingPath": list,
    "snippet": str,
    "matches": list,
    "score": (int, float),
}
_NAMED_PARTS: Parts = {"noteId": str, "path": str}


_RECALLED_PARTS: Parts = {
    **_NOTE,
    "vault": str,
    "score": (int, float),
    "tag": (int, float),
    "semantic": (int, float),
    "recency": (int, float),
    "reasons": list,
}

ENTRIES: dict[str, dict[str, Parts]] = {
    "ResultsData": {"results": _RESULT_PARTS},
    "NamedData": {"notes": _NAMED_PARTS},
    "SuggestionsData": {"suggestions": {"label": str, "insert": str}},
    "MemoryData": {"notes": _RECALLED_PARTS, "leftOut": _RECALLED_PARTS},
    "MemorySessionsData": {
        "sessions": {
            **dict.fromkeys(("sessionId", "agent", "vault", "lastEventAt"), str),
            **dict.fromkeys(("project", "title"), (str, type(None))),
            **dict.fromkeys(("notes", "tokens"), int),
        }
    },
    "WritesData": {
        "writes": {"writeId": str, "time": str, "operation": str, "state": str, "files": list}
    },
    "JournalsData": {"journals": _JOURNAL_PARTS},
    "VaultCheckData": {"promotions": {"vault": str, "path": str, "problem": str, "mended": bool}},
    **LINK_ENTRIES,
}

DONE_LATER = ("OneJournal",)
"""What a reply with 202 has, where no job does the work."""


def is_reply(envelope: dict[str, Any], model: str) -> bool:
    """Whether a reply has the parts that are read from it without its model."""
    data, warnings = envelope.get("data"), envelope.get("warnings", [])
    return (
        isinstance(warnings, list)
        and all(_has(each, {"code": str, "message": str}) for each in warnings)
        and _has(data, PARTS[model])
        and all(_has(data[name], parts) for name, parts in INNER.get(model, {}).items())
        and all(
            _has(each, parts)
            for name, parts in ENTRIES.get(model, {}).items()
            for each in data[name]
        )
    )


def _has(value: object, parts: Mapping[str, type | tuple[type, ...]]) -> TypeGuard[dict[str, Any]]:
    """Whether a JSON value is an object with these parts."""
    return isinstance(value, dict) and all(
        isinstance(value.get(name), kind) for name, kind in parts.items()
    )
