"""Names of notes and their comparison."""

from __future__ import annotations

import unicodedata

import pytest

from vault_agent.text.names import covers, fold, is_note, stem


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a.md", True), ("a.MD", True), ("a.Markdown", True), ("a.mdx", False), ("md", False)],
)
def test_a_note_is_recognised_by_its_suffix_in_any_case(name: str, expected: bool) -> None:
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


def test_names_are_compared_without_case_and_normal_form() -> None:
    composed = "Notes/Été Ω.md"
    twin = unicodedata.normalize("NFD", composed).upper()
    assert fold(composed) == fold(twin)
    assert fold("A/B.md") == "a/b.md"
    assert fold("Maße.md") != fold("Masse.md")


def test_sigmas_and_spaces_are_unified() -> None:
    assert fold("ΟΔΟΣ.md") == fold("οδος.md") == fold("ΟΔΟΣ") + ".md"
    assert fold("at 10\u202fAM") == fold("at\u00a010 am") == "at 10 am"


@pytest.mark.parametrize(
    ("entry", "path", "expected"),
    [
        ("diary", "diary/may.md", True),
        ("diary", "diary.md", True),
        ("diary", "diary.markdown", True),
        ("diary.md", "diary.md", True),
        ("diary", "diary.mdx", False),
        ("diary", "diaries/may.md", False),
        ("", "may.md", False),
    ],
)
def test_an_entry_means_a_folder_or_a_note_with_any_suffix(
    entry: str, path: str, expected: bool
) -> None:
    assert covers(entry, path) is expected
