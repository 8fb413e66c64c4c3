"""The passage of a note that says what a prompt asks for, whole and within its tokens."""

from __future__ import annotations

import pytest

from vault_agent.memory.passages import (
    MAX_TOKENS,
    asks_to_continue,
    identifiers,
    names_it,
    passage_of,
    same_subject,
)
from vault_agent.store.index.notes import StoredChunk
from vault_agent.text.words import content_words, tokens_of
from vault_agent.writing.templates import BUILT_IN

JOURNAL = (
    "## Key Decisions\n"
    "- Agent said: The wait doubles. (a) a constant, (b) an argument `max_wait`, None by default.\n"
    "  **User:** (b), but the default is 3600, ops asked for that\n"
    "- Agent said: pgbouncer refuses at peak: PoolTimeout.\n"
    "  **User:** it is transaction mode. the dba gives us max 20 connections\n"
    "- **User:** the docs page is still missing, tomorrow\n"
)


def chunk(key: int, text: str, *headings: str) -> StoredChunk:
    values = {"key": key, "text": text, "heading_path": headings}
    return StoredChunk(*(values.get(name) for name in StoredChunk._fields))


CHUNKS = [chunk(1, "# Cap the retries\n\n## Goal\ncap the retry wait", "Cap", "Goal"),
          chunk(2, JOURNAL, "Cap", "Key Decisions")]  # fmt: skip


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ("which default has max_wait?", "User: (b), but the default is 3600, ops asked for that"),
        ("how many connections did the dba give us", "the dba gives us max 20 connections"),
        ("", "the docs page is still missing, tomorrow"),
    ],
)
def test_a_passage_has_the_answer_with_what_it_answers_to(prompt: str, said: str):
    passage = passage_of(CHUNKS, 2 if prompt else None, prompt)
    assert said in passage
    assert "**" not in passage
    assert tokens_of(passage) <= MAX_TOKENS


def test_a_long_passage_keeps_the_persons_words():
    text = f"- Agent said: {'It was long ago. ' * 30}\n  **User:** never query events, 400M rows\n"
    passage = passage_of([chunk(1, text)], 1, "query the events table")
    assert passage.endswith("User: never query events, 400M rows")
    assert tokens_of(passage) <= MAX_TOKENS
    assert tokens_of(passage_of([chunk(1, "word " * 400)], 1, "word")) <= MAX_TOKENS
    assert passage_of([], None, "x") == ""


@pytest.mark.parametrize("manner", ["said", "proposed", "reported"])
def test_a_message_that_is_cut_at_its_front_keeps_who_said_it(manner: str):
    text = f"- Agent {manner}: {'It was long ago. ' * 30}At last.\n  **User:** never query events\n"
    passage = passage_of([chunk(1, text)], 1, "query the events table")
    assert passage.startswith(f"Agent {manner}: … ")
    assert passage.endswith("At last. User: never query events")
    assert tokens_of(passage) <= MAX_TOKENS


def test_words_that_leave_no_room_come_without_what_was_said_before():
    words = "never query events " * 40
    passage = passage_of([chunk(1, f"- Agent said: Shall I?\n  **User:** {words}\n")], 1, "events")
    assert passage.startswith("User: never query events")
    assert passage.endswith("…")
    assert tokens_of(passage) <= MAX_TOKENS


def test_what_the_title_says_is_no_passage():
    assert passage_of(CHUNKS, 1, "cap the retry wait", "cap the retry").startswith("Agent said: ")


def test_a_decision_comes_before_the_goal_and_lists_of_files_and_commits():
    lists = [
        chunk(3, "## Outcome\n- Commit abc1234: Cap worker/retry.py\n- Tests: 3 passed", "Outcome"),
        chunk(4, "## Files Changed\n- `worker/retry.py` — +1 −0", "Files Changed"),
    ]
    asked = "the retry wait in worker/retry.py is capped"
    assert "default is 3600" in passage_of([*CHUNKS, *lists], 4, f"{asked}, which default?")
    assert "worker/retry.py" in passage_of(lists, 4, asked)


def test_what_nobody_has_filled_in_is_no_passage():
    """Such a note says no more than its title, so it is not recalled."""
    assert (
        passage_of([chunk(1, BUILT_IN["bug"].partition("\n---\n")[2])], 1, "what is happening")
        == ""
    )


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("lower stalled_worker_timeout to 10 s", {"stalled_worker_timeout"}),
        ("see src/a.py and getUser(), v8", {"src/a.py", "getuser"}),
        ("I want this and/or that, e.g. 3.5 or 10ms. See https://example.org/a_b", set()),
    ],
)
def test_identifiers_have_a_sign_a_digit_or_a_capital_inside(text: str, names: set[str]):
    assert names <= identifiers(text)
    assert not (names or identifiers(text)) or names


@pytest.mark.parametrize(
    ("prompt", "asks"),
    [
        ("where did we leave off?", True),
        ("continue", True),
        ("continue, I was before my terminal died", True),
        ("wo waren wir gestern?", True),
        ("前回の続きから", True),
        ("the loop must continue to the next item", False),
        ("add a Continue button to the form", False),
    ],
)
def test_a_prompt_asks_to_go_on(prompt: str, *, asks: bool):
    assert asks_to_continue(prompt) is asks


def test_a_name_says_by_itself_what_a_prompt_is_about():
    assert names_it("lower stalled_worker_timeout", "the stalled_worker_timeout is 30")
    assert names_it("run ruff on it", "we run `ruff format` in a hook")
    assert not names_it("a wedding cake", "the cake of the wedding")
    assert same_subject("default of max_wait", "max_wait is 3600", "max_wait is None")
    assert not same_subject("default of max_wait", "max_wait is 3600", "a cake")


def test_function_words_of_japanese_and_chinese_name_nothing():
    assert content_words("してください") == set()
    assert content_words("帮我 看看 这个") == set()
    assert "価格" in content_words("価格を確認してください")
