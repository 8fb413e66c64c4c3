"""Wrapping of text."""

import pytest

from vault_agent.cli import terminal
from vault_agent.cli.terminal import marked, width, wrapped


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("one two three", ["one two", "three"]),
        ("a word-that-is-too-long here", ["a", "word-that-is-too-long", "here"]),
        ("run `a b c d` now", ["run", "`a b c d`", "now"]),
        ("味噌汁と漬物", ["味噌汁と", "漬物"]),
        ("an 味噌汁", ["an 味噌", "汁"]),
        ("\x1b[1mone\x1b[0m two three", ["\x1b[1mone\x1b[0m two", "three"]),
        ("cafe\u0301 bar x", ["cafe\u0301 bar", "x"]),
        ("", []),
    ],
)
def test_lines_are_wrapped_between_words_by_columns(text, lines):
    assert wrapped(text, 8) == lines
    assert "".join(wrapped(text, 8)).replace(" ", "") == text.replace(" ", "")


def test_wide_characters_take_two_columns_and_styles_none():
    assert width("a味\x1b[31mé\x1b[0m") == 4


@pytest.mark.parametrize(
    ("text", "matches", "shown"),
    [
        ("I don't know", [(2, 5), (6, 7)], "I <don't> know"),
        ("it's Bob's tea", [(3, 4), (5, 8)], "it's <Bob's> tea"),
        ("a 'quoted' word", [(3, 9)], "a '<quoted>' word"),
    ],
)
def test_no_part_of_a_contraction_is_marked(text, matches, shown, monkeypatch):
    monkeypatch.setattr(terminal, "style", lambda text, name: f"<{text}>")
    assert marked(text, matches) == shown
