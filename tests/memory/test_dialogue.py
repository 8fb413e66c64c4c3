"""The journal of a session says what its person said, and what the agent had said before."""

from __future__ import annotations

import pytest
from benchmarks.memory.journals import journal_of, judged
from tests.support.written_sessions import FOLDER, read_session

from vault_agent.memory.collected import Collected, with_words
from vault_agent.memory.dialogue import (
    AFTERWARDS,
    DECISIONS,
    OUTCOME,
    answered,
    around,
    dialogue,
    is_worth_it,
    spoken,
    without_logs,
    written,
)
from vault_agent.memory.session_file import Sections, Words
from vault_agent.memory.transcripts.recorder import Exchange, Transcript

OWN = sorted(FOLDER.glob("own-*.txt"))


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.stem)
def test_a_successor_finds_the_answers(path: object):
    session = read_session(path)  # type: ignore[arg-type]
    unanswered, false, _ = judged(session, journal_of(session))
    assert (unanswered, false) == ([], [])


def test_there_are_sessions_in_three_languages():
    assert len(OWN) >= 12
    assert {"german", "japanese"} <= {part for path in OWN for part in path.stem.split("-")}


def session(*exchanges: Exchange, last: str = "", **more: object) -> Collected:
    told = Transcript(exchanges=exchanges, last=last, **more)  # type: ignore[arg-type]
    return Collected("s1", "codex", "shop", 0.0, 60.0, transcript=told)


ASKED = Exchange("Why is the import of prices slow?", at=1.0)


@pytest.mark.parametrize(
    ("told", "worth"),
    [
        (session(), False),
        (session(ASKED, last="It reads each row twice."), False),
        (session(ASKED, last="It reads each row twice.", worked=True), True),
        (session(ASKED, Exchange("then cache it"), last="The import caches its rows now."), True),
        (session(ASKED, Exchange("yes", "Shall it read them once?"), last="All pass."), True),
        (session(ASKED, Exchange("はい", "一度だけ読みますか？"), last="OK"), True),
        (session(ASKED, Exchange("thanks", "It reads each row twice."), last="Bye."), False),
        (session(Exchange("hi"), Exchange("ok", "What can I do?"), last="Fine."), False),
    ],
)
def test_a_session_in_which_nothing_was_decided_or_done_leaves_no_journal(
    told: Collected, *, worth: bool
):
    assert is_worth_it(told) is worth


def test_what_a_person_pasted_is_not_what_it_said():
    pasted = (
        "2026-11-02 10:14:22 ERROR worker | job stalled\n[10:14:22] INFO x\n"
        'Traceback (most recent call last):\n  File "a.py", line 3\nValueError: bad\n'
        "```\ncode\n```\nwhy is that?\n$ make\n"
    )
    assert without_logs(pasted) == "why is that?"
    assert without_logs("2026-11-02 10:14:22 ERROR all log").startswith("2026")


def test_a_long_message_keeps_its_first_sentence_and_its_end():
    text = f"The lock was held. {'Some more words. ' * 60}Shall I release it on SIGTERM?"
    short = around(text, 300)
    assert len(short) <= 300
    assert short.startswith("The lock was held. … ")
    assert short.endswith("Shall I release it on SIGTERM?")


def test_the_words_of_a_very_long_session_are_bounded():
    many = [Exchange(f"{number} {'word ' * 130}", "b" * 300) for number in range(200)]
    text = spoken(many)
    assert len(text) < 16_000
    assert "- … and " in text
    assert "User:** 0 " in text
    assert "User:** 199 " in text


def test_words_that_only_the_hooks_told_are_joined_by_their_time():
    told = Transcript(exchanges=(ASKED, Exchange("ship it", "Done.", 9.0)), last="Shipped.",
                      last_at=10.0)  # fmt: skip
    words = [
        Words(1.0, ASKED.words, by_person=True),
        Words(4.0, "Cache it for an hour?", by_person=False),
        Words(5.0, "no, never cache prices", by_person=True),
    ]
    joined = with_words(told, words, str)
    assert [each.words for each in joined.exchanges] == [
        ASKED.words,
        "no, never cache prices",
        "ship it",
    ]
    assert joined.exchanges[1].before == "Cache it for an hour?"
    alone = with_words(Transcript(), words, str)
    assert (len(alone.exchanges), alone.last) == (2, "Cache it for an hour?")
    assert alone.unanswered


def test_what_comes_after_the_agents_own_sections_is_added():
    told = session(
        ASKED,
        Exchange("keepalive must be off, ops had an outage", "Keepalive is on.", 20.0),
        last="Keepalive is off.",
        last_at=21.0,
    )
    given = Sections(10.0, "Slow import", {"goal": "Speed.", "Odd": "x", "Outcome": "None."})
    draft = written(given, told)
    assert draft.title == "Slow import"
    assert "keepalive must be off" in draft.sections[AFTERWARDS]
    assert "Keepalive is off." in draft.sections[AFTERWARDS]
    assert "**Odd**" in draft.sections[OUTCOME]
    assert AFTERWARDS not in written(given._replace(at=30.0), told).sections


def test_foreign_text_makes_no_markup():
    hostile = "[[evil]] <b>x</b> #tag key:: value"
    draft = dialogue(session(ASKED, Exchange(hostile, hostile, 2.0), last=f"---\n{hostile}"))
    shown = draft.sections[DECISIONS] + draft.sections[OUTCOME]
    for mark in ("[[evil]]", "<b>", "key::"):
        assert mark not in shown.replace("\\", "\0")


@pytest.mark.parametrize(
    ("reply", "title"),
    [
        ("# T\n\n## Goal\nG\n\n## Outcome\nO\n", "T"),
        ("<think>x</think>\n```markdown\n# T\n## Goal\nG\n## Outcome\nO\n```", "T"),
        ("## Goal\nG", None),
        ("Sorry, I cannot do that.", None),
        ("", None),
    ],
)
def test_a_reply_of_a_command_is_a_journal_or_none(reply: str, title: str | None):
    made = answered(reply)
    assert (None if made is None else made[0]) == title
