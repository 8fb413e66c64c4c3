"""A note that one project promotes is found in another one, by the real server and commands."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.program import Program
from tests.support.waiting import eventually

KEY = "k" * 40
NOTE = """\
---
id: decision-2026-02-13-abc234
type: decision
files: [src/parser.py]
---
# Parse costs with a regex

Streamed output has no fixed structure.
"""


class Projects:
    """Two projects below a home, and a server."""

    def __init__(self, program: Program) -> None:
        self.program = program
        for name, value in (
            ("VAULTS_ENABLED", "true"),
            ("MEMORY_ENABLED", "true"),
            ("SERVER_API_KEY", KEY),
        ):
            program.variables[f"VAULT_AGENT_{name}"] = value
        self.shop, self.other = (program.home / name for name in ("shop", "other"))
        for folder in (self.shop, self.other):
            (folder / ".git").mkdir(parents=True)
            assert self.run(folder, "init", "--yes").returncode == 0
        self.note = self.shop / ".vault-agent/vault/decisions/parse.md"
        self.note.parent.mkdir(exist_ok=True)
        self.note.write_text(NOTE)
        self.shared = program.home / ".vault-agent/vault"

    def run(self, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.program.run(*arguments, at=folder)

    def index(self, vault: str) -> None:
        done = eventually(  # its first use may have begun a job
            lambda: self.run(self.shop, "index", "--vault", vault),
            lambda done: "INDEX_BUSY" not in done.stderr,
        )
        assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Projects]:
    program = Program(tmp_path_factory.mktemp("projects"))
    made = Projects(program)
    program.start()
    yield made
    program.close()


def test_one_project_promotes_and_another_one_finds_it(projects: Projects):
    projects.index("project:shop")
    projects.index("project:other")
    projects.index("global")
    nothing = projects.run(projects.other, "search", "streamed output structure")
    assert "decisions/" not in nothing.stdout
    done = projects.run(projects.shop, "memory", "promote", "Parse costs with a regex")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "copied to global:decisions/parse-costs-with-a-regex.md\n"
    found = projects.run(projects.other, "search", "streamed output structure")
    assert "decisions/parse-costs-with-a-regex.md" in found.stdout
    # Writing stays off for everything else.
    refused = projects.run(projects.shop, "write", "decisions/parse.md", "-t", "x")
    assert "write.enabled" in refused.stderr
    again = projects.run(projects.shop, "memory", "promote", "id:decision-2026-02-13-abc234")
    assert again.stdout.startswith("is already in global:")
    projects.note.write_text(NOTE)  # as if the second write had never happened
    projects.index("project:shop")
    completed = projects.run(projects.shop, "memory", "promote", "Parse costs with a regex")
    assert completed.stdout.startswith("is already in global:"), completed.stderr
    assert "promoted_to: global:decisions/" in projects.note.read_text()
    undone = projects.run(projects.shop, "memory", "promote", "Parse costs with a regex", "--undo")
    assert undone.returncode == 0, undone.stderr
    assert undone.stdout.startswith("moved to global:.trash/decisions/")
    assert projects.note.read_text() == NOTE
    assert not list(projects.shared.glob("decisions/*.md"))


def test_links_by_id_and_type_are_whole(projects: Projects):
    vault = projects.shop / ".vault-agent/vault"
    (vault / "bugs").mkdir()
    (vault / "bugs/late.md").write_text(
        "[[decision-parse]] [[decision-2026-02-13-abc234]] [[bug-late]] [[note-late]]\n"
    )
    projects.index("project:shop")
    checked = projects.run(projects.shop, "links", "check")
    assert checked.returncode == 6
    assert checked.stdout == "bugs/late.md:1:64: no note [[note-late]]\n"
