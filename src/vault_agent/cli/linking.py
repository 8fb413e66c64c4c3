"""Printing of notes, places and link texts, for all commands about links."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import asyncclick as click

from vault_agent.cli.results import marked
from vault_agent.cli.terminal import (
    clean,
    counted,
    say,
    style,
)
from vault_agent.cli.wrap import fitted

if TYPE_CHECKING:
    from collections.abc import Callable

    from vault_agent.cli.paged import Page

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


def show_linking(page: Page, noun: str) -> None:
    """Print the notes that link to a note or mention it, with their places."""
    for number, note in enumerate(page.rows, page.before):
        if number:
            say()
        path = style(clean(note["path"]), "strong")
        say(f"{path}  {counted(note['count'], noun)}")
        for place in note["places"]:
            _show_place(place)


def _show_place(place: dict[str, Any]) -> None:
    heading = place["heading"] if place["chunkIndex"] is not None else "frontmatter"
    where = f"line {place['line']}{f'  {clean(heading)}' if heading else ''}"
    say(MARGIN + style(where, "faint"))
    if place["snippet"]:
        for line in fitted(marked(place["snippet"], place["matches"]), margin=len(MARGIN) + 2):
            say(f"{MARGIN}  {line}")


def show_notes(page: Page) -> None:
    """Print notes of the graph, one a line, with their score if they have one."""
    for note in page.rows:
        score = note.get("score")
        number = "" if score is None else f"{score:.4f}  " if 0 < score < 1 else f"{score:.0f}  "
        say(f"{number}{style(clean(note['path']), 'strong')}  {degrees(note)}")


def degrees(note: dict[str, Any]) -> str:
    """Return how many notes link to a note, and how many it links to."""
    return style(f"{note['in']} in, {note['out']} out", "faint")
