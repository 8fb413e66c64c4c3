"""Tasks, templates, the devlog and decision records of a real vault, from the command line."""

from __future__ import annotations

import json
import time
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest
from tests.product.program import Program

from vault_agent.cli.exits import Exit

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FROST = "Garden/Frost.md"
NOTES = {
    FROST: "# Frost\n\n- [ ] Sow beans 🆔 s1 📅 2025-05-01\n- [ ] Dig ⛔ s1\n\n## Later\n\nText\n",
    "Templates/Bed.md": "---\nbed: {{var:bed}}\n---\n# {{title}}\n",
}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """Return a program that serves a vault which may be written."""
    made = Program(tmp_path_factory.mktemp("authoring"))
    for path, text in NOTES.items():
        made.write(path, text)
    made.variables = {
        "VAULT_AGENT_WRITE_ENABLED": "true",
        "VAULT_AGENT_WRITE_FOLDERS": ".",
        "VAULT_AGENT_WRITE_QUIET_SECONDS": "0",
        "VAULT_AGENT_SERVER_API_KEY": "k" * 40,
        "VAULT_AGENT_VAULT_ROOT": str(made.vault),
        "VAULT_AGENT_INDEX_DIR": str(made.indexes),
    }
    try:
        made.start()
        while (ended := made.run("index")).returncode == Exit.BUSY:
            time.sleep(0.1)  # the first index is being built
        assert ended.returncode == 0, ended.stderr
        yield made
    finally:
        made.close()


def done(served: Program, *arguments: str) -> Any:
    """Return the data of a command's reply."""
    ended = served.run("--json", *arguments)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)["data"]


def refused(served: Program, *arguments: str) -> str:
    """Return the code of a command's error."""
    ended = served.run("--json", *arguments)
    assert ended.returncode != 0
    return str(json.loads(ended.stdout or ended.stderr)["error"]["code"])


def text(served: Program, path: str) -> str:
    return (served.vault / path).read_text("utf-8")


def today() -> str:
    return str(datetime.now().astimezone().date())


def test_a_task_is_completed_by_its_id_after_its_line_has_moved(served: Program):
    before = text(served, FROST)
    tasks = done(served, "tasks", "list", "Garden")["tasks"]
    assert [task["line"] for task in tasks] == [3, 4]
    served.write(FROST, "moved\n" + before)
    written = done(served, "tasks", "done", tasks[0]["taskId"])
    assert written["line"] == 4
    assert written["index"]["state"] == "indexed"
    assert text(served, FROST) == "moved\n" + before.replace(
        "- [ ] Sow beans 🆔 s1 📅 2025-05-01",
        f"- [x] Sow beans 🆔 s1 📅 2025-05-01 ✅ {today()}",
    )
    opened = done(served, "tasks", "toggle", f"{FROST}:4")
    assert opened["changed"]
    assert text(served, FROST) == "moved\n" + before
    cancelled = done(served, "tasks", "cancel", f"{FROST}:4")
    assert "- [-] Sow" in text(served, FROST)
    assert done(served, "undo", cancelled["writeId"])["changed"]
    assert text(served, FROST) == "moved\n" + before
    served.write(FROST, before)
    assert done(served, "index")["job"]["state"] == "succeeded"


def test_a_task_that_waits_for_another_warns(served: Program):
    ended = served.run("tasks", "done", f"{FROST}:4", "--dry-run")
    assert ended.returncode == 0, ended.stderr
    assert "TASK_BLOCKED" in ended.stderr
    assert refused(served, "tasks", "done", f"{FROST}:8") == "TASK_NOT_FOUND"


def test_a_task_is_added_once(served: Program):
    add = ("tasks", "add", FROST, "Water", "--section", "Later", "--due", "2025-06-01")
    done(served, *add)
    assert text(served, FROST).endswith("## Later\n\nText\n- [ ] Water 📅 2025-06-01\n")
    assert done(served, *add)["changed"] is False
    assert done(served, *add, "--again")["changed"] is True


def test_a_note_is_made_from_a_template(served: Program):
    names = {each["name"]: each for each in done(served, "new")["templates"]}
    assert names["Bed"]["variables"] == ["bed"]
    assert names["decision"]["builtIn"]
    assert refused(served, "new", "Bed", "Garden/One") == "TEMPLATE_VARIABLE_MISSING"
    done(served, "new", "bed", "Garden/Beds/One", "--var", "bed=a: b")
    assert text(served, "Garden/Beds/One.md") == '---\nbed: "a: b"\n---\n# One\n'
    assert refused(served, "new", "bed", "Garden/Beds/one", "--var", "bed=x") == "NAME_COLLISION"
    assert refused(served, "new", "bug", "a?b") == "INVALID_NOTE_NAME"


def test_the_devlog_keeps_one_line_an_entry(served: Program):
    for _ in range(2):  # the second is the same
        done(served, "devlog", "add", "impl", "Late Frost", "covered\nthe beds")
    done(served, "devlog", "add", "verify", "Late Frost", "no frost inside")
    day = today()
    assert text(served, "devlog/late-frost.md") == (
        f"[impl]    {day}  covered the beds\n[verify]  {day}  no frost inside\n"
    )
    entries = done(served, "devlog", "tail", "late frost", "-n", "1")["entries"]
    assert [(each["kind"], each["line"]) for each in entries] == [("verify", 2)]
    assert len(done(served, "devlog", "tail")["entries"]) == 2


def test_decisions_are_numbered(served: Program):
    first = done(served, "adr", "new", "Use fleece")
    assert first["path"] == "adr/ADR-001-use-fleece.md"
    (served.vault / first["path"]).unlink()
    # The number is not used again.
    assert done(served, "adr", "new", "Use glass", "-t", "It lasts.")["path"] == (
        "adr/ADR-002-use-glass.md"
    )
    assert text(served, "adr/ADR-002-use-glass.md").endswith("# ADR-002: Use glass\n\nIt lasts.\n")
    decisions = done(served, "adr", "list")["decisions"]
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
        assert len(program.call("GET", "/templates").data["templates"]) == 5
        assert program.call("GET", "/devlog").data["entries"] == []
        assert program.call("GET", "/decisions").data["decisions"] == []
        assert [each.name for each in program.vault.iterdir()] == ["a.md"]
    finally:
        program.close()
