"""What a new user types in the first hour: what it prints, and that what it advises works."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.waiting import eventually
from tests.support.writable_program import WritableProgram

NOTES = {
    "Garden/Frost.md": "# Frost\n\nSee [[Fleece]] and [[Nowhere]].\n",
    "Garden/Fleece.md": "# Fleece\n\nKeeps frost off.\n",
    "Alone.md": "# Alone\n",
    "Long.md": "# Long\n\nTop.\n\n## Second part\n\nT\u2028wo.\n\n## C#\n\nThree.\n",
    "Templates/Bed.md": "# {{title}}\n\n{{var:soil}}, {{var:sun}}\n",
}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WritableProgram]:
    made = WritableProgram(tmp_path_factory.mktemp("first"))
    for path, text in NOTES.items():
        made.write(path, text)
    with made.indexed() as program:
        yield program


def test_a_heading_after_the_name_of_a_note_shows_its_section(served: WritableProgram):
    for name in ("Long#Second part", "Long.md#second part", "[[Long#Second part]]"):
        assert served.done("show", name) == "## Second part\n\nT\u2028wo.\n\n"
    assert served.done("show", "Long.md:6") == "## Second part\n\nT\u2028wo.\n\n"
    missing = served.run("show", "Long#Nothing")
    assert missing.stderr.startswith('HEADING_NOT_FOUND: The note has no heading "Nothing".')
    assert "Second part" in missing.stderr
    assert 'title "Nothing#Long"' in served.run("show", "Nothing#Long").stderr
    refused = served.run("delete", "Long#Second part", "--yes")
    assert refused.stderr.startswith("NOTE_NOT_FOUND: ")


def test_the_undo_of_a_moved_folder_says_where_it_is_and_searches_follow(served: WritableProgram):
    served.done("move", "Garden", "Beds", "--yes")
    undone = served.done("undo")
    assert undone.startswith("undone Beds -> Garden")
    eventually(  # a busy machine indexes it later
        lambda: [path for path in served.done("list").splitlines() if "/F" in path],
        lambda paths: paths == ["Garden/Fleece.md", "Garden/Frost.md"],
    )
    write_id = undone.split()[-1]
    assert "undo Beds -> Garden" in served.done("undo", "--list", "-n", "1")
    shown = served.done("undo", "--list", write_id)
    assert "  Beds -> Garden\n" in shown


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (("new", "Bed", "Garden/One"), "--var soil=VALUE\n  --var sun=VALUE\n"),
        (("write", ".obsidian/x", "--text", "a"), "nothing is written there.\n"),
        (
            ("write", "Alone", "--text", "a"),
            "append to it: `vault-agent write NOTE --mode append`.\n",
        ),
        (("write", "Alone", "a"), "and give the text with --text. "),
        (("search", "x", "--mode", "embedding"), "Run `vault-agent enable embedding`, "),
        (("links", "a" * 250), "No note has the path, name, alias or title"),
        (("config", "unset", "search.recency"), ""),
    ],
)
def test_an_error_says_what_to_type(served: WritableProgram, typed: tuple[str, ...], said: str):
    ended = served.run(*typed)
    assert said in ended.stderr
    if not said:
        assert ended.stdout == "search.recency is not in the config file. Nothing was changed.\n"


def test_a_missing_note_may_be_named_as_elsewhere(served: WritableProgram):
    assert served.done("delete", "No such note", "--missing-ok", "--yes") == (
        "unchanged No such note.md\n"
    )


def test_a_port_of_another_vault_is_in_use(served: WritableProgram, tmp_path: Path):
    address = served.endpoint.rpartition(":")[2]
    ended = served.run("serve", "--port", address, "--vault-root", str(tmp_path))
    assert "Stop the program that uses it, or choose another port: " in ended.stderr


def test_the_options_of_headings_have_one_name(served: WritableProgram):
    for typed in (("tasks", "add", "Alone", "Dig"), ("edit", "section", "Alone", "-t", "x")):
        for option in ("--heading", "--section"):
            served.done(*typed, option, "Alone", "--dry-run")


def test_an_attachment_can_be_deleted_and_is_not_edited(served: WritableProgram):
    served.vault.joinpath("data.csv").write_text("a,b\n")
    assert served.done("delete", "data.csv", "--yes").startswith("deleted data.csv -> .trash/")
    served.done("undo")
    assert served.text("data.csv") == "a,b\n"


@pytest.mark.fault(
    "Writing",
    "a line has another task than the list has shown",
    "the task's ID, which `tasks --json` has, means the task itself",
)
def test_the_id_of_a_listed_task_means_it_wherever_it_is(served: WritableProgram):
    note = served.write("Listed.md", "- [ ] one\n- [ ] two\n")
    served.data("index")
    assert "Listed.md:1:[ ] one\n" in served.done("tasks", "Listed.md")
    served.data("tasks", "done", "Listed.md:2")
    served.data("tasks", "toggle", "Listed:2")
    assert note.read_text() == "- [ ] one\n- [ ] two\n"
    one = served.data("tasks", "Listed.md")["tasks"][0]["taskId"]
    note.write_text("- [ ] new\n- [ ] one\n- [ ] two\n")
    served.data("tasks", "done", one)
    assert note.read_text().startswith("- [ ] new\n- [x] one")
    refused = served.run("tasks", "done", one.replace(":1:", ":9:")[:-8] + "00000000")
    assert refused.stderr.startswith("TASK_NOT_FOUND")
