"""The budget holds for whatever notes a vault has, from the facts about them to the text."""

from __future__ import annotations

import random
from datetime import date
from statistics import median

import pytest

from vault_agent.memory.candidates import FactIndex, frequencies, part_that_matters
from vault_agent.memory.preamble import (
    MAX_CHARACTERS,
    MAX_TOKENS,
    Remembered,
    preamble,
    tokens_of,
    withdrawn,
)
from vault_agent.memory.score import Signals, choose, rank
from vault_agent.model.identifiers import CHUNK_BITS, identify
from vault_agent.model.memory import RecallWeights
from vault_agent.store.index.facts import NoteFacts
from vault_agent.store.index.notes import StoredChunk

PLAIN = "abcdefghijklmnop  \n.,-"
STRANGE = 'é日本語한국어\u202e\u200b\U000e0041😀<"[]\x1b---\n\n '
TYPES = (None, "journal", "decision", "bug", "module", "pattern", "x" * 40)
SECTIONS = ("Outcome", "Decision", "Fix", "Purpose", "Other")
TODAY = date(2026, 2, 14)


def words(chosen: random.Random, most: int) -> str:
    letters = PLAIN if chosen.random() < 0.6 else STRANGE
    return "".join(chosen.choices(letters, k=chosen.randint(0, most)))


def remembered(chosen: random.Random) -> list[Remembered]:
    """Return what is remembered of a random vault, for random signals."""
    files = [f"{words(chosen, 30)}/{n}.py" for n in range(chosen.randint(1, 8))]
    notes = [
        NoteFacts(
            rowid=rowid,
            path=f"{words(chosen, 60)}{rowid}.md",
            title=words(chosen, 300),
            chunk_count=2,
            updated=f"2026-0{chosen.randint(1, 9)}-{chosen.randint(10, 28)}T00:00:00Z",
            type=chosen.choice(TYPES),
            tags=(words(chosen, 12),),
            files=tuple(chosen.sample(files, chosen.randint(0, len(files)))),
            identifier=words(chosen, 300) or None,
        )
        for rowid in range(1, chosen.randint(2, 15))
    ]
    index = FactIndex(notes)
    signals = Signals(tuple(files[:3]), (), words=chosen.choice((False, True)))
    candidates = [
        index.candidate(
            identify(note.path),
            vault="v",
            found=chosen.choice((None, chosen.random())),
            from_global=chosen.random() < 0.2,
        )
        for note in notes
        if index.has(identify(note.path))
    ]
    ranked = rank(
        candidates,
        signals,
        frequencies([index], candidates),
        today=TODAY,
        weights=RecallWeights(),
        recency_days=14.0,
    )
    taken, _ = choose(ranked, least=chosen.choice((0.0, 0.35)), most=chosen.randint(1, 20))
    made = []
    for each in taken:
        key = index.ids[each.candidate.note_id] << CHUNK_BITS
        chunks = [
            StoredChunk(key + n, (chosen.choice(SECTIONS),), 1, 2, words(chosen, 4_000))
            for n in range(2)
        ]
        text, _ = part_that_matters(each.candidate.type, chunks, None)
        made.append(
            Remembered(
                each.candidate.type,
                each.candidate.title,
                "2026-01-01",
                text,
                index.notes[index.ids[each.candidate.note_id]].identifier or each.candidate.path,
                each.candidate.files,
                each.candidate.from_global,
            )
        )
    return made


def check(vaults: int, seed: int) -> None:
    chosen = random.Random(seed)
    full = 0
    for _ in range(vaults):
        notes = remembered(chosen)
        most, each = chosen.randint(0, 2_500), chosen.randint(0, 1_200)
        line = withdrawn([words(chosen, 300) for _ in range(chosen.randint(0, 6))], most // 2)
        spent = tokens_of(f"{line}\n") if line else 0
        made = preamble(
            notes, project=words(chosen, 300), max_tokens=most - spent, max_note_tokens=each
        )
        text = "\n".join(filter(None, (line, made.text)))
        assert tokens_of(text) <= min(most, MAX_TOKENS + spent)
        assert len(made.text) <= MAX_CHARACTERS
        full += bool(made.notes)
    assert full > vaults / 4  # the vaults are not all too small, or the budgets


def test_the_budget_holds_for_random_vaults():
    check(60, seed=1)


@pytest.mark.long
def test_the_budget_holds_for_ten_thousand_random_vaults():
    check(10_000, seed=2)


def test_usual_notes_take_far_less_than_the_budget():
    usual = Remembered(
        "Session",
        "Refactored the cost tracker of the panel",
        "2026-02-13",
        "The cost tracker reads the streaming output of each model and sums it up. " * 4,
        "journal-2026-02-13-abc12345",
        ("src/cost_tracker.rs", "src/CostPanel.tsx"),
    )
    start, prompt = (
        median(
            preamble([usual] * number, project="synk", max_tokens=limit, max_note_tokens=160).tokens
            for number in range(1, notes + 1)
        )
        for notes, limit in ((3, 500), (5, 1_000))
    )
    assert start <= 400
    assert prompt <= 600
