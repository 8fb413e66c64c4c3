"""Mentions of a note: places that name it without a link."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from vault_agent.markdown import links as markup
from vault_agent.markdown.document import Document
from vault_agent.markdown.lines import with_line_ends
from vault_agent.model.graph import Listed, Mention, Place
from vault_agent.model.identifiers import CHUNK_BITS
from vault_agent.model.warning import Warning
from vault_agent.search.resolve import named_note
from vault_agent.search.snippet import snippet_around
from vault_agent.store.index import links as stored_links
from vault_agent.store.index import notes as stored_notes
from vault_agent.text.names import fold, stem
from vault_agent.text.placeholders import has_placeholder
from vault_agent.text.terms import folded_words, sequence

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from vault_agent.store.current import Snapshot
    from vault_agent.store.database import Connection
    from vault_agent.store.fulltext.reader import FulltextReader
    from vault_agent.store.index.notes import StoredChunk, StoredNote


Words: TypeAlias = tuple[str, ...]

LEAST_CHARACTERS = 3
LEAST_UNSPACED_CHARACTERS = 2

# Spaces, hyphens and one line end between two words of a name count as one space.
_SPACE = re.compile(r"[ \t\u00a0\u202f-]*\n?[ \t>\u00a0\u202f-]*")
# A mention need not have the quotes and the sentence end that a name has.
_QUOTES = "\"'“”‘’«»„"
_ENDS = _QUOTES + ".!?…"
_LINE = re.compile(r"[^\n]+")
# A word that is joined with one of these characters is part of a path, an address or another word.
_JOINS_BEFORE = frozenset("/\\@#_=&$-.~:")
_JOINS_AFTER = frozenset("/\\@_=-.:")


class Name(NamedTuple):
    """A name as folded words, and the characters between, before and after them."""

    words: Words
    gaps: tuple[str, ...]
    before: str = ""
    after: str = ""


def name_of(text: str) -> Name | None:
    """Return a name to look for, or None if it is too short, only digits or a placeholder."""
    if has_placeholder(text):  # the title of a template
        return None
    words = list(folded_words(text))
    folded = tuple(word for word, _, _ in words)
    least = LEAST_CHARACTERS if text.isascii() else LEAST_UNSPACED_CHARACTERS
    if not any(_is_unspaced(word) for word in folded):
        least = LEAST_CHARACTERS
    if len("".join(folded)) < least or all(word.isdigit() for word in folded):
        return None
    gaps = (text[one[2] : other[1]] for one, other in pairwise(words))
    before, after = text[: words[0][1]].strip(), text[words[-1][2] :].strip()
    return Name(folded, tuple(map(_gap, gaps)), before.strip(_QUOTES), after.strip(_ENDS))


class MentionFinder:
    """Finds the names of one note in texts."""

    def __init__(self, names: Iterable[Name], longer: Iterable[Words]) -> None:
        """Take the names to find, and names of other notes, some of which contain one of them."""
        # Longer names first: if two names overlap in a text, the longer one counts.
        self._names = sorted(set(names), key=lambda name: -len(name.words))
        self._first = {name.words[0] for name in self._names}
        self._longest = max((len(name.words) for name in self._names), default=0)
        self._longer: dict[tuple[int, int], set[Words]] = {}  # by length and offset of the name
        for words in longer:
            for name in self._names:
                for offset in _offsets(name.words, words):
                    self._longer.setdefault((len(words), offset), set()).add(words)

    def find(self, text: str) -> list[tuple[int, int]]:
        """Return the ranges of the names in a text, in order and without overlap.

        A name counts if it consists of whole words of the text, and is not part of a longer name.
        """
        ranges: list[tuple[int, int]] = []
        for line in _LINE.finditer(text):
            folded = _folded(line[0])
            if not any(word in folded for word in self._first):
                continue  # splitting a line into words takes longer
            done = ranges[-1][1] if ranges else 0
            ranges += self._in_line(text, *line.span(), done)
        return ranges

    def _in_line(self, text: str, start: int, end: int, done: int) -> list[tuple[int, int]]:
        """Return the ranges that begin in a line, from `done` on. They may end in the next line."""
        if self._longest > 1:
            following = text.find("\n", end + 1)
            window = text[start : following if following >= 0 else None]
        else:
            window = text[start:end]
        words = [(word, start + first, start + last) for word, first, last in folded_words(window)]
        folded = [word for word, _, _ in words]
        places = []
        for index, (word, first, _) in enumerate(words):
            if first >= end:
                break
            if first < done or word not in self._first:
                continue
            for name in self._names:
                if tuple(folded[index : index + len(name.words)]) != name.words:
                    continue
                run = words[index : index + len(name.words)]
                place = first, run[-1][2]
                if self._is_name(text, place, run, name) and not self._is_inside(folded, index):
                    places.append(place)
                    done = place[1]
                    break
        return places

    def _is_name(
        self, text: str, place: tuple[int, int], run: list[tuple[str, int, int]], name: Name
    ) -> bool:
        """Whether a run of words is written as the name is."""
        start, end = place
        gaps = (_gap(text[one[2] : other[1]]) for one, other in pairwise(run))
        return (
            tuple(gaps) == name.gaps
            and text.endswith(name.before, 0, start)
            and text.startswith(name.after, end)
            and not _is_joined(text, start - len(name.before), end + len(name.after), name)
        )

    def _is_inside(self, folded: list[str], index: int) -> bool:
        return any(
            index >= offset and tuple(folded[index - offset : index - offset + length]) in names
            for (length, offset), names in self._longer.items()
        )


def _offsets(name: Words, longer: Words) -> list[int]:
    """Return where a name begins in a longer one."""
    last = len(longer) - len(name)
    if last <= 0:
        return []
    return [at for at in range(last + 1) if longer[at : at + len(name)] == name]


def _folded(text: str) -> str:
    """Return a text that contains every folded word of `text`."""
    if text.isascii():
        return text.lower()
    return " ".join(word for word, _, _ in folded_words(text))


def _gap(between: str) -> str:
    return " " if between and _SPACE.fullmatch(between) else between.strip()


def _is_unspaced(word: str) -> bool:
    return not word.isascii() and len(word) <= 2 and next(folded_words(word * 2))[0] == word


def _is_joined(text: str, start: int, end: int, name: Name) -> bool:
    """Whether a range is part of a path, an address or a compound word."""
    before, after = text[start - 1 : start], text[end : end + 1]
    if _is_unspaced(name.words[0]) and _is_unspaced(name.words[-1]):
        return before in {"/", "#", "@"} or after in {"/", "@"}
    if before in _JOINS_BEFORE and (before not in ".:-" or _is_word(text[start - 2 : start - 1])):
        return True
    return after in _JOINS_AFTER and (after not in ".:-" or _is_word(text[end + 1 : end + 2]))


def _is_word(character: str) -> bool:
    return character.isalnum() or character in {"_", "/"}


MAX_NAMES = 50
MAX_READ = 200
"""The most notes whose text is read for one request."""
MAX_READ_CHUNKS = 5_000
COMMON_SHARE = 0.05
COMMON_NOTES = 20
"""A name in more notes than both of these is a common word, not a mention."""
_LONGER_NAMES = 1_000
_PLACES = 3
_MAX_SHOWN_NAME = 100

_ADDRESS = re.compile(
    r"[A-Za-z][A-Za-z0-9+.\-]{1,20}://[^\s<>\"]{1,2000}|www\.[^\s<>\"]{1,2000}"
    r"|[A-Za-z0-9._%+\-]{1,64}@[A-Za-z0-9.\-]{1,255}"
)
_HTML_LINK = re.compile(r"<a\b[^<>]{0,2000}>[^<]{0,2000}</a>", re.IGNORECASE)
_DEFINITION = re.compile(r"^[ \t>]*\[[^\]\n]{1,999}\]:[^\n]*", re.MULTILINE)


async def mentions(
    snapshot: Snapshot,
    note_id: str,
    *,
    limit: int,
    linked: bool,
) -> Listed[Mention]:
    """Return the notes that name a note without a link, the one with the most mentions first.

    With `linked`, notes that also link to the note are included.

    Raises:
        InvalidRequest: `INVALID_ID`.
        NotFound: `NOTE_NOT_FOUND`.
    """

    def named(connection: Connection) -> tuple[StoredNote, set[int]]:
        note = named_note(connection, note_id)
        return note, stored_links.linking_rowids(connection, note.handle)

    note, linking = await snapshot.read_unchanged(named)
    names, skipped = _names(note)
    search = await snapshot.threads.run(_search, snapshot.fulltext, names)
    excluded = {note.rowid} if linked else {note.rowid, *linking}
    wanted = [rowid for rowid in search.rowids if rowid not in excluded]
    read = wanted[:MAX_READ]

    def find(connection: Connection) -> tuple[list[Mention], int]:
        notes = stored_notes.by_rowid(connection, read)
        others = stored_notes.by_rowid(connection, search.similar - {note.rowid})
        keys = [
            rowid << CHUNK_BITS | index
            for rowid in read
            for index in range(notes[rowid].chunk_count)
        ]
        chunks = stored_notes.chunks(connection, keys[:MAX_READ_CHUNKS]).values()
        finder = MentionFinder((name for name, _ in search.names), _words(others.values()))
        return _find(finder, notes, chunks, linking), len(keys)

    mentions, chunk_count = await snapshot.read_unchanged(find)
    skipped += search.common
    limited = len(wanted) > len(read) or chunk_count > MAX_READ_CHUNKS
    warnings = (_limited(skipped, len(wanted), len(read)),) if skipped or limited else ()
    return Listed(
        snapshot.revision,
        tuple(mentions[:limit]),
        ((),) * min(limit, len(mentions)),
        more=len(mentions) > limit,
        total=len(mentions),
        warnings=warnings,
    )


class _Searched(NamedTuple):
    """The names to look for with their texts, and the notes that have them by the full text."""

    names: list[tuple[Name, str]]
    rowids: list[int]  # notes with one of the names, the best first
    similar: set[int]  # notes that have a name which contains one of the names
    common: list[str]  # names that are too common


def _names(note: StoredNote) -> tuple[list[tuple[Name, str]], list[str]]:
    """Return the names of a note to look for, and those that are too short or too many."""
    texts = {fold(text): text for text in reversed((note.title, stem(note.path), *note.aliases))}
    kept: list[tuple[Name, str]] = []
    skipped: list[str] = []
    for text in reversed(texts.values()):
        name = name_of(text)
        if name is None or len(kept) == MAX_NAMES:
            skipped.append(text)
        else:
            kept.append((name, text))
    return kept, skipped


def _search(fulltext: FulltextReader, names: Sequence[tuple[Name, str]]) -> _Searched:
    common = max(COMMON_NOTES, int(COMMON_SHARE * fulltext.note_count))
    kept, rowids, similar, skipped = [], dict[int, None](), set[int](), []
    for name, text in names:
        phrase = sequence(text)
        if not phrase:
            continue
        count, best = fulltext.notes_with(phrase, common)
        if count > common:
            skipped.append(text)
            continue
        kept.append((name, text))
        rowids.update(dict.fromkeys(best))
        similar.update(fulltext.notes_named_with(phrase, _LONGER_NAMES))
    return _Searched(kept, list(rowids), similar, skipped)


def _words(notes: Iterable[StoredNote]) -> set[Words]:
    """Return the names of notes as words."""
    texts = {text for note in notes for text in (note.title, stem(note.path), *note.aliases)}
    return {tuple(word for word, _, _ in folded_words(text)) for text in texts}


def _find(
    finder: MentionFinder,
    notes: dict[int, StoredNote],
    chunks: Iterable[StoredChunk],
    linking: set[int],
) -> list[Mention]:
    """Return the mentions in the text of notes. Call it in a thread."""
    by_note: dict[int, list[StoredChunk]] = {}
    for chunk in sorted(chunks):
        by_note.setdefault(chunk.key >> CHUNK_BITS, []).append(chunk)
    mentions = []
    for rowid, parts in by_note.items():
        body = with_line_ends("".join(part.text for part in parts))
        ranges = finder.find(body) and finder.find(_readable(body))
        if not ranges:
            continue
        note = notes[rowid]
        ends = list(accumulate(len(part.text) for part in parts))
        places = tuple(_place(parts, ends, body, span) for span in ranges[:_PLACES])
        mentions.append(
            Mention(note.id, note.path, note.title, len(ranges), places, rowid in linking)
        )
    return sorted(mentions, key=lambda mention: (-mention.count, mention.path))


def _readable(body: str) -> str:
    """Return a body with everything masked that is not prose. Offsets do not change."""
    document = Document.of_body(body)
    structure, masked = document.structure, document.masked
    _, wikilinks = markup.wikilinks(body, masked)
    others = [
        *((link.start, link.end) for link in (*structure.links, *structure.autolinks)),
        *(match.span() for form in (_ADDRESS, _DEFINITION) for match in form.finditer(masked)),
        *(match.span() for match in _HTML_LINK.finditer(body)),
    ]
    return markup.mask(masked, sorted([*wikilinks, *others]))


def _place(
    parts: Sequence[StoredChunk], ends: Sequence[int], body: str, span: tuple[int, int]
) -> Place:
    start, end = span
    index = min(bisect_right(ends, start), len(parts) - 1)
    chunk, before = parts[index], ends[index - 1] if index else 0
    line = parts[0].start_line + body.count("\n", 0, start)
    excerpt = snippet_around(chunk.text, start - before, min(end - before, len(chunk.text)))
    heading = chunk.heading_path[-1] if chunk.heading_path else None
    return Place(line, heading, chunk.key & ((1 << CHUNK_BITS) - 1), excerpt.text, excerpt.matches)


def _limited(skipped: Sequence[str], candidates: int, read: int) -> Warning:
    what = []
    if skipped:
        what.append("Some names of the note are too short or too common, and were not looked for.")
    if read < candidates:
        what.append(f"Only {read:,} of {candidates:,} notes with its names were read.")
    return Warning.of(
        "MENTIONS_LIMITED",
        " ".join(what),
        {
            "skippedNames": [name[:_MAX_SHOWN_NAME] for name in skipped[:10]],
            "candidates": candidates,
            "read": read,
        },
    )
