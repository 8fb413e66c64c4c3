"""Names of notes and their comparison."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pytest

from vault_agent.text.names import CONTROLS, HIDDEN, covers, escaped, fold, is_note, stem, unescaped


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


# --- invisible characters: only one module lists them ---------------------------------------------


PACKAGE = Path(__file__).parent.parent.parent / "src" / "vault_agent"
OF_TERMS = {"text/terms.py", "text/words.py"}
"""Which characters are no part of a term: an index is built with it, and is another rule."""


def test_a_name_with_hidden_characters_can_be_copied_back():
    name = "a\xadb\u180ec\ufff9d\u202ee\U000e0041f\u2028g\x9bh"
    assert escaped(name) == r"a\u{ad}b\u{180e}c\u{fff9}d\u{202e}e\u{e0041}f\u{2028}g\u{9b}h"
    assert unescaped(escaped(name)) == name


def test_words_and_emoji_stay_as_they_are():
    for name in ("می‌خواهم", "👩‍🚀", "❤️"):
        assert re.search(f"[{CONTROLS}{HIDDEN}]", name) is None


def test_no_other_module_lists_them():
    for module in sorted(PACKAGE.rglob("*.py")):
        name = module.relative_to(PACKAGE).as_posix()
        if name not in OF_TERMS | {"text/names.py"}:
            assert not re.search(r"u202[a-e]|u2066|ufff9", module.read_text("utf-8")), name
