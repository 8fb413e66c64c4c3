"""Snippets: the part of a chunk where the query's terms are closest together.

A snippet is one line of at most 240 characters. List items, headings and rows of tables have ` · `
between them. It is cut at the border of a sentence or item, or if none is near, of a word. It never
contains the whole chunk: of a short one it has all but the headings, or if there are none, all but
one word. Markdown syntax and the targets of links are removed. An address is shown as its host.
"""

from __future__ import annotations

import re
from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from vault_agent.markdown.sanitise import KNOWN_ELEMENTS
from vault_agent.text.names import CONTROLS, MOVING
from vault_agent.text.placeholders import PLACEHOLDER, without_unfilled
from vault_agent.text.terms import (
    ASCII_WORD,
    continues,
    fold_kana,
    is_pair,
    is_unit,
    located_terms,
    word_terms,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


SNIPPET_CHARACTERS = 240
MOST_OF_A_CHUNK = 2 / 3
"""The largest share of a chunk that a snippet shows, unless the chunk is short."""

_SHORT = 60  # characters
_START, _END = "\ue000", "\ue001"  # private characters that mark a range; no markup contains them
_ITEM, _BREAK = "\ue002", "\ue003"  # private characters where an item or a paragraph begins
# A word with a character outside ASCII. The lookbehind lets the engine try each word once.
_FOLDED_WORD = re.compile(
    r"(?<![A-Za-z0-9_])[A-Za-z0-9_]*+[^\x00-\x7f](?:[^\x00-\x7f]|[A-Za-z0-9_])*"
)
_MARKS = re.compile("[\ue000-\ue003]")
_GRAMMAR = 0.2  # terms with less than this share of the best term's information are ignored
_LEAD = 60  # characters before the first match, if its sentence starts too far away
_ELLIPSIS = "…"

# Block markers at the start of a line: quotes, headings, list items, tasks, fences, table borders.
# They begin with the line break before, which the engine finds much faster than `^`.
_BLOCK_SIGNS = re.compile(
    r"\n[ \t>]*(?:\[![\w-]+\][+-]?|(?:```|~~~)[^\n]*|[-=|:+][-=|:+ \t]*$)?", re.MULTILINE
)
_ITEM_SIGNS = re.compile(  # after those above
    r"\n(?:#{1,6}(?=[ \t])|[-*+](?=[ \t])(?:[ \t]\[.\](?=[ \t]))?|\d{1,9}[.)](?=[ \t])|\|"
    r"|\[\^[\w-]{1,50}\]:"  # the text of a footnote
    r"|(?=[^\W\d_][\w -]{0,30}::?[ \t]))"  # a label and its value
)
_HEADING_LINE = re.compile(r"\n[ \t>]*#{1,6}[ \t][^\n]*")
_PARAGRAPH = re.compile(r"\n[ \t>]*\n")
_SEPARATOR = " · "
_PROSE_WORDS = 5
_NO_PROSE = 0.7  # the weight of a match in a label, a name or a short item
_WIKILINK = re.compile(r"(?:!\[|\[)\[(?:[^\[\]|\n]{0,200}\|)?([^\[\]|\n]{0,200})\]\]")
_LINK = re.compile(  # possessive: three times as fast, and linear
    r"(?:!\[|\[)([^\[\]\n]{0,400}+(?:\[[^\[\]\n]{0,400}+\][^\[\]\n]{0,400}+){0,8}+)\]"
    r"\((?:[^()\s]++|\([^()\s]*+\))*+(?:[ \t]\"[^\"\n]*+\")?\)"
    r"(?:\^[A-Za-z0-9-]{1,50}(?=\s|\Z))?"  # the name of a block
)
_ADDRESS = re.compile(
    r"<?\b(?:[A-Za-z][a-z+]{1,15}://(?:[^\s/?#@<>]{1,200}@)?|mailto:|(?=www\.))"
    r"(?P<host>[^\s/?#<>()\[\]\"'`|]{0,255}+)[^\s<>\"'`|]*+>?"
)
_ANGLED = re.compile(r"<([\w-]{1,100}[./][\w./-]{1,200})>")  # an address without a scheme
_PUNCTUATION = re.compile(r"[.,;:!?)\]}*_]*\Z")
_FOOTNOTE = re.compile(  # behind a word or a sentence; elsewhere it is a class of characters
    r"(`[^`\n]{1,400}`)"
    r"|(?:(?<=[\w.,;:!?)\]*”’])|(?<=[.,;:!?)] ))\[\^[\w-]{1,50}\](?![*+?{(`]|\[(?!\^))"
)
_BLOCK_NAME = re.compile(  # at the end of a paragraph or an item
    r"[ \t\n]\^[A-Za-z0-9-]{1,50}[ \t]*"
    rf"(?=\n?\Z|\n[ \t>]*(?:[{_ITEM}{_BREAK}]|<!--|%%))"  # a comment is not shown
)
_FORMULA = re.compile(  # what the page takes for one: `from $5 to $10` and `${a}/${b}` are none
    r"(?<![\w\\$])(?:\$\$([^$]{1,400})\$\$|\$(?![\s$])([^$\n]{1,400})(?<![\s\\])\$)(?![\w${(])"
)
_TAG_OR_COMMENT = re.compile(  # only known tags: `List<Word>` is not HTML
    r"<!--.{0,4000}?-->|%%.{0,4000}?%%"
    rf"|</?(?:{'|'.join(sorted(KNOWN_ELEMENTS))})\b[^<>]{{0,2000}}>",
    re.DOTALL | re.IGNORECASE,
)
_FIRST_HEADINGS = re.compile(r"\A(?:\s*+#{1,6}[ \t][^\n]*+\n)+(?=\s*\S)")
_PICTURE = re.compile(  # and embeds
    r"!\[[^\[\]\n]{0,400}\]\([^()\n]{0,1000}\)|!\[\[[^\[\]\n]{0,400}\]\]"
)
_UNTOLD = re.compile(  # pictures; what a template fills in
    rf"{_PICTURE.pattern}|{PLACEHOLDER}"
    r"|^[ \t]*+(?:#[^\s#]++[ \t]*+)++$",  # a line of tags alone
    re.MULTILINE,
)
_BEFORE_TEXT = 12  # times the characters that are wanted, since comments and badges may come first
_ONLY_HEADING = re.compile(r"\s*#{1,6}[ \t][^\n]*\s*")
_EMPHASIS = re.compile(  # at a word's edge; begins with the marker, so that prose is skipped fast
    r"[*_`](?:(?<!\w.)[*_`]*(?=\S)|(?<=\S.)[*_`]*(?!\w))", re.DOTALL
)
_MARKED = re.compile(r"(==|~~)(?=\S)([^=~\n]{1,400}?)\1")
_TABLE_BORDER = re.compile(r"[ \t]*\|[ \t]*")
_UNPRINTABLE = re.compile(f"[{CONTROLS}{MOVING}\xa0]+")
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+|(?<=[。！？])|\s·\s")
_CLOSING = "\"'”’)] "


class Snippet(NamedTuple):
    """An excerpt, and the (start, end) of the query's terms in it, in characters.

    `line` is the line of the chunk with the terms, from 0. It is None if no line has them.
    """

    text: str
    matches: tuple[tuple[int, int], ...]
    line: int | None = None


class _Match(NamedTuple):
    start: int
    end: int
    term: str


def snippets(texts: Sequence[str], information: Mapping[str, float]) -> list[Snippet]:
    """Return the snippet of each chunk for a query. `information` is the weight of each term.

    Without a match in the displayed text, the snippet is the chunk's beginning.

    Each step runs over all chunks before the next step. Chunk by chunk takes a tenth more processor
    time, because the code of a step does not stay in the processor's caches.
    """
    lines = list(map(plain_line, texts))
    matches = [_matches(line, information) for line in lines]
    return [
        _of_line(text, line, own, information)
        for text, line, own in zip(texts, lines, matches, strict=True)
    ]


def _of_line(
    text: str, line: str, matches: list[_Match], information: Mapping[str, float]
) -> Snippet:
    """Return the snippet of a chunk with this plain line and these matches in it."""
    heading = _FIRST_HEADINGS.match(text)
    if len(line) <= _SHORT:
        start, end = _of_a_short_chunk(text, line, matches)
    else:
        room = _room(line) - 2 * len(_ELLIPSIS)
        start, end = _borders(line, *_densest(line, matches, information, room), room)
    start, end = _within(line, start, end)
    excerpt = line[start:end]
    if not excerpt:
        return Snippet("", ())
    before = _ELLIPSIS if start > 0 else ""
    after = _ELLIPSIS if end < len(line) else ""
    shift = len(before) - start
    inside = [match for match in matches if start <= match.start and match.end <= end]
    words = dict.fromkeys(line[match.start : match.end] for match in inside)
    at = _line_with(text, list(words), excerpt, heading[0].count("\n") if heading else 0)
    return Snippet(before + excerpt + after, _merged(inside, shift), at)


def snippet_around(text: str, start: int, end: int) -> Snippet:
    """Return the snippet of a chunk around a range, such as a link, by the same rules.

    The range is shown without its markup, and is the only match.
    """
    before, inside, after = (
        _MARKS.sub(" ", part) for part in (text[:start], text[start:end], text[end:])
    )
    marked = f"{before}{_START}{inside}{_END}{after}"
    line, left_out = plain_line(marked), text
    if not _has_range(line):  # the range is in the chunk's own heading, or in an address
        marked, left_out = marked.replace("#", " "), ""
        line = plain_line(marked)
        if not _has_range(line):
            line = " ".join(_printable(_FIRST_HEADINGS.sub("", marked, count=1)).split())
    line, from_here = _without(line, _START)
    line, to_here = _without(line, _END)
    if len(line) <= _SHORT:
        begin, stop = _of_a_short_chunk(left_out, line, [_Match(from_here, to_here, "")])
    else:
        room = _room(line) - 2 * len(_ELLIPSIS)
        to_here = min(to_here, from_here + room)
        begin, stop = _borders(line, from_here, to_here, room)
    begin, stop = _within(line, begin, stop)
    if begin == stop:
        return Snippet("", ())
    left = _ELLIPSIS if begin > 0 else ""
    right = _ELLIPSIS if stop < len(line) else ""
    shift = len(left) - begin
    is_shown = begin <= from_here < to_here <= stop
    match = ((from_here + shift, to_here + shift),) if is_shown else ()
    return Snippet(left + line[begin:stop] + right, match)


def beginning(markdown: str, most: int) -> str:
    """Return the first text of a note, at most `most` characters, without its first headings.

    Pictures, the placeholders of templates and lines of tags alone are left out.
    """
    line = _line_below_heading(_UNTOLD.sub(" ", markdown[: _BEFORE_TEXT * most]))
    if len(line) <= most:
        return line
    end = _word_end(line, most // 2, most - len(_ELLIPSIS))
    return line[:end].rstrip(" ·") + _ELLIPSIS


def text_below_heading(markdown: str) -> str:
    """Return the displayed text of a chunk without its heading and pictures, on one line."""
    return _line_below_heading(_PICTURE.sub(" ", markdown))


def _line_below_heading(markdown: str) -> str:
    return "" if _ONLY_HEADING.fullmatch(markdown) else plain_line(markdown)


def _has_range(line: str) -> bool:
    return _START in line and _END in line


def _without(line: str, mark: str) -> tuple[str, int]:
    """Return a line without a mark, and the place of the mark."""
    at = max(line.find(mark), 0)
    return line.replace(mark, ""), at


@lru_cache(maxsize=256)
def plain_line(markdown: str) -> str:
    """Return roughly the displayed text of Markdown, on one line.

    Headings at the beginning are left out, because results contain them separately. Cached, because
    queries about one subject find the same chunks.
    """
    heading = _FIRST_HEADINGS.match(markdown)
    text = f"\n{without_unfilled(markdown[heading.end() if heading else 0 :])}"
    if "# " in text or "#\t" in text:
        text = _HEADING_LINE.sub(r"\g<0>\n", text)  # what follows is a paragraph of its own
    text = _PARAGRAPH.sub(f"\n{_BREAK}\n", text)
    text = _ITEM_SIGNS.sub(f"\n{_ITEM}", _BLOCK_SIGNS.sub("\n", text))
    if "[[" in text:
        text = _WIKILINK.sub(itemgetter(1), text)
    if "](" in text:
        text = _LINK.sub(itemgetter(1), text)
        if "](" in text:  # a picture was the text of a link
            text = _LINK.sub(itemgetter(1), text)
    if "^" in text:
        if "[^" in text:
            text = _FOOTNOTE.sub(lambda match: match[1] or "", text)
        text = _BLOCK_NAME.sub("", text)
    if "$" in text:
        text = _FORMULA.sub(lambda match: match[1] or match[2], text)
    if "://" in text or "www." in text or "mailto:" in text:
        text = _ADDRESS.sub(_host, text)
    if "<" in text or "%%" in text:
        text = _TAG_OR_COMMENT.sub(" ", _ANGLED.sub(itemgetter(1), text))
    if "|" in text:
        text = _TABLE_BORDER.sub(" ", text)
    if "==" in text or "~~" in text:
        text = _MARKED.sub(itemgetter(2), text)
    return _parted(_printable(_EMPHASIS.sub("", text)))


def _host(address: re.Match[str]) -> str:
    """Return the host of an address, or the recipient of `mailto:`, and the punctuation behind."""
    punctuation = _PUNCTUATION.search(address[0])
    host = address["host"].removeprefix("www.").rstrip(".,;:!?*_")
    return host + (punctuation[0] if punctuation else "")


def _parted(line: str) -> str:
    """Return a line with ` · ` before each item, and after the last one of a list."""
    if _ITEM not in line:
        return " ".join(line.replace(_BREAK, " ").split())
    before, *items = line.split(_ITEM)
    parts = [before]
    for item in items:
        own, _, after = item.partition(_BREAK)  # a paragraph behind the item
        parts += (own, after)
    texts = (" ".join(part.replace(_BREAK, " ").split()) for part in parts)
    return _SEPARATOR.join(filter(None, texts))


def _printable(text: str) -> str:
    text = text.replace("\n", " ")  # most texts are printable then
    return text if text.isprintable() else _UNPRINTABLE.sub(" ", text)


def _matches(line: str, information: Mapping[str, float]) -> list[_Match]:
    """Return the occurrences of the query's terms, in order."""
    if not information:
        return []
    least = _GRAMMAR * max(information.values())
    information = {term: value for term, value in information.items() if value >= least}
    # Without our own separators most lines are ASCII, where terms are located three times as fast.
    words = line.replace(_SEPARATOR, " " * len(_SEPARATOR))
    return [*map(_Match._make, locate(words, information))]


def _densest(
    line: str, matches: Sequence[_Match], information: Mapping[str, float], room: int
) -> tuple[int, int]:
    """Return the span, at most `room` long, whose matches have the most information together.

    A match outside prose counts less, and a repeated term counts a tenth. Of equal spans, the first
    one is taken, and of those the shortest.
    """
    best, span = 0.0, (0, 0)
    shares = [1.0 if _is_in_prose(line, match.start) else _NO_PROSE for match in matches]
    for index, first in enumerate(matches):
        seen: set[str] = set()
        value = 0.0
        following = slice(index, index + SNIPPET_CHARACTERS)
        for match, share in zip(matches[following], shares[following], strict=True):
            if match.end - first.start > room:
                break
            value += share * information[match.term] * (0.1 if match.term in seen else 1.0)
            seen.add(match.term)
            if value > best + 1e-9:
                best, span = value, (first.start, match.end)
    return span


def _is_in_prose(line: str, at: int) -> bool:
    """Whether a place is in an item or a paragraph of some words."""
    before, after = line[:at].rpartition(_SEPARATOR)[2], line[at:].partition(_SEPARATOR)[0]
    item = before + after
    return len(item.split()) >= _PROSE_WORDS or not item.isascii()


def _borders(line: str, first: int, last: int, room: int) -> tuple[int, int]:
    """Widen a span to borders of sentences, or if none is near, of words: at most `room` long."""
    whole_first, whole_last = first, last  # a term may be a part of an emoji that is joined
    while whole_first > 0 and continues(line, whole_first):
        whole_first -= 1
    while continues(line, whole_last):
        whole_last += 1
    if whole_last - whole_first > room:  # the last one does not fit
        whole_last = last
        while whole_last > first and continues(line, whole_last):
            whole_last -= 1
    if first < whole_last <= whole_first + room:
        first, last = whole_first, whole_last
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


def _within(line: str, start: int, end: int) -> tuple[int, int]:
    """Return a range without a separator of items at its beginning or end."""
    if start > 0 and line.startswith("· ", start):
        start += 2
    if end < len(line) and line.endswith(" ·", start, end):
        end -= 2
    return start, end


def _sentence_start(line: str, least: int, most: int) -> int:
    """Return the last start of a sentence from `least` to `most`, or 0 if there is none."""
    position = least
    while position and line[position - 1] in _CLOSING:  # these belong to the end of a sentence
        position -= 1
    ends = (match.end() for match in _SENTENCE_END.finditer(line, position, most + 1))
    return max((end for end in ends if end <= most), default=0)


def _room(line: str) -> int:
    """Return the most characters of a chunk's line that may be shown."""
    return min(SNIPPET_CHARACTERS, max(int(len(line) * MOST_OF_A_CHUNK), _SHORT))


def _of_a_short_chunk(text: str, line: str, matches: Sequence[_Match]) -> tuple[int, int]:
    """Return the range to show of a short chunk: all but its heading.

    Without a heading, the last or the first word is left out, also if it is the only one. Of a word
    in an unspaced script, a character is left out.
    """
    if _FIRST_HEADINGS.match(text):
        return 0, len(line)
    first, last = line.find(" ") + 1, line.rfind(" ")
    if last < 0:
        if line.isascii():
            return 0, 0
        first, last = 1, len(line) - 1
        while last > 0 and continues(line, last):
            last -= 1
        while continues(line, first):
            first += 1
    ends_in_match = bool(matches) and matches[-1].end > last
    begins_in_match = bool(matches) and matches[0].start < first
    return (first, len(line)) if ends_in_match and not begins_in_match else (0, last)


def _line_with(markdown: str, words: Sequence[str], excerpt: str, skipped: int) -> int | None:
    """Return the number of the line that has most of the words as written, or None.

    The first `skipped` lines are left out. Of several lines, the one with most of the excerpt is
    taken.
    """
    if not words:
        return None
    if "\r" in markdown:
        markdown = markdown.replace("\r\n", "\n").replace("\r", "\n")
    lines = markdown.split("\n")
    most, best = 1, list[int]()
    for at in range(skipped, len(lines)):
        line, number = lines[at], 0
        for word in words:
            if word in line:
                number += 1
        if number > most:
            most, best = number, [at]
        elif number == most:
            best.append(at)
    if len(best) <= 1:
        return best[0] if best else None
    around = excerpt.split()
    return max(best, key=lambda at: (sum([word in lines[at] for word in around]), -at))


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


def locate(text: str, wanted: Mapping[str, float]) -> list[tuple[int, int, str]]:
    """Return (start, end, term) of every occurrence of a wanted term, in order.

    A word with several wanted terms (parts of a name) counts as the term with the greatest weight.
    """
    places: set[tuple[int, int, str]] = set()
    unspaced = [term for term in wanted if not term.isascii() and (is_pair(term) or is_unit(term))]
    folded = fold_kana(text) if unspaced else ""
    for term in unspaced:
        places.update((at, at + len(term), term) for at in _occurrences(folded, term))
    for terms, start, end in _promising_words(text, wanted):
        wanted_terms = [term for term in terms if term in wanted]
        if wanted_terms:
            term = max(wanted_terms, key=lambda term: (wanted[term], term))
            places.add((start, end, term))
    return sorted(places)


def _promising_words(
    text: str, wanted: Iterable[str]
) -> Iterator[tuple[tuple[str, ...], int, int]]:
    """Yield the terms and place of each word that may have a wanted term, as `located_terms` does.

    These are words with a character outside ASCII, which may be folded, and words that begin like a
    wanted term. To look at all words would take as long as the rest of a search.
    """
    lowered = text.lower()
    if len(lowered) != len(text):  # `İ` becomes two characters
        yield from located_terms(text)
        return
    # In a text of ASCII, the pattern would try each word in vain.
    for match in _FOLDED_WORD.finditer("" if text.isascii() else text):
        offset = match.start()
        for terms, start, end in located_terms(match[0]):
            yield terms, offset + start, offset + end
    begun = {at for start in _beginnings(tuple(wanted)) for at in _occurrences(lowered, start)}
    end = 0
    for start in sorted(begun):
        if start >= end and (word := ASCII_WORD.match(text, start)):
            end = word.end()
            yield word_terms(word[0]), start, end


@lru_cache(maxsize=64)
def _beginnings(terms: tuple[str, ...]) -> set[str]:
    """Return the first letters that each term of ASCII shares with all words that have it as stem.

    At most the last two letters of a stem differ from the word. Exceptions are stems such as `die`
    of `dying`, and the terms of `C++` and `C#`, which are written out.
    """
    irregular = ("ie", "plusplus", "sharp")
    return {
        term[: 1 if term.endswith(irregular) else min(max(len(term) - 2, 2), 4)]
        for term in terms
        if term.isascii()
    }


def _occurrences(text: str, term: str) -> Iterator[int]:
    position = text.find(term)
    while position >= 0:
        yield position
        position = text.find(term, position + 1)
