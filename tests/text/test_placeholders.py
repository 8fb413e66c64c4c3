"""Placeholders of templates, by one rule for titles, snippets and mentions."""

from __future__ import annotations

import re

import pytest
from tests.support.clocks import assert_linear

from vault_agent.markdown.parse import parse_note
from vault_agent.search.mentions import name_of
from vault_agent.search.snippet import beginning
from vault_agent.text.placeholders import BUILT_IN, has_placeholder, is_placeholder


@pytest.mark.parametrize(
    "text",
    [
        "{{title}}",
        "{{date:YYYY-MM-DD}} {{time}}",
        "<% tp.file.title %>",
        "<%* if (a < b) { %>",
        '<% tp.date.now("%Y") %>',
        f"<% {'x' * 450} %>",
        f"{{{{{'x' * 300}}}}}",
    ],
)
def test_one_rule_holds_for_titles_snippets_and_mentions(text: str) -> None:
    assert has_placeholder(text)
    assert is_placeholder(text)
    assert parse_note(f"# {text}\n", path="Name.md").title == "Name"
    assert not beginning(f"# A\n\n{text}", 1_000)
    assert name_of(text) is None


@pytest.mark.parametrize("text", ["Use {{ in a text", "a <% b", "{{", "50%> of it", "{ {a} }"])
def test_half_a_placeholder_is_text(text: str) -> None:
    assert not has_placeholder(text)
    assert parse_note(f"# {text}\n", path="Name.md").title == text


def test_a_title_with_a_placeholder_and_words_is_a_title() -> None:
    assert has_placeholder("Meeting of {{date}}")
    assert not is_placeholder("Meeting of {{date}}")
    assert name_of("Meeting of {{date}}") is None


@pytest.mark.parametrize("piece", ["{{", "<%", "<% %", "<%<", "{{a}", "<%%>"])
def test_time_is_linear(piece: str) -> None:
    assert_linear(lambda n: piece * 60_000 * n, is_placeholder)


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_lines_of_a_template_that_nobody_filled_in_are_no_content(name: str):
    note = parse_note(BUILT_IN[name].replace("{{title}}", "Okapi"), path="okapi.md")
    assert note.links == ()
    assert not re.search(r"\[|prompted|other-|path/to", "".join(note.shown_texts))
    assert "[" not in beginning("".join(chunk.text for chunk in note.chunks), 200)


def test_a_filled_line_of_a_template_is_content():
    filled = BUILT_IN["module"].replace("- Depends on: [[other-module]]", "- Depends on: [[Pump]]")
    note = parse_note(filled, path="okapi.md")
    assert [link.target for link in note.links] == ["Pump"]
    assert "Pump" in "".join(note.shown_texts)
