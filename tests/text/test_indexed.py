"""The terms that the index stores are those of the native analysis."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.clocks import assert_linear

from vault_agent.text.terms import fold_text, index_terms, part_of, splitter, terms

PIECES = [
    *("v", "V", "v2", "1.10", ".", "0", " ", "\n", "_", "-", "\0", "\1", "—", "+", "++", "#"),
    *("Parse", "note", "HTTP", "getUserName", ".NET", "é", "É", "İ", "ﬁ", "ß", "ǅ", "\ud800"),
    *("漢字", "かな", "ไทย", "한국어", "٢", "१", "😀", "\u0301"),
    *("x" * 79, "x" * 80, "é" * 39, "é" * 40, "ab" * 150, "Ab" * 45, "Ⱥ" * 30),
]


def stored(text: str) -> list[str]:
    """Return the terms that the engine stores of a text, without the signs of parts of names."""
    found = splitter().analyze(index_terms(fold_text(text)))
    return [term.removeprefix(part_of("")) for term in found]


@given(st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=12).map("".join)))
def test_stored_terms_are_those_of_a_query(text: str):
    assert stored(text) == terms(text)


@pytest.mark.parametrize("text", ["parseNote and HTTPServer", "v2.1 of C++", "日本語のnote"])
def test_a_second_look_gives_the_same_terms(text: str):
    assert stored(text) == stored(text) == terms(text)


@pytest.mark.fault(
    "Note contents",
    "a long run of letters, such as base64",
    "it is no term, and the words around it keep their positions",
)
def test_a_run_that_is_too_long_keeps_its_position():
    found = index_terms("before " + "x" * 100_000 + " after").split()

    assert (found.index("befor"), found.index("after")) == (0, 2)
    assert stored("before " + "x" * 100_000 + " after") == ["befor", "after"]


@pytest.mark.parametrize("word", ["aB", "v1.2 ", "é", "é—", "0a_", "x" * 300 + " "])
def test_time_is_linear(word: str):
    assert_linear(lambda times: word * (4_000 * times), stored)
