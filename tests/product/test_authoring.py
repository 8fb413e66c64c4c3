"""Tasks of a real vault, from the command line."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from tests.support.writable_program import WritableProgram


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WritableProgram]:
    """Return a program that serves a vault which may be written."""
    made = WritableProgram(tmp_path_factory.mktemp("authoring"), "create,append,edit")
    made.write("Frost.md", "# Frost\n")
    with made.indexed() as program:
        yield program


def refused(served: WritableProgram, *arguments: str) -> str:
    """Return the code of a command's error."""
    ended = served.run("--json", *arguments)
    assert ended.returncode != 0
    return str(json.loads(ended.stdout or ended.stderr)["error"]["code"])


@pytest.mark.fault(
    "Writing",
    "a line has another task than the list has shown",
    "`TASK_NOT_FOUND`, nothing changed",
)
def test_the_task_of_a_listed_line_is_meant_and_no_other(served: WritableProgram):
    note = served.write("Listed.md", "- [ ] one\n- [ ] two\n")
    served.data("index")
    code, shown = served.at_a_terminal("tasks", "Listed.md", answers=[])
    assert (code, "Listed.md:1: [ ] one" in shown) == (0, True)
    served.data("tasks", "done", "Listed.md:2")
    served.data("tasks", "toggle", "Listed.md:2")
    assert note.read_text() == "- [ ] one\n- [ ] two\n"
    note.write_text("- [ ] new\n- [ ] one\n- [ ] two\n")
    assert refused(served, "tasks", "done", "Listed.md:1") == "TASK_NOT_FOUND"
    assert "[x]" not in note.read_text()
    served.at_a_terminal("tasks", "Nowhere.md", answers=[])
    served.data("tasks", "done", "Listed.md:1")
    assert note.read_text().startswith("- [x] new")
