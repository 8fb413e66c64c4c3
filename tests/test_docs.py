"""The documentation and the demo are vaults without broken links."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from vault_agent.markdown.parse import parse_note
from vault_agent.markdown.resolve import LinkResolver
from vault_agent.model.notes import Link, LinkKind, ParsedNote

ROOT = Path(__file__).parent.parent
# This note of the demo is missing on purpose.
UNWRITTEN = "Cold frame"


def read_vault(root: Path) -> tuple[dict[str, ParsedNote], LinkResolver]:
    """Return the notes of a folder by path, and the resolver of their links."""
    paths = sorted(p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_file())
    notes = {
        path: parse_note((root / path).read_text("utf-8"), path=path)
        for path in paths
        if path.endswith(".md")
    }
    others = [path for path in paths if path not in notes]
    return notes, LinkResolver([(path, note.aliases) for path, note in notes.items()], others)


def slug(heading: str) -> str:
    """Return the anchor that Markdown renderers give a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def has_place(note: ParsedNote, fragment: str, kind: LinkKind) -> bool:
    """Whether a note has the heading or block of a link's fragment."""
    if fragment.startswith("^"):
        return any(re.search(rf"(?m){re.escape(fragment)}$", c.text) for c in note.chunks)
    headings = {heading for chunk in note.chunks for heading in chunk.heading_path}
    if kind is LinkKind.MARKDOWN:
        return fragment in map(slug, headings)
    return fragment.rsplit("#", maxsplit=1)[-1] in headings


def broken(root: Path) -> list[str]:
    """Return every unresolved or ambiguous link of a vault."""
    notes, resolver = read_vault(root)

    def fails(path: str, link: Link) -> bool:
        found = resolver.resolve(path, link.target, link.kind)
        if found.path is None or found.ambiguous:
            return True
        return bool(
            link.fragment
            and found.is_note
            and not has_place(notes[found.path], link.fragment, link.kind)
        )

    return [
        f"{path}:{link.line} {link.target}#{link.fragment}"
        for path, note in notes.items()
        for link in note.links
        if fails(path, link) and link.target != UNWRITTEN
    ]


@pytest.mark.parametrize("folder", ["docs", "fixtures/vault"])
def test_no_link_is_broken(folder: str):
    assert broken(ROOT / folder) == []


@pytest.mark.parametrize(
    "text",
    [
        "[gone](gone.md)",
        "[no such place](here.md#nowhere)",
        "[[gone]]",
        "[[here#Nowhere]]",
        "[[here#^nothing]]",
        "![[gone.png]]",
    ],
)
def test_a_broken_link_is_reported(tmp_path: Path, text: str):
    (tmp_path / "here.md").write_text(f"# Here\n\n[fine](here.md#here), [[here#Here]], {text}\n")
    assert len(broken(tmp_path)) == 1


def test_the_documentation_can_be_reached_from_its_index():
    """Every page is linked from index.md, or from a page that is."""
    notes, resolver = read_vault(ROOT / "docs")
    reached, waiting = set(), ["index.md"]
    while waiting:
        path = waiting.pop()
        if path in notes and path not in reached:
            reached.add(path)
            found = (resolver.resolve(path, x.target, x.kind).path for x in notes[path].links)
            waiting += [each for each in found if each]
    assert reached == set(notes)


def test_links_in_the_readme_lead_to_files():
    note = parse_note((ROOT / "README.md").read_text("utf-8"), path="README.md")
    assert note.links
    assert [x.target for x in note.links if not (ROOT / x.target).is_file()] == []


def test_the_demo_vault_parses_without_a_warning():
    notes, _ = read_vault(ROOT / "fixtures" / "vault")
    assert len(notes) >= 40
    assert [warning for note in notes.values() for warning in note.warnings] == []
