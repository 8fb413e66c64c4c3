"""The history of a repository is read without running anything of it, and within its time."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.clocks import PATIENCE

from vault_agent.system import git
from vault_agent.system.git import commit_of, history

pytestmark = pytest.mark.skipif(
    shutil.which("git") is None or sys.platform == "win32", reason="needs git and a shell"
)
NOW = 1_770_000_000
LATER = NOW + 1_000_000


def run(folder: Path, *command: str, at: int = NOW) -> str:
    stamp = f"{at} +0000"
    environ = {
        "PATH": os.environ["PATH"],
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "A",
        "GIT_AUTHOR_EMAIL": "a@example.org",
        "GIT_COMMITTER_NAME": "A",
        "GIT_COMMITTER_EMAIL": "a@example.org",
        "GIT_AUTHOR_DATE": stamp,
        "GIT_COMMITTER_DATE": stamp,
    }
    done = subprocess.run(
        ["git", *command], cwd=folder, check=True, capture_output=True, text=True, env=environ
    )
    return done.stdout.strip()


def commit(folder: Path, subject: str, files: dict[str, str], *, at: int = NOW) -> str:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    run(folder, "add", "-A")
    run(folder, "commit", "-q", "--allow-empty", "-m", subject, at=at)
    return run(folder, "rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    run(folder, "init", "-q", "-b", "main")
    commit(folder, "Begin", {"a.py": "1\n2\n", "keep.txt": "x\n"}, at=NOW - 9_000)
    return folder


async def test_commits_and_lines_since_the_start_are_exact(repository: Path):
    start = await commit_of(repository, "HEAD")
    first = commit(repository, "Add ü\tfile", {"ü b.py": "1\n2\n3\n"}, at=NOW + 10)
    commit(repository, "Change", {"a.py": "1\n3\n4\n", "bin": "\0\0"}, at=NOW + 20)
    found = await history(repository, git.Work(start, NOW, LATER))
    assert [each.subject for each in found.commits] == ["Add ü\tfile", "Change"]
    assert found.commits[0].id == first
    assert {(each.path, each.added, each.removed) for each in found.files} == {
        ("ü b.py", 3, 0), ("a.py", 2, 1), ("bin", None, None),
    }  # fmt: skip
    assert found.top == str(repository)
    assert await history(repository, git.Work(found.commits[-1].id, NOW, LATER)) == git.History(
        top=str(repository)
    )


async def test_what_was_pulled_is_not_the_sessions(repository: Path):
    start = await commit_of(repository, "HEAD")
    run(repository, "checkout", "-q", "-b", "theirs")
    commit(repository, "Theirs", {"theirs.py": "1\n"}, at=NOW - 500)
    run(repository, "checkout", "-q", "main")
    mine = commit(repository, "Mine", {"mine.py": "1\n"}, at=NOW + 10)
    run(repository, "merge", "-q", "--no-edit", "theirs", at=NOW + 20)
    commit(repository, "Again", {"mine.py": "1\n2\n"}, at=NOW + 30)
    found = await history(repository, git.Work(start, NOW, LATER))
    assert [each.subject for each in found.commits][0::2] == ["Mine", "Again"]
    assert found.commits[0].id == mine
    assert {(each.path, each.added) for each in found.files} == {("mine.py", 2)}


async def test_a_rebased_or_vanished_start_leaves_the_commits_of_the_time(repository: Path):
    start = commit(repository, "Old start", {"b.py": "1\n"}, at=NOW - 100)
    run(repository, "reset", "-q", "--hard", "HEAD~1")
    commit(repository, "Upstream", {"up.py": "1\n"}, at=NOW - 1_000)
    commit(repository, "Mine", {"b.py": "1\n2\n"}, at=NOW + 10)
    for gone in (start, "f" * 40, "--output=/tmp/x", "HEAD; rm", None):
        found = await history(repository, git.Work(gone, NOW, LATER))
        assert [each.subject for each in found.commits] == ["Mine"]
        assert [(each.path, each.added) for each in found.files] == [("b.py", 2)]


async def test_a_shallow_clone_a_first_commit_and_no_repository(repository: Path, tmp_path: Path):
    commit(repository, "Last", {"c.py": "1\n"}, at=NOW + 5)
    shallow = tmp_path / "shallow"
    run(tmp_path, "clone", "-q", "--depth=1", f"file://{repository}", str(shallow))
    start = await commit_of(shallow, "HEAD")
    commit(shallow, "Mine", {"d.py": "1\n"}, at=NOW + 10)
    found = await history(shallow, git.Work(start, NOW, LATER))
    assert [(each.path, each.added) for each in found.files] == [("d.py", 1)]
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    run(fresh, "init", "-q")
    assert await commit_of(fresh, "HEAD") is None
    commit(fresh, "First", {"e.py": "1\n"}, at=NOW + 10)
    found = await history(fresh, git.Work(None, NOW, LATER))
    assert [(each.path, each.added) for each in found.files] == [("e.py", 1)]
    assert await history(tmp_path / "gone", git.Work(None, NOW, LATER)) == git.History()


async def test_nothing_that_a_repository_names_is_run(repository: Path, tmp_path: Path):
    ran = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\necho x >> {ran}\nexit 1\n")
    program.chmod(0o755)
    start = await commit_of(repository, "HEAD")
    commit(repository, "Mine", {"a.py": "9\n", "b.txt": "1\n"}, at=NOW + 10)
    own = str(program)
    for name, value in {
        "core.fsmonitor": own, "diff.external": own, "core.pager": own,
        "core.hooksPath": str(tmp_path), "filter.f.clean": own, "log.showSignature": "true",
        "filter.f.smudge": own, "diff.d.textconv": own, "gpg.program": own,
        "diff.d.command": own, "core.sshCommand": own, "pager.diff-tree": "true",
        "remote.origin.url": f"ext::{program}", "remote.origin.promisor": "true",
        "protocol.ext.allow": "always", "extensions.partialClone": "origin",
        "core.repositoryFormatVersion": "1", "alias.rev-list": f"!{program}",
        "pager.rev-list": own, "core.editor": own,
    }.items():  # fmt: skip
        run(repository, "config", name, value)
    (repository / ".gitattributes").write_text("* diff=d filter=f\n")
    for hook in ("post-index-change", "reference-transaction"):
        shutil.copy(program, repository / ".git" / "hooks" / hook)
    found = await history(repository, git.Work(start, NOW, LATER))
    assert [each.subject for each in found.commits] == ["Mine"]
    assert {each.path for each in found.files} == {"a.py", "b.txt"}
    # An object that is missing is not fetched.
    blob = run(repository, "rev-parse", "HEAD:a.py")
    (repository / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    await history(repository, git.Work(start, NOW, LATER))
    await history(repository, git.Work("e" * 40, NOW, LATER))
    assert not ran.exists()


@pytest.mark.fault(
    "Sessions, journals and memory of agents",
    "git missing, hanging, hostile settings, vanished or rebased start, shallow "
    "clone, missing objects",
    "five seconds, commit against commit, nothing of the repository is run",
)
async def test_git_that_is_missing_or_hangs_leaves_nothing_known(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    start = await commit_of(repository, "HEAD")
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nexec sleep 600\n")
    slow.chmod(0o755)
    monkeypatch.setattr(git, "SECONDS", 0.5)
    monkeypatch.setenv("PATH", f"{slow.parent}:{os.environ['PATH']}")
    async with asyncio.timeout(PATIENCE):
        assert await history(repository, git.Work(start, NOW, LATER)) == git.History()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert await history(repository, git.Work(start, NOW, LATER)) == git.History()
    await asyncio.sleep(0)


async def test_output_without_end_is_cut(repository: Path, monkeypatch: pytest.MonkeyPatch):
    start = await commit_of(repository, "HEAD")
    commit(repository, "Mine", {f"f{n}.py": "1\n" for n in range(50)}, at=NOW + 10)
    monkeypatch.setattr(git, "MAX_OUTPUT", 300)
    found = await history(repository, git.Work(start, NOW, LATER))
    assert [each.subject for each in found.commits] == ["Mine"]
    assert found.files == ()
