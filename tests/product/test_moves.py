"""Moves and deletion of notes of a real vault, from the command line."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.support.waiting import eventually
from tests.support.writable_program import WritableProgram

MANY = 60


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WritableProgram]:
    """Return a program that serves a vault whose files may be moved."""
    made = WritableProgram(tmp_path_factory.mktemp("moves"), "create,edit,move,delete")
    made.write("Garden/Frost.md", "# Late frost\n\nSee [the shed](../Shed.md).\n")
    made.write("Shed.md", "[[Frost#Late frost]]\n")
    made.write("Hub.md", "")
    for number in range(MANY):
        made.write(f"many/{number}.md", "[[Hub]]\n")
    with made.indexed() as program:
        yield program


def test_a_note_moves_and_its_links_follow(served: WritableProgram):
    moved = served.data("move", "Garden/Frost.md", "Ice", "--yes")
    assert (moved["movedFrom"], moved["path"]) == ("Garden/Frost.md", "Ice.md")
    assert moved["fileCount"] == 2
    assert served.text("Shed.md") == "[[Ice#Late frost]]\n"
    assert served.text("Ice.md") == "# Late frost\n\nSee [the shed](./Shed.md).\n"
    eventually(  # a busy machine indexes later than the reply waits
        lambda: served.data("search", "late frost")["results"][0]["path"],
        lambda path: path == "Ice.md",
    )
    served.data("undo", moved["writeId"])
    assert served.text("Shed.md") == "[[Frost#Late frost]]\n"
    assert not (served.vault / "Ice.md").exists()


def test_a_deleted_note_counts_its_links(served: WritableProgram):
    deleted = served.data("delete", "Garden/Frost.md", "--yes")
    assert (deleted["trashPath"], deleted["brokenLinks"]) == (".trash/Garden/Frost.md", 1)
    served.data("undo")
    assert (served.vault / "Garden" / "Frost.md").exists()


def test_a_large_move_is_a_job(served: WritableProgram):
    ended = served.run("move", "Hub.md", "many/Center", "--yes")
    assert ended.returncode == 0, ended.stderr
    assert f"{MANY} links in {MANY} notes changed" in ended.stdout
    assert served.text("many/7.md") == "[[Center]]\n"
    kinds = [job["kind"] for job in served.data("jobs")["jobs"]]
    assert kinds[0] == "move"
    ended = served.run("undo")
    assert ended.returncode == 0, ended.stderr
    assert f"undone, {MANY} notes changed" in ended.stdout
    assert served.text("many/7.md") == "[[Hub]]\n"
    assert served.data("jobs")["jobs"][0]["kind"] == "undo"
