"""The values of memory: what a task is about, and the notes that are remembered for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, NamedTuple, TypeAlias

from vault_agent.model.fields import SessionId, Text
from vault_agent.model.modes import Mode
from vault_agent.model.sent import Between, Doc, Length, OneOf, Trimmed, Unreadable, Unsent
from vault_agent.model.warning import Warning

Address: TypeAlias = tuple[str, str]
"""What requests call a note's vault, and its ID."""
MATCH_TYPES = ("tag", "semantic", "both")


@dataclass(frozen=True, slots=True)
class RecallQuery:
    """What a task is about. Limits that are None are those of the settings.

    `pinned` notes come first whatever they are about. `without` has the reason for each note that
    is left out. With `start`, the files of notes that were changed since the last commit are added.
    The journal of the session `session_id` is left out too. The global vault is asked only if the
    caller may see it (`with_global`).

    With `bar`, nobody has asked: a note comes only if a passage of it has enough of the prompt, the
    more the higher the bar is, and the text is an index of the notes. `cwd` is where the agent
    works, if that is known: it finds the notes as files from there.
    """

    project: Annotated[
        Text | None, Doc("A project's name. By default the vault that the request is to.")
    ] = None
    prompt: Annotated[str, Length(0, 20_000)] = ""
    files: Annotated[
        tuple[Text, ...], Length(0, 20), Doc("Paths of files, relative to the project.")
    ] = ()
    tags: Annotated[tuple[Text, ...], Length(0, 20)] = ()
    max_notes: Annotated[int, Between(1, 20)] | None = None
    max_tokens: Annotated[int, Between(100, 2_000)] | None = None
    explain: Annotated[bool, Doc("Whether to say what was left out, and why.")] = False
    start: Annotated[
        bool,
        Doc(
            "Whether to add what a session's start looks at: the files of notes that were changed"
            " since the last commit."
        ),
    ] = False
    session_id: Annotated[
        SessionId | None,
        Doc(
            "The session that this is for: it is logged, and what was put first in it comes first."
        ),
    ] = None
    bar: Unsent[float | None] = None
    pinned: Unsent[tuple[Address, ...]] = ()
    without: Unsent[Mapping[Address, str]] = field(default_factory=dict)
    with_global: Unsent[bool] = True
    cwd: Unsent[str | None] = None


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
    reasons: Annotated[
        tuple[str, ...],
        Doc("Such as `file:src/a.py`, `tag:x` and `words`, the best first; or `pinned`."),
    ]
    left_out: Annotated[
        str | None,
        Doc(
            "Why: relevance, empty, journals, duplicate, limit or budget; session, delivered or"
            " removed in a session."
        ),
    ] = None
    hash: Unsent[str] = ""  # of its file, as it was indexed

    @property
    def address(self) -> Address:
        """What calls the note: its vault and its ID."""
        return self.vault, self.note_id


@dataclass(frozen=True, slots=True)
class NoteQuery:
    """A search for notes by words, files or tags. `recency_days` is the usual one if it is None.

    With `alone` or a project, only the vault itself is searched, and else the global one too.
    """

    text: Annotated[str, Trimmed(), Length(0, 1000)] = ""
    files: Annotated[tuple[Text, ...], Length(0, 200)] = ()
    tags: Annotated[tuple[Text, ...], Length(0, 200)] = ()
    limit: Annotated[int, Between(1, 50)] = 5
    recency_days: Annotated[float, Between(0.001, 36_500)] | None = None
    project: Annotated[Text | None, Doc("Only the notes of this project.")] = None
    alone: Annotated[bool, Doc("Whether to leave out the global vault.")] = False

    def __post_init__(self) -> None:
        if not (self.text or self.files or self.tags):
            raise Unreadable("no_query", "must have text, files or tags")


@dataclass(frozen=True, slots=True)
class FoundNote:
    """A note that was found, with the passage. `matches` are ranges of the snippet."""

    vault: str
    note_id: str
    id: str | None
    path: str
    title: str
    type: str
    score: float
    match_type: Annotated[str, OneOf(*MATCH_TYPES)]
    snippet: str
    matches: tuple[tuple[int, int], ...]
    created: str | None


@dataclass(frozen=True, slots=True)
class FoundNotes:
    """The notes that were found, the best first."""

    notes: tuple[FoundNote, ...]
    warnings: Unsent[tuple[Warning, ...]] = ()


class RecallWeights(NamedTuple):
    """The weights of the parts of a score. Only their proportion counts."""

    tag: float = 0.4
    semantic: float = 0.4
    recency: float = 0.2


class WordMatch(NamedTuple):
    """How much of a prompt one passage has, and how much it needs for any note to be about it.

    Both are shares of the prompt's different words, each by its rarity.
    """

    share: Annotated[
        float,
        Doc("Of the prompt's different words, each by its rarity, in the passage with most."),
    ]
    needed: Annotated[float, Doc("The least share of a prompt that the vault is about.")]

    @property
    def is_enough(self) -> bool:
        """Whether a note is about the prompt."""
        return self.share >= self.needed


@dataclass(frozen=True, slots=True)
class RecallSignals:
    """What the notes were compared with. The prompt itself is never kept."""

    files: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    prompt: Annotated[
        bool, Doc("Whether the prompt counts: it has a subject, and a note is about it.")
    ] = False


@dataclass(frozen=True, slots=True)
class Recalled:
    """The text for an agent, and the notes in it. The text is empty if nothing matters."""

    text: str
    tokens: int
    notes: tuple[RecalledNote, ...]
    left_out: tuple[RecalledNote, ...]  # only if explained
    signals: RecallSignals
    used_mode: Mode | None
    word_match: Annotated[WordMatch | None, Doc("Null if the prompt names no subject.")]
    weights: RecallWeights
    max_tokens: Unsent[int] = 0  # of the text
    warnings: Unsent[tuple[Warning, ...]] = ()
