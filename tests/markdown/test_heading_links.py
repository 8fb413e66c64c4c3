"""Fragments of links after a heading got another text."""

from __future__ import annotations

import pytest

from vault_agent.errors import Conflict
from vault_agent.markdown.document import Document
from vault_agent.markdown.edit import spliced
from vault_agent.markdown.heading_links import RenamedHeading
from vault_agent.markdown.parse import parse_note

NOTE = """# Project
## Log
### Today
# Other: *part*
## Log
## Late frost
## Late frost
"""


def renamed(text: str, old: str, new: str, *, note: str = NOTE, nth: int = 1) -> str:
    """Return a text with links to a note after the nth heading `old` of that note was renamed."""
    lines = note.splitlines()
    index = [number for number, line in enumerate(lines) if line.lstrip("# ") == old][nth - 1]
    after = [*lines]
    after[index] = f"{lines[index].partition(' ')[0]} {new}"
    changed = RenamedHeading(Document(note).headings, Document("\n".join(after)).headings, index)
    data = text.encode()
    links = parse_note(text, path="From.md").links
    return spliced(data, changed.splices(data, links)).decode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[[N#Log]]", "[[N#Diary]]"),
        ("![[N#log|x]] [[#Log]]", "![[N#Diary|x]] [[#Diary]]"),
        ("[[N# Log |x]]", "[[N# Diary |x]]"),
        ("|a|\n|-|\n|[[N#Log\\|x]]|", "|a|\n|-|\n|[[N#Diary\\|x]]|"),
        ("[[N#Project#Log]]", "[[N#Project#Diary]]"),
        ("[[N#Log#Today]] [[N#Today]]", "[[N#Diary#Today]] [[N#Today]]"),
        ("[[N#Other part#Log]] [[N#^Log]] [[N]]", "[[N#Other part#Log]] [[N#^Log]] [[N]]"),
        ("[x](n.md#Log)", "[x](n.md#Diary)"),
        ("[x](n.md#log)", "[x](n.md#Diary)"),
        ("[x](<n.md#Log> 't')", "[x](<n.md#Diary> 't')"),
        ("[x][r]\n\n[r]: n.md#Log 't'", "[x][r]\n\n[r]: n.md#Diary 't'"),
        ("`[[N#Log]]` %%[[N#Log]]%%", "`[[N#Log]]` %%[[N#Log]]%%"),
        ("---\nup: '[[N#Log]]'\n---\n", "---\nup: '[[N#Diary]]'\n---\n"),
        ("---\nlinks: [n.md#Log]\n---\n", "---\nlinks: [n.md#Diary]\n---\n"),
        ("---\nlinks: n.md#Log\n---\n", "---\nlinks: n.md#Diary\n---\n"),
    ],
)
def test_links_follow_a_heading(before: str, after: str):
    assert renamed(before, "Log", "Diary") == after


def test_the_second_of_two_headings_is_named_by_its_path():
    text = "[[N#Log]] [[N#Other: part#Log]] [[N#Other part#Log]]"
    after = "[[N#Log]] [[N#Other: part#Diary]] [[N#Other part#Diary]]"
    assert renamed(text, "Log", "Diary", nth=2) == after


def test_a_link_to_another_heading_of_the_new_text_is_named_by_its_path():
    assert renamed("[[N#Late frost]]", "Project", "Late frost") == "[[N#Other: part#Late frost]]"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[x](n.md#late-frost)", "[x](n.md#early-frost-2024)"),
        ("[x](n.md#late-frost-1)", "[x](n.md#late-frost)"),
        ("[x](n.md#Late%20frost)", "[x](n.md#Early%20frost,%202024)"),
    ],
)
def test_fragments_of_renderers(before: str, after: str):
    assert renamed(before, "Late frost", "Early frost, 2024") == after


def test_signs_of_a_heading_that_a_link_cannot_have_are_left_out():
    assert renamed("[[N#Log]]", "Log", "A [b] #c | d^e") == "[[N#A b c d e]]"


def test_a_heading_that_no_link_can_name_refuses():
    note = "# One\n# Two\n"
    with pytest.raises(Conflict, match="LINK_NOT_EXPRESSIBLE"):
        renamed("[[N#One]]", "One", "Two", note="# Two\n# One\n")
    assert renamed("[[N#One]]", "One", "Three", note=note) == "[[N#Three]]"
