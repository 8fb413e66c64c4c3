"""Tags that are added and removed, in the frontmatter and in the text."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_agent.errors import Conflict, InvalidRequest
from vault_agent.markdown.edit import spliced
from vault_agent.markdown.parse import parse_note
from vault_agent.markdown.tag_edit import edit_tags


def after(note: str, add: list[str], remove: list[str], where: Any = "frontmatter") -> str:
    data = note.encode()
    return spliced(data, edit_tags(data, add, remove, where)).decode()


@pytest.mark.parametrize(
    ("old", "add", "remove", "new"),
    [
        ("tags: [a, b]", ["c"], [], "tags: [a, b, c]"),
        ("tags: [a, b] # why", [], ["A"], "tags: [b] # why"),
        ("tags:\n  - a\n  - b", ["#c"], ["a"], "tags:\n  - b\n  - c"),
        ('tags:\n- "#a"', ["c"], [], 'tags:\n- "#a"\n- "#c"'),
        ("tags:\n  - a", [], ["a"], "tags: []"),
        ("tags: a, b", ["c"], [], "tags: a, b, c"),
        ("tags: a b", ["c"], [], "tags: a b c"),
        ("tags: a", ["c"], [], "tags: a, c"),
        ("tags: 'a, b'", [], ["b"], "tags: 'a'"),
        ("tags: a", [], ["a"], "tags: "),
        ("tags:", ["c"], [], "tags: [c]"),
        ("Tags: [a]", ["c"], [], "Tags: [a, c]"),
        ("tag: a", ["c"], [], "tag: a, c"),
        ("tags: [a]\ntag: [b, a]", ["b", "c"], ["a"], "tags: [c]\ntag: [b]"),
        ("tags: [2024]", [], ["2024"], "tags: []"),
        ("tags: [a]", ["A"], ["x"], "tags: [a]"),
        ("k: 1", ["a", "b/c"], [], "k: 1\ntags: [a, b/c]"),
    ],
)
def test_frontmatter_keeps_its_style(old: str, add: list[str], remove: list[str], new: str):
    assert after(f"---\n{old}\n---\nx", add, remove) == f"---\n{new}\n---\nx"


@pytest.mark.parametrize(
    ("old", "add", "remove", "new"),
    [
        ("text", ["a"], [], "text\n\n#a"),
        ("text\r\n", ["a", "b"], [], "text\r\n\r\n#a #b\r\n"),
        ("text\n\n#a #b\n", ["c"], [], "text\n\n#a #b #c\n"),
        ("", ["a"], [], "#a\n"),
        ("---\nk: 1\n---\n", ["a"], [], "---\nk: 1\n---\n#a\n"),
        ("#a text", ["A"], [], "#a text"),
        ("x #a, y (#a) #ab #a/b", [], ["a"], "x, y () #ab #a/b"),
        ("x\n#a\ny", [], ["a"], "x\ny"),
        ("#a #b\n", [], ["a"], "#b\n"),
        ("   #b #b #a\n", [], ["b"], "   #a\n"),
        ("x #a #b #a\n", [], ["a", "b"], "x\n"),
        ("`#a` [[#a]] [x](#a) #a\n", [], ["a"], "`#a` [[#a]] [x](#a)\n"),
        ("x #a", ["b"], ["a"], "x\n\n#b"),
    ],
)
def test_tags_in_the_text(old: str, add: list[str], remove: list[str], new: str):
    assert after(old, add, remove, "inline") == new


def test_tags_in_both_places():
    assert after("---\ntags: [a]\n---\n#a #b", ["c"], ["a"], "both") == (
        "---\ntags: [c]\n---\n#b #c"
    )


@pytest.mark.parametrize("tag", ["", "#", "a b", "1", "a,b", "a#b", "\ud800", "a\0"])
def test_what_is_no_tag_is_refused(tag: str):
    with pytest.raises(InvalidRequest):
        after("x", [tag], [])


def test_a_tag_is_not_added_and_removed_at_once():
    with pytest.raises(InvalidRequest):
        after("x", ["a"], ["#A"])


def test_two_keys_for_tags_are_ambiguous():
    with pytest.raises(Conflict) as error:
        after("---\ntags: a\nTags: b\n---\n", ["c"], [])
    assert error.value.code == "FRONTMATTER_INVALID"


NAMES = st.sampled_from(["a", "b", "ab", "a/b", "é", "x😀"])
TEXTS = st.lists(
    st.sampled_from(
        ["#a", " #b", " ", "\n", "\r\n", "`#a`", "[[n#a]]", "x", "(#é)", "#a/b", "%%", "#"]
    )
).map(lambda parts: re.sub(r"(?<=[\w😀/])#", " #", "".join(parts)))
HEADS = st.sampled_from(
    [
        "",
        "\ufeff",
        "---\ntags: [a, 'b']\n---\n",
        "---\nk: 1\ntag:\n- a\n- x😀\n---\n",
        "---\ntags: a b\n---\n",
    ]
)


@given(
    HEADS, TEXTS, st.sets(NAMES), st.sets(NAMES), st.sampled_from(["frontmatter", "inline", "both"])
)
def test_the_note_has_the_tags_that_were_asked_for(
    head: str, text: str, add: set[str], remove: set[str], where: str
):
    def tags(note: str) -> set[str]:
        return set(parse_note(note.removeprefix("\ufeff"), path="a.md").tags)

    remove -= add
    note = head + text
    changed = after(note, sorted(add), sorted(remove), where)
    before = tags(note)
    assert add <= tags(changed) <= before | add
    if where == "both":
        assert tags(changed) == (before - remove) | add
