"""Links that lead nowhere are found by Obsidian's rules."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.broken_links import broken_links

THERE = (
    "# Whole: *note*\n\n## The crust, and [[Other|more]]\n\n### Two\n\n## Two\n\n"
    "- item ^block-1\n\nText.\n\n^own-line\n"
)


def findings(folder: Path, text: str) -> list[tuple[int, int, str, str]]:
    """Return the findings of a note with this text, next to others."""
    (folder / "sub").mkdir(exist_ok=True)
    (folder / "There.md").write_text(THERE)
    (folder / "sub" / "Same.md").write_text("# Same\n")
    (folder / "other").mkdir(exist_ok=True)
    (folder / "other" / "Same.md").write_text("# Same\n")
    (folder / "pic a.png").write_bytes(b"\x89PNG")
    (folder / "Other.md").write_text("")
    (folder / "here.md").write_text(text)
    return [
        (each.line, each.column, str(each.fault), each.target)
        for each in broken_links(folder)
        if each.path == "here.md"
    ]


@pytest.mark.parametrize(
    "link",
    [
        "[[There]]",
        "[[there#whole note]]",
        "[[There#Whole: *note*]]",
        "[[There#The crust, and Other more]]",
        "[[There#The crust and Other more#Two]]",
        "[[There#^block-1]] [[There#^Own-Line]]",
        "[shown](There.md#two) [shown](There.md#two-1) [shown](There.md#whole-note)",
        "[shown](There.md#Whole%20note)",
        "![[pic a.png]] ![alt](pic%20a.png) ![[pic a.png|300]]",
        "| a |\n|---|\n| [[There\\|shown]] |",
        "> [!note] Title\n> [[There#Two]]",
        "# Here\n\n[[#Here]] [[#^x]]\n\nz ^x",
        "[a folder](sub/) [a folder](sub)",
        "[mail](mailto:a@b.c) [call](tel:123) [note](obsidian://open?vault=x) <https://a.b/c>",
        "`[[no]]` <!-- [[no]] --> %% [[no]] %%\n\n```\n[[no]]\n```\n\n    [[no]]\n",
        "\\[[no]]",
    ],
)
def test_a_link_that_leads_somewhere_is_no_finding(tmp_path: Path, link: str):
    assert findings(tmp_path, link) == []


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("[[Gone]]", [(1, 1, "note", "Gone")]),
        ("x ![[Gone]]", [(1, 3, "note", "Gone")]),
        ("[[v1.2 notes]]", [(1, 1, "note", "v1.2 notes")]),
        ("[[There#Crust]]", [(1, 1, "heading", "There")]),
        ("[[There#^gone]]", [(1, 1, "block", "There")]),
        ("[shown](There.md#three)", [(1, 1, "heading", "There.md")]),
        ("[shown](gone.md) ![](gone.png)", [(1, 1, "note", "gone.md"),
                                            (1, 18, "attachment", "gone.png")]),
        ("![[gone.pdf]]", [(1, 1, "attachment", "gone.pdf")]),
        ("[[Same]]", [(1, 1, "ambiguous", "Same")]),
        ("[[#Nowhere]]", [(1, 1, "heading", "")]),
        ("---\nup: '[[Gone]]'\n---\n", [(2, 5, "note", "Gone")]),
        ("[no folder](none/)", [(1, 1, "note", "none/")]),
    ],
)  # fmt: skip
def test_a_link_that_leads_nowhere_is_found(tmp_path: Path, link: str, expected):
    assert findings(tmp_path, link) == expected


def test_an_ambiguous_link_lists_the_files_it_can_mean(tmp_path: Path):
    (tmp_path / "a").mkdir()
    (tmp_path / "bb").mkdir()
    for path in ("a/X.md", "bb/X.md"):
        (tmp_path / path).write_text("")
    (tmp_path / "here.md").write_text("[[x]]")
    (found,) = broken_links(tmp_path)
    assert found.candidates == ("a/X.md", "bb/X.md")
