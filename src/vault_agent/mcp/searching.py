"""`vault_search`, `vault_related` and `vault_context`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vault_agent.api import search
from vault_agent.errors import InvalidRequest, counted
from vault_agent.mcp.reading import named_note
from vault_agent.mcp.text import (
    BYTES_A_TOKEN,
    excerpt,
    fitting,
    page,
    printable,
    title,
    warning_lines,
)
from vault_agent.text.names import fold, stem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vault_agent.mcp.view import RunTool, View
    from vault_agent.model.reply import Envelope
    from vault_agent.model.search import Answer, GrepAnswer, GrepLine, Hit

NOT_SEARCHED = ' The frontmatter is not searched: for its keys, search for `["key":value]`.'


async def search_notes(view: View, arguments: Mapping[str, Any]) -> str:
    """Return places in notes. `arguments` are the arguments of `vault_search`.

    Raises:
        VaultAgentError: as the operations `search` and `grep`.
    """
    patterns = view.patterns(arguments.get("path"))
    filters = {
        "paths": patterns,
        "tags": tuple(arguments.get("tags", ())),
        "after": arguments.get("after"),
        "before": arguments.get("before"),
    }
    if arguments["match"] == "regex":
        return await _lines(view, arguments, filters)

    async def ask(most: int) -> tuple[list[str], list[str]]:
        body = {
            "query": arguments["query"],
            "match": arguments["match"],
            "mode": arguments.get("mode"),
            "limit": most,
            "filters": filters,
            "cursor": arguments.get("cursor"),
            "vaults": () if patterns else view.vaults,
        }
        reply = await view.perform(search.search, body)
        hint = ""
        if arguments["match"] == "all":
            hint = " Try match: best."
        elif _filtered(arguments):
            hint = " Try without the filters."
        else:
            hint = " Try other or fewer words."
        return _result_lines(view, reply, hint, reasons=False), warning_lines(reply.warnings)

    return await page(view, arguments["limit"], ask)


def _filtered(arguments: Mapping[str, Any]) -> bool:
    return any(name in arguments for name in ("path", "tags", "after", "before"))


async def _lines(view: View, arguments: Mapping[str, Any], filters: Mapping[str, Any]) -> str:
    """Return the lines that match a regular expression."""
    if "mode" in arguments:
        raise InvalidRequest("INVALID_MODE", "`mode` is for `match: best` only.")

    async def ask(most: int) -> tuple[list[str], list[str]]:
        body = {
            "pattern": arguments["query"],
            "limit": most,
            "filters": filters,
            "cursor": arguments.get("cursor"),
        }
        reply = await view.perform(search.grep, body)
        answer: GrepAnswer = reply.data
        head = f"{counted(len(answer.lines), 'line')} · regex"
        if not answer.lines and not answer.has_more:
            remedy = "the filters" if _filtered(arguments) else "letter case: begin it with (?i)"
            head = f"0 lines. Try without {remedy}.{NOT_SEARCHED}"
        if answer.next_cursor is not None:
            head += f" · next: {answer.next_cursor}"
        return [head, *(_line_text(view, line) for line in answer.lines)], warning_lines(
            reply.warnings
        )

    return await page(view, arguments["limit"], ask)


def _line_text(view: View, line: GrepLine) -> str:
    text = f"{view.shown(line.path)}:{line.line}: {printable(line.text).strip()}"
    return f"{text}\n  (more in this note: give its path)" if line.more_in_note else text


async def _related(view: View, arguments: Mapping[str, Any]) -> str:
    note, _ = await named_note(view, arguments["path"])
    body = {"id": note.note_id, "limit": arguments["limit"], "vaults": view.vaults}
    reply = await view.perform(search.related, body)
    lines = _result_lines(view, reply, "", reasons=True)
    return fitting(lines, warning_lines(reply.warnings), view.max_bytes)


def _result_lines(view: View, reply: Envelope[Answer], hint: str, *, reasons: bool) -> list[str]:
    """Return a head, and the lines of each result as one text."""
    answer = reply.data
    unknown = ", ".join(f"word {word.position}" for word in answer.unknown)
    if not answer.results:
        said = f" No note has {unknown} of the query." if unknown else ""
        return [f"0 places.{said}{hint}"]
    head = f"{counted(len(answer.results), 'place')} · {answer.used_mode.value}"
    if answer.next_cursor is not None:
        head += f" · next: {answer.next_cursor}"
    if unknown and answer.by_meaning_alone:
        head += " · no note has it; nearest in meaning"
    elif unknown:
        head += f" · in no note: {unknown} of the query"
    return [head, *(_result_text(view, result, reason=reasons) for result in answer.results)]


def _result_text(view: View, result: Hit, *, reason: bool) -> str:
    place = view.shown(result.path, result.vault)
    if result.start_line is not None:
        place += f":{result.start_line}-{result.end_line}"
    name = stem(result.path)
    if fold(result.title) != fold(name):
        place += f' "{title(result.title)}"'
    if result.heading is not None and fold(result.heading) not in (fold(result.title), fold(name)):
        place += f" > {title(result.heading)}"
    if reason:
        place = f"{result.reason.value.removeprefix('related_')} {place}"
    text = excerpt(result.snippet, result.matches)
    return f"{place}\n  {text}" if text else place


_WARNING_BYTES = 3_000


async def _context(view: View, arguments: Mapping[str, Any]) -> str:
    # The section must fit into a reply, with its warnings.
    most = max(200, int((view.max_bytes - _WARNING_BYTES) / BYTES_A_TOKEN))
    if arguments["maxTokens"] > most:
        raise InvalidRequest(
            "INVALID_LIMIT", f"maxTokens must be at most {most:,}: a larger section is no reply."
        )
    body = {"queries": arguments["queries"], "maxTokens": arguments["maxTokens"]}
    reply = await view.perform(search.context, body)
    section = printable(reply.data.section).rstrip("\n") or "Nothing was found."
    return "\n".join([section, *warning_lines(reply.warnings)])


TOOLS: Mapping[str, RunTool] = {
    "vault_search": search_notes,
    "vault_related": _related,
    "vault_context": _context,
}
