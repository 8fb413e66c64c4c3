"""Blocks of plain lines are read without the parser: the events must be the parser's own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_agent.markdown.yaml.read import _parsed_events, _plain_events

PIECES = (
    *("k", "a b", "b:", ": ", ":", "- ", "-", "  - ", "\n", "\r\n", "\n- ", "\n  - ", "\nk: "),
    *(" ", "  ", "#", " #", '"', "'", "[", "]", "{", "}", ",", "&", "*", "!", "|", ">", "?", "@"),
    *("`", "%", "\t", "---", "...", "null", "true", "12", "/", "(", "\\", "é", "😀", "٣", "\x85"),
)
PLAIN = "title: A note, with signs [1]\ntags:\n- one\n- two\nempty:\nlink: https://a.b/c#d\n"


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_any_text_has_the_events_of_the_parser_or_is_left_to_it(text: str):
    for block in (text, f"k: {text}", f"k: {text}\n", f"k:\n- {text}\nb: 1\n"):
        if (events := _plain_events(block)) is not None:
            assert events == _parsed_events(block)


@pytest.mark.parametrize("text", [PLAIN, PLAIN.replace("\n", "\r\n")])
def test_a_usual_block_needs_no_parser(text: str):
    events = _plain_events(text)
    assert events is not None
    assert events == _parsed_events(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a: b\n  c\n",
        "a: b",
        "a: [b]\n",
        "- a\n",
        "a: 1\n- b\n",
        "a:\n- b\n  - c\n",
        "a:\n- b: c\n",
        "a: b # c\n",
        "# a\n",
        f"{'a' * 2_000}: b\n",
    ],
)
def test_other_blocks_are_left_to_the_parser(text: str):
    assert _plain_events(text) is None
