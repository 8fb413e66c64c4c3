"""The calls about names and lists of notes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from typing import TypeAlias

    from vault_agent.client.client import Reply
    from vault_agent.wire.context import ContextData
    from vault_agent.wire.deliveries import (
        ForgottenMemoryData,
        MemorySessionsData,
        OneMemorySession,
    )
    from vault_agent.wire.lists import GrepData, NamedData, NotesData, TasksData
    from vault_agent.wire.memory import MemoryData
    from vault_agent.wire.suggestions import SuggestionsData

    Call: TypeAlias = Callable[..., Awaitable[Reply[Any]]]
    """Sends a request: method, path, model of the reply's data, and body."""


class Lists:
    """Names and lists of notes. Arguments have the names of the HTTP interface."""

    def __init__(self, call: Call) -> None:
        self._call = call

    async def resolve(self, name: str) -> Reply[NamedData]:
        """Return the notes that a path, name, title, link or ID means."""
        return await self._call("GET", f"/resolve{query({'name': name})}", "NamedData")

    async def notes(self, arguments: Mapping[str, Any]) -> Reply[NotesData]:
        """Return a page of a list of notes."""
        return await self._call("GET", f"/notes{query(arguments)}", "NotesData")

    async def suggestions(self, text: str, kind: str, limit: int) -> Reply[SuggestionsData]:
        """Return the names of a kind that match what was typed, best first."""
        arguments = {"q": text, "kinds": kind, "limit": limit}
        return await self._call("GET", f"/suggest{query(arguments)}", "SuggestionsData")

    async def tasks(self, arguments: Mapping[str, Any]) -> Reply[TasksData]:
        """Return a page of a list of tasks."""
        return await self._call("GET", f"/tasks{query(arguments)}", "TasksData")

    async def context(
        self, queries: Sequence[Mapping[str, Any]], *, max_tokens: int
    ) -> Reply[ContextData]:
        """Return excerpts of notes for a prompt."""
        body = {"queries": list(queries), "maxTokens": max_tokens}
        return await self._call("POST", "/context", "ContextData", body)

    async def memory(self, body: Mapping[str, Any]) -> Reply[MemoryData]:
        """Return the notes that matter for a task, as a text for an agent."""
        return await self._call("POST", "/memory", "MemoryData", given(body))

    async def memory_sessions(self, arguments: Mapping[str, Any]) -> Reply[MemorySessionsData]:
        """Return a page of the sessions of agents, with what they got."""
        return await self._call("GET", f"/memory/sessions{query(arguments)}", "MemorySessionsData")

    async def memory_session(self, session_id: str) -> Reply[OneMemorySession]:
        """Return one session with all that it got."""
        path = f"/memory/sessions/{quote(session_id, safe='')}"
        return await self._call("GET", path, "OneMemorySession")

    async def forget_memory(self, body: Mapping[str, Any]) -> Reply[ForgottenMemoryData]:
        """Delete what is logged about sessions."""
        return await self._call("POST", "/memory/forget", "ForgottenMemoryData", dict(body))

    async def grep(self, body: Mapping[str, Any]) -> Reply[GrepData]:
        """Return the lines that match a regular expression."""
        return await self._call("POST", "/grep", "GrepData", given(body))


def given(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that are not None, empty or False."""
    return {name: value for name, value in arguments.items() if value not in (None, (), {}, False)}


def query(arguments: Mapping[str, Any]) -> str:
    """Return a query string of the given arguments. A tuple is a repeated parameter."""
    values = {name: "true" if value is True else value for name, value in given(arguments).items()}
    text = urlencode(values, doseq=True)
    return f"?{text}" if text else ""
