"""Terms of notes and queries. Both use the same normalisation.

There are two steps, so that the slow one runs in parallel:

`prepare` is pure Python and runs in the processes that parse notes. It returns plain English
unchanged and rewrites only what a word splitter would lose. It folds accents and compatibility
forms, writes katakana as hiragana, turns scripts written without spaces into overlapping pairs,
turns emoji and names such as C++ or .NET into words, and appends the parts of `camelCase` names.
Its result is for `analyzer` only, not for display.

`analyzer` is tantivy's native pipeline (split at everything but letters and digits, lower case,
English stem). The full-text index runs it over prepared text, and `terms` runs it over a query.

Sources: Unicode TR 15 (normal forms) and TR 29 (clusters); Snowball English for the stems; pairs of
characters as in Lucene's CJKBigramFilter.

The terms of an indexed text are computed once for all fields. The engine's own analysis of a field
takes three times as long as the rest of its work, and a note's text is in two fields. So
`index_terms` analyses each word once and then looks it up, and the engine splits the result at
spaces, with `splitter`. The terms and their positions are those of `analyzer` over `prepare`, with
`part_of` for the parts of names.
"""

from __future__ import annotations

import re
import string
import tomllib
import unicodedata
from functools import cache, lru_cache
from importlib.resources import files
from itertools import chain, pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tantivy import TextAnalyzer


TEXT_VERSION = 7
"""Increase it if the terms of any text or name change. Older indexes are then incompatible."""

MAX_TERM_BYTES = 80  # longer runs are data, not words

_CHARACTERS = tomllib.loads(files(__package__).joinpath("characters.toml").read_text("utf-8"))
_HAN_AND_KANA, _HANGUL = _CHARACTERS["han_and_kana"], _CHARACTERS["hangul"]
_SOUTH_EAST_ASIAN = _CHARACTERS["south_east_asian"]
_SOUTH_EAST_ASIAN_MARKS = _CHARACTERS["south_east_asian_marks"]
_JOINERS = _CHARACTERS["joiners"]
_IGNORED = re.compile(f"[{_CHARACTERS['ignored']}]+")
# Words are often written in either script of kana: ラーメン or らーめん.
_HIRAGANA = {katakana: katakana - 0x60 for katakana in (*range(0x30A1, 0x30F7), 0x30FD, 0x30FE)}
_FOLDED_LETTERS = str.maketrans(_CHARACTERS["letters"]) | _HIRAGANA
_ARABIC_ARTICLE = re.compile(r"(?<!\w)(?:و?[بفك]?ال|و?لل)(?=\w\w)")
# A nasal before a stop of the same place, and a nasal vowel, are often written as a dot.
_HINDI_NASAL = re.compile("ङ्(?=[क-घ])|ञ्(?=[च-झ])|ण्(?=[ट-ढ])|न्(?=[त-ध])|म्(?=[प-भ])|ँ")
_MARK = re.compile(f"[{_CHARACTERS['marks']}]")
_UNSPACED = re.compile(f"[{_HAN_AND_KANA}]+|[{_HANGUL}]+|[{_SOUTH_EAST_ASIAN}]+")
_CLUSTER = re.compile(
    f"[{_SOUTH_EAST_ASIAN}](?:[{_SOUTH_EAST_ASIAN_MARKS}]|(?<=[{_JOINERS}])[{_SOUTH_EAST_ASIAN}])*"
)
_UNIT = re.compile(  # with the stand-ins for marks, see `_mark_letter`
    f"[{_HAN_AND_KANA}{_HANGUL}]|[{_SOUTH_EAST_ASIAN}][{_SOUTH_EAST_ASIAN_MARKS}\ua500-\ua5ff]*"
)
_FIRST_UNIT = re.compile(rf"(?<!\S)(?:{_UNIT.pattern})")
_PAIR = re.compile(f"[{_HAN_AND_KANA}{_HANGUL}]{{2}}")
_MOST_FLAG_LETTERS = 64
_EMOJI = re.compile(f"[{_CHARACTERS['emoji']}]")
_SURROGATE = re.compile("[\ud800-\udfff]")  # not valid in UTF-8
_NON_ASCII = re.compile(r"[^\x00-\x7f]+")

# Each of these begins with a fixed or rare character, so that the regex engine skips plain prose at
# memchr speed. The lookbehind then checks the characters before.
_PLUS_PLUS = re.compile(r"\+\+(?<=\b[A-Za-z]\+\+)(?!\+)")
_SHARP = re.compile(r"#(?<=\b[A-Za-z]#)(?![\w#])")
_DOT_NET = re.compile(r"\.(?:NET|Net|net)\b(?<!\w....)")
_VERSION = re.compile(r"[vV](?=\d+\.\d)(?<=\b.)")
_CAMEL_BORDER = re.compile(r"[A-Z](?<=[a-z0-9].)|[A-Z](?=[a-z])(?<=[A-Z]{2})")
_CAMEL_PART = re.compile(r"[A-Z]{1,40}(?![a-z])|[A-Z][a-z0-9]{0,40}")
_LOWER_OR_DIGIT = string.ascii_lowercase + string.digits


def prepare(text: str) -> str:
    """Return `text` rewritten for `analyzer`. Plain English prose is unchanged.

    The time is linear. Any string is allowed, even with lone surrogates.
    """
    text = split_versions(fold_text(text))
    if parts := camel_parts(text):
        text = f"{text}\n{' '.join(parts)}"
    return text


def fold_text(text: str) -> str:
    """Do the same as `prepare`, except for version numbers and the parts of names."""
    if not text.isascii():
        text = _NON_ASCII.sub(_fold_match, text)
    if "++" in text:
        text = _PLUS_PLUS.sub("plusplus", text)
    if "#" in text:
        text = _SHARP.sub("sharp", text)
    if ".N" in text or ".n" in text:
        text = _DOT_NET.sub(" dotnet", text)
    return text


def split_versions(text: str) -> str:
    """Separate the `v` of version numbers: `v2.1` becomes `v 2.1`."""
    return _VERSION.sub("v ", text)


def camel_parts(text: str) -> dict[str, None]:
    """Return the parts of all names in `camelCase`, `PascalCase` or `HTTPServer` style, once each.

    Reads only around the borders between parts, never a whole name, because a megabyte of base64
    is a name too.
    """
    parts: dict[str, None] = {}
    for border in _CAMEL_BORDER.finditer(text):
        position = border.start()
        before = text[max(0, position - 40) : position]
        rest = len(before.rstrip(_LOWER_OR_DIGIT))
        if rest == len(before):  # an acronym: HTTP|Server
            rest = len(before.rstrip(string.ascii_uppercase))
        elif rest and before[rest - 1] in string.ascii_uppercase:
            rest -= 1
        parts[before[rest:]] = None
        if after := _CAMEL_PART.match(text, position):
            parts[after[0]] = None
    return parts


def _fold_match(match: re.Match[str]) -> str:
    run = match[0]
    # Words occur again, so cache them. Sentences do not.
    folded = _fold_cached(run) if len(run) <= 24 else _fold(run)
    if folded[:1] != " " and folded[-1:] != " ":
        return folded
    # Unspaced script next to a digit or a Latin letter: add their pair too (`2年` of `1992年`).
    text, (start, end) = match.string, match.span()
    if start and text[start - 1].isalnum() and _UNSPACED.match(run):
        folded = f" {text[start - 1]}{run[0]}{folded}"
    if end < len(text) and text[end].isalnum() and _UNSPACED.match(run[-1]):
        folded = f"{folded}{run[-1]}{text[end]} "
    return folded


def _fold(run: str) -> str:
    """Fold a run of non-ASCII characters as the module's docstring describes."""
    run = _IGNORED.sub("", unicodedata.normalize("NFKD", run).casefold())
    run = unicodedata.normalize("NFC", run).translate(_FOLDED_LETTERS)
    if "ل" in run:
        run = _ARABIC_ARTICLE.sub("", run)
    if "\u094d" in run or "ँ" in run:
        run = _HINDI_NASAL.sub("ं", run)
    run = _UNSPACED.sub(lambda match: f" {' '.join(_pairs(match[0]))} ", run)
    run = _SURROGATE.sub(" ", run)
    run = _EMOJI.sub(lambda match: f" u{ord(match[0]):x} ", run)
    return _MARK.sub(_mark_letter, run)


_fold_cached = lru_cache(maxsize=1 << 16)(_fold)


def _mark_letter(match: re.Match[str]) -> str:
    """Return a letter of the Vai script in place of a mark. So the word is not split."""
    return chr(0xA500 + (ord(match[0]) & 0xFF))


def _clusters(run: str) -> list[str]:
    return _CLUSTER.findall(run) if "\u0e00" <= run[0] <= "\u17ff" else list(run)


def _pairs(run: str) -> list[str]:
    """Return the overlapping pairs of a run, then its last unit alone.

    So every unit begins one term, and a word of one character is found as a prefix anywhere.
    """
    units = _clusters(run)
    return [first + second for first, second in pairwise(units)] + units[-1:]


def units(prepared: str) -> list[str]:
    """Return every single character of unspaced scripts in prepared text, in order.

    As separate terms they make pairs more precise (measured: 0.5 points of nDCG@10 in Japanese).
    They cost half as much as the pairs, so notes have them and chunks do not.
    """
    return [] if prepared.isascii() else _FIRST_UNIT.findall(prepared)


@cache
def analyzer() -> TextAnalyzer:
    """Return the native pipeline that turns prepared text into stemmed terms."""
    from tantivy import Filter, TextAnalyzerBuilder, Tokenizer

    return (
        TextAnalyzerBuilder(Tokenizer.simple())
        .filter(Filter.remove_long(MAX_TERM_BYTES))
        .filter(Filter.lowercase())
        .filter(Filter.stemmer("english"))
        .build()
    )


def terms(text: str) -> list[str]:
    """Return the terms of `text` as in the index, in order and with repeats."""
    return analyzer().analyze(prepare(text))


def sequence(text: str) -> list[str]:
    """Return the terms of `text` that are adjacent in the index, for a phrase.

    The parts of `camelCase` names are left out, because they are appended at the end. So is the
    last unit of an unspaced run, because its pairs already contain it.
    """
    all_terms = analyzer().analyze(split_versions(fold_text(text)))
    return [
        term
        for before, term in zip(["", *all_terms], all_terms, strict=False)
        if not (is_unit(term) and before != term and before.endswith(term))
    ]


def is_unit(term: str) -> bool:
    """Whether a term is a single unit of an unspaced script."""
    return _UNIT.fullmatch(term) is not None


def is_pair(term: str) -> bool:
    """Whether a term is a pair of Han, Kana or Hangul. `fold_kana` of a text contains it."""
    return len(term) == 2 and _PAIR.fullmatch(term) is not None


def fold_kana(text: str) -> str:
    """Return a text of the same length with hiragana in place of katakana."""
    return text if text.isascii() else text.translate(_HIRAGANA)


def continues(text: str, at: int) -> bool:
    """Whether the character at `at`, which is not the first, belongs to the one before it.

    None does at the end of the text.

    These are marks, joiners, variation selectors, skin tones, the second letter of a flag, tags,
    and the LF of a CR LF (roughly TR 29). A text that is cut by length must not be cut there.
    """
    if at >= len(text):
        return False
    character, before = text[at], text[at - 1]
    return (
        unicodedata.category(character)[0] == "M"
        or character in "\u200c\u200d"
        or "\U0001f3fb" <= character <= "\U0001f3ff"
        or "\U000e0020" <= character <= "\U000e007f"
        or (_is_flag_letter(character) and _flag_letters(text, at) % 2 == 1)
        or before == "\u200d"
        or (character == "\n" and before == "\r")
    )


def _is_flag_letter(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _flag_letters(text: str, at: int) -> int:
    """Return how many letters of flags stand right before `at`. Only the near ones are counted."""
    first = at
    while first > max(0, at - _MOST_FLAG_LETTERS) and _is_flag_letter(text[first - 1]):
        first -= 1
    return at - first


@lru_cache(maxsize=1 << 15)
def word_terms(word: str) -> tuple[str, ...]:
    """Return the terms of one word. Cached, because a text has few different words."""
    return tuple(terms(word))


_SIGNED = r"[A-Za-z](?:\+\+|\#)(?![\w+#])"  # C++ and C#
_WORD = re.compile(
    f"(?P<unspaced>[{_HAN_AND_KANA}]+|[{_HANGUL}]+|[{_SOUTH_EAST_ASIAN}]+)"
    f"|{_EMOJI.pattern}"
    f"|{_SIGNED}"
    f"|(?:(?![{_HAN_AND_KANA}{_HANGUL}{_SOUTH_EAST_ASIAN}_])[\\w\u0300-\u036f\u0483-\u0489"
    "\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0dff\u0f18-\u0fc6"
    "\u200c\u200d\u00ad])+"
)

ASCII_WORD = re.compile(rf"(?:(?<![^\W_])|(?={_CAMEL_BORDER.pattern}))(?:{_SIGNED}|[A-Za-z0-9]+)")
"""A word of ASCII from its beginning, or from that of a part of a name in `camelCase`."""


def located_terms(text: str) -> Iterator[tuple[tuple[str, ...], int, int]]:
    """Yield each word of `text` as (its terms, start, end), in characters of `text` itself.

    In unspaced scripts with marks, each unit yields its pair with the next one and the range of
    both. Han, Kana and Hangul are left out, because `fold_kana` of a text contains their pairs.
    """
    for match in _WORD.finditer(text):
        start, end = match.span()
        if match.lastgroup is None:
            yield word_terms(match[0]), start, end
            continue
        if _PAIR.match(match[0]) or len(match[0]) == 1:
            continue
        units = _clusters(match[0])
        for index, unit in enumerate(units):
            following = units[index + 1] if index + 1 < len(units) else ""
            yield word_terms(unit + following)[:1], start, start + len(unit) + len(following)
            start += len(unit)


def folded_words(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield each word of `text` as (folded, start, end): as terms are, but without stemming.

    In unspaced scripts each character is a word.
    """
    for match in _WORD.finditer(text):
        word, (start, end) = match[0], match.span()
        if match.lastgroup is None:
            yield (word.lower() if word.isascii() else _fold_cached(word).strip()), start, end
            continue
        for unit in _clusters(word):
            yield unit, start, start + len(unit)
            start += len(unit)


_PLACEHOLDER_BYTES = 255
_PLACEHOLDER = "x" * _PLACEHOLDER_BYTES
"""Stands for a run that is too long to be a word. `splitter` removes it and keeps its position."""

_MAX_WORDS = 1 << 17
_MAX_WORD_BYTES = 200  # longer words hardly occur again

_PART = "+"  # precedes a term that is a part of a name
# Marks in the terms of a word. Neither can be in a text, because both separate words.
_PARTS = "\0"  # precedes each part of a camelCase name
_VERSION_MARK = "\1"  # after `v` and digits: if `.` and a digit follow, it is a version number

_SEPARATED = bytes(
    byte if byte >= 0x80 or chr(byte).isalnum() else ord(" ") for byte in range(0x100)
)
_WITH_PARTS = re.compile(f"{_PARTS}([^ ]*)")
_ENDS_IN_VERSION = re.compile(r"[vV]\d+\Z")


def index_terms(folded: str) -> str:
    """Return the terms of a text that `terms.fold_text` has returned, separated by spaces.

    The parts of its camelCase names come last, as `part_of` returns them.
    """
    return _finished(_marked(folded), _PART)


def name_terms(*names: str) -> str:
    """Return the terms of some names, each on a line of its own. Names occur again: cached.

    The parts of camelCase names are terms like others.
    """
    return _finished(" ".join(map(_marked_name, names)), "")


def part_of(term: str) -> str:
    """Return what an indexed text has for a term that is a part of a camelCase name.

    Such parts have statistics of their own: *GitHub* in every footer does not make *git* common.
    """
    return _PART + term


@lru_cache(maxsize=1 << 13)
def _marked_name(name: str) -> str:
    return _marked(fold_text(name))


def _marked(folded: str) -> str:
    """Return the terms of a text with marks where names have parts."""
    marked = _looked_up(folded)
    if _VERSION_MARK in marked:
        marked = _looked_up(split_versions(folded)).replace(_VERSION_MARK, "")
    return marked


def _looked_up(text: str) -> str:
    words = text.encode().translate(_SEPARATED).split()
    return b" ".join(map(_WORDS.__getitem__, words)).decode()


def _finished(marked: str, sign: str) -> str:
    """Move the parts of names to the end, each once, with a sign before each of their terms."""
    if _PARTS not in marked:
        return marked
    pieces = _WITH_PARTS.split(marked)  # terms and parts in turn
    parts = dict.fromkeys(_PARTS.join(dict.fromkeys(pieces[1::2])).split(_PARTS))
    part_terms = chain.from_iterable(map(word_terms, parts))
    return " ".join(("".join(pieces[::2]), *(sign + term for term in part_terms)))


class _Words(dict[bytes, bytes]):
    """The terms and marks of words in UTF-8. A word has no ASCII character but letters and digits.

    The native splitter ends a term at each ASCII character that is neither, so it finds the same
    terms in a word alone as in its text.
    """

    def __missing__(self, word: bytes) -> bytes:
        text = word.decode()
        if len(word) < MAX_TERM_BYTES and word.isalpha() and word.islower():
            [marked] = analyzer().analyze(text)  # plain letters: the most frequent case
        else:
            marked = " ".join(_terms(text))
            if _ENDS_IN_VERSION.search(text):
                marked += _VERSION_MARK
            if not word.islower():
                marked = "".join((marked, *(f"{_PARTS}{part}" for part in camel_parts(text))))
        encoded = marked.encode()
        if len(word) <= _MAX_WORD_BYTES:
            if len(self) >= _MAX_WORDS:
                self.clear()
            self[word] = encoded
        return encoded


_WORDS = _Words()


def _terms(text: str) -> list[str]:
    if 4 * len(text) < MAX_TERM_BYTES or len(text.encode()) < MAX_TERM_BYTES:
        return analyzer().analyze(text)
    return [
        term
        for run in _runs().analyze(text)
        for term in (
            analyzer().analyze(run) if len(run.encode()) < MAX_TERM_BYTES else (_PLACEHOLDER,)
        )
    ]


@cache
def _runs() -> TextAnalyzer:
    from tantivy import TextAnalyzerBuilder, Tokenizer

    return TextAnalyzerBuilder(Tokenizer.simple()).build()


@cache
def splitter() -> TextAnalyzer:
    """Return the native pipeline that splits the result of `index_terms` into terms."""
    from tantivy import Filter, TextAnalyzerBuilder, Tokenizer

    return (
        TextAnalyzerBuilder(Tokenizer.whitespace())
        .filter(Filter.remove_long(_PLACEHOLDER_BYTES))
        .build()
    )
