"""Edits at the ends of a note, and of all of it: splices that leave the other bytes alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_agent.errors import Conflict, InvalidRequest
from vault_agent.markdown.edit import (
    Splice,
    TextChange,
    append,
    editable,
    overwrite,
    prepend,
    spliced,
)
from vault_agent.markdown.frontmatter_edit import set_keys
from vault_agent.text.lines import split_lines

TEXTS = st.text(st.sampled_from("ab-# é\u0301😀\u2028\r\n\ufeff"), max_size=40)
NOTES = st.builds(
    lambda bom, text: bom + text.encode(), st.sampled_from([b"", b"\xef\xbb\xbf"]), TEXTS
)


def appended(note: bytes, content: str, **options: bool) -> bytes:
    return spliced(note, append(note, content, **options))


def prepended(note: bytes, content: str, **options: bool) -> bytes:
    return spliced(note, prepend(note, content, **options))


def overwritten(note: bytes, content: str) -> bytes:
    return spliced(note, overwrite(note, content))


@pytest.mark.parametrize(
    "splices", [[(2, 1)], [(0, 9)], [(0, 2), (1, 3)], [(2, 3), (0, 1)]], ids=str
)
def test_splices_must_be_in_order_and_within_the_note(splices: list[tuple[int, int]]):
    with pytest.raises(ValueError, match="sorted"):
        spliced(b"note", [Splice(start, end, b"") for start, end in splices])


@pytest.mark.parametrize(
    "note", ["é".encode("utf-16"), "é".encode("latin-1"), b"a\0b", b"\xff\xfea\0", b"\xed\xa0\x80"]
)
def test_only_utf_8_without_nul_is_edited(note: bytes):
    for edit in (append, prepend, overwrite):
        with pytest.raises(Conflict) as error:
            edit(note, "x")
        assert error.value.code == "ENCODING_NOT_WRITABLE"


@pytest.mark.parametrize("content", ["a\0", "\ud800"])
def test_text_that_no_note_can_contain_is_refused(content: str):
    for edit in (append, prepend, overwrite):
        with pytest.raises(InvalidRequest):
            edit(b"note", content)


@pytest.mark.parametrize(
    ("note", "content", "expected"),
    [
        (b"", "a", b"a"),
        (b"a", "b", b"a\nb"),
        (b"a\n", "b", b"a\nb"),
        (b"a\n", "b\n", b"a\nb\n"),
        (b"a\r\nb", "c\nd", b"a\r\nb\r\nc\r\nd"),
        (b"a\rb\r", "c\n", b"a\rb\rc\r"),
        (b"a\r\nb\nc\n", "d\r\n", b"a\r\nb\nc\nd\n"),
        (b"a", "b\r\nc", b"a\r\nb\r\nc"),
        (b"\xef\xbb\xbf", "a", b"\xef\xbb\xbfa"),
        (b"a", "", b"a"),
        (b"---\na: 1\n---", "b", b"---\na: 1\n---\nb"),
    ],
)
def test_append_closes_the_last_line_and_uses_the_line_ends_of_the_note(
    note: bytes, content: str, expected: bytes
):
    assert appended(note, content) == expected


@pytest.mark.parametrize(
    ("note", "expected"),
    [
        (b"", b"b"),
        (b"a", b"a\n\nb"),
        (b"a\n", b"a\n\nb"),
        (b"a\n\n", b"a\n\nb"),
        (b"a\r\n", b"a\r\n\r\nb"),
        (b"a\r\n\r\n", b"a\r\n\r\nb"),
        (b"\n", b"\nb"),
    ],
)
def test_append_after_one_empty_line(note: bytes, expected: bytes):
    assert appended(note, "b", blank_line=True) == expected


@pytest.mark.parametrize(
    ("note", "content", "expected"),
    [
        (b"", "a", b"a"),
        (b"b\n", "a", b"a\nb\n"),
        (b"b\r\n", "a\n", b"a\r\nb\r\n"),
        (b"---\nk: 1\n---\nb", "a", b"---\nk: 1\n---\na\nb"),
        (b"---\nk: 1\n---", "a", b"---\nk: 1\n---\na"),
        (b"\xef\xbb\xbf---\nk: 1\n---\nb", "a", b"\xef\xbb\xbf---\nk: 1\n---\na\nb"),
        (b"---\nopen: 1\n", "a", b"a\n---\nopen: 1\n"),
        (b"\xef\xbb\xbfb", "a", b"\xef\xbb\xbfa\nb"),
    ],
)
def test_prepend_goes_after_the_frontmatter(note: bytes, content: str, expected: bytes):
    assert prepended(note, content) == expected


@pytest.mark.parametrize(
    "note",
    [
        b"---\n# only\n---\nx\n",
        b"---\r\n# only\r\n# comments\r\n---\r\n",
        b"---\r# only\r---\rx",
        b"\xef\xbb\xbf---\njust text\n---\nx\n",
    ],
)
def test_nothing_is_put_before_a_block_that_may_be_frontmatter_elsewhere(note: bytes):
    for edit in (lambda: prepend(note, "a"), lambda: set_keys(note, {"a": 1})):
        with pytest.raises(Conflict, match="no frontmatter follows"):
            edit()


def test_prepend_with_an_empty_line_between():
    assert prepended(b"b", "a", blank_line=True) == b"a\n\nb"
    assert prepended(b"\nb", "a", blank_line=True) == b"a\n\nb"


@pytest.mark.parametrize(
    ("note", "content", "expected"),
    [
        (b"a\r\nb\nc\n", "a\nx\nc\n", b"a\r\nx\nc\n"),
        (b"a\r\nb\r\n", "a\nb\n", b"a\r\nb\r\n"),
        (b"\xef\xbb\xbfa", "b", b"\xef\xbb\xbfb"),
        (b"\xef\xbb\xbfa", "\ufeffb", b"\xef\xbb\xbfb"),
        (b"a\n", "a", b"a"),
        (b"a", "a\n", b"a\n"),
        (b"a\na\n", "a\n", b"a\n"),
        (b"", "a", b"a"),
        (b"a", "", b""),
    ],
)
def test_overwrite_keeps_the_lines_that_stay(note: bytes, content: str, expected: bytes):
    assert overwritten(note, content) == expected


@given(NOTES, TEXTS, st.booleans())
def test_what_was_there_stays(note: bytes, content: str, blank_line: bool):
    assert appended(note, content, blank_line=blank_line).startswith(note)
    before = prepended(note, content, blank_line=blank_line)
    bom = 3 if note.startswith(b"\xef\xbb\xbf") else 0
    assert before.startswith(note[:bom])
    (splice, *_) = prepend(note, content) or [Splice(0, 0, b"")]
    assert splice.start == splice.end
    assert before.endswith(note[splice.start :])


@given(NOTES, TEXTS)
def test_an_overwritten_note_has_the_lines_of_the_content(note: bytes, content: str):
    wanted = [line.rstrip("\r\n") for line in split_lines(content.lstrip("\ufeff"))]
    after = editable(overwritten(note, content)).text
    assert [line.rstrip("\r\n") for line in split_lines(after)] == wanted


@given(NOTES, st.data())
def test_changes_of_characters_are_splices_of_bytes(note: bytes, data: st.DataObject):
    text = editable(note)
    places = sorted(data.draw(st.lists(st.integers(0, len(text.text)), max_size=8)))
    changes = [
        TextChange(start, end, data.draw(TEXTS))
        for start, end in zip(places[::2], places[1::2], strict=False)
    ]
    expected, done = "", 0
    for start, end, content in changes:
        expected += text.text[done:start] + content
        done = end
    after = spliced(note, text.edited(changes).splices)
    assert after == note[: text.origin] + (expected + text.text[done:]).encode()
