"""Moves and deletion of notes of a real vault, from the command line."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest
from tests.clocks import PATIENCE
from tests.product.program import Program

from vault_agent.cli.exits import Exit

if TYPE_CHECKING:
    from collections.abc import Iterator

MANY = 60


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """Return a program that serves a vault whose files may be moved."""
    made = Program(tmp_path_factory.mktemp("moves"))
    made.write("Garden/Frost.md", "# Late frost\n\nSee [the shed](../Shed.md).\n")
    made.write("Shed.md", "[[Frost#Late frost]]\n")
    made.write("Hub.md", "")
    for number in range(MANY):
        made.write(f"many/{number}.md", "[[Hub]]\n")
    made.variables = {
        "VAULT_AGENT_WRITE_ENABLED": "true",
        "VAULT_AGENT_WRITE_FOLDERS": ".",
        "VAULT_AGENT_WRITE_ALLOW": "create,edit,move,delete",
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


def text(served: Program, path: str) -> str:
    return (served.vault / path).read_text("utf-8")


def test_a_note_moves_and_its_links_follow(served: Program):
    moved = done(served, "move", "Garden/Frost.md", "Ice", "--yes")
    assert (moved["movedFrom"], moved["path"]) == ("Garden/Frost.md", "Ice.md")
    assert moved["fileCount"] == 2
    assert text(served, "Shed.md") == "[[Ice#Late frost]]\n"
    assert text(served, "Ice.md") == "# Late frost\n\nSee [the shed](./Shed.md).\n"
    deadline = time.monotonic() + PATIENCE
    while done(served, "search", "late frost")["results"][0]["path"] != "Ice.md":
        assert time.monotonic() < deadline  # a busy machine indexes later than the reply waits
    done(served, "undo", moved["writeId"])
    assert text(served, "Shed.md") == "[[Frost#Late frost]]\n"
    assert not (served.vault / "Ice.md").exists()


def test_links_follow_a_heading(served: Program):
    arguments = ("--heading", "Late frost", "--action", "rename", "--text", "Ice")
    done(served, "section", "Garden/Frost.md", *arguments)
    assert text(served, "Shed.md") == "[[Frost#Ice]]\n"
    done(served, "undo")
    assert text(served, "Shed.md") == "[[Frost#Late frost]]\n"


def test_a_deleted_note_counts_its_links(served: Program):
    deleted = done(served, "delete", "Garden/Frost.md", "--yes")
    assert (deleted["trashPath"], deleted["brokenLinks"]) == (".trash/Garden/Frost.md", 1)
    done(served, "undo")
    assert (served.vault / "Garden" / "Frost.md").exists()


def test_a_large_move_is_a_job(served: Program):
    ended = served.run("move", "Hub.md", "many/Center", "--yes")
    assert ended.returncode == 0, ended.stderr
    assert f"{MANY} links in {MANY} notes changed" in ended.stdout
    assert text(served, "many/7.md") == "[[Center]]\n"
    kinds = [job["kind"] for job in done(served, "jobs")["jobs"]]
    assert kinds[0] == "move"
    done(served, "undo")
    assert text(served, "many/7.md") == "[[Hub]]\n"
