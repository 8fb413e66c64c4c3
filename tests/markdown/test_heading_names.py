"""Which heading a text means: one table of cases for everything that looks a heading up.

What Obsidian resolves decides. What a caller gives today instead stands in `DIFFERENCES`: a
difference that is mended is taken out of it, and a new one fails.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

from vault_agent.errors import VaultAgentError
from vault_agent.markdown import frontmatter
from vault_agent.markdown.address import Address, find_section
from vault_agent.markdown.broken import Anchors
from vault_agent.markdown.heading_links import Headings
from vault_agent.markdown.named_parts import part
from vault_agent.markdown.parse import parse_note
from vault_agent.markdown.sections import outline, section_lines
from vault_agent.markdown.tree import build
from vault_agent.mcp.writing import place
from vault_agent.model.notes import LinkKind
from vault_agent.ranking.names import NameIndex
from vault_agent.search.context import _section_chunks
from vault_agent.store.index.notes import StoredChunk

if TYPE_CHECKING:
    from collections.abc import Callable

SEVERAL = "several"
"""What a caller says that must not choose among several headings."""
THERE = "there"
"""What a caller says that is only asked whether there is such a heading."""

Found = int | str | None
"""The line of the heading, or what is said instead of it; None if there is none."""


class Case(NamedTuple):
    """A note, the text that names a heading of it, and the lines of those that it means."""

    note: str
    text: str
    lines: tuple[int, ...]
    is_path: bool = False  # headings as `A > B`, which our own requests take and links do not


CASES = {
    "the same text": Case("# Log\n", "Log", (1,)),
    "punctuation": Case("# Plan: A/B\n", "plan a b", (1,)),
    "markup": Case("# a **bold** word ^id1\n", "a bold word", (1,)),
    "both parts of a link": Case("# [[x|alias]] end\n", "x alias end", (1,)),
    "the shown part of a link": Case("# [[x|alias]] end\n", "alias end", ()),
    "a path of a link": Case("# Log\n# Top\n## Log\n", "Top#Log", (3,)),
    "a path of a request": Case("# Log\n# Top\n## Log\n", "Top > Log", (3,), is_path=True),
    "a path with a gap": Case("# Log\n# Top\n## Mid\n### Log\n", "Top#Log", (4,)),
    "a path in the wrong order": Case("# Log\n## Top\n", "Top#Log", (1,)),
    "two equal headings": Case("# Log\n\n# Log\n", "Log", (1, 3)),
    "letter case": Case("# Late Frost\n", "late frost", (1,)),
    "letter case beyond ASCII": Case("# Früh und ÜBER\n", "früh und über", (1,)),
    "CJK": Case("# 東京の図書館\n", "東京の図書館", (1,)),
    "an emoji": Case("# Bees 🐝\n", "Bees 🐝", (1,)),
    "spaces around": Case("#   Log  \n", " Log ", (1,)),
    "spaces within": Case("# Late   frost\n", "Late frost", (1,)),
    "the signs of a heading": Case("## Log ##\n", "Log", (1,)),
    "underlined": Case("Log\n===\n", "Log", (1,)),
    "in a quote": Case("> # Quoted\n", "Quoted", ()),
    "in code": Case("```\n# Code\n```\n", "Code", ()),
    "after properties": Case("---\na: 1\n---\n# Log\n", "Log", (4,)),
    "a part of the text": Case("# Late frost\n", "frost", ()),
}


def read(case: Case) -> Found:
    """Read a section."""
    found = section_lines(outline(case.note), case.text)
    return found and found[0]


def edit(case: Case) -> Found:
    """Edit a section, as tools name it."""
    try:
        return find_section(outline(case.note), Address(tuple(place(case.text)["heading"]))).line
    except VaultAgentError as error:
        return SEVERAL if error.code == "HEADING_AMBIGUOUS" else None


def excerpt(case: Case) -> Found:
    """Take an excerpt for a context."""
    chunks = [
        StoredChunk(each.index, each.heading_path, each.start_line, each.end_line, each.text)
        for each in parse_note(case.note, path="a.md").chunks
    ]
    found = _section_chunks(chunks, case.text)
    if not found:
        return None
    first = found[0]  # headings without text are in the chunk of the next one
    inside = [line for line in case.lines if first.start_line <= line <= first.end_line]
    return inside[0] if inside else first.start_line


def embed(case: Case) -> Found:
    """Show an embedded section."""
    body = frontmatter.bounds(case.note).end
    tree = build(case.note[body:], 1 + case.note[:body].count("\n"))
    found = part(tree.root, case.text)
    return found[0].line if found else None


def rename(case: Case) -> Found:
    """Find what a link names, to change it with the heading."""
    headings = Headings(case.note)
    found = headings.named(LinkKind.WIKILINK, case.text)
    return outline(case.note).sections[found[-1]].line if found else None


def check(case: Case) -> Found:
    """Check whether a link is broken."""
    anchors = [(each.level, each.name) for each in parse_note(case.note, path="a.md").anchors]
    return None if Anchors(anchors).fault(LinkKind.WIKILINK, case.text) else THERE


def complete(case: Case) -> Found:
    """Offer headings for what is typed behind `#`: the first one."""
    sections = outline(case.note).sections
    hits = NameIndex([each.text for each in sections]).find(case.text)
    return sections[hits[0].number].line if hits else None


CALLERS: dict[str, Callable[[Case], Found]] = {
    each.__name__: each for each in (read, edit, excerpt, embed, rename, check, complete)
}
OF_LINKS = ("embed", "rename", "check", "complete")
DIFFERENCES: dict[tuple[str, str], Found] = {
    ("punctuation", "excerpt"): None,
    ("markup", "read"): None,
    ("markup", "excerpt"): None,
    ("markup", "rename"): None,
    ("markup", "check"): None,
    ("both parts of a link", "read"): None,
    ("both parts of a link", "edit"): None,
    ("both parts of a link", "excerpt"): None,
    ("both parts of a link", "embed"): None,
    ("the shown part of a link", "read"): 1,
    ("the shown part of a link", "edit"): 1,
    ("the shown part of a link", "excerpt"): 1,
    ("the shown part of a link", "embed"): 1,
    ("a path of a link", "read"): None,
    ("a path of a link", "edit"): None,
    ("a path of a link", "complete"): None,
    ("a path with a gap", "read"): None,
    ("a path with a gap", "edit"): None,
    ("a path with a gap", "excerpt"): None,
    ("a path with a gap", "complete"): None,
    ("a path in the wrong order", "read"): None,
    ("a path in the wrong order", "edit"): None,
    ("a path in the wrong order", "excerpt"): None,
    ("a path in the wrong order", "embed"): None,
    ("a path in the wrong order", "complete"): None,
}
"""What a caller gives today, by case and caller, where it is not what is wanted."""


def wanted(caller: str, case: Case) -> Found:
    """Return what a caller should give."""
    if not case.lines or (case.is_path and caller in OF_LINKS):
        return None
    if caller == "check":
        return THERE
    return SEVERAL if caller == "edit" and len(case.lines) > 1 else case.lines[0]


def asked(name: str, caller: str) -> bool:
    """Whether a case is one for a caller. Completion offers headings for a part of a text too."""
    case = CASES[name]
    return caller != "complete" or bool(case.lines and not case.is_path)


@pytest.mark.parametrize(
    ("name", "caller"),
    [(name, caller) for name in CASES for caller in CALLERS if asked(name, caller)],
)
def test_a_text_means_the_same_heading_everywhere(name: str, caller: str):
    case = CASES[name]
    found = CALLERS[caller](case)
    if found == wanted(caller, case):
        assert (name, caller) not in DIFFERENCES, "mended: take it out of DIFFERENCES"
    else:
        assert found == DIFFERENCES.get((name, caller), wanted(caller, case))


def test_every_known_difference_is_one_of_the_table():
    assert all(name in CASES and caller in CALLERS for name, caller in DIFFERENCES)
    assert all(asked(*each) for each in DIFFERENCES)
