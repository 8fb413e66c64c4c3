"""Printing of notes, places and link texts, for all commands about links."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import asyncclick as click

from vault_agent.cli.results import marked
from vault_agent.cli.terminal import (
    clean,
    counted,
    is_terminal,
    pass_on,
    say,
    style,
    tell,
    warn,
)
from vault_agent.cli.wrap import fitted

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from vault_agent.cli.command import Invocation
    from vault_agent.client.client import Reply

_Function = TypeVar("_Function", bound="Callable[..., Any]")
MARGIN = " " * 6


def written(link: dict[str, Any]) -> str:
    """Return a link roughly as it is written in the note, cleaned for a terminal."""
    target = link["target"]
    if link.get("fragment"):
        target = f"{target}#{link['fragment']}"
    kind, text = link["kind"], link.get("text") or ""
    if kind == "external":
        shown = f"[{text}]({target})" if text and text != target else f"<{target}>"
    elif kind in ("markdown", "image"):
        shown = f"{'!' * (kind == 'image')}[{text}]({target})"
    else:
        shown = f"{'!' * (kind == 'embed')}[[{target}{'|' * bool(text)}{text}]]"
    return clean(shown)


def limit_option(what: str) -> Callable[[_Function], _Function]:
    """Return a decorator that adds `--limit`."""
    return click.option("-n", "--limit", type=click.IntRange(1), help=what)


class Rows(NamedTuple):
    """The rows of one or several replies. `total` is None if it is not known."""

    rows: list[dict[str, Any]]
    total: int | None
    more: bool
    reply: Reply[Any]


async def collected(
    invocation: Invocation,
    ask: Callable[[int | None, str | None], Awaitable[Reply[Any]]],
    key: str,
    limit: int | None,
    *,
    page: int,
) -> Rows | None:
    """Return up to `limit` rows, asked for in pages. In a pipe, the default is all.

    With `--json` the one reply is printed, and None returned.
    """
    if invocation.json:
        pass_on((await ask(limit, None)).body)
        return None
    at_terminal = limit is None and is_terminal(sys.stdout)
    room = sys.maxsize if limit is None else limit
    rows: list[dict[str, Any]] = []
    cursor: str | None = None
    while True:
        # The server's own default is for terminals, and it refuses a limit below 1.
        reply = await ask(None if at_terminal else min(room - len(rows), page), cursor)
        data = reply.envelope["data"]
        rows += data[key]
        more = bool(data.get("hasMore"))
        cursor = data.get("nextCursor") if more else None
        if cursor is None or at_terminal or len(rows) >= room:
            break
    total = data.get("total")
    return Rows(rows, total if isinstance(total, int) else None, more, reply)


def show_linking(found: Rows, noun: str, none: str) -> None:
    """Print the notes that link to a note or mention it, with their places."""
    for number, note in enumerate(found.rows):
        if number:
            say()
        path = style(clean(note["path"]), "strong")
        say(f"{path}  {counted(note['count'], noun)}")
        for place in note["places"]:
            _show_place(place)
    close(found, none)


def _show_place(place: dict[str, Any]) -> None:
    heading = place["heading"] if place["chunkIndex"] is not None else "frontmatter"
    where = f"line {place['line']}{f'  {clean(heading)}' if heading else ''}"
    say(MARGIN + style(where, "faint"))
    if place["snippet"]:
        for line in fitted(marked(place["snippet"], place["matches"]), margin=len(MARGIN) + 2):
            say(f"{MARGIN}  {line}")


def show_notes(found: Rows, none: str) -> None:
    """Print notes of the graph, one a line, with their score if they have one."""
    for note in found.rows:
        score = note.get("score")
        number = "" if score is None else f"{score:.4f}  " if score < 1 else f"{score:.0f}  "
        say(f"{number}{style(clean(note['path']), 'strong')}  {degrees(note)}")
    close(found, none)


def degrees(note: dict[str, Any]) -> str:
    """Return how many notes link to a note, and how many it links to."""
    return style(f"{note['in']} in, {note['out']} out", "faint")


def close(found: Rows, none: str) -> None:
    """Print what follows a list: that it is empty, how many rows follow, and warnings."""
    shown = len(found.rows)
    if not shown:
        tell(none)
    elif found.more and found.total is not None:
        tell(f"{found.total - shown:,} more: --limit {found.total}")
    elif found.more:
        tell(f"There are more: --limit {10 * shown}")
    warn(found.reply.warnings)


def printed(reply: Reply[Any], *, as_json: bool) -> bool:
    """Print the reply itself if JSON is wanted. Return whether it was."""
    if as_json:
        pass_on(reply.body)
    return as_json
