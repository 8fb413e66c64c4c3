"""Replaces text in a note: literal text, or what a regular expression of RE2 matches.

A search treats all line ends alike, so that text copied from anywhere is found. What it matched is
still known by its bytes.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

from vault_agent.errors import Conflict, InvalidRequest, NotFound, TooLarge, counted
from vault_agent.markdown.edit import TextChange, editable
from vault_agent.markdown.lines import insertable
from vault_agent.text.lines import LINE_END
from vault_agent.text.pattern import UnsupportedPattern, compile_re2

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from vault_agent.markdown.edit import Splice, Text

MAX_MATCHES = 10_000
MAX_PATTERN_CHARS = 1_000
MAX_NEW_CHARS = 64 << 20
"""Text that all replacements have together. Whether the note may be as large is checked later."""
MAX_LINES = 20
"""Lines of matches that an error lists."""

_CRLF = re.compile("\r\n")
_REFERENCE = re.compile(
    r"\\(?:(?P<number>[0-9]{1,2})|g<(?P<name>[^<>\\]{1,100})>|(?P<other>.))?", re.DOTALL
)
_DOLLAR = re.compile(r"\$(?:([0-9]{1,2}|[A-Za-z_]\w{0,99})|\{([^{}]{1,100})\})")
_ESCAPES = {"n": "\n", "t": "\t", "\\": "\\"}

Piece: TypeAlias = "str | int"
"""A part of a replacement: text, or the number of a group."""


def replace(
    note: bytes,
    search: str,
    replacement: str,
    *,
    regex: bool = False,
    case_sensitive: bool = True,
    whole_word: bool = False,
    in_frontmatter: bool = False,
    expected_count: int | None = 1,
) -> tuple[Splice, ...]:
    r"""Replace each match of `search`. Frontmatter is left out unless `in_frontmatter`.

    `\1` and `\g<name>` in the replacement of a regular expression are its groups, as they are
    written in the note. `expected_count` is the number of matches there must be; None is any
    number. With `whole_word`, a match that starts or ends within a word is left out.

    Raises:
        Conflict: `ENCODING_NOT_WRITABLE`; `MATCH_COUNT_MISMATCH` with `count` and the first 20
            `lines`, also for over 10,000 matches.
        InvalidRequest: `REGEX_INVALID`; `INVALID_REQUEST` for a search that is
            empty, and for text that a note cannot contain.
        NotFound: `TEXT_NOT_FOUND`.
        TooLarge: `NOTE_TOO_LARGE` if the replacements have over 64 Mi characters.
    """
    insertable(search)
    insertable(replacement)
    if not search:
        raise InvalidRequest("INVALID_REQUEST", "The text to search for is empty.")
    text = editable(note)
    start = 0 if in_frontmatter else text.document.body
    find = partial(_regex if regex else _literal, _Plain(text, start), search, replacement)
    matches = find(case_sensitive=case_sensitive, whole_word=whole_word)
    changes = list(islice(_of_limited_size(matches), MAX_MATCHES + 1))
    if not changes and search in text.text[:start]:
        what = "Only the frontmatter contains this text."
        raise NotFound("TEXT_NOT_FOUND", what, remedy="Change the property instead.")
    _check_count(text.text, changes, expected_count)
    return text.edited(changes).splices


def _of_limited_size(changes: Iterable[TextChange]) -> Iterator[TextChange]:
    size = 0
    for change in changes:
        size += len(change.text)
        if size > MAX_NEW_CHARS:
            raise _too_large()
        yield change


def _too_large() -> TooLarge:
    return TooLarge("NOTE_TOO_LARGE", "The new text is too long.", remedy="Replace it in parts.")


class _Plain:
    """The text of a note from an offset on, with LF as its only line end, and the way back."""

    def __init__(self, note: Text, start: int) -> None:
        self.note = note
        rest = note.text[start:]
        # The place of each CR LF in the plain text: each one before it has lost a character.
        self._shifted = [match.start() - index for index, match in enumerate(_CRLF.finditer(rest))]
        self._start = start
        self.text = LINE_END.sub("\n", rest) if "\r" in rest else rest

    def back(self, offset: int) -> int:
        """Return the offset in the whole text of an offset in the plain one."""
        return self._start + offset + bisect_left(self._shifted, offset)


def _literal(
    plain: _Plain, search: str, replacement: str, *, case_sensitive: bool, whole_word: bool
) -> Iterator[TextChange]:
    content = plain.note.own(replacement)
    escaped = re.escape(LINE_END.sub("\n", search))
    if whole_word and _in_word(search[0]):
        escaped = rf"(?<!\w){escaped}"
    if whole_word and _in_word(search[-1]):
        escaped = rf"{escaped}(?!\w)"
    pattern = re.compile(escaped, 0 if case_sensitive else re.IGNORECASE)
    for match in pattern.finditer(plain.text):
        yield TextChange(plain.back(match.start()), plain.back(match.end()), content)


def _regex(
    plain: _Plain, search: str, replacement: str, *, case_sensitive: bool, whole_word: bool
) -> Iterator[TextChange]:
    if len(search) > MAX_PATTERN_CHARS:
        raise InvalidRequest(
            "REGEX_INVALID", f"The pattern is longer than {MAX_PATTERN_CHARS:,} characters."
        )
    if re.search(r"(?<!\\)(?:\\\\)*\\C", search):
        raise InvalidRequest("REGEX_INVALID", "`\\C` may be a part of a character. Write `.`.")
    try:
        compiled = compile_re2(search, ignore_case=not case_sensitive, one_line=False)
    except UnsupportedPattern as error:
        raise InvalidRequest("REGEX_INVALID", str(error)) from None
    if compiled.fullmatch(b"") is not None:
        raise InvalidRequest("REGEX_INVALID", "The pattern matches the empty text.")
    note = plain.note
    template = _template(replacement, compiled)
    pieces = [note.own(piece) if isinstance(piece, str) else piece for piece in template]
    numbers = {piece for piece in pieces if isinstance(piece, int)}

    def span(match: Any, group: int) -> tuple[int, int]:
        start, end = match.span(group)
        return (plain.back(start), plain.back(end)) if start >= 0 else (0, 0)

    for match in compiled.finditer(plain.text):
        start, end = span(match, 0)
        if start == end:
            raise InvalidRequest("REGEX_INVALID", "The pattern matches the empty text.")
        if whole_word and not _is_word(note.text, start, end):
            continue
        groups = {number: note.text[slice(*span(match, number))] for number in numbers}
        content = [groups[piece] if isinstance(piece, int) else piece for piece in pieces]
        if sum(map(len, content)) > MAX_NEW_CHARS:
            raise _too_large()
        yield TextChange(start, end, "".join(content))


def _template(replacement: str, compiled: Any) -> list[Piece]:
    """Return the parts of a replacement.

    Raises:
        InvalidRequest: `REGEX_INVALID` for a group that the pattern does not have, for a backslash
            before anything else than a group, n, t or a backslash, and for a group of the pattern
            that is written as in JavaScript.
    """
    _check_dollars(replacement, compiled)
    pieces: list[Piece] = []
    done = 0
    for match in _REFERENCE.finditer(replacement):
        pieces.append(replacement[done : match.start()])
        done = match.end()
        group = match["number"] or match["name"]
        if group is not None:
            pieces.append(_group(group, compiled))
        elif match["other"] in _ESCAPES:
            pieces.append(_ESCAPES[match["other"]])
        else:
            raise InvalidRequest(
                "REGEX_INVALID",
                r"A backslash in the replacement is written \\. Groups are \1 and \g<name>.",
            )
    pieces.append(replacement[done:])
    return pieces


def _check_dollars(replacement: str, compiled: Any) -> None:
    """Refuse a group of the pattern as `$1`, `$name`, `${1}` or `${name}`: it would stay as it is.

    A replacement that names a group with a backslash means its dollars literally.
    """
    if any(match["number"] or match["name"] for match in _REFERENCE.finditer(replacement)):
        return
    for match in _DOLLAR.finditer(replacement):
        name = match[1] or match[2]
        number = int(name) if name.isdecimal() else compiled.groupindex.get(name, 0)
        if 0 < number <= compiled.groups:
            raise InvalidRequest(
                "REGEX_INVALID",
                rf"In the replacement, a group is written \g<{name}>. If the dollar sign is meant"
                " as it is, write the groups of the pattern (?:…).",
            )


def _group(name: str, compiled: Any) -> int:
    index: int | None
    index = int(name) if name.isascii() and name.isdecimal() else compiled.groupindex.get(name)
    if index is None or index > compiled.groups:
        raise InvalidRequest(
            "REGEX_INVALID",
            f"The replacement names a group that the pattern does not have; it has"
            f" {compiled.groups}.",
        )
    return index


def _is_word(text: str, start: int, end: int) -> bool:
    return not (
        (start and _in_word(text[start - 1]) and _in_word(text[start]))
        or (end < len(text) and _in_word(text[end]) and _in_word(text[end - 1]))
    )


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _check_count(text: str, matches: Sequence[TextChange], expected: int | None) -> None:
    if not matches:
        raise NotFound("TEXT_NOT_FOUND", "The note does not contain this text.")
    more = len(matches) > MAX_MATCHES
    if expected in (None, len(matches)) and not more:
        return
    count = f"more than {MAX_MATCHES:,} times" if more else counted(len(matches), "time")
    ends = [match.end() for match in LINE_END.finditer(text, 0, matches[-1].start)]
    places = [bisect_right(ends, match.start) + 1 for match in matches[:MAX_LINES]]
    raise Conflict(
        "MATCH_COUNT_MISMATCH",
        f"The text was found {count}{f', not {expected:,}' if expected else ''}.",
        {"count": len(matches), "expectedCount": expected, "lines": sorted(set(places))},
        remedy="Search for more of the text." if more else None,
    )
