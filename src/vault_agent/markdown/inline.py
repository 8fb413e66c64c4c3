"""What Obsidian and GFM see in plain text: tags, highlights and bare web addresses."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from .tags import tag_places
from .tree import ESCAPED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .tree import Node

_BARE = re.compile(r"(?:https?://|(?<![\w./])www\.)[^\s<\ufdd3]++", re.IGNORECASE)
_PUNCTUATION = "?!.,:*_~'\";"
_ROUNDS = 5
_MARK = re.compile(r"(?<!=)==(?!=)")


def text_html(text: str, *, linked: bool) -> str:
    """Return plain text as HTML with its tags and bare addresses; `linked` if it is in a link."""
    if linked or ("#" not in text and "://" not in text and "www." not in text.lower()):
        return escape(text.replace(ESCAPED, ""))
    places = [
        (start, end, _tag(text[start:end]))
        for start, end in tag_places(text.replace(ESCAPED, "\\"))
    ]
    for match in _BARE.finditer(text):
        address = _trimmed(match[0])
        places.append((match.start(), match.start() + len(address), _bare(address)))
    out: list[str] = []
    done = 0
    for start, end, html in sorted(places):
        if start >= done:
            out += escape(text[done:start].replace(ESCAPED, "")), html
            done = end
    out.append(escape(text[done:].replace(ESCAPED, "")))
    return "".join(out)


def external_link(address: str, host: str) -> str:
    """Return the opening tag of a link to another server."""
    return (
        f'<a class="external" href="{escape(address)}" target="_blank" data-host="{escape(host)}">'
    )


def file_link(url: str, path: str, embedded: str | None = None) -> str:
    """Return the opening tag of a link to a file, without its end. Address and path are escaped.

    `embedded` is the fragment of an embed. The page may show an embedded PDF in a frame.
    """
    end = f' target="_blank" data-path="{path}"'
    if embedded is None or not path.lower().endswith(".pdf"):
        return f'<a class="file" href="{url}"{end}'
    return f'<a class="file pdf" href="{url}"{end} data-fragment="{escape(embedded)}"'


def host_of(address: str) -> str:
    """Return the host of a web address without user info and port, or "" for others."""
    match = re.match(
        r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?//(?:[^/?#]*@)?([^/?#@:\[\]]*|\[[^\]]*\])", address
    )
    return match[1].lower() if match else ""


def highlights(children: Sequence[Node]) -> dict[int, list[str]]:
    """Return the texts of a block with `==` turned into marks, by the position of the child.

    The pieces of a text alternate with `<mark>` and `</mark>`. Both marks of a pair are in the
    same block, so that they nest.
    """
    places = [
        (index, match.start())
        for index, child in enumerate(children)
        if child.kind == "text" and "==" in child.value
        for match in _MARK.finditer(child.value)
    ]
    tags: dict[int, list[tuple[int, str]]] = {}  # by child: the places of marks, in order
    opened: tuple[int, int] | None = None
    for index, start in places:
        text = children[index].value
        before, after = text[start - 1 : start], text[start + 2 : start + 3]
        if before == ESCAPED:
            continue
        if opened is None:
            if not after.isspace() and (after or index + 1 < len(children)):
                opened = (index, start)
        elif not before.isspace():
            tags.setdefault(opened[0], []).append((opened[1], "<mark>"))
            tags.setdefault(index, []).append((start, "</mark>"))
            opened = None
    found: dict[int, list[str]] = {}
    for index, marks in tags.items():
        text, done = children[index].value, 0
        pieces: list[str] = []
        for start, tag in marks:
            pieces += text[done:start], tag
            done = start + 2
        pieces.append(text[done:])
        found[index] = pieces
    return found


def _tag(written: str) -> str:
    name = escape(written[1:])
    return f'<span class="tag" data-tag="{name}">#{name}</span>'


def _bare(address: str) -> str:
    whole = address if "://" in address else f"http://{address}"
    return f"{external_link(whole, host_of(whole))}{escape(address)}</a>"


def _trimmed(address: str) -> str:
    """Return a bare address without the punctuation that follows it (GFM)."""
    for _ in range(_ROUNDS):
        shorter = address.rstrip(_PUNCTUATION)
        spare = shorter.count(")") - shorter.count("(")
        closing = len(shorter) - len(shorter.rstrip(")"))
        shorter = shorter[: len(shorter) - max(0, min(spare, closing))]
        if shorter == address:
            break
        address = shorter
    return address
