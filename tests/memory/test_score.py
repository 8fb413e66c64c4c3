"""Scores: what two notes are compared by, and which of them are taken."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from vault_agent.memory.facts import MAX_BY_FILE, FactIndex
from vault_agent.memory.score import (
    Candidate,
    Frequencies,
    Scored,
    Signals,
    is_about,
    is_signal,
    rank,
)
from vault_agent.model.search import Match
from vault_agent.store.index.lists import NoteFacts

TODAY = date(2026, 3, 1)
MANY = Frequencies(1_000, {"src/cost.py": 1, "Makefile": 900, "src/a/b.py": 3}, {"parsing": 2})


def note(
    name: str,
    kind: str = "note",
    *,
    day: date | None = TODAY,
    files: tuple[str, ...] = (),
    tags: tuple[str, ...] = (),
    **fields: object,
) -> Candidate:
    updated = day.isoformat() if day is not None else ""
    facts = NoteFacts(1, f"{name}.md", name, 1, updated, kind, tags, files)
    return Candidate("p", name, kind, facts, **fields)  # type: ignore[arg-type]


def ranked(*notes: Candidate, signals: Signals, **options: float) -> list[Scored]:
    return rank(notes, signals, MANY, today=TODAY, recency_days=14, **options)


def names(found: list[Scored]) -> list[str]:
    return [each.candidate.note_id for each in found]


def test_a_rare_file_in_common_beats_a_common_one():
    rare = note("rare", files=("src/cost.py",))
    common = note("common", files=("Makefile",))
    found = ranked(common, rare, signals=Signals(files=("src/cost.py", "Makefile")))
    assert names(found) == ["rare", "common"]
    assert found[0].reasons == ("file:src/cost.py",)
    assert found[0].tag == pytest.approx(1, abs=0.1)


def test_of_too_many_notes_with_a_file_the_newest_are_compared_and_those_with_a_rare_one():
    def facts(rowid: int, files: tuple[str, ...]) -> NoteFacts:
        updated = (TODAY - timedelta(rowid)).isoformat()
        return NoteFacts(rowid, f"{rowid}.md", "A", 1, updated, "journal", (), files)

    notes = [facts(rowid, ("Makefile",)) for rowid in range(1, MAX_BY_FILE + 50)]
    index = FactIndex([*notes, facts(900, ("src/rare.py",))])
    near = index.near(("Makefile", "src/rare.py"), ())
    assert near == {900, *range(1, MAX_BY_FILE)}


@pytest.mark.parametrize(
    ("has", "kind", "share"),
    [
        ("src/a/b.py", "note", 1.0),
        ("./src/a/b.py", "note", 1.0),
        ("src\\a\\b.py", "note", 1.0),
        ("other/a/b.py", "note", 0.8),
        ("src/a/c.py", "note", 0.0),
        ("src/a", "module", 0.0),
        ("src/x/b.py", "note", 0.0),
        ("b.py", "note", 0.0),
    ],
)
def test_files_are_near_by_path_name_and_folder(has: str, kind: str, share: float):
    [found] = ranked(note("n", files=(has,), kind=kind), signals=Signals(files=("src/a/b.py",)))
    rarity = ranked(note("n", files=(has,)), signals=Signals(files=(has,)))[0].tag
    assert found.tag == pytest.approx(share * rarity)


def test_tags_are_compared_without_letter_case():
    [found] = ranked(note("n", tags=("Parsing",)), signals=Signals(tags=("parsing",)))
    assert found.reasons == ("tag:Parsing",)


def test_recency_halves_in_its_days_and_the_future_is_today():
    notes = [note(str(days), day=TODAY - timedelta(days)) for days in (0, 14, 28, -5)]
    found = {each.candidate.note_id: each for each in ranked(*notes, signals=Signals())}
    assert [found[name].recency for name in ("0", "14", "28", "-5")] == [1, 0.5, 0.25, 1]
    assert found["14"].score == pytest.approx(0.5)
    [unknown] = ranked(note("n", day=None), signals=Signals())
    assert unknown.recency == 0


def test_a_missing_signal_gives_its_weight_to_the_others():
    file = note("n", files=("src/cost.py",), day=None)
    [found] = ranked(file, signals=Signals(files=("src/cost.py",)))
    assert found.score == pytest.approx(0.4 / 0.6 * found.tag)
    words = note("n", prompt_score=0.9, day=None)
    [found] = ranked(words, signals=Signals(words=True))
    assert found.score == pytest.approx(0.4 / 0.6)


def test_a_prompt_that_no_note_is_about_is_no_signal():
    both = note("n", prompt_score=0.9, files=("src/cost.py",), day=None)
    [found] = ranked(both, signals=Signals(files=("src/cost.py",), words=False))
    [by_file] = ranked(both, signals=Signals(files=("src/cost.py",)))
    assert (found.semantic, found.reasons) == (0, ("file:src/cost.py",))
    assert found.relevance == by_file.relevance == pytest.approx(found.tag)


def test_a_note_comes_unasked_only_with_two_words_of_the_subject_and_a_good_score():
    good = Match(0.5, 2)
    assert is_about(good, 0.45, 0.4, bar=1.0, named=True)
    assert not is_about(good, 0.45, 0.4, bar=1.0, named=False)  # no word of it in the title
    assert is_about(good, 0.55, 0.4, bar=1.0, named=False)
    assert not is_about(Match(0.5, 1), 0.55, 0.4, bar=1.0, named=True)
    assert is_about(Match(0.5, 1), 0.65, 0.4, bar=1.0, named=False)  # nearly the whole prompt
    assert not is_about(Match(0.5, 0), 0.9, 0.4, bar=1.0, named=False)
    assert not is_about(Match(0.3, 3), 0.9, 0.4, bar=1.0, named=True)
    assert not is_about(good, 0.3, 0.4, bar=1.0, named=True)
    assert not is_about(good, 0.45, 0.4, bar=1.3, named=True)  # a later prompt
    assert is_about(Match(0.3, 0), 0.1, 0.4, bar=None, named=False)


def test_a_global_note_counts_a_tenth_less_and_only_by_type():
    own = note("own", prompt_score=0.9)
    shared = note("shared", prompt_score=0.9, from_global=True, kind="pattern")
    journal = note("journal", prompt_score=0.9, from_global=True, kind="journal")
    found = ranked(shared, own, journal, signals=Signals(words=True))
    assert names(found) == ["own", "shared"]
    assert found[1].score == pytest.approx(0.9 * found[0].score)


@pytest.mark.parametrize("prompt", ["", "continue", "fix the bug", "update the docs", "yes please"])
def test_a_prompt_without_a_subject_is_no_signal(prompt: str):
    assert not is_signal(prompt)


@pytest.mark.parametrize("prompt", ["parse streaming cost updates", "修复日志轮转的问题"])
def test_a_prompt_with_a_subject_is_one(prompt: str):
    assert is_signal(prompt)
