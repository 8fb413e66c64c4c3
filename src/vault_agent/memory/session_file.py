"""A session of an agent: a pure fold of the lines of its file, and the store of all these files.

What an agent's hooks tell is a line each, and so is what the session was given and what became of
its journal. Nothing else is kept of a session, so the lines alone decide what follows.
"""

from __future__ import annotations

import os
import stat
from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from vault_agent.errors import NotFound
from vault_agent.memory.events import (
    FOLDER,
    append_line,
    from_line,
    name_of,
    read_lines,
    remove_files,
    remove_old,
    session_paths,
    to_line,
)
from vault_agent.model.memory import (
    EDITED,
    FAILED,
    MANUAL,
    WAITING,
    ChosenNote,
    Delivery,
    RecalledNote,
    RecallSignals,
)
from vault_agent.model.sessions import COMPACT, END, PROMPT, START
from vault_agent.store.failures import disk_failed, system_failure
from vault_agent.system.cancelling import in_thread

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from vault_agent.model.memory import Address
    from vault_agent.model.sessions import SessionEvent

GIVEN, ADDED, SECTIONS, WANTED, JOURNAL = (
    "given", "added", "sections", "wanted", "journal",
)  # fmt: skip
"""The lines besides events: what the session was given, a note that a person adds, sections that
the agent has written, the wish for a journal, and what became of it."""

SAME_SECONDS: Final = 3.0
"""Equal events that are no further apart are one: an agent may call several hooks for it."""
RESUME: Final = "resume"
"""The source of a start after which the agent still has what it got."""
WAITS: Final = (60.0, 300.0, 1_800.0, 7_200.0, 21_600.0)
"""Seconds until a journal is tried again; after the last of them always so many."""
RETRY_SECONDS: Final = 7 * 86_400.0
"""After this time a journal that fails is tried no more."""


class Words(NamedTuple):
    """What was said at a moment: a prompt of the person, or the agent's last message of a turn."""

    at: float
    text: str
    by_person: bool


class Sections(NamedTuple):
    """What an agent has written of its own session, and when."""

    at: float
    title: str | None
    sections: Mapping[str, str]


class JournalState(NamedTuple):
    """What became of a session's journal. `through` is the last event that it tells of.

    `hashes` are those of all that we wrote at `path` or were about to write.
    """

    at: float
    state: str
    reason: str | None = None
    title: str | None = None
    path: str | None = None
    hashes: frozenset[str] = frozenset()
    generator: str | None = None
    through: float = 0.0
    attempts: int = 0

    @property
    def is_written(self) -> bool:
        """Whether there is a note."""
        return bool(self.hashes) and self.path is not None


@dataclass(frozen=True, slots=True)
class Session:
    """A session. Times are seconds since 1970.

    `vault` is the identity of the vault of the project in which it started, and `start_commit` the
    commit that was checked out then. `since` is when the agent's context began: what it was given
    before that is gone.
    """

    session_id: str
    agent: str
    vault: str
    cwd: str
    started_at: float
    last_event_at: float
    ended_at: float | None = None
    model: str | None = None
    transcript_path: str | None = None
    title: str | None = None
    start_commit: str | None = None
    words: tuple[Words, ...] = ()
    since: float = 0.0
    deliveries: tuple[Delivery, ...] = ()
    added: tuple[ChosenNote, ...] = ()
    sections: Sections | None = None
    wanted_at: float = 0.0
    journal: JournalState | None = None
    recent: tuple[tuple[float, tuple[object, ...]], ...] = field(default=(), repr=False)

    @property
    def prompts(self) -> int:
        """The number of prompts that a person wrote."""
        return sum(words.by_person for words in self.words)

    @property
    def _in_context(self) -> list[Delivery]:
        return [delivery for delivery in self.deliveries if delivery.at >= self.since]

    @property
    def had(self) -> dict[Address, RecalledNote]:
        """The notes that the agent has, as it last got each of them."""
        return {note.address: note for delivery in self._in_context for note in delivery.notes}

    @property
    def pinned(self) -> tuple[Address, ...]:
        """The notes that come first at the next event."""
        return tuple(
            note.address
            for note in self.added
            if not any(
                delivery.at >= note.at
                and any(got.address == note.address for got in delivery.notes)
                for delivery in self.deliveries
            )
        )

    @property
    def tokens_unasked(self) -> int:
        """The tokens that the agent has and did not ask for."""
        return sum(delivery.tokens for delivery in self._in_context if delivery.event != MANUAL)

    @property
    def lacks_start(self) -> bool:
        """Whether the agent has not got what its start brings: no server answered in time."""
        return self.since > 0 and all(delivery.event != START for delivery in self._in_context)

    @property
    def had_prompt(self) -> bool:
        """Whether a prompt has brought notes."""
        return any(delivery.event == PROMPT and delivery.notes for delivery in self.deliveries)


def fold(lines: Iterable[Mapping[str, Any]]) -> Session | None:
    """Return the session of the lines of a file, or None if no event is among them."""
    session: Session | None = None
    for line in lines:
        kind = line.get("event")
        if kind in _FOLDS:
            if session is not None:
                session = _FOLDS[kind](session, line)
            continue
        event = from_line(line)
        if event is not None and not (session is not None and has_event(session, event)):
            session = after(session, event)
    return session


def has_event(session: Session, event: SessionEvent) -> bool:
    """Whether a session has this event already, told by another hook at the same moment."""
    same = same_event(event)
    return any(other == same and abs(at - event.at) <= SAME_SECONDS for at, other in session.recent)


def after(session: Session | None, event: SessionEvent) -> Session:
    """Return a session after an event. A start or a prompt after an end reopens it."""
    if session is None:
        session = Session(event.session_id, event.agent, event.vault, event.cwd, event.at, event.at)
    ended = session.ended_at
    if event.event == END:
        ended = event.at
    elif event.event in {START, PROMPT} and (ended is None or event.at > ended):
        ended = None
    words = list(session.words)
    if event.prompt:
        words.append(Words(event.at, event.prompt, by_person=True))
    if event.last_message:
        words.append(Words(event.at, event.last_message, by_person=False))
    is_new_context = event.event == COMPACT or (event.event == START and event.source != RESUME)
    earliest = session.start_commit is None or event.at < session.started_at
    return replace(
        session,
        started_at=min(session.started_at, event.at),
        last_event_at=max(session.last_event_at, event.at),
        ended_at=ended,
        model=event.model or session.model,
        transcript_path=event.transcript_path or session.transcript_path,
        title=event.title or session.title,
        start_commit=event.commit if event.commit and earliest else session.start_commit,
        words=tuple(words),
        since=max(session.since, event.at) if is_new_context else session.since,
        recent=(*session.recent[-7:], (event.at, same_event(event))),
    )


def is_due(session: Session, now: float, *, quiet_since: float, idle_seconds: float) -> bool:
    """Whether a session's journal is to be written now.

    `quiet_since` is when it was last seen at work, by its events or its transcript. A session that
    says nothing for `idle_seconds` has ended.
    """
    journal = session.journal
    at = journal.at if journal is not None else 0.0
    if journal is not None and journal.reason == EDITED:
        return False
    if session.wanted_at > at or (session.sections is not None and session.sections.at > at):
        return True
    if session.ended_at is None and now - quiet_since < idle_seconds:
        return False
    if journal is None or journal.through < session.last_event_at:
        return True
    if journal.state == FAILED or journal.reason in WAITING:
        wait = WAITS[min(journal.attempts, len(WAITS)) - 1] if journal.attempts else 0.0
        return now - at >= wait and now - journal.through < RETRY_SECONDS
    return False


# --- lines --------------------------------------------------------------------------------------


def given_line(delivery: Delivery) -> dict[str, Any]:
    """Return the line of what a session was given."""
    line = asdict(delivery)
    kind = line.pop("event")
    return {"event": GIVEN, "for": kind, **line}


def journal_line(journal: JournalState) -> dict[str, Any]:
    """Return the line of what became of a journal."""
    return {"event": JOURNAL, **journal._asdict(), "hashes": sorted(journal.hashes)}


def _given(session: Session, line: Mapping[str, Any]) -> Session:
    values = {name: line[name] for name in _DELIVERY & line.keys()}
    signals = line["signals"]
    values["signals"] = RecallSignals(
        tuple(signals["files"]), tuple(signals["tags"]), signals["prompt"]
    )
    for name in ("notes", "left_out"):
        values[name] = tuple(map(_note, line[name]))
    delivery = Delivery(event=line["for"], **values)
    return replace(session, deliveries=(*session.deliveries, delivery))


def _note(value: Mapping[str, Any]) -> RecalledNote:
    values = {name: value[name] for name in _NOTE & value.keys()}
    return RecalledNote(**{**values, "reasons": tuple(value["reasons"])})


def _added(session: Session, line: Mapping[str, Any]) -> Session:
    note = ChosenNote(line["vault"], line["note_id"], line["title"], line["path"], at=line["at"])
    others = (other for other in session.added if other.address != note.address)
    return replace(session, added=(*others, note))


def _sections(session: Session, line: Mapping[str, Any]) -> Session:
    return replace(session, sections=Sections(line["at"], line["title"], line["sections"]))


def _wanted(session: Session, line: Mapping[str, Any]) -> Session:
    return replace(session, wanted_at=line["at"])


def _journal(session: Session, line: Mapping[str, Any]) -> Session:
    values = {name: line[name] for name in JournalState._fields if name in line}
    return replace(session, journal=JournalState(**{**values, "hashes": frozenset(line["hashes"])}))


_FOLDS: Final = {
    GIVEN: _given,
    ADDED: _added,
    SECTIONS: _sections,
    WANTED: _wanted,
    JOURNAL: _journal,
}
_DELIVERY: Final = {field.name for field in fields(Delivery)} - {"event"}
_NOTE: Final = {field.name for field in fields(RecalledNote)}


def same_event(event: SessionEvent) -> tuple[object, ...]:
    """Return what makes an event the same as another, without its time."""
    return (event.event, event.source, event.reason, event.prompt, event.last_message)


# --- the sessions of a data folder ----------------------------------------------------------------


class SessionStore:
    """Reads and appends lines of sessions. Every method may raise `DISK_FULL`, `INDEX_IO_ERROR`."""

    def __init__(self, data: Path) -> None:
        """Take the folder of the user's data."""
        self._data = data
        self._read: dict[Path, tuple[tuple[int, int], Session | None]] = {}

    async def sessions(self, vault: str | None = None) -> tuple[Session, ...]:
        """Return the sessions, of one vault or of all, the one with the latest event first."""
        sessions = await in_thread(self._all)
        return tuple(session for session in sessions if vault in {None, session.vault})

    async def get(self, session_id: str) -> Session | None:
        """Return one session, or None."""
        return next(
            (session for session in await in_thread(self._all) if session.session_id == session_id),
            None,
        )

    async def require(self, session_id: str) -> Session:
        """Return one session.

        Raises:
            NotFound: `SESSION_NOT_FOUND`.
        """
        session = await self.get(session_id)
        if session is None:
            raise NotFound("SESSION_NOT_FOUND", "Nothing is known about this session.")
        return session

    async def take(self, event: SessionEvent) -> Session:
        """Return the session of an event.

        The hook has appended it already. The events of others are appended now.
        """
        return await in_thread(self._take, event)

    async def append(self, session: Session, line: Mapping[str, Any]) -> Session:
        """Append a line to a session, and return the session after it."""
        return await in_thread(self._append, session, line)

    async def forget(self, sessions: Iterable[Session]) -> int:
        """Remove the files of sessions, and return how many there were."""
        paths = [self._path(session.agent, session.session_id) for session in sessions]
        return await in_thread(remove_files, paths)

    async def forget_older(self, days: float) -> None:
        """Remove the files to which nothing was added for so many days."""
        await in_thread(remove_old, self._data, days)

    def quiet_since(self, session: Session) -> float:
        """Return when a session was last seen at work, by its events and its transcript."""
        return max(session.last_event_at, _changed_at(session.transcript_path))

    def _take(self, event: SessionEvent) -> Session:
        path = self._path(event.agent, event.session_id)
        session = self._session(path)
        if session is None or not has_event(session, event):
            self._write(event.agent, event.session_id, to_line(event))
            session = self._session(path)
        assert session is not None  # noqa: S101 - it has this event
        return session

    def _append(self, session: Session, line: Mapping[str, Any]) -> Session:
        self._write(session.agent, session.session_id, line)
        return self._session(self._path(session.agent, session.session_id)) or session

    def _write(self, agent: str, session_id: str, line: Mapping[str, Any]) -> None:
        try:
            append_line(self._data, agent, session_id, line)
        except OSError as error:
            raise (system_failure(error.errno) or disk_failed(str(error.strerror))) from None

    def _all(self) -> list[Session]:
        paths = session_paths(self._data)
        for gone in self._read.keys() - set(paths):
            del self._read[gone]
        sessions = [session for path in paths if (session := self._session(path)) is not None]
        return sorted(
            sessions, key=lambda session: (session.last_event_at, session.session_id), reverse=True
        )

    def _session(self, path: Path) -> Session | None:
        try:
            state = path.stat()
            version = (state.st_mtime_ns, state.st_size)
            kept = self._read.get(path)
            if kept is None or kept[0] != version:
                kept = version, fold(read_lines(path))
                self._read[path] = kept
        except OSError:
            return None
        return kept[1]

    def _path(self, agent: str, session_id: str) -> Path:
        return self._data / FOLDER / name_of(agent, session_id)


def _changed_at(path: str | None) -> float:
    """Return when a transcript changed, or 0. It is not opened."""
    if path is None or "\0" in path:
        return 0.0
    try:
        state = os.lstat(path)
    except OSError:
        return 0.0
    return state.st_mtime if stat.S_ISREG(state.st_mode) else 0.0
