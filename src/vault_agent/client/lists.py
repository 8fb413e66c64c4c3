"""The calls about names and lists of notes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from typing import TypeAlias

    from vault_agent.client.client import Reply
    from vault_agent.model.context import Context
    from vault_agent.model.deliveries import OneSession, SessionsForgotten, SessionsPage
    from vault_agent.model.grep import GrepAnswer
    from vault_agent.model.lists import NoteList, TaskList
    from vault_agent.model.memory import RecallReply
    from vault_agent.model.names import NamedNotes
    from vault_agent.model.suggestions import Suggestions

    Call: TypeAlias = Callable[..., Awaitable[Reply[Any]]]
    """Sends a request: method, path, model of the reply's data, and body."""


class Lists:
    """Names and lists of notes. Arguments have the names of the HTTP interface."""

    def __init__(self, call: Call) -> None:
        self._call = call

    async def resolve(self, name: str) -> Reply[NamedNotes]:
        """Return the notes that a path, name, title, link or ID means."""
        return await self._call("GET", f"/resolve{query({'name': name})}", "names.NamedNotes")

    async def notes(self, arguments: Mapping[str, Any]) -> Reply[NoteList]:
        """Return a page of a list of notes."""
        return await self._call("GET", f"/notes{query(arguments)}", "lists.NoteList")

    async def suggestions(self, text: str, kind: str, limit: int) -> Reply[Suggestions]:
        """Return the names of a kind that match what was typed, best first."""
        arguments = {"q": text, "kinds": kind, "limit": limit}
        return await self._call("GET", f"/suggest{query(arguments)}", "suggestions.Suggestions")

    async def tasks(self, arguments: Mapping[str, Any]) -> Reply[TaskList]:
        """Return a page of a list of tasks."""
        return await self._call("GET", f"/tasks{query(arguments)}", "lists.TaskList")

    async def context(
        self, queries: Sequence[Mapping[str, Any]], *, max_tokens: int
    ) -> Reply[Context]:
        """Return excerpts of notes for a prompt."""
        body = {"queries": list(queries), "maxTokens": max_tokens}
        return await self._call("POST", "/context", "context.Context", body)

    async def memory(self, body: Mapping[str, Any]) -> Reply[RecallReply]:
        """Return the notes that matter for a task, as a text for an agent."""
        return await self._call("POST", "/memory", "memory.RecallReply", given(body))

    async def memory_sessions(self, arguments: Mapping[str, Any]) -> Reply[SessionsPage]:
        """Return a page of the sessions of agents, with what they got."""
        return await self._call(
            "GET", f"/memory/sessions{query(arguments)}", "deliveries.SessionsPage"
        )

    async def memory_session(self, session_id: str) -> Reply[OneSession]:
        """Return one session with all that it got."""
        path = f"/memory/sessions/{quote(session_id, safe='')}"
        return await self._call("GET", path, "deliveries.OneSession")

    async def forget_memory(self, body: Mapping[str, Any]) -> Reply[SessionsForgotten]:
        """Delete what is logged about sessions."""
        return await self._call(
            "POST", "/memory/forget", "deliveries.SessionsForgotten", dict(body)
        )

    async def grep(self, body: Mapping[str, Any]) -> Reply[GrepAnswer]:
        """Return the lines that match a regular expression."""
        return await self._call("POST", "/grep", "grep.GrepAnswer", given(body))


def given(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that are not None, empty or False."""
    return {name: value for name, value in arguments.items() if value not in (None, (), {}, False)}


def query(arguments: Mapping[str, Any]) -> str:
    """Return a query string of the given arguments. A tuple is a repeated parameter."""
    values = {name: "true" if value is True else value for name, value in given(arguments).items()}
    text = urlencode(values, doseq=True)
    return f"?{text}" if text else ""
