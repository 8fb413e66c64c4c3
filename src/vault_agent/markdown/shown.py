"""The text of a body that a reader sees, and the names behind it that searches find too.

Hidden are comments, tags of HTML, the targets of links and embeds, and the placeholders of
templates. Code is shown as it is written. Of a hidden address, its host and its last part are
names; of a file that is shown or linked without a text, its name is one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

from vault_agent.markdown.links import MASK, mask
from vault_agent.model.notes import LinkKind
from vault_agent.text.names import stem
from vault_agent.text.placeholders import PLACEHOLDER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vault_agent.markdown.links import BodyLinks
    from vault_agent.markdown.structure import Structure

_TAG = re.compile(
    r"<!--.*?(?:-->|\Z)|<(?P<name>script|style)\b.*?(?:</(?P=name)\s*>|\Z)|<[/!?A-Za-z][^<>]*+>",
    re.DOTALL | re.IGNORECASE,
)
_BARE_ADDRESS = re.compile(rf"(?:[a-z]{{2,10}}://|\bwww\.)[^\s<>\"`{MASK}]++", re.IGNORECASE)
_DEFINITION = re.compile(  # of a reference; footnotes are text
    r"^[ \t>]*+\[(?!\^)(?:\\.|[^\[\]\\\n]){1,999}+\]:[ \t]*+\S++"
    r"(?:[ \t]++(?:\"[^\"\n]*+\"|'[^'\n]*+'|\([^()\n]*+\)))?[ \t]*+$",
    re.MULTILINE,
)
_SCHEME = re.compile(r"[A-Za-z]+://(?:[^/?#@\s]*@)?")
_QUERY = re.compile(r"[?#].*", re.DOTALL)
_WEB = ("https:", "http:", "//")
_WORD = re.compile(r"\w")
_PLACEHOLDER = re.compile(PLACEHOLDER)


def shown_text(
    source: str, masked: str, structure: Structure, links: BodyLinks
) -> tuple[str, tuple[str, ...]]:
    """Return a body with `MASK` in place of what is hidden, and the names behind it, each once.

    `masked` is the body with code, HTML and comments masked. Offsets do not change. The last sign
    of a hidden part stays, so that the words beside it stay apart.
    """
    names: dict[str, None] = {}
    hidden = [*structure.comments, *structure.unfilled, *_tags(source, structure)]
    for link in structure.links:
        hidden.append((link.tail, link.end - 1))
        if (link.image or not link.text) and "://" not in link.destination:
            names[_file_name(link.destination)] = None
    hidden += ((link.start, link.end - 1) for link in structure.autolinks)
    for _, url, host, _ in links.external:
        if url.startswith(_WEB):
            names |= _names_of(host, url)
    hidden += _wikilinks(source, links, names)
    if "]:" in masked:
        hidden += (match.span() for match in _DEFINITION.finditer(masked))
    prose = mask(masked, sorted(hidden)) if hidden else masked
    if "://" in prose or "www." in prose:
        for match in _BARE_ADDRESS.finditer(prose):
            hidden.append(match.span())
            address = _QUERY.sub("", _SCHEME.sub("", match[0])).rstrip(".,;:!)]}'*_")
            names |= _names_of(address.partition("/")[0], address)
    if "{{" in prose or "<%" in prose:
        hidden += (match.span() for match in _PLACEHOLDER.finditer(prose))
    names.pop("", None)
    return (mask(source, sorted(hidden)) if hidden else source), tuple(names)


def _tags(source: str, structure: Structure) -> Iterator[tuple[int, int]]:
    for start, end in structure.html:
        for match in _TAG.finditer(source, start, end):
            yield match.start(), match.end() - 1


def _wikilinks(source: str, links: BodyLinks, names: dict[str, None]) -> Iterator[tuple[int, int]]:
    """Yield what wikilinks hide: the whole of an embed, and a target that has a text."""
    for at, after, kind, name, _, label, start, end in links.links:
        if kind is LinkKind.EMBED:
            names[_file_name(name)] = None
            yield at, after - 1
        elif kind is LinkKind.WIKILINK and label is not None:
            yield start, source.find("|", end)


def _names_of(host: str, address: str) -> dict[str, None]:
    """Return the host of an address and the last part of its path."""
    last = address.rstrip("/").rpartition("/")[2]
    return {host.removeprefix("www."): None, _decoded(last) if last != host else "": None}


def _file_name(target: str) -> str:
    return stem(_decoded(_QUERY.sub("", target)).rpartition("/")[2])


def _decoded(address: str) -> str:
    return unquote(address) if "%" in address else address


def lines_with_words(text: str) -> frozenset[str]:
    """Return the lines of a shown text that have a word."""
    lines = map(str.strip, text.replace(MASK, "").split("\n"))
    return frozenset(filter(_WORD.search, lines))
