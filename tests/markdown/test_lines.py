"""Offsets of a text as lines, columns and bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_agent.markdown.lines import Lines, line_ends, with_line_ends

TEXTS = st.text(st.sampled_from("aé日😀\n\r "), max_size=40)


@given(TEXTS, st.sampled_from([1, 600]))
def test_bytes_and_characters_are_each_others_inverse(text: str, times: int):
    text *= times
    lines = Lines(text)
    for offset in {0, len(text) // 3, len(text) // 2, len(text)}:
        byte = len(text[:offset].encode())
        assert lines.byte(offset) == byte
        assert lines.character(byte) == offset
        assert lines.span(offset, len(text)) == (byte, len(text.encode()))


@given(TEXTS)
def test_an_offset_is_in_a_line(text: str):
    lines = Lines(with_line_ends(text))
    for offset in range(len(text)):
        before = text[:offset]
        if before.endswith("\r") and text[offset] == "\n":
            continue  # within a line end
        assert lines.line(offset) == 1 + line_ends(before)


@pytest.mark.parametrize("text", ["", "a", "\n", "a\n", "a\r\nb", "a\rb\r"])
def test_the_end_of_a_text_starts_no_line(text: str):
    starts = Lines(with_line_ends(text)).starts
    assert starts[0] == 0
    assert all(start < len(text) for start in starts[1:])
