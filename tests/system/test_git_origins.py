"""What git brought into a folder is told from what was written or committed there."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from vault_agent.system import git_origins
from vault_agent.system.checkout import commit_at
from vault_agent.system.git_origins import NO_COMMIT, brought

if TYPE_CHECKING:
    from pathlib import Path

PERSON = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")


class Checkout:
    """A checkout with a vault in a folder of it."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.vault = top / "sub/.vault-agent/vault"

    def git(self, *arguments: str) -> None:
        subprocess.run(("git", *PERSON, *arguments), cwd=self.top, check=True, capture_output=True)

    def write(self, **notes: str) -> None:
        self.vault.mkdir(parents=True, exist_ok=True)
        for name, text in notes.items():
            (self.vault / f"{name}.md").write_text(text)

    def commit(self, **notes: str) -> None:
        self.write(**notes)
        self.git("add", "-A")
        self.git("commit", "-qm", "notes")

    @property
    def head(self) -> str:
        return commit_at(self.vault) or NO_COMMIT


@pytest.fixture
def mine(tmp_path: Path) -> Checkout:
    made = Checkout(tmp_path / "mine")
    made.top.mkdir()
    made.git("init", "-q", "-b", "main")
    made.commit(old="old", kept="kept")
    return made


@pytest.fixture
def theirs(tmp_path: Path, mine: Checkout) -> Checkout:
    """Return a clone in which somebody adds, changes and removes notes on a branch."""
    mine.git("clone", "-q", str(mine.top), str(tmp_path / "theirs"))
    made = Checkout(tmp_path / "theirs")
    made.git("checkout", "-qb", "pr")
    (made.vault / "old.md").unlink()
    made.commit(evil="evil", kept="changed")
    return made


def fetch(mine: Checkout, theirs: Checkout) -> None:
    mine.git("fetch", "-q", str(theirs.top), "pr:pr")


async def test_what_was_written_and_committed_here_was_not_brought(mine: Checkout):
    trusted = mine.head
    assert await brought(mine.vault, trusted) == frozenset()
    mine.write(draft="draft")
    mine.commit(more="more", kept="again")
    mine.git("checkout", "-qb", "work")
    mine.commit(work="work")
    mine.git("checkout", "-q", "main")
    mine.git("merge", "-q", "--no-ff", "work")
    assert await brought(mine.vault, trusted) == frozenset()


@pytest.mark.parametrize("how", ["checkout", "merge", "rebase", "pull"])
async def test_notes_of_another_clone_were_brought_however_they_came(
    mine: Checkout, theirs: Checkout, how: str
):
    trusted = mine.head
    mine.commit(own="own")
    if how == "pull":
        mine.git("pull", "-q", "--rebase", str(theirs.top), "pr")
    else:
        fetch(mine, theirs)
        mine.git(how, "-q", "pr")
    assert await brought(mine.vault, trusted) == {"evil.md", "kept.md"}
    assert await brought(mine.vault, mine.head) == frozenset()


async def test_what_was_allowed_stays_so_and_what_is_not_there_is_not_told(
    mine: Checkout, theirs: Checkout
):
    trusted = mine.head
    fetch(mine, theirs)
    mine.git("checkout", "-q", "pr")
    mine.git("checkout", "-q", "main")
    assert await brought(mine.vault, trusted) == frozenset()


@pytest.mark.parametrize("since", [NO_COMMIT, "0" * 40, "a" * 64, "--output=x"])
async def test_without_a_known_commit_all_that_was_not_committed_here_was_brought(
    mine: Checkout, theirs: Checkout, since: str
):
    assert await brought(mine.vault, since) == frozenset()
    assert await brought(theirs.vault, since) == frozenset()  # evil and kept were committed there
    mine.git("clone", "-q", str(theirs.top), str(mine.top.parent / "new"))
    new = Checkout(mine.top.parent / "new")
    assert await brought(new.vault, since) == {"evil.md", "kept.md"}


async def test_without_a_repository_or_git_nothing_was_brought(
    tmp_path: Path, mine: Checkout, monkeypatch: pytest.MonkeyPatch
):
    assert await brought(tmp_path, NO_COMMIT) == frozenset()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert await brought(mine.vault, "0" * 40) == frozenset()


async def test_what_git_does_not_tell_in_time_is_unknown(
    mine: Checkout, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(git_origins, "SECONDS", 0.0)
    assert await brought(mine.vault, "0" * 40) is None
