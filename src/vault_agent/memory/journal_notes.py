"""A journal as a note: its name and text, the notes that it leads to, and how it is written.

There is one note a session, and it is never written over what a person has changed. The caller has
recorded the hash before, so after a crash a note with that hash is known to be ours.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Final, NamedTuple

from vault_agent.errors import Conflict, IndexUnavailable, NotFound, VaultAgentError
from vault_agent.markdown import edit
from vault_agent.markdown import frontmatter_edit as keys
from vault_agent.memory.dialogue import SECTIONS
from vault_agent.memory.facts import may_be_remembered, type_of
from vault_agent.memory.safe_text import escaped, one_line
from vault_agent.memory.score import file_key
from vault_agent.model.link_resolver import LinkResolver
from vault_agent.model.memory import COMPLETE, INCOMPLETE
from vault_agent.model.notes import LinkKind
from vault_agent.model.writing import Right, Write
from vault_agent.store.index import lists
from vault_agent.store.index import notes as stored_notes
from vault_agent.text.words import fold_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from vault_agent.markdown.yaml_values import Json
    from vault_agent.memory.collected import Collected
    from vault_agent.memory.dialogue import Draft
    from vault_agent.memory.session_file import Session
    from vault_agent.store.index.lists import NoteFacts
    from vault_agent.vaults.open_vault import OpenVault
    from vault_agent.writing.vault_writer import VaultWriter

FOLDER: Final = "journals"
_MAX_LIST: Final = 16 << 10
"""Characters of one list of the frontmatter, all of which may have 64 KiB."""
_ID = re.compile(r"[0-9a-z]")
_TIME_ORDERED = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-.{17}")


def path_of(session_id: str, started_at: float) -> str:
    """Return the path of a session's journal: by its day, and eight characters of its ID."""
    letters = "".join(_ID.findall(session_id.lower()))
    # A UUID of version 7 begins with a time that sessions share.
    short = letters[-8:] if _TIME_ORDERED.fullmatch(session_id) else letters[:8]
    return f"{FOLDER}/{_when(started_at).date().isoformat()}-session-{short.ljust(8, '0')}.md"


def properties(
    session: Collected,
    draft: Draft,
    path: str,
    generator: str,
    incomplete: str | None,
    *,
    tags: Sequence[str],
    linked: Sequence[Related],
) -> dict[str, Json]:
    """Return the frontmatter, in the order of its fields."""
    day, _, short = path.rpartition("/")[2].removesuffix(".md").partition("-session-")
    made: dict[str, Json] = {
        "id": f"journal-{day}-{short}",
        "type": "journal",
        "title": draft.title,
        "created": stamp(session.started_at),
        "updated": stamp(session.ended_at),
        "tags": list(tags),
        "links": [note.target for note in linked],
        "files": _bounded(file.path for file in session.files),
        "project": session.project,
        "session": session.session_id,
        "agent": session.agent,
        "promoted": False,
        "status": COMPLETE if incomplete is None else INCOMPLETE,
    }
    told = session.transcript
    optional: dict[str, Json] = {
        "model": ", ".join(session.models) or None,
        "duration_minutes": session.minutes,
        "commits": _bounded(commit.id for commit in session.commits),
        "tokens_in": told.tokens_in,
        "tokens_out": told.tokens_out,
        "generator": generator,
        "incomplete_reason": incomplete,
    }
    return made | {name: value for name, value in optional.items() if value not in (None, [])}


def body(draft: Draft, linked: Sequence[Related]) -> str:
    """Return the Markdown of a journal after its frontmatter."""
    parts = [f"# {escaped(draft.title)}"]
    for section in SECTIONS:
        text = draft.sections.get(section, "").strip("\n")
        if text.strip():
            parts.append(f"## {section}\n{text}")
    if linked:
        lines = ["## Related"]
        for link in linked:
            label = f"|{link.title}" if link.title else ""
            lines.append(f"- [[{link.target}{label}]] — {link.why}")
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def stamp(seconds: float) -> str:
    """Return a time in UTC as frontmatter has it. A time that cannot be is the first or last."""
    return _when(seconds).isoformat(timespec="seconds").replace("+00:00", "Z")


def _when(seconds: float) -> datetime:
    return datetime.fromtimestamp(min(max(seconds, 0.0), 253_402_300_799.0), UTC)


def _bounded(values: Iterable[str]) -> list[Json]:
    kept: list[Json] = []
    size = 0
    for value in values:
        size += len(value) + 4
        if size > _MAX_LIST:
            break
        kept.append(value)
    return kept


# --- the notes that it leads to -------------------------------------------------------------------


MAX_RELATED: Final = 12
MAX_TAGS: Final = 8
_NAMED_TYPES: Final = frozenset({"decision", "pattern", "bug"})
_NOT_IN_LINKS = re.compile(r"[\[\]|#^\\\n\r]")
_WORDS = re.compile(r"\w+")
_SCOPE = re.compile(r"^[a-z]+\(([\w./-]{2,40})\)!?:", re.IGNORECASE)


class Related(NamedTuple):
    """A note to link to, and why. `target` is what stands in the link."""

    target: str
    title: str
    why: str


def related(
    vault: VaultNotes, *, own: str, files: Iterable[str], text: str, before: str
) -> list[Related]:
    """Return the notes that a journal should link to, at most 12, the modules first.

    `own` is the path of the journal itself, `text` all that it says, and `before` the time at which
    its session began: only earlier journals count.
    """
    changed = list(dict.fromkeys(map(file_key, files)))
    usable = [
        note for note in vault.notes if note.path != own and not _NOT_IN_LINKS.search(note.path)
    ]
    links: dict[str, Related] = {}

    def add(note: NoteFacts, why: str) -> None:
        target = note.path.removesuffix(".md")
        title = one_line(_NOT_IN_LINKS.sub(" ", note.title))
        links.setdefault(note.path, Related(target, title, why))

    for module in _modules([note for note in usable if type_of(note) == "module"], changed):
        add(module, "module that was changed")
    said = f" {' '.join(_WORDS.findall(fold_words(text)))} "
    for note in usable:
        kind = type_of(note)
        if kind in _NAMED_TYPES and _is_named((note.title, *vault.aliases[note.path]), said):
            add(note, f"{kind} that is mentioned")
    earlier = [
        note
        for note in usable
        if type_of(note) == "journal"
        and note.updated < before
        and not set(map(file_key, note.files)).isdisjoint(changed)
    ]
    if earlier:
        add(max(earlier, key=lambda note: (note.updated, note.path)), "earlier session")
    return list(links.values())[:MAX_RELATED]


def tags_of(
    notes: Sequence[NoteFacts], linked: Iterable[Related], *, title: str, subjects: Iterable[str]
) -> list[str]:
    """Return tags: the names of changed modules, scopes of commits, and known tags in the title."""
    modules = {note.path.removesuffix(".md") for note in notes if type_of(note) == "module"}
    tags: dict[str, None] = {}
    for link in linked:
        if link.target in modules:
            tags.setdefault(link.target.rpartition("/")[2].lower())
    for subject in subjects:
        scope = _SCOPE.match(subject)
        if scope is not None:
            tags.setdefault(scope[1].lower())
    known_tags: Mapping[str, str] = {fold_words(tag): tag for note in notes for tag in note.tags}
    for word in _WORDS.findall(fold_words(title)):
        if word in known_tags:
            tags.setdefault(known_tags[word])
    usable = (re.sub(r"[^\w/-]+", "-", tag).strip("-/") for tag in tags)
    return list(dict.fromkeys(tag for tag in usable if tag and not tag.isdecimal()))[:MAX_TAGS]


def _modules(modules: Sequence[NoteFacts], changed: Sequence[str]) -> list[NoteFacts]:
    """Return the modules with a changed file, or with the longest folder of one."""
    by_file: dict[str, list[NoteFacts]] = {}
    for module in modules:
        for file in module.files:
            by_file.setdefault(file_key(file).rstrip("/"), []).append(module)
    hits: dict[str, int] = {}
    named: dict[str, NoteFacts] = {}
    for path in changed:
        place = path
        while place and place not in by_file:
            place = place.rpartition("/")[0]
        for module in by_file.get(place, ()):
            hits[module.path] = hits.get(module.path, 0) + 1
            named[module.path] = module
    return sorted(named.values(), key=lambda module: (-hits[module.path], module.path))


def _is_named(names: Iterable[str], said: str) -> bool:
    for name in names:
        words = _WORDS.findall(fold_words(name))
        if len(words) > 1 and f" {' '.join(words)} " in said:
            return True
    return False


class VaultNotes(NamedTuple):
    """The notes of a vault that a journal may link to, and the aliases of each path."""

    notes: Sequence[NoteFacts]
    aliases: Mapping[str, Sequence[str]]
    is_known: Callable[[str], bool]


async def notes_of(vault: OpenVault) -> VaultNotes:
    """Return the notes of a vault.

    Raises:
        IndexUnavailable: if there is no index, or it cannot be read.
    """
    async with vault.reader.snapshot() as snapshot:
        rows = await snapshot.read(lists.read_facts)
        names = dict(await snapshot.read(stored_notes.names))
    resolver = LinkResolver(names.items())
    notes = [row for row in rows if may_be_remembered(row)]
    aliases = {row.path: [*filter(str.isprintable, names.get(row.path, ()))] for row in notes}

    def is_known(target: str) -> bool:
        return resolver.resolve("", target, LinkKind.WIKILINK).is_note

    return VaultNotes(notes, aliases, is_known)


# --- writing --------------------------------------------------------------------------------------


_CREATE = Write(operation="journal", right=Right.CREATE, by_server=True, wait_ms=0)
_EDIT = Write(operation="journal", right=Right.EDIT, by_server=True, wait_ms=0)
_WRITTEN = frozenset({COMPLETE, INCOMPLETE})


class JournalEdited(Exception):
    """The note of a journal is not as we wrote it. It is at `path`, or gone."""

    def __init__(self, path: str | None) -> None:
        super().__init__()
        self.path = path


async def place_for_journal(vault: OpenVault, session: Session, started_at: float) -> str:
    """Return the path of a session's journal: as it was, else one that is free.

    Raises:
        VaultAgentError: as writes do.
    """
    if session.journal is not None and session.journal.path is not None:
        return session.journal.path
    path = path_of(session.session_id, started_at)
    writer = vault.write_access.server_writer
    await writer.ready()
    note = await _read(writer, path)
    if note is None or _session_of(note) == session.session_id:
        return path
    # Another session's first eight characters are the same.
    short = sha256(session.session_id.encode()).hexdigest()[:8]
    return f"{path.rpartition('-')[0]}-{short}.md"


async def put_journal(
    vault: OpenVault,
    session: Session,
    path: str,
    note: bytes,
) -> None:
    """Write the journal of a session at a path.

    Raises:
        JournalEdited: if a person has changed, moved or deleted it.
        VaultAgentError: as writes do.
    """
    writer = vault.write_access.server_writer
    await writer.ready()
    ours = session.journal.hashes if session.journal is not None else frozenset()
    current = await _read(writer, path)
    if current is None:
        elsewhere = await _indexed(vault, session.session_id)
        was_written = session.journal is not None and session.journal.state in _WRITTEN
        if was_written or elsewhere not in {None, path}:
            raise JournalEdited(elsewhere)  # moved or deleted
        with suppress(Conflict):
            await writer.create(path, _CREATE, note)
            return
        current = await _read(writer, path)
    if current == note:
        return
    digest = sha256(current or b"").hexdigest()
    if current is None or digest not in ours:
        raise JournalEdited(path)
    text = note.decode()
    try:
        await writer.edit(
            path,
            replace(_EDIT, expected_hash=digest, hash_required=True),
            lambda before: edit.overwrite(before, text),
        )
    except Conflict as error:
        if error.code == "HASH_MISMATCH":
            raise JournalEdited(path) from None
        raise


async def _read(writer: VaultWriter, path: str) -> bytes | None:
    try:
        return await writer.read(path, _EDIT)
    except NotFound:
        return None


async def _indexed(vault: OpenVault, session_id: str) -> str | None:
    """Return where the index knows the journal of a session, or None."""
    try:
        async with vault.reader.snapshot() as snapshot:
            rows = await snapshot.read(lists.read_facts)
    except IndexUnavailable:
        return None
    journals = (row for row in rows if type_of(row) == "journal")
    return next((row.path for row in journals if row.session == session_id), None)


def _session_of(note: bytes) -> object:
    try:
        return keys.read_keys(note).get("session")
    except VaultAgentError:
        return None
