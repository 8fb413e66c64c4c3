"""Anchors, properties, tasks and types of a note."""

from __future__ import annotations

import pytest

from vault_agent.markdown import links, parse
from vault_agent.markdown.headings import anchor_key
from vault_agent.markdown.parse import parse_note
from vault_agent.model.notes import PropertyType


def test_headings_and_blocks_are_anchors():
    text = "# A [[b]] c\n\ntext ^Block-1\n\n```\n# no\nno ^no\n```\n## Ünder: *x*\nx^2\n"
    note = parse_note(text, path="a.md")
    assert [tuple(anchor) for anchor in note.anchors] == [
        (1, "a b c", 1),
        (0, "block-1", 3),
        (2, "ünder x", 9),
    ]


def test_anchors_match_fragments_in_every_spelling():
    assert anchor_key("What? #1 | [x]^2") == anchor_key("WHAT  1 x 2") == "what 1 x 2"


def test_property_types_follow_their_spelling():
    text = (
        "---\nstatus: accepted\nCount: 12\nquoted: '12'\nday: 2024-01-02\ndone: true\nnone:\n"
        "list: [a, 2]\nouter:\n  Inner: x\n---\n"
    )
    note = parse_note(text, path="a.md")
    kind = PropertyType
    assert [tuple(each) for each in note.properties] == [
        ("status", kind.TEXT, "accepted"),
        ("count", kind.NUMBER, "12"),
        ("quoted", kind.TEXT, "12"),
        ("day", kind.DATE, "2024-01-02"),
        ("done", kind.BOOLEAN, "true"),
        ("none", kind.EMPTY, ""),
        ("list", kind.TEXT, "a"),
        ("list", kind.NUMBER, "2"),
        ("outer.inner", kind.TEXT, "x"),
    ]


def test_tasks_are_found_in_lists_and_quotes_but_not_in_code():
    text = (
        "- [ ] one\n  * [x] two #t\n> 1. [/] three\n```\n- [ ] no\n```\n[ ] no\n- [ ]no\n"
        "%% - [ ] no %%\n- [x](no.md)\n10) [-] four\n"
    )
    note = parse_note(text, path="a.md")
    assert [(task.symbol, task.text, task.line) for task in note.tasks] == [
        (" ", "one", 1),
        ("x", "two #t", 2),
        ("/", "three", 3),
        ("-", "four", 11),
    ]


@pytest.mark.parametrize(
    ("written", "types"),
    [
        ("Apps", ("Apps",)),
        ('"[[Apps]]"', ("Apps",)),
        ("[[Apps]]", ("Apps",)),
        ('"[[Categories/Apps.md#x|our apps]]"', ("Apps",)),
        ('[book, "[[Apps]]", book]', ("book", "Apps")),
        ("", ()),
    ],
)
def test_a_type_can_be_a_wikilink(written, types):
    assert parse_note(f"---\ntype: {written}\n---\n", path="a.md").types == types


@pytest.mark.fault(
    "Note contents",
    "a note with too many tags, aliases, properties, tasks, headings or chunks",
    "the first are kept, with a warning",
)
@pytest.mark.parametrize(
    ("text", "field", "code", "limit"),
    [
        ("[[b]] " * 30, "links", "NOTE_TRUNCATED", "MAX_LINKS"),
        ("[b](c.md) [[d]] " * 15, "links", "NOTE_TRUNCATED", "MAX_LINKS"),
        ("---\nlinks: [a, b]\n---\n" + "[[b]] " * 28, "links", "NOTE_TRUNCATED",
         "MAX_LINKS"),
        ("<https://a.b> " * 30, "external_links", "NOTE_TRUNCATED", "MAX_LINKS"),
        ("".join(f"#t{n} " for n in range(30)), "tags", "NOTE_TRUNCATED", "MAX_TAGS"),
        ("# h\nx\n" * 30, "chunks", "NOTE_TRUNCATED", "MAX_CHUNKS"),
        ("# h\n" * 30, "anchors", "NOTE_TRUNCATED", "MAX_ANCHORS"),
        ("- [ ] t\n" * 30, "tasks", "NOTE_TRUNCATED", "MAX_TASKS"),
        ("---\n" + "".join(f"p{n}: 1\n" for n in range(30)) + "---\n", "properties",
         "NOTE_TRUNCATED", "MAX_PROPERTIES"),
        ("---\naliases: [" + ",".join(f"a{n}" for n in range(30)) + "]\n---\n", "aliases",
         "NOTE_TRUNCATED", "MAX_ALIASES"),
    ],
)  # fmt: skip
def test_values_over_a_limit_are_cut_with_a_warning(monkeypatch, text, field, code, limit):
    whole = parse_note(text, path="a.md")
    assert whole.warnings == ()
    assert len(getattr(whole, field)) == 30
    monkeypatch.setattr(links if limit == "MAX_LINKS" else parse, limit, 10)
    note = parse_note(text, path="a.md")
    [warning] = note.warnings
    assert warning.code == code
    assert warning.details == {
        "path": "a.md",
        "part": field.replace("_", " "),
        "kept": 10,
        "found": 30,
    }
    assert getattr(note, field) == getattr(whole, field)[:10]


def test_links_over_the_limit_are_only_counted():
    note = parse_note("[[b]] " * (links.MAX_LINKS + 5), path="a.md")
    assert len(note.links) == links.MAX_LINKS
    assert note.warnings[0].details["found"] == links.MAX_LINKS + 5
