"""Snippets: the part of a chunk where the query's terms are closest together.

A snippet is one line of at most 240 characters. It is cut at the border of a sentence if one is
near, and else at the border of a word. It never contains the whole chunk: if the chunk is too
short, the snippet is empty. Markdown syntax is removed, and so are the addresses of links, unless
the terms are nowhere else.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from vault_agent.ranking.locate import locate
from vault_agent.text.terms import continues

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SNIPPET_CHARACTERS = 240
MOST_OF_A_CHUNK = 2 / 3
"""The largest share of a chunk that a snippet shows."""

_SHORTEST = 30
_GRAMMAR = 0.2  # terms with less than this share of the best term's information are ignored
_LEAD = 60  # characters before the first match, if its sentence starts too far away
_ELLIPSIS = "…"

# Block markers at the start of a line: quotes, headings, list items, tasks, fences, table borders.
_BLOCK_SIGNS = re.compile(
    r"^[ \t>]*(?:\[![\w-]+\][+-]?|#{1,6}(?=[ \t])|[-*+](?=[ \t])(?:[ \t]\[.\](?=[ \t]))?"
    r"|\d{1,9}[.)](?=[ \t])|(?:```|~~~)[^\n]*|[-=|:+][-=|:+ \t]*$|\|)?",
    re.MULTILINE,
)
_WIKILINK = re.compile(r"!?\[\[(?:[^\[\]|\n]{0,200}\|)?([^\[\]|\n]{0,200})\]\]")
_LINK = re.compile(
    r"!?\[([^\[\]\n]{0,400})\]\((?:[^()\s]|\([^()\s]*\)){0,1000}(?:[ \t]\"[^\"\n]*\")?\)"
)
_TAG_OR_COMMENT = re.compile(  # only known tags: `List<Word>` is not HTML
    r"<!--.{0,4000}?-->|%%.{0,4000}?%%"
    r"|</?(?:a|abbr|b|br|code|del|details|div|em|font|h[1-6]|hr|i|iframe|img|ins|kbd|li|mark|ol|p|pre"
    r"|s|small|span|strong|sub|summary|sup|table|tbody|td|th|thead|tr|u|ul|video)\b[^<>\n]{0,400}>",
    re.DOTALL | re.IGNORECASE,
)
_FIRST_HEADING = re.compile(r"\A\s*#{1,6}[ \t][^\n]*\n(?=\s*\S)")
_EMPHASIS = re.compile(  # at a word's edge; begins with the marker, so that prose is skipped fast
    r"[*_`](?:(?<!\w.)[*_`]*(?=\S)|(?<=\S.)[*_`]*(?!\w))", re.DOTALL
)
_MARKED = re.compile(r"(==|~~)(?=\S)([^=~\n]{1,400}?)\1")
_TABLE_BORDER = re.compile(r"[ \t]*\|[ \t]*")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\xa0\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]+")
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+|(?<=[。！？])")
_CLOSING = "\"'”’)] "


class Snippet(NamedTuple):
    """An excerpt, and the (start, end) of the query's terms in it, in characters."""

    text: str
    matches: tuple[tuple[int, int], ...]


class _Match(NamedTuple):
    start: int
    end: int
    term: str


def snippet(text: str, information: Mapping[str, float]) -> Snippet:
    """Return the snippet of a chunk for a query. `information` is the weight of each term.

    If the terms are only in hidden text, such as a link's address, the snippet shows that. Without
    a match it is the chunk's beginning.
    """
    line = plain_line(text)
    matches = _matches(line, information)
    if not matches:
        written = _written_line(text)
        if found := _matches(written, information):
            line, matches = written, found
    room = min(SNIPPET_CHARACTERS, int(len(line) * MOST_OF_A_CHUNK))
    room -= 2 * len(_ELLIPSIS)
    if room < _SHORTEST:
        return Snippet("", ())
    first, last = _densest(matches, information, room)
    start, end = _borders(line, first, last, room)
    excerpt = line[start:end]
    before = _ELLIPSIS if start > 0 else ""
    after = _ELLIPSIS if end < len(line) else ""
    shift = len(before) - start
    inside = [match for match in matches if start <= match.start and match.end <= end]
    return Snippet(before + excerpt + after, _merged(inside, shift))


@lru_cache(maxsize=256)
def plain_line(markdown: str) -> str:
    """Return roughly the displayed text of Markdown, on one line.

    A heading at the beginning is left out, because results contain it separately. Cached, because
    queries about one subject find the same chunks.
    """
    text = _BLOCK_SIGNS.sub("", _FIRST_HEADING.sub("", markdown, count=1))
    if "[[" in text:
        text = _WIKILINK.sub(r"\1", text)
    if "](" in text:
        text = _LINK.sub(r"\1", text)
    if "<" in text or "%%" in text:
        text = _TAG_OR_COMMENT.sub(" ", text)
    if "|" in text:
        text = _TABLE_BORDER.sub(" ", text)
    if "==" in text or "~~" in text:
        text = _MARKED.sub(r"\2", text)
    return _one_line(_EMPHASIS.sub("", text))


def _written_line(markdown: str) -> str:
    """Return Markdown as one line, with the addresses of links and whatever else is not shown."""
    return _one_line(_FIRST_HEADING.sub("", markdown, count=1))


def _one_line(text: str) -> str:
    text = text.replace("\n", " ")  # so that most texts need no more
    if not text.isprintable():
        text = _UNPRINTABLE.sub(" ", text)
    return " ".join(text.split())


def _matches(line: str, information: Mapping[str, float]) -> list[_Match]:
    """Return the occurrences of the query's terms, in order."""
    if not information:
        return []
    least = _GRAMMAR * max(information.values())
    information = {term: value for term, value in information.items() if value >= least}
    return [_Match(*place) for place in locate(line, information)]


def _densest(
    matches: Sequence[_Match], information: Mapping[str, float], room: int
) -> tuple[int, int]:
    """Return the span, at most `room` long, of the matches with the most information.

    A repeated term counts a tenth. Of equal spans the first wins, and then the shortest.
    """
    best, span = 0.0, (0, 0)
    for index, first in enumerate(matches):
        seen: set[str] = set()
        value = 0.0
        for match in matches[index : index + SNIPPET_CHARACTERS]:
            if match.end - first.start > room:
                break
            value += information[match.term] * (0.1 if match.term in seen else 1.0)
            seen.add(match.term)
            if value > best + 1e-9:
                best, span = value, (first.start, match.end)
    return span


def _borders(line: str, first: int, last: int, room: int) -> tuple[int, int]:
    """Widen a span to at most `room` characters, to borders of sentences or else of words."""
    slack = room - (last - first)
    earliest = max(0, first - slack)
    least = max(earliest, first - max(_LEAD, slack // 2))
    start = _sentence_start(line, least, first)
    if start < least:
        start = _word_start(line, max(earliest, first - min(_LEAD, slack // 2)), first)
    end = min(len(line), start + room)
    if end < len(line):
        ends = [match.start() for match in _SENTENCE_END.finditer(line, last, end)]
        near = bool(ends) and ends[-1] - start > room // 2
        end = ends[-1] if near else _word_end(line, last, end)
    return start, end


def _sentence_start(line: str, least: int, most: int) -> int:
    """Return the last start of a sentence from `least` to `most`, else 0."""
    position = least
    while position and line[position - 1] in _CLOSING:  # these belong to the end of a sentence
        position -= 1
    ends = (match.end() for match in _SENTENCE_END.finditer(line, position, most + 1))
    return max((end for end in ends if end <= most), default=0)


def _word_start(line: str, position: int, most: int) -> int:
    """Return the first word border at or after `position`, at most `most`."""
    if position == 0:
        return 0
    space = line.find(" ", position - 1, most)
    if space >= 0:
        return space + 1
    while position < most and continues(line, position):
        position += 1
    # An unspaced script may be cut anywhere. A long word is cut only at its match.
    return most if line[position - 1 : position].isascii() else position


def _word_end(line: str, least: int, position: int) -> int:
    """Return the last word border at or before `position`, at least `least`."""
    space = line.rfind(" ", least, position + 1)
    if space > least:
        return space
    if least < position and line[position].isascii() and least > 0:
        return least
    while position > least and continues(line, position):
        position -= 1
    return position


def _merged(matches: Sequence[_Match], shift: int) -> tuple[tuple[int, int], ...]:
    """Return the ranges in the snippet. Overlapping ones (pairs of characters) are merged."""
    ranges: list[tuple[int, int]] = []
    for match in matches:
        start, end = match.start + shift, match.end + shift
        if ranges and start < ranges[-1][1]:
            ranges[-1] = (ranges[-1][0], max(end, ranges[-1][1]))
        else:
            ranges.append((start, end))
    return tuple(ranges)
