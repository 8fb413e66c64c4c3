"""Exclusions, by name alone."""

from __future__ import annotations

import pickle

import pytest

from vault_agent.errors import Misconfigured
from vault_agent.model.scope import Scope
from vault_agent.vault.paths import FOLDER_MARK, Exclusions, Verdict


@pytest.mark.parametrize(
    "path",
    [
        ".hidden.md",
        ".obsidian/app.json",
        ".git/config",
        ".trash/old.md",
        "a/.b/c.md",
        "node_modules/x/readme.md",
        "a/build/b/c.md",
        "__pycache__/x.md",
    ],
)
def test_hidden_names_and_default_folders_are_excluded(path: str) -> None:
    assert Exclusions().excludes(path)


@pytest.mark.parametrize(
    "path", ["build.md", "building/a.md", "a/Build/b.md", "a..b.md", "bin/x.md"]
)
def test_names_that_resemble_excluded_ones_are_included(path: str) -> None:
    assert not Exclusions().excludes(path)


def test_default_folder_exclusions_do_not_apply_to_files() -> None:
    assert not Exclusions().excludes("target")
    assert Exclusions().excludes("target", is_dir=True)


@pytest.mark.parametrize(
    ("patterns", "path", "out"),
    [
        (["private/"], "private/a.md", True),
        (["private/"], "x/private/a.md", True),
        (["/private/"], "x/private/a.md", False),
        (["private/"], "private", False),  # a file of that name is not a folder
        (["*.tmp.md"], "a/b.tmp.md", True),
        (["drafts/*.md"], "drafts/a.md", True),
        (["drafts/*.md"], "drafts/x/a.md", False),
        (["drafts/**/old.md"], "drafts/x/y/old.md", True),
        (["*.md", "!keep.md"], "keep.md", False),
        (["!keep.md", "*.md"], "keep.md", True),
        (["private/", "!private/keep.md"], "private/keep.md", True),  # the folder is excluded
        (["private/*", "!private/keep.md"], "private/keep.md", False),
        (["# a comment", "", "  "], "a.md", False),
        (["\\#name.md"], "#name.md", True),
        (["[ab].md"], "a.md", True),
        (["[!ab].md"], "c.md", True),
        (["caf\u00e9/"], "caf\u00e9/a.md", True),
    ],
)
def test_patterns_match_as_in_git(patterns: list[str], path: str, out: bool) -> None:
    assert Exclusions(patterns).excludes(path) is out


def test_other_exclusions_apply_in_a_reincluded_folder() -> None:
    exclusions = Exclusions(["!build/"])
    assert not exclusions.excludes("build/a.md")
    assert not exclusions.excludes("x/build/a.md")
    assert exclusions.excludes("build/node_modules/a.md")
    assert exclusions.excludes("dist/a.md")


def test_one_default_folder_can_be_included_again_by_path() -> None:
    exclusions = Exclusions(["!/projects/build/"])
    assert not exclusions.excludes("projects/build/a.md")
    assert exclusions.excludes("build/a.md")


@pytest.mark.parametrize("pattern", ["!.obsidian/", "!.hidden.md", "!*", "!**"])
def test_hidden_names_cannot_be_included_again(pattern: str) -> None:
    assert Exclusions([pattern]).excludes(".obsidian/a.md")
    assert Exclusions([pattern]).excludes(".hidden.md")


@pytest.mark.parametrize("bad", ["!", "[", "a[", "a\\", "/", "[z-a].md"])
def test_a_bad_pattern_is_reported_by_its_position_only(bad: str) -> None:
    with pytest.raises(Misconfigured) as caught:
        Exclusions(["fine/", bad])
    assert caught.value.code == "CONFIG_INVALID"
    assert caught.value.details["position"] == 2


def test_the_fingerprint_depends_on_the_rules() -> None:
    prints = {
        Exclusions(p).fingerprint for p in ([], ["a"], ["b"], ["a", "b"], ["b", "a"], ["a\0b"])
    }
    assert len(prints) == 6
    assert Exclusions(["a"]).fingerprint == Exclusions(("a",)).fingerprint


def test_exclusions_can_be_pickled() -> None:
    copy = pickle.loads(pickle.dumps(Exclusions(["x/"])))
    assert copy.excludes("x/a.md")


@pytest.mark.parametrize("pattern", ["build/", "!build/", "a/b/", "/build/", "**/build/", "*.md"])
def test_pathspec_marks_the_end_of_the_matched_entry(pattern: str) -> None:
    """Without the mark, a pattern for a folder would look like one for all its contents."""
    from pathspec import GitIgnoreSpec

    [compiled] = GitIgnoreSpec.from_lines([pattern]).patterns
    assert FOLDER_MARK in compiled.regex.groupindex


@pytest.mark.parametrize("first", ["!build/", "!/a/build/", "!a/build/"])
def test_reincluding_a_folder_does_not_reinclude_its_excluded_folders(first: str) -> None:
    exclusions = Exclusions([first])
    assert exclusions.verdict("a/build", "build", is_dir=True) is None
    inside = exclusions.verdict("a/build/node_modules", "node_modules", is_dir=True)
    assert inside is Verdict.DEFAULT
    assert exclusions.excludes("a/build/node_modules/x.md")
    assert not exclusions.excludes("a/build/x.md")


@pytest.mark.parametrize(
    ("patterns", "out"),
    [
        (("*.tmp", "/a/*", "!/a/b"), {"a/c", "a/x.tmp", "x.tmp"}),
        (("/a/b", "!b"), set()),
        (("!b", "/a/b"), {"a/b", "a/b/c"}),
        (("b", "!/a/b"), {"b", "b/c", "c/b/x"}),
        (("**/b/", "!c"), {"a/b/c", "b/c", "c/b/x"}),
        (("c", "!**/c"), set()),
        (("**/c", "!c", "/b/c"), {"b/c"}),
    ],
)
def test_patterns_of_names_and_of_paths_keep_their_order(
    patterns: tuple[str, ...], out: set[str]
) -> None:
    exclusions = Exclusions(patterns)
    paths = ["b", "a/b", "a/c", "b/c", "a/b/c", "x.tmp", "a/x.tmp", "c/b/x"]
    assert {path for path in paths if exclusions.excludes(path)} == out


@pytest.mark.parametrize(
    ("path", "is_dir", "excluded"),
    [
        ("team", True, False),  # a walk enters the folders above
        ("team/pub", True, False),
        ("TEAM/Pub/a.md", False, False),
        ("team/pub/deep/a.md", False, False),
        ("team/a.md", False, True),
        ("team/pub.md", False, True),
        ("team/public/a.md", False, True),
        ("other", True, True),
        ("other/again.md", False, True),  # a pattern includes nothing outside
        ("team/pub/locked", True, True),
        ("team/pub/locked/a.md", False, True),
        ("team/pub/Diary.md", False, True),
        ("team/pub/node_modules/a.md", False, True),
    ],
)
def test_what_an_agent_does_not_see_is_excluded(path: str, is_dir: bool, excluded: bool):
    scope = Scope(("team/pub",), ("team/pub/locked", "team/pub/diary"))
    exclusions = Exclusions(("!other/", "!other/again.md"), scope)
    for rules in (exclusions, pickle.loads(pickle.dumps(exclusions))):
        assert rules.excludes(path, is_dir) is excluded
    assert exclusions.fingerprint != Exclusions(exclusions.patterns).fingerprint
