"""What is recalled for a task, over HTTP and from the command line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.pdfs import pdf
from tests.support.program import Program

JOURNAL = """\
---
id: journal-2026-02-13-abc12345
type: journal
title: Refactored cost tracker
updated: 2026-02-13T10:00:00Z
files: [src/cost.py, ui/panel.py]
tags: [parsing]
---
# Refactored cost tracker

## Goal

Make it faster.

## Outcome

Added streaming output parsing for the cost tracker.
"""


FOREIGN = "wedding cake recipe with frosting"


def with_notes(folder: Path) -> Program:
    """Return a program with memory on, and notes of each kind."""
    made = Program(folder)
    made.write("journals/Session.md", JOURNAL)
    made.write("decisions/Beds.md", "# Beds\n\n## Decision\n\nFleece at dusk for seedlings.\n")
    made.write(
        "decisions/Old.md", "---\nstatus: superseded\n---\n# Old\n\nStreaming cost parser.\n"
    )
    made.write("templates/bug.md", "# Streaming cost parser template\n")
    made.variables["VAULT_AGENT_MEMORY_ENABLED"] = "true"
    return made


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    with with_notes(tmp_path) as made:
        yield made


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """Return a program that serves these notes. Tests may add notes about other things."""
    with with_notes(tmp_path_factory.mktemp("memory")) as made:
        made.start()
        made.index()
        yield made


def test_a_passage_of_an_attachment_is_recalled_by_its_words(program: Program):
    program.variables["VAULT_AGENT_INDEX_ATTACHMENTS"] = "pdf"
    filler = [f"Nothing about it on page {number}." for number in range(100)]
    program.write("papers/frosting.pdf", pdf([*filler, "A wedding cake recipe with frosting"]))
    program.start()
    program.index()
    told = program.call("POST", "/memory", {"prompt": FOREIGN}).data
    [note] = told["notes"]
    assert (note["path"], note["type"]) == ("papers/frosting.pdf", "attachment")
    assert "A wedding cake recipe with frosting" in told["text"]
    found = program.call("POST", "/memory", {"prompt": "streaming cost updates in the tracker"})
    assert [each["path"] for each in found.data["notes"]] == ["journals/Session.md"]
    program.stop()
    program.variables["VAULT_AGENT_MEMORY_EXCLUDE_TYPES"] = "attachment"
    program.start()
    assert program.call("POST", "/memory", {"prompt": FOREIGN}).data["notes"] == []


def test_a_note_is_recalled_by_words_by_a_file_and_by_a_tag(served: Program):
    found = served.call("POST", "/memory", {"prompt": "streaming cost updates in the tracker"})
    [note] = found.data["notes"]
    assert (note["id"], note["matchType"]) == ("journal-2026-02-13-abc12345", "semantic")
    assert note["reasons"] == ["words"]
    text = found.data["text"]
    assert "  Outcome: Added streaming output parsing for the cost tracker.\n" in text
    assert "Make it faster" not in text
    assert "Note: journals/Session.md" in text
    by_file = served.call("POST", "/memory", {"files": ["src/cost.py"]}).data
    assert [note["reasons"] for note in by_file["notes"]] == [["file:src/cost.py"]]
    named = served.call("POST", "/memory", {"prompt": "look at panel.py"}).data
    assert named["signals"] == {
        "files": ["ui/panel.py"],
        "tags": [],
        "prompt": False,
    }
    tagged = served.call("POST", "/memory", {"prompt": "parsing"}).data
    assert tagged["notes"][0]["reasons"] == ["tag:parsing"]


@pytest.mark.fault(
    "Several vaults",
    "a prompt that no note is about; a note that tells the agent what to do",
    "nothing is recalled; its lines are indented data in the frame",
)
def test_what_no_note_is_about_recalls_nothing(served: Program):
    for prompt in ("", "continue", FOREIGN):
        found = served.call("POST", "/memory", {"prompt": prompt, "explain": True}).data
        assert (found["text"], found["notes"], found["tokens"]) == ("", [], 0)
        assert {note["leftOut"] for note in found["leftOut"]} == {"relevance"}
        assert not {note["path"] for note in found["leftOut"]} & {
            "decisions/Old.md",
            "templates/bug.md",
        }
        assert (found["wordMatch"] is None) == (prompt != FOREIGN)
    assert found["wordMatch"]["share"] < found["wordMatch"]["needed"]


def test_the_command_shows_the_text_and_why(served: Program):
    shown = served.run("memory", "show", "streaming cost tracker")
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.startswith("[Vault Memory] ")
    shown = served.run("--json", "memory", "show", "streaming cost tracker")
    why = json.loads(shown.stdout)["data"]
    assert why["wordMatch"]["share"] == 1
    assert {note["leftOut"] for note in why["leftOut"]} == {"relevance"}
    foreign = json.loads(served.run("--json", "memory", "show", FOREIGN).stdout)["data"]
    assert foreign["wordMatch"]["share"] == 0
    nothing = served.run("memory", "show", "wedding cake")
    assert (nothing.returncode, nothing.stdout) == (0, "")
    assert nothing.stderr == "Nothing is recalled: no note is about this.\n"
    short = served.run("memory", "show", "prompt")
    assert "the prompt has fewer than two words" in short.stderr
