"""Wrapping of text."""

import pytest

from vault_agent.cli.terminal import width, wrapped


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
