"""The values of memory: what is recalled, what sessions got, their journals, and promoted notes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Final, Literal, NamedTuple, TypeAlias

from vault_agent.model.fields import SessionId, Text
from vault_agent.model.modes import Mode
from vault_agent.model.sent import (
    TRIMMED,
    Between,
    Internal,
    JsonKey,
    Length,
    OneOf,
    Unreadable,
)
from vault_agent.model.sessions import PROMPT, START
from vault_agent.model.warning import Warning

Address: TypeAlias = tuple[str, str]
"""What requests call a note's vault, and its ID."""
MATCH_TYPES = ("tag", "semantic", "both")


@dataclass(frozen=True, slots=True)
class RecallQuery:
    """What a task is about. Limits that are null are those of the settings.

    `pinned` notes come first whatever they are about. `without` has the reason for each note that
    is left out. With `start`, the files of notes that were changed since the last commit are added.
    The journal of the session `session_id` is left out too. The global vault is asked only if the
    caller may see it (`with_global`).

    With `bar`, nobody has asked: a note comes only if a passage of it has enough of the prompt, the
    more the higher the bar is, and the text is an index of the notes. `cwd` is where the agent
    works, if that is known: it finds the notes as files from there.
    """

    project: Text | None = None
    """A project's name. By default the vault that the request is to."""
    prompt: Annotated[str, Length(0, 20_000)] = ""
    files: Annotated[tuple[Text, ...], Length(0, 20)] = ()
    """Paths of files, relative to the project."""
    tags: Annotated[tuple[Text, ...], Length(0, 20)] = ()
    max_notes: Annotated[int, Between(1, 20)] | None = None
    max_tokens: Annotated[int, Between(100, 2_000)] | None = None
    explain: bool = False
    """Whether to say what was left out, and why."""
    start: bool = False
    """Whether to add what a session's start looks at: the files of notes that were changed since
    the last commit."""
    session_id: SessionId | None = None
    """The session that this is for: it is logged, and what was put first in it comes first."""
    bar: Internal[float | None] = None
    pinned: Internal[tuple[Address, ...]] = ()
    without: Internal[Mapping[Address, str]] = field(default_factory=dict)
    with_global: Internal[bool] = True
    cwd: Internal[str | None] = None


@dataclass(frozen=True, slots=True)
class RecalledNote:
    """A note that is recalled, or was left out. The parts of its score are from 0 to 1."""

    vault: str
    note_id: str
    id: str | None
    path: str
    title: str
    type: str
    updated: str
    score: float
    match_type: Annotated[str, OneOf(*MATCH_TYPES)]
    tag: float
    semantic: float
    recency: float
    reasons: tuple[str, ...]
    """Such as `file:src/a.py`, `tag:x` and `words`, the best first; or `pinned`."""
    left_out: str | None = None
    """Why: relevance, empty, journals, duplicate, limit or budget; session, delivered or removed in
    a session."""
    hash: Internal[str] = ""  # of its file, as it was indexed

    @property
    def address(self) -> Address:
        """What calls the note: its vault and its ID."""
        return self.vault, self.note_id


@dataclass(frozen=True, slots=True)
class NoteQuery:
    """A search for notes by words, files or tags. `recency_days` is the usual one if it is None.

    With `alone` or a project, only the vault itself is searched, and else the global one too.
    """

    text: Annotated[str, TRIMMED, Length(0, 1000)] = ""
    files: Annotated[tuple[Text, ...], Length(0, 200)] = ()
    tags: Annotated[tuple[Text, ...], Length(0, 200)] = ()
    limit: Annotated[int, Between(1, 50)] = 5
    recency_days: Annotated[float, Between(0.001, 36_500)] | None = None
    project: Text | None = None
    """Only the notes of this project."""
    alone: bool = False
    """Whether to leave out the global vault."""

    def __post_init__(self) -> None:
        if not (self.text or self.files or self.tags):
            raise Unreadable("no_query", "must have text, files or tags")


@dataclass(frozen=True, slots=True)
class FoundNote(RecalledNote):
    """A note that was found, with the passage. `matches` are ranges of the snippet."""

    snippet: str = ""
    matches: tuple[tuple[int, int], ...] = ()
    created: str | None = None


@dataclass(frozen=True, slots=True)
class FoundNotes:
    """The notes that were found, the best first."""

    notes: tuple[FoundNote, ...]
    warnings: Internal[tuple[Warning, ...]] = ()


class RecallWeights(NamedTuple):
    """The weights of the parts of a score. Only their proportion counts."""

    tag: float = 0.4
    semantic: float = 0.4
    recency: float = 0.2


class WordMatch(NamedTuple):
    """How much of a prompt one passage has, and how much it needs for any note to be about it.

    Both are shares of the prompt's different words, each by its rarity.
    """

    share: float
    """Of the prompt's different words, each by its rarity, in the passage with most."""
    needed: float
    """The least share of a prompt that the vault is about."""

    @property
    def is_enough(self) -> bool:
        """Whether a note is about the prompt."""
        return self.share >= self.needed


@dataclass(frozen=True, slots=True)
class RecallSignals:
    """What the notes were compared with. The prompt itself is never kept."""

    files: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    prompt: bool = False
    """Whether the prompt counts: it has a subject, and a note is about it."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """The text for an agent, and the notes in it. The text is empty if nothing matters."""

    text: str
    tokens: int
    notes: tuple[RecalledNote, ...]
    left_out: tuple[RecalledNote, ...]  # only if explained
    signals: RecallSignals
    used_mode: Mode | None
    word_match: WordMatch | None
    """Null if the prompt names no subject."""
    weights: RecallWeights
    max_tokens: Internal[int] = 0  # of the text
    warnings: Internal[tuple[Warning, ...]] = ()


ShownState = Literal["pending", "incomplete", "complete", "skipped"]
"""`pending`: to be written. `incomplete`: written, but something is missing. `skipped`: there is
none."""

PENDING: Final = "pending"
COMPLETE: Final = "complete"
INCOMPLETE: Final = "incomplete"
SKIPPED: Final = "skipped"
WRITING: Final = "writing"
"""The hash of a note is recorded, and the note may be there or not."""
FAILED: Final = "failed"
"""It could not be written, and is tried again. The reason is a code."""

EDITED: Final = "edited"
"""A person has changed the note, so that it is never rewritten."""
SHORT: Final = "short"
EXCLUDED: Final = "excluded"
ASKED: Final = "asked"
"""`journal.ask` is on: it is written when a person asks for it."""
CRASH: Final = "crash"
COMMAND_FAILED: Final = "command_failed"
TRANSCRIPT_MISSING: Final = "transcript_missing"
WAITING: Final = frozenset({COMMAND_FAILED, TRANSCRIPT_MISSING})
"""The reasons of an incomplete journal that is tried again."""


@dataclass(frozen=True, slots=True)
class ShownJournal:
    """The journal of a session. Times are ISO 8601, UTC."""

    session_id: str
    agent: str
    project: str | None
    vault: str
    """What requests call the vault of the project."""
    state: ShownState
    reason: str | None
    """Why it is incomplete or skipped, or `edited`: a person has changed it."""
    title: str | None
    path: str | None
    note_id: str | None
    """Null as long as it is not in the vault."""
    generator: str | None
    """`dialogue`, `command` or `agent`."""
    started_at: str
    ended_at: str | None


@dataclass(frozen=True, slots=True)
class JournalList:
    """Journals, those of the latest sessions first."""

    journals: tuple[ShownJournal, ...]


@dataclass(frozen=True, slots=True)
class OneJournal:
    """The journal of a session."""

    journal: ShownJournal


MANUAL: Final = "manual"
"""An agent or a person has asked for it."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """What an agent got at one event, at seconds since 1970.

    An empty text was looked for, but nothing was found.
    """

    at: float
    event: str
    text: str
    tokens: int
    max_tokens: int
    signals: RecallSignals
    notes: tuple[RecalledNote, ...] = ()
    left_out: tuple[RecalledNote, ...] = ()


@dataclass(frozen=True, slots=True)
class ChosenNote:
    """A note that a person has put first."""

    vault: str
    note_id: str
    title: str
    path: str
    at: Internal[float] = 0.0

    @property
    def address(self) -> tuple[str, str]:
        """What calls the note: its vault and its ID."""
        return self.vault, self.note_id


@dataclass(frozen=True, slots=True)
class MemoryNews:
    """News: an agent got notes, a person changed what it gets, or its journal has changed."""

    session_id: str
    agent: str
    event: Annotated[str, OneOf("start", "prompt", "manual", "chosen", "journal")]
    notes: int
    tokens: int


# --- what is shown of it ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SessionJournal:
    """The journal of a session."""

    state: ShownState
    path: str | None
    """Its path in the project's vault."""
    note_id: str | None


@dataclass(frozen=True, slots=True)
class ShownSession:
    """A session, and the sums of what it got. Times are ISO 8601, UTC."""

    session_id: str
    agent: str
    project: str | None
    """The name of the project; null if it has none."""
    vault: str
    """What requests call the project's vault, or its identity."""
    title: str | None
    started_at: str
    last_event_at: str
    ended_at: str | None
    state: Literal["open", "ended"]
    notes: int
    tokens: int
    max_tokens: int
    """What its deliveries might have had together."""
    journal: SessionJournal | None


@dataclass(frozen=True, slots=True)
class SessionRow(ShownSession):
    """A session, and the sums of what it got."""

    deliveries: int
    """How often it got notes."""


@dataclass(frozen=True, slots=True)
class SessionsPage:
    """Sessions of agents, the one with the latest event first."""

    sessions: tuple[SessionRow, ...]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class DeliveredNote(RecalledNote):
    """A note that a session got."""

    changed: bool | None = None
    """Whether the note is another one now, or gone. Null if it cannot be read."""


@dataclass(frozen=True, slots=True)
class ShownDelivery:
    """What a session got at one event. With an empty text nothing was found."""

    at: str
    event: Annotated[str, OneOf(START, PROMPT, MANUAL)]
    text: str
    tokens: int
    max_tokens: int
    signals: RecallSignals
    notes: tuple[DeliveredNote, ...]
    left_out: tuple[RecalledNote, ...]
    """The best ones, each with the reason."""


@dataclass(frozen=True, slots=True)
class SessionDetail(ShownSession):
    """A session with all that it got."""

    deliveries: tuple[ShownDelivery, ...]
    """Oldest first, at most 200."""
    pinned: tuple[ChosenNote, ...]
    """They come first at the next event."""


@dataclass(frozen=True, slots=True)
class OneSession:
    """One session."""

    session: SessionDetail


@dataclass(frozen=True, slots=True)
class SessionRefresh:
    """What a session has, and what would be recalled for it now."""

    before: tuple[DeliveredNote, ...]
    after: tuple[DeliveredNote, ...]
    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class SessionsForgotten:
    """How many sessions were forgotten."""

    forgotten: int


class GlobalCopy(NamedTuple):
    """A note of the global vault. `id` is that of its frontmatter."""

    note_id: str
    path: str
    id: str | None


@dataclass(frozen=True, slots=True)
class Promoted:
    """What a promotion has done. Status 201 if the copy is new."""

    created: bool = field(default=False, kw_only=True)
    copy: Annotated[GlobalCopy, JsonKey("global")]
    warnings: Internal[tuple[Warning, ...]] = ()


@dataclass(frozen=True, slots=True)
class Marked:
    """What marking a note as superseded, or taking that back, has done."""

    changed: bool
    """Whether its status was another."""
    warnings: Internal[tuple[Warning, ...]] = ()


@dataclass(frozen=True, slots=True)
class Demoted:
    """What taking a promotion back has done."""

    changed: bool
    """Whether the note was promoted."""
    copy: Annotated[GlobalCopy | None, JsonKey("global")] = None
    """Its copy, if there was one."""
    trash_path: str | None = None
    """Where the copy is now, in the global vault; null if there was none."""
    warnings: Internal[tuple[Warning, ...]] = ()
