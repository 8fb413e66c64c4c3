"""Which notes are worth remembering for a task: a score of files and tags, words, and recency.

Pure. Nothing that was injected or read before feeds the score, so that no note gains by being
shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from math import log, log1p, sqrt
from typing import TYPE_CHECKING, Final, NamedTuple

from vault_agent.model.memory import RecallWeights
from vault_agent.text.words import content_words, fold_words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from vault_agent.model.memory import Address
    from vault_agent.model.search import Match
    from vault_agent.store.index.lists import NoteFacts

GLOBAL_TYPES: Final = frozenset({"pattern", "snippet", "decision", "note"})
GLOBAL_FACTOR: Final = 0.9
MIN_WORDS: Final = 2
"""Different content words of a prompt that says what it is about. "Continue" does not."""
MIN_IN_PASSAGE: Final = 2
"""Content words of a prompt that one passage of a note has which comes unasked."""
MIN_FOUND: Final = 0.4
"""The score of such a note in a search by words for the prompt. It falls with a note's length."""
MIN_UNNAMED: Final = 0.5
"""The same for a note whose title has no content word of the prompt."""
SURE: Final = 0.6
"""The score of a note that may come with one content word, if its share is a tenth larger."""
BAR_IF_ASKED: Final = 0.6
"""The bar for notes that were asked for, as a part of the one for those that come unasked."""

_SAME_NAME_AND_PARENT = 0.8
_ABOUT = 0.40  # as measured, see `needed_share`
_SURELY = 1.1
_FEW_PASSAGES = 30
_FEW_NOTES = 50  # so few notes do not say whether a file is a rare one


@dataclass(frozen=True, slots=True)
class Signals:
    """What a task is about. `words` is whether any note is about the prompt."""

    files: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    words: bool = False


@dataclass(frozen=True, slots=True)
class Candidate:
    """A note that may be remembered. `prompt_score` is None if no search found it."""

    vault: str
    note_id: str
    type: str
    note: NoteFacts
    prompt_score: float | None = None
    from_global: bool = False

    @property
    def day(self) -> date | None:
        """The day of its last change, if it has one."""
        try:
            return date.fromisoformat(self.note.updated[:10])
        except ValueError:
            return None


class Frequencies(NamedTuple):
    """How many notes there are, and how many have a file or a tag, by `file_key` and folded tag."""

    notes: int
    files: Mapping[str, int]
    tags: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate with its score, the parts from 0 to 1, and the reasons, the best first."""

    candidate: Candidate
    score: float
    relevance: float
    tag: float
    semantic: float
    recency: float
    reasons: tuple[str, ...]

    @property
    def address(self) -> Address:
        """What calls the note: its vault and its ID."""
        return self.candidate.vault, self.candidate.note_id


class LeftOut(NamedTuple):
    """A candidate that was not taken, and why.

    "relevance", "duplicate", "limit" or "budget"; "empty" for a note that says no more than its
    title, "session" for the session's own journal, "delivered" for what the session has.
    """

    scored: Scored
    why: str


@lru_cache(maxsize=1 << 14)
def file_key(path: str) -> str:
    """Return the form in which paths of files are compared."""
    return path.replace("\\", "/").removeprefix("./").rstrip("/")


def is_signal(prompt: str) -> bool:
    """Whether a prompt has words that may name a subject."""
    return len(content_words(prompt)) >= MIN_WORDS


def needed_share(words: int, passages: int) -> float:
    """Return how much of a prompt one passage must have, so that its note is about the prompt.

    Of a prompt about something else, a passage has some words by chance: the more, the more
    passages there are (the best of n grows with the root of log n), and the less, the more words
    the prompt has (a share of n varies with the inverse of the root of n).
    """
    return _ABOUT * sqrt(log(max(passages, _FEW_PASSAGES)) / max(words, 1))


def is_about(match: Match, score: float, needed: float, bar: float | None, *, named: bool) -> bool:
    """Whether a note is about a prompt, by its best passage and its score in a search by words.

    `bar` is as in `RecallQuery`. `named`: whether its title has a content word of the prompt.
    """
    if bar is None:
        return match.share >= BAR_IF_ASKED * needed
    share, score = match.share / bar, score / bar
    if share >= _SURELY * needed and score >= SURE:
        return match.content > 0
    enough = share >= needed and score >= (MIN_FOUND if named else MIN_UNNAMED)
    return enough and match.content >= MIN_IN_PASSAGE


def rank(
    candidates: Iterable[Candidate],
    signals: Signals,
    frequencies: Frequencies,
    *,
    today: date,
    recency_days: float,
    global_types: Collection[str] | None = GLOBAL_TYPES,
) -> list[Scored]:
    """Return the candidates by score, the best first. Equal scores are by path.

    Of the global vault, only notes of `global_types` count, or all if it is None.
    """
    candidates = list(candidates)
    best = max(
        (candidate.prompt_score for candidate in candidates if candidate.prompt_score is not None),
        default=0.0,
    )
    share = _weights_for(signals)
    scored = [
        _scored(
            candidate, signals, frequencies, best, share, today=today, recency_days=recency_days
        )
        for candidate in candidates
        if not candidate.from_global or global_types is None or candidate.type in global_types
    ]
    return sorted(
        scored, key=lambda row: (-row.score, row.candidate.vault, row.candidate.note.path)
    )


def _weights_for(signals: Signals) -> RecallWeights:
    """Return the weights for these signals. One without a signal gives its weight to the others."""
    weights = RecallWeights()
    tag = weights.tag if signals.files or signals.tags else 0.0
    semantic = weights.semantic if signals.words else 0.0
    total = tag + semantic + weights.recency
    if not total:
        return RecallWeights(0.0, 0.0, 0.0)
    return RecallWeights(tag / total, semantic / total, weights.recency / total)


def _scored(
    candidate: Candidate,
    signals: Signals,
    frequencies: Frequencies,
    best: float,
    weights: RecallWeights,
    *,
    today: date,
    recency_days: float,
) -> Scored:
    tag, reason = _common(candidate, signals, frequencies)
    semantic = 0.0
    if signals.words and candidate.prompt_score is not None and best > 0:
        semantic = (_evidence(candidate.prompt_score) / _evidence(best)) ** 2
    recency = 0.0
    if candidate.day is not None:
        recency = 2.0 ** (-max((today - candidate.day).days, 0) / recency_days)
    by_content = weights.tag + weights.semantic
    content = weights.tag * tag + weights.semantic * semantic
    factor = GLOBAL_FACTOR if candidate.from_global else 1.0
    parts = ((weights.tag * tag, reason), (weights.semantic * semantic, "words"))
    reasons = [name for part, name in sorted(parts, reverse=True) if part > 0 and name]
    return Scored(
        candidate,
        score=factor * (content + weights.recency * recency),
        relevance=factor * content / by_content if by_content else 0.0,
        tag=tag,
        semantic=semantic,
        recency=recency,
        reasons=tuple(reasons),
    )


def _evidence(score: float) -> float:
    """Return the sum of evidence of which search makes a score from 0 to 1.

    Its share of the best one is what counts, as with BM25. Scores are too near to each other. Many
    notes have half of the best one's evidence, so the square of the share counts: else these words
    outweigh a file in common.
    """
    return -log1p(-min(score, 0.999_999))


def _common(candidate: Candidate, signals: Signals, frequencies: Frequencies) -> tuple[float, str]:
    """Return the weight of the rarest file or tag in common, and its name.

    The rarest one counts and not the sum: measured, a sum favours notes with long lists.
    """
    weights = [(0.0, "")]
    for wanted in map(file_key, signals.files):
        for has in map(file_key, candidate.note.files):
            if factor := _nearness(wanted, has):
                weight = _rarity(frequencies.files.get(has, 1), frequencies.notes)
                weights.append((factor * weight, f"file:{has}"))
    own = {fold_words(tag): tag for tag in candidate.note.tags}
    for tag in map(fold_words, signals.tags):
        if tag in own:
            weight = _rarity(frequencies.tags.get(tag, 1), frequencies.notes)
            weights.append((weight, f"tag:{own[tag]}"))
    return max(weights, key=lambda weight: weight[0])


def _nearness(wanted: str, has: str) -> float:
    if wanted == has:
        return 1.0
    folder, _, name = wanted.rpartition("/")
    has_folder, _, has_name = has.rpartition("/")
    if not folder or not has_folder:
        return 0.0  # files of the top folder have nothing in common by that
    same = name == has_name and folder.rpartition("/")[2] == has_folder.rpartition("/")[2]
    return _SAME_NAME_AND_PARENT if same else 0.0


def _rarity(having: int, notes: int) -> float:
    """Return the weight of what `having` of `notes` have: 1 for one of many, towards 0 for all."""
    notes = max(notes, _FEW_NOTES)
    return min(log(1 + (notes - having + 0.5) / (having + 0.5)) / log(1 + notes), 1.0)
