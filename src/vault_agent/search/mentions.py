"""Mentions of a note: places that name it without a link."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from vault_agent.markdown import links as markup
from vault_agent.markdown.document import Document
from vault_agent.markdown.lines import with_line_ends
from vault_agent.model.graph import Listed, Mention, Place
from vault_agent.model.identifiers import CHUNK_BITS
from vault_agent.model.scope import EVERYTHING
from vault_agent.model.warning import Warning
from vault_agent.ranking.mentions import Mentions, Name, Words, name_of
from vault_agent.ranking.snippet import snippet_around
from vault_agent.search.named import named_note
from vault_agent.store.index import links as reading
from vault_agent.store.index import notes as notes_reading
from vault_agent.text.names import fold, stem
from vault_agent.text.terms import folded_words, sequence

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from vault_agent.store.current import Snapshot
    from vault_agent.store.database import Connection
    from vault_agent.store.fulltext.reader import FulltextReader
    from vault_agent.store.index.notes import StoredChunk, StoredNote

MAX_NAMES = 50
MAX_READ = 200
"""Notes whose text is read for one request."""
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
    """Return the notes that name a note without a link: those that do most often first.

    With `linked`, notes that also link to it are included.

    Raises:
        InvalidRequest: `INVALID_ID`.
        NotFound: `NOTE_NOT_FOUND`.
    """

    def named(connection: Connection) -> tuple[StoredNote, set[int]]:
        note = named_note(connection, note_id)
        return note, reading.linking_rowids(connection, note.handle)

    note, linking = await snapshot.read_unchanged(named)
    names, skipped = _names(note)
    search = await snapshot.threads.run(_search, snapshot.fulltext, names)
    excluded = {note.rowid} if linked else {note.rowid, *linking}
    wanted = [rowid for rowid in search.rowids if rowid not in excluded]
    read = wanted[:MAX_READ]

    def find(connection: Connection) -> tuple[list[Mention], int]:
        notes = notes_reading.by_rowid(connection, read)
        others = notes_reading.by_rowid(connection, search.similar - {note.rowid})
        keys = [
            rowid << CHUNK_BITS | index
            for rowid in read
            for index in range(notes[rowid].chunk_count)
        ]
        chunks = notes_reading.chunks(connection, keys[:MAX_READ_CHUNKS]).values()
        finder = Mentions((name for name, _ in search.names), _words(others.values()))
        return _find(finder, notes, chunks, linking), len(keys)

    found, chunk_count = await snapshot.read_unchanged(find)
    skipped += search.common
    limited = len(wanted) > len(read) or chunk_count > MAX_READ_CHUNKS
    warnings = (_limited(skipped, len(wanted), len(read)),) if skipped or limited else ()
    return Listed(
        snapshot.revision,
        tuple(found[:limit]),
        ((),) * min(limit, len(found)),
        more=len(found) > limit,
        total=len(found),
        warnings=warnings,
    )


class _Searched(NamedTuple):
    """The names to look for with their texts, and what the full-text index knows about them."""

    names: list[tuple[Name, str]]
    rowids: list[int]  # notes with one of the names, the best first
    similar: set[int]  # notes that have a name which contains one of the names
    common: list[str]  # names that are too common


def _names(note: StoredNote) -> tuple[list[tuple[Name, str]], list[str]]:
    """Return the names of a note to look for, and those that are too short or too many."""
    texts = {fold(text): text for text in reversed((note.title, stem(note.path), *note.aliases))}
    found: list[tuple[Name, str]] = []
    skipped: list[str] = []
    for text in reversed(texts.values()):
        name = name_of(text)
        if name is None or len(found) == MAX_NAMES:
            skipped.append(text)
        else:
            found.append((name, text))
    return found, skipped


def _search(fulltext: FulltextReader, names: Sequence[tuple[Name, str]]) -> _Searched:
    common = max(COMMON_NOTES, int(COMMON_SHARE * fulltext.note_count(EVERYTHING)))
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
    finder: Mentions,
    notes: dict[int, StoredNote],
    chunks: Iterable[StoredChunk],
    linking: set[int],
) -> list[Mention]:
    """Return the mentions in the text of notes. Call it in a thread."""
    by_note: dict[int, list[StoredChunk]] = {}
    for chunk in sorted(chunks):
        by_note.setdefault(chunk.key >> CHUNK_BITS, []).append(chunk)
    found = []
    for rowid, parts in by_note.items():
        body = with_line_ends("".join(part.text for part in parts))
        ranges = finder.find(body) and finder.find(_readable(body))
        if not ranges:
            continue
        note = notes[rowid]
        ends = list(accumulate(len(part.text) for part in parts))
        places = tuple(_place(parts, ends, body, each) for each in ranges[:_PLACES])
        found.append(Mention(note.id, note.path, note.title, len(ranges), places, rowid in linking))
    return sorted(found, key=lambda each: (-each.count, each.path))


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
    parts: Sequence[StoredChunk], ends: Sequence[int], body: str, found: tuple[int, int]
) -> Place:
    start, end = found
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
