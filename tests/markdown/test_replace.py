"""Replacing text: what is found, what is left alone, what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_agent.errors import Conflict, VaultAgentError
from vault_agent.markdown.edit import spliced
from vault_agent.markdown.replace import MAX_MATCHES, replace


def replaced(note: str, search: str, replacement: str, **options: Any) -> str:
    data = note.encode()
    return spliced(data, replace(data, search, replacement, **options)).decode()


def refused(note: str, search: str, replacement: str = "", **options: Any) -> str:
    with pytest.raises(VaultAgentError) as error:
        replace(note.encode(), search, replacement, **options)
    return error.value.code


def test_only_the_match_changes():
    assert replaced("a é b\r\nc\n", "é", "😀\n") == "a 😀\n b\r\nc\n"


def test_text_of_several_lines_is_found_with_any_line_ends():
    assert replaced("x\r\na\r\nb\r\ny", "a\nb", "c\nd") == "x\r\nc\r\nd\r\ny"
    assert replaced("x\ra\rb\ry", "a\r\nb", "c") == "x\rc\ry"


def test_the_frontmatter_is_left_out_unless_asked_for():
    note = "---\nk: old\n---\nold"
    assert replaced(note, "old", "new") == "---\nk: old\n---\nnew"
    assert refused(note, "old", in_frontmatter=True) == "MATCH_COUNT_MISMATCH"
    assert replaced(note, "k: old", "k: new", in_frontmatter=True) == "---\nk: new\n---\nold"


def test_letter_case_and_words():
    assert replaced("Éa éa", "ÉA", "x", case_sensitive=False, expected_count=2) == "x x"
    assert replaced("cat concat cat_", "cat", "dog", whole_word=True) == "dog concat cat_"
    assert replaced("xa a a", "a a", "b", whole_word=True) == "xa b"
    assert replaced("(cat)s", "(cat)", "x", whole_word=True) == "xs"


def test_another_number_of_matches_is_an_error_with_the_lines():
    with pytest.raises(Conflict) as error:
        replace(b"a\r\n\ra a\n", "a", "b")
    assert error.value.code == "MATCH_COUNT_MISMATCH"
    assert error.value.details == {"count": 3, "expectedCount": 1, "lines": [1, 3]}
    assert replaced("a a", "a", "b", expected_count=None) == "b b"


def test_nothing_found_is_an_error():
    assert refused("a", "b") == "TEXT_NOT_FOUND"
    assert refused("a", "b", expected_count=None) == "TEXT_NOT_FOUND"
    assert refused("a", "") == "INVALID_REQUEST"


def test_what_is_the_same_already_is_no_change():
    assert replace(b"a", "a", "a") == ()


def test_groups_are_taken_from_the_note_as_written():
    assert replaced("é\r\nb=1\n", r"(\w+)=(?P<n>\d)", r"\g<n>=\1\\", regex=True) == "é\r\n1=b\\\n"
    assert replaced("a\r\nb\n", r"(a\nb)", r"<\1>\n", regex=True) == "<a\r\nb>\n\n"
    assert replaced("ab", r"a(x)?b", r"[\1]", regex=True) == "[]"


def test_line_ends_are_no_part_of_a_line():
    note = "one # x\r\ntwo # y\r\n"
    assert replaced(note, " #.*$", "", regex=True, expected_count=2) == "one\r\ntwo\r\n"
    assert replaced("é\r\nb\rc", r"^[bé]$", "x", regex=True, expected_count=2) == "x\r\nx\rc"


@pytest.mark.fault(
    "Writing",
    "a pattern that matches nothing, or whose replacement names no group or fills the memory",
    "400; 400; 413",
)
@pytest.mark.parametrize(
    ("pattern", "replacement", "code"),
    [
        (r"(?=a)", "", "REGEX_INVALID"),
        (r"\Cy", "", "REGEX_INVALID"),
        (r"(a)\1", "", "REGEX_INVALID"),
        (r"(a", "", "REGEX_INVALID"),
        (r"a*", "", "REGEX_INVALID"),
        (r"\b", "", "REGEX_INVALID"),
        (r"a", r"\1", "REGEX_INVALID"),
        (r"(a)", r"\2", "REGEX_INVALID"),
        (r"(a)", r"\g<n>", "REGEX_INVALID"),
        (r"(a)", r"\q", "REGEX_INVALID"),
        (r"(a)", "\\", "REGEX_INVALID"),
        ("a" * 1_001, "", "REGEX_INVALID"),
        ("(a{1000}){1000}", "", "REGEX_INVALID"),
    ],
)
def test_patterns_and_groups_that_cannot_be_are_refused(pattern: str, replacement: str, code: str):
    assert refused("a a", pattern, replacement, regex=True) == code


@pytest.mark.parametrize("replacement", ["[$1]", "[${1}]", "${greeting}", "$01"])
def test_a_group_written_as_in_other_languages_is_refused_with_the_right_spelling(replacement: str):
    with pytest.raises(VaultAgentError, match="REGEX_INVALID") as caught:
        replaced("hello\n", r"(?P<greeting>hello)", replacement, regex=True)
    assert r"written \g<" in caught.value.message


@pytest.mark.parametrize(
    ("pattern", "replacement", "after"),
    [
        ("hello", "$1", "$1\n"),
        ("(?:hello)", "$1", "$1\n"),
        ("(hello)", "$2 or $x", "$2 or $x\n"),
        ("(hello)", r"$1 is \1", "$1 is hello\n"),
    ],
)
def test_a_dollar_sign_that_names_no_group_is_text(pattern: str, replacement: str, after: str):
    assert replaced("hello\n", pattern, replacement, regex=True) == after


def test_there_is_a_limit_of_matches():
    assert replaced("a" * MAX_MATCHES, "a", "b", expected_count=None) == "b" * MAX_MATCHES
    assert refused("a" * (MAX_MATCHES + 1), "a", expected_count=None) == "MATCH_COUNT_MISMATCH"


def test_a_replacement_cannot_fill_the_memory():
    assert refused("a" * 1_000, "a", "x" * 100_000, expected_count=None) == "NOTE_TOO_LARGE"
    many = r"\1" * 10_000
    assert refused("a" * 10_000, "(a+)", many, regex=True) == "NOTE_TOO_LARGE"


TEXTS = st.text(st.sampled_from("ab é\r\n"), max_size=30)


@given(TEXTS, st.text(st.sampled_from("ab é"), min_size=1, max_size=2), TEXTS, st.booleans())
def test_literal_text_and_a_pattern_of_it_are_replaced_alike(
    note: str, search: str, replacement: str, case_sensitive: bool
):
    options: dict[str, Any] = {"case_sensitive": case_sensitive, "expected_count": None}
    if search.lower() not in note.lower():
        assert refused(note, search, replacement, **options) == "TEXT_NOT_FOUND"
        return
    after = replaced(note, search, replacement, **options)
    assert after == replaced(note, search, replacement.replace("\\", r"\\"), regex=True, **options)
    if case_sensitive and replacement.isprintable():
        assert after == note.replace(search, replacement)
