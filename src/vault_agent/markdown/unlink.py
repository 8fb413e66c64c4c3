"""Finds whole links, to put text in their place. Pure.

A wikilink shows its text or its target, and a Markdown link or an image its text. Links to the web
and within the note are left out. So is what only looks like a link: in code, HTML and comments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .document import Document
from .edit import spliced
from .links import is_elsewhere, place_in_vault, wikilinks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from vault_agent.model.notes import LinkKind

    from .links import Written
    from .structure import MarkdownLink


class WholeLink(NamedTuple):
    """A link of a body with all that belongs to it: characters [start, end), and what it shows."""

    start: int
    end: int
    kind: LinkKind
    target: str
    text: str


def whole_links(body: str) -> list[WholeLink]:
    """Return the links of a body to other files of the vault, in order. None overlaps another."""
    document = Document.of_body(body)
    source, markdown = document.source, document.structure.links
    written, ranges = wikilinks(source, document.masked)
    found = [*map(_of_wikilink, written, ranges), *_of_markdown(source, markdown)]
    links: list[WholeLink] = []
    for link in sorted(each for each in found if each.target):
        if not links or link.start >= links[-1].end:
            links.append(link)
    return links


def replaced(body: str, instead: Callable[[WholeLink], str]) -> str:
    """Return a body with what `instead` returns in place of each link."""
    return spliced(body, ((link.start, link.end, instead(link)) for link in whole_links(body)))


def _of_wikilink(link: Written, place: tuple[int, int]) -> WholeLink:
    _, _, kind, target, fragment, shown, *_ = link
    text = shown or (f"{target} > {fragment}" if fragment else target)
    return WholeLink(*place, kind, target, text)


def _of_markdown(source: str, links: list[MarkdownLink]) -> Iterator[WholeLink]:
    for link in links:
        inside = place_in_vault(link.destination, image=link.image)
        if inside is None or is_elsewhere(link.destination):
            continue
        # Marks such as `*` may stand between the last letter of the text and its bracket.
        closing = source.find("]" if link.reference else "](", link.tail, link.end)
        if closing < 0:
            continue
        kind, target, _ = inside
        text = source[link.start + (2 if link.image else 1) : closing]
        yield WholeLink(link.start, link.end, kind, target, text)
