"""Anchors: the headings and blocks of a note that a link's fragment can name."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from vault_agent.model.notes import Anchor
from vault_agent.text.names import fold

from .places import Lines

if TYPE_CHECKING:
    from .structure import Heading, Structure

MAX_ANCHORS = 10_000
# Obsidian compares headings without these characters.
_NO_PART = re.compile(r"[!\"#$%&()*+,.:;<=>?@^_`{|}~/\[\]\\\s]+")
_BLOCK = re.compile(r"\^([A-Za-z0-9-]++)[ \t]*+\r?$", re.MULTILINE)
_MAX_NAME_CHARS = 200


@lru_cache(maxsize=1 << 12)
def anchor_key(name: str) -> str:
    """Return the key by which a fragment is compared with a heading or block.

    The name is folded like all names. Punctuation counts as a space, as in Obsidian.
    """
    return fold(_NO_PART.sub(" ", name).strip())[:_MAX_NAME_CHARS]


def _named(source: str, heading: Heading) -> str:
    """Return the text by which links name a heading. Of `[[a|b]]` it has both parts."""
    written = source[heading.start : heading.end]
    return written.rstrip("=- \r\n") if "[[" in written and "|" in written else heading.text


def anchors(
    source: str, text: str, structure: Structure, first_line: int
) -> tuple[list[Anchor], int]:
    """Return the first `MAX_ANCHORS` headings and blocks of a body, by line, and how many it has.

    `text` is `source` with code, HTML and comments masked.
    """
    headings = (
        (heading.level, key, heading.start)
        for heading in structure.headings
        if (key := anchor_key(_named(source, heading)))
    )
    blocks = (
        (0, anchor_key(match[1]), match.start())
        for match in (_BLOCK.finditer(text) if "^" in text else ())
        if not match.start() or text[match.start() - 1].isspace()
    )
    found: list[Anchor] = []
    count = 0
    for places in (headings, blocks):
        lines = Lines(source, first_line)  # it only goes forward
        for level, key, start in islice(places, MAX_ANCHORS):
            found.append(Anchor(level, key, lines.at(start)[0]))
            count += 1
        count += sum(1 for _ in places)
    found.sort(key=lambda anchor: anchor.line)
    return found[:MAX_ANCHORS], count
