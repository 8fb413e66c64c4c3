"""Which heading a text means: one table of cases for everything that looks a heading up.

What Obsidian resolves decides for links; `markdown/headings.py` says where that was read. A request
may also name a heading by what replies show of it, and by a path `A > B`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest

from vault_agent.errors import VaultAgentError
from vault_agent.markdown import frontmatter
from vault_agent.markdown.address import PartAddress, find_section
from vault_agent.markdown.broken import Anchors
from vault_agent.markdown.document import Document
from vault_agent.markdown.parse import parse_note
from vault_agent.markdown.tree import build, part
from vault_agent.mcp.writing import place
from vault_agent.model.notes import LinkKind
from vault_agent.search.complete import heading_hits
from vault_agent.search.context import section_chunks
from vault_agent.search.note_file import named_part
from vault_agent.store.index.notes import StoredChunk

SEVERAL = "several"
"""What a caller says that must not choose among several headings."""
THERE = "there"
"""What a caller says that is only asked whether there is such a heading."""

Found = int | str | None
"""The line of the heading, or what is said instead of it; None if there is none."""


class Case(NamedTuple):
    """A note, the text that names a heading of it, and the lines of those that it means.

    `of_links` are the lines where Obsidian resolves another heading than a request names, or none.
    """

    note: str
    text: str
    lines: tuple[int, ...]
    of_links: tuple[int, ...] | None = None

    def wanted(self, caller: str) -> tuple[int, ...]:
        """Return the lines that the text means for a caller."""
        return self.of_links if caller in OF_LINKS and self.of_links is not None else self.lines


CASES = {
    "the same text": Case("# Log\n", "Log", (1,)),
    "punctuation": Case("# Plan: A/B\n", "plan a b", (1,)),
    "markup": Case("# a **bold** word\n", "a bold word", (1,)),
    "an ID behind it": Case("# a **bold** word ^id1\n", "a bold word", (1,), of_links=()),
    "its ID with it": Case("# a **bold** word ^id1\n", "a bold word id1", (1,)),
    "both parts of a link": Case("# [[x|alias]] end\n", "x alias end", (1,)),
    "the shown part of a link": Case("# [[x|alias]] end\n", "alias end", (1,), of_links=()),
    "a path of a link": Case("# Log\n# Top\n## Log\n", "Top#Log", (3,)),
    "a path of a request": Case("# Log\n# Top\n## Log\n", "Top > Log", (3,), of_links=()),
    "a path with a gap": Case("# Log\n# Top\n## Mid\n### Log\n", "Top#Log", (4,)),
    "a path in the wrong order": Case("# Log\n## Top\n", "Top#Log", ()),
    "a path whose first part is missing": Case("# Log\n", "Top#Log", ()),
    "a path of equal headings": Case("# A\n## Log\n# B\n## Log\n", "B#Log", (4,)),
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
    found = named_part(Document(case.note), case.text)
    return found and found.line


def edit(case: Case) -> Found:
    """Edit a section, as tools name it."""
    try:
        return find_section(
            Document(case.note), PartAddress(tuple(place(case.text)["heading"]))
        ).line
    except VaultAgentError as error:
        return SEVERAL if error.code == "HEADING_AMBIGUOUS" else None


def excerpt(case: Case) -> Found:
    """Take an excerpt for a context."""
    note = parse_note(case.note, path="a.md")
    chunks = [
        StoredChunk(each.index, each.heading_path, each.start_line, each.end_line, each.text)
        for each in note.chunks
    ]
    found = section_chunks(chunks, note.anchors, case.text)
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


def check(case: Case) -> Found:
    """Check whether a link is broken."""
    anchors = Anchors(parse_note(case.note, path="a.md").anchors)
    return None if anchors.fault(LinkKind.WIKILINK, case.text) else THERE


def complete(case: Case) -> Found:
    """Offer headings for what is typed behind `#`: the first one."""
    document = Document(case.note)
    hits = heading_hits(document.headings, case.text)
    return document.sections[hits[0].number].line if hits else None


CALLERS: dict[str, Callable[[Case], Found]] = {
    each.__name__: each for each in (read, edit, excerpt, embed, check, complete)
}
OF_LINKS = ("embed", "check", "complete")


def asked(name: str, caller: str) -> bool:
    """Whether a case is one for a caller. Completion offers headings for a part of a text too."""
    return caller != "complete" or bool(CASES[name].wanted(caller))


@pytest.mark.parametrize("caller", CALLERS)
def test_a_text_means_the_same_heading_everywhere(caller: str):
    for name, case in CASES.items():
        if not asked(name, caller):
            continue
        lines = case.wanted(caller)
        wanted: Found = lines[0] if lines else None
        if lines and caller == "check":
            wanted = THERE
        elif len(lines) > 1 and caller == "edit":
            wanted = SEVERAL
        assert CALLERS[caller](case) == wanted, name
