"""Which names are notes', and which are the same."""

from __future__ import annotations

import unicodedata

import pytest

from vault_agent.text.names import fold, is_note, stem


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a.md", True), ("a.MD", True), ("a.Markdown", True), ("a.mdx", False), ("md", False)],
)
def test_a_note_is_known_by_its_suffix_in_any_case(name: str, expected: bool) -> None:
    assert is_note(name) is expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("Folder/a.b.md", "a.b"),
        ("a.MARKDOWN", "a"),
        ("Folder.md/paper.pdf", "paper.pdf"),
        ("x/.md", ".md"),
    ],
)
def test_only_a_note_loses_its_suffix(path: str, expected: str) -> None:
    assert stem(path) == expected


def test_comparison_ignores_normalisation_and_case_but_not_letters() -> None:
    composed = "Notes/Été Ω.md"
    twin = unicodedata.normalize("NFD", composed).upper()
    assert fold(composed) == fold(twin)
    assert fold("A/B.md") == "a/b.md"
    assert fold("Maße.md") != fold("Masse.md")


def test_a_final_sigma_is_a_sigma_and_a_no_break_space_a_space() -> None:
    assert fold("ΟΔΟΣ.md") == fold("οδος.md") == fold("ΟΔΟΣ") + ".md"
    assert fold("at 10\u202fAM") == fold("at\u00a010 am") == "at 10 am"
