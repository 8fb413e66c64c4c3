"""Frontmatter is found where Obsidian finds it and kept as written. It never fails a run."""

from __future__ import annotations

import pytest
from tests.support.clocks import assert_linear

from vault_agent.markdown import frontmatter
from vault_agent.markdown.parse import parse_note


def body_of(text: str) -> str:
    return text[frontmatter.read(text).end :]


@pytest.mark.parametrize(
    ("text", "body"),
    [
        pytest.param("---\na: 1\n---\nbody", "body", id="closed by dashes"),
        pytest.param("---\na: 1\n...\nbody", "body", id="closed by dots"),
        pytest.param("---\r\na: 1\r\n---\r\nbody\r\n", "body\r\n", id="CRLF"),
        pytest.param("---\ra: 1\r---\rbody", "body", id="CR alone"),
        pytest.param("\ufeff---\na: 1\n---\nbody", "body", id="after a byte order mark"),
        pytest.param("\ufeffbody", "body", id="byte order mark alone"),
        pytest.param("---\n---\nbody", "body", id="empty"),
        pytest.param("---  \na: 1\n--- \t\nbody", "body", id="blanks after the fences"),
        pytest.param("---\na: 1\n---", "", id="no body"),
        pytest.param("---\n# a comment\n---\nbody", "---\n# a comment\n---\nbody", id="a heading"),
        pytest.param("---\na: 1\nbody", "---\na: 1\nbody", id="without an end"),
        pytest.param("\n---\na: 1\n---\n", "\n---\na: 1\n---\n", id="not on the first line"),
        pytest.param(" ---\na: 1\n---\n", " ---\na: 1\n---\n", id="indented"),
        pytest.param("----\na: 1\n---\n", "----\na: 1\n---\n", id="four dashes"),
        pytest.param("text\n\n---\n\na: 1\n---\n", "text\n\n---\n\na: 1\n---\n", id="later rules"),
        pytest.param("---\n\nprose\n\n---\nmore", "---\n\nprose\n\n---\nmore", id="prose in rules"),
        pytest.param("---\na: |\n  ---\n---\nbody", "body", id="an indented fence is a value"),
        pytest.param("", "", id="empty file"),
    ],
)
def test_the_body_starts_after_the_frontmatter(text, body):
    assert body_of(text) == body


@pytest.mark.parametrize(
    "written", ["12:30", "010", "1.10", "2024-02-29", "0x1f", "1e3", "yes", "1_000", "=", "<<"]
)
def test_scalars_are_kept_as_written(written):
    note = parse_note(f"---\ntitle: {written}\ncreated: {written}\n---\n", path="a.md")
    assert (note.title, note.created, note.warnings) == (written, written, ())


@pytest.mark.fault(
    "Note contents",
    "expanding YAML aliases, thousands of brackets, a megabyte of frontmatter, an "
    "invalid date, duplicate keys, tabs",
    "a warning; the body is indexed",
)
@pytest.mark.parametrize(
    ("yaml", "reason"),
    [
        ("a: &x [b]\nc: [*x, *x]", "anchors and aliases are not read"),
        ("a: " + "[" * 60_000, "nested too deeply"),
        ("[" * 60_000, "nested too deeply"),
        ("a: " + "{a: " * 10_000, "nested too deeply"),
        ("\n".join(" " * level + "a:" for level in range(200)), "nested too deeply"),
        ("a: " + "x" * 1_000_000, "larger than 64 KiB"),
        ("a: " + "é" * 40_000, "larger than 64 KiB"),
        ("a: 1\nb: 2\na: 3", "a key is given twice (line 4)"),
        ("a: 1\n\tb: 2", "not valid YAML (line 3)"),
        ("date: 2024-02-30", "a date that does not exist (line 2)"),
        ("title: one: two", "not valid YAML (line 2)"),
        ("a: [", "not valid YAML (line 3)"),
        ("a: \x01", "not valid YAML (line 2)"),
        ("? [a, b]\n: c\nd: e", "a key is not plain text"),
        ("{a: 1}: b", "a key is not plain text"),
        ("'a: b'", "not a list of keys and values"),
    ],
    ids=lambda value: value[:20].encode("unicode_escape").decode(),
)
def test_invalid_frontmatter_causes_a_warning_and_the_body_is_parsed(yaml, reason):
    note = parse_note(f"---\n{yaml}\n---\n# Body\n", path="f/a.md")
    assert [chunk.text for chunk in note.chunks] == ["# Body\n"]
    (warning,) = note.warnings
    assert warning.code == "FRONTMATTER_PARSE_FAILED"
    assert warning.details == {"path": "f/a.md", "reason": reason}


def test_lone_surrogates_in_frontmatter_cause_a_warning():
    read = frontmatter.read("---\ntitle: \ud800\n---\nbody")
    assert (read.values, read.problem) == ({}, "not valid YAML")


def test_a_warning_does_not_quote_the_frontmatter():
    note = parse_note("---\nsecret: canary: [canary\n---\n", path="a.md")
    assert note.warnings
    assert "canary" not in str(note.warnings)


def test_values_before_an_error_are_kept():
    note = parse_note("---\ntitle: Kept\ntags: [a]\nbad: b: c\n---\n", path="a.md")
    assert (note.title, note.tags) == ("Kept", ("a",))
    assert note.warnings


def test_the_first_of_duplicate_keys_is_used():
    assert parse_note("---\ntitle: One\nTitle: Two\n---\n", path="a.md").title == "One"


@pytest.mark.parametrize(
    ("yaml", "aliases"),
    [
        ("aliases: [One, Two]", ("One", "Two")),
        ("aliases:\n  - One\n  - 010\n  -\n  - One", ("One", "010")),
        ("aliases: One, Two words", ("One", "Two words")),
        ("alias: One", ("One",)),
        ("Aliases: [One]\nalias: Two", ("One", "Two")),
        ("aliases: ['a, b']", ("a, b",)),
        ("aliases:", ()),
        ("aliases: {a: b}", ()),
    ],
)
def test_aliases(yaml, aliases):
    assert parse_note(f"---\n{yaml}\n---\n", path="a.md").aliases == aliases


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: Front\n---\n# Heading\n", "Front"),
        ("---\ntitle: >\n  Two\n  lines\n---\n", "Two lines"),
        ("---\ntitle:\n---\n\n# First *one*\n", "First one"),
        ("%% mine %%\n<!-- a comment -->\n\n# First\n", "First"),
        ("text\n\n# Later\n", "Release 1.2"),
        ("## Second\n\n# Later\n", "Release 1.2"),
        ("- item\n\n# Later\n", "Release 1.2"),
        ("---\ntitle: null\n---\n", "Release 1.2"),
        ("---\ntitle: 'null'\n---\n", "null"),
        ("---\ntitle: [a]\n---\n", "Release 1.2"),
        ("# {{title}}\n", "Release 1.2"),
        ("# {{date}}: <% tp.file.title %>\n", "Release 1.2"),
        ("# Meeting of {{date}}\n", "Meeting of {{date}}"),
        ("# !?\n", "!?"),
        ("#\n\n# Named\n", "Release 1.2"),
        ("```\n# code\n```\n", "Release 1.2"),
    ],
)
def test_the_title_comes_from_frontmatter_then_heading_then_file_name(text, title):
    assert parse_note(text, path="folder/Release 1.2.md").title == title


@pytest.mark.parametrize(
    ("path", "title"),
    [("a/B.MD", "B"), ("c.markdown", "c"), ("v1.2.md", "v1.2"), ("日本.md", "日本"), ("x", "x")],
)
def test_the_fallback_title_is_the_file_name_without_extension(path, title):
    assert parse_note("", path=path).title == title


def test_dates_and_type_are_strings():
    note = parse_note(
        "---\ndate: 2024-01-02\ncreated: 2024-01-02 03:04\nupdated: [x]\ntype: Idea\n---\n",
        path="a.md",
    )
    assert (note.date, note.created, note.updated) == ("2024-01-02", "2024-01-02 03:04", None)
    assert note.types == ("Idea",)


@pytest.mark.parametrize(
    "block",
    [
        lambda n: "---\n" + "- " * 7_500 * n + "\n---\n",
        lambda n: "---\na: [" + "a," * 7_500 * n + "]\n---\n",
        lambda n: "---\n" + "a:\n" * 5_000 * n + "---\n",
        lambda n: "---\n" + "a\n" * 50_000 * n,
        lambda n: "---\na: '" + "x\n" * 7_500 * n + "\n---\n",
        lambda n: "---" + " \t" * 50_000 * n + "x\n",
        lambda n: "---\na: 1\n" + ("---" + " \t" * 1_000 + "x\n") * 25 * n,
    ],
    ids=["dashes", "a long list", "keys", "no end", "an open quote", "no fence", "no fences"],
)
def test_frontmatter_parsing_time_is_linear(block):
    assert_linear(lambda n: block(n) + "body", lambda text: parse_note(text, path="a.md"))
