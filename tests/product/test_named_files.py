"""Attachments that commands find by their names."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.support.writable_program import WritableProgram


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WritableProgram]:
    """Return a program that serves files whose names are also those of other files or folders."""
    made = WritableProgram(tmp_path_factory.mktemp("files"))
    made.write("Links.md", "![[a/p.png]] ![[only.png]]\n")
    made.write("build/Plan.md", "# Plan\n")
    for path in ("a/p.png", "b/c/p.png", "d/only.png"):
        made.write(path, "")
    for path in ("Assets/i.png", "Notes/Assets.md", "onlypng/x.png", "Notes/Onlypng.md"):
        made.write(path, "")
    made.write("data.csv", "a,b\n")
    made.write("Blocks.md", "# Blocks\n\nnone\n\n## Two\n\none ^a1\n")
    made.write("Notes/data.csv.md", "")
    with made.indexed() as program:
        yield program


@pytest.mark.parametrize("name", ["only.png", "a/p.png", "d/only.png"])
def test_backlinks_of_an_attachment_by_its_path_or_the_end_of_it(
    served: WritableProgram, name: str
):
    assert "Links.md" in served.done("links", name)


def test_a_name_of_two_attachments_is_none(served: WritableProgram):
    assert served.run("links", "p.png").stderr.startswith("NOTE_NOT_FOUND: ")


def test_notes_of_an_excluded_folder_are_never_left_out_in_silence(served: WritableProgram):
    pattern = "add !build/ to vault.exclude"
    shown = served.run("show", "build/Plan.md")
    assert shown.returncode == 4
    assert "NOTE_NOT_FOUND: No note has this path. Folders named build are excluded" in shown.stderr
    assert pattern in shown.stderr
    for command in ("index", "status", "doctor"):
        ended = served.run(command)
        assert "NOTES_EXCLUDED: build: A folder with 1 note" in ended.stdout + ended.stderr
        assert pattern in ended.stdout + ended.stderr


def test_a_block_is_named_as_in_a_link(served: WritableProgram):
    assert served.done("show", "Blocks#^a1") == "## Two\n\none ^a1\n"
    assert "  ^a1\n" in served.done("edit", "section", "Blocks.md")


def test_backlinks_of_no_file(served: WritableProgram):
    assert "NOTE_NOT_FOUND" in served.run("links", "none.png").stderr


@pytest.mark.parametrize(
    ("source", "to", "moved"),
    [
        ("Assets", "Media", "Assets -> Media"),
        ("onlypng", "pictures", "onlypng -> pictures"),
        ("data.csv", "other.csv", "data.csv -> other.csv"),
    ],
)
def test_an_exact_path_comes_before_a_name(
    served: WritableProgram, source: str, to: str, moved: str
):
    assert f"moved {moved}" in served.run("move", source, to, "--dry-run").stderr
    if "." in source:
        assert f"deleted {source}" in served.run("delete", source, "--dry-run").stderr


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WritableProgram]:
    """Return a program that may change the files in one folder only."""
    made = WritableProgram(tmp_path_factory.mktemp("narrow"))
    made.variables["VAULT_AGENT_WRITE_FOLDERS"] = "Inbox"
    for path in ("Inbox/Late frost.md", "Inbox/Seeds.md", "Inbox/Seeds/List.md", "Inbox/p.png"):
        made.write(path, "")
    made.write("Inbox/assets/q.png", "")
    with made.indexed() as program:
        yield program


@pytest.mark.parametrize(
    ("source", "to", "moved"),
    [
        ("Late frost", "Ice", "Inbox/Late frost.md -> Inbox/Ice.md"),
        ("Inbox/p.png", "Inbox/r.png", "Inbox/p.png -> Inbox/r.png"),
        ("Inbox/Seeds", "Inbox/Old", "Inbox/Seeds -> Inbox/Old"),
        ("Inbox/Seeds/", "Inbox/Old", "Inbox/Seeds -> Inbox/Old"),
        ("Seeds", "Old", "Inbox/Seeds.md -> Inbox/Old.md"),
        ("Inbox/assets", "Inbox/Old", "Inbox/assets -> Inbox/Old"),
    ],
)
def test_a_file_is_found_by_its_name_before_its_path_is_judged(
    narrow: WritableProgram, source: str, to: str, moved: str
):
    assert f"moved {moved}" in narrow.run("move", source, to, "--dry-run").stderr


@pytest.mark.parametrize("name", ["nothing", "nothing.png", "p\\q", "Ice: what/why?"])
def test_a_file_that_is_missing_is_the_same_error_for_move_and_delete(
    narrow: WritableProgram, name: str
):
    moved = narrow.run("move", name, "Inbox/a", "--dry-run")
    deleted = narrow.run("delete", name, "--dry-run")
    assert moved.stderr == deleted.stderr
    assert moved.stderr.startswith("NOTE_NOT_FOUND")
