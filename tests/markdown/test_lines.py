"""Offsets of a text as lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_agent.markdown.lines import Lines, line_ends, with_line_ends


@given(st.text(st.sampled_from("aé日😀\n\r "), max_size=40))
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
