"""Tasks, templates, the devlog and decision records of a real vault, from the command line."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING

import pytest
from tests.support.program import Program
from tests.support.writable_program import WritableProgram

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FROST = "Garden/Frost.md"
NOTES = {
    FROST: "# Frost\n\n- [ ] Sow beans 🆔 s1 📅 2025-05-01\n- [ ] Dig ⛔ s1\n\n## Later\n\nText\n",
    "Templates/Bed.md": "---\nbed: {{var:bed}}\n---\n# {{title}}\n",
}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WritableProgram]:
    """Return a program that serves a vault which may be written."""
    made = WritableProgram(tmp_path_factory.mktemp("authoring"), "create,append,edit")
    for path, text in NOTES.items():
        made.write(path, text)
    with made.indexed() as program:
        yield program


def refused(served: WritableProgram, *arguments: str) -> str:
    """Return the code of a command's error."""
    ended = served.run("--json", *arguments)
    assert ended.returncode != 0
    return str(json.loads(ended.stdout or ended.stderr)["error"]["code"])


def today() -> str:
    return str(datetime.now().astimezone().date())


@pytest.mark.fault(
    "Writing",
    "a line has another task than the list has shown",
    "`TASK_NOT_FOUND`, nothing changed",
)
def test_the_task_of_a_listed_line_is_meant_and_no_other(served: WritableProgram):
    note = served.write("Listed.md", "- [ ] one\n- [ ] two\n")
    served.data("index")
    code, shown = served.at_a_terminal("tasks", "list", "Listed.md", answers=[])
    assert (code, "Listed.md:1: [ ] one" in shown) == (0, True)
    served.data("tasks", "done", "Listed.md:2")
    served.data("tasks", "toggle", "Listed.md:2")
    assert note.read_text() == "- [ ] one\n- [ ] two\n"
    note.write_text("- [ ] new\n- [ ] one\n- [ ] two\n")
    assert refused(served, "tasks", "done", "Listed.md:1") == "TASK_NOT_FOUND"
    assert "[x]" not in note.read_text()
    served.at_a_terminal("tasks", "list", "Nowhere.md", answers=[])
    served.data("tasks", "done", "Listed.md:1")
    assert note.read_text().startswith("- [x] new")


def test_a_task_is_completed_by_its_id_after_its_line_has_moved(served: WritableProgram):
    before = served.text(FROST)
    tasks = served.data("tasks", "list", "Garden")["tasks"]
    assert [task["line"] for task in tasks] == [3, 4]
    served.write(FROST, "moved\n" + before)
    written = served.data("tasks", "done", tasks[0]["taskId"])
    assert written["line"] == 4
    assert written["index"]["state"] == "indexed"
    assert served.text(FROST) == "moved\n" + before.replace(
        "- [ ] Sow beans 🆔 s1 📅 2025-05-01",
        f"- [x] Sow beans 🆔 s1 📅 2025-05-01 ✅ {today()}",
    )
    opened = served.data("tasks", "toggle", f"{FROST}:4")
    assert opened["changed"]
    assert served.text(FROST) == "moved\n" + before
    cancelled = served.data("tasks", "cancel", f"{FROST}:4")
    assert "- [-] Sow" in served.text(FROST)
    assert served.data("undo", cancelled["writeId"])["changed"]
    assert served.text(FROST) == "moved\n" + before
    served.write(FROST, before)
    assert served.data("index")["job"]["state"] == "succeeded"


def test_a_task_that_waits_for_another_warns(served: WritableProgram):
    ended = served.run("tasks", "done", f"{FROST}:4", "--dry-run")
    assert ended.returncode == 0, ended.stderr
    assert "TASK_BLOCKED" in ended.stderr
    assert refused(served, "tasks", "done", f"{FROST}:8") == "TASK_NOT_FOUND"


def test_a_task_is_added_once(served: WritableProgram):
    add = ("tasks", "add", FROST, "Water", "--section", "Later", "--due", "2025-06-01")
    served.data(*add)
    assert served.text(FROST).endswith("## Later\n\nText\n- [ ] Water 📅 2025-06-01\n")
    assert served.data(*add)["changed"] is False
    assert served.data(*add, "--again")["changed"] is True


def test_a_note_is_made_from_a_template(served: WritableProgram):
    names = {each["name"]: each for each in served.data("new")["templates"]}
    assert names["Bed"]["variables"] == ["bed"]
    assert names["decision"]["builtIn"]
    assert refused(served, "new", "Bed", "Garden/One") == "TEMPLATE_VARIABLE_MISSING"
    served.data("new", "bed", "Garden/Beds/One", "--var", "bed=a: b")
    assert served.text("Garden/Beds/One.md") == '---\nbed: "a: b"\n---\n# One\n'
    assert refused(served, "new", "bed", "Garden/Beds/one", "--var", "bed=x") == "NAME_COLLISION"
    assert refused(served, "new", "bug", "a?b") == "INVALID_NOTE_NAME"


def test_the_devlog_keeps_one_line_an_entry(served: WritableProgram):
    for _ in range(2):  # the second is the same
        served.data("devlog", "add", "impl", "Late Frost", "covered\nthe beds")
    served.data("devlog", "add", "verify", "Late Frost", "no frost inside")
    day = today()
    assert served.text("devlog/late-frost.md") == (
        f"[impl]    {day}  covered the beds\n[verify]  {day}  no frost inside\n"
    )
    entries = served.data("devlog", "tail", "late frost", "-n", "1")["entries"]
    assert [(each["kind"], each["line"]) for each in entries] == [("verify", 2)]
    assert len(served.data("devlog", "tail")["entries"]) == 2


def test_decisions_are_numbered(served: WritableProgram):
    first = served.data("adr", "new", "Use fleece")
    assert first["path"] == "adr/ADR-001-use-fleece.md"
    (served.vault / first["path"]).unlink()
    # The number is not used again.
    assert served.data("adr", "new", "Use glass", "-t", "It lasts.")["path"] == (
        "adr/ADR-002-use-glass.md"
    )
    assert served.text("adr/ADR-002-use-glass.md").endswith("# ADR-002: Use glass\n\nIt lasts.\n")
    decisions = served.data("adr", "list")["decisions"]
    assert [(each["number"], each["status"]) for each in decisions] == [(2, "proposed")]


def test_while_writing_is_off_only_lists_are_there(tmp_path: Path):
    program = Program(tmp_path)
    program.write("a.md", "- [ ] b\n")
    try:
        program.start()
        program.index()
        for route, body in {
            "tasks/add": {"path": "a.md", "text": "c"},
            "tasks/set": {"path": "a.md", "line": 1, "status": "done"},
            "template": {"template": "bug", "path": "c"},
            "devlog": {"kind": "impl", "topic": "c", "text": "d"},
            "adr": {"title": "c"},
        }.items():
            assert program.call("POST", f"/write/{route}", body).code == "FEATURE_DISABLED"
        assert len(program.call("GET", "/templates").data["templates"]) == 7
        assert program.call("GET", "/devlog").data["entries"] == []
        assert program.call("GET", "/decisions").data["decisions"] == []
        assert [each.name for each in program.vault.iterdir()] == ["a.md"]
    finally:
        program.close()
