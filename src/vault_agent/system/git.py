"""Reads the history of a repository: which commits were made, and which files they changed.

A repository is not trusted. Only commits are compared with commits, by commands that read no file
of the checkout, and no program that its settings name is run: no hooks, no monitor, no external
diff, no converter of text, no signature check, no transport for missing objects. Git has five
seconds and a bounded output. A failure means that nothing is known, never an error.
"""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import tomllib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from vault_agent.system.processes import end_process, start_process

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence

_T = TypeVar("_T")

SECONDS: Final = 5.0
MAX_COMMITS: Final = 200
MAX_OUTPUT: Final = 4 << 20
_EARLIER: Final = 60.0
_LATER: Final = 5.0
"""A commit so many seconds before the start or after the end still counts: clocks differ."""
COMMIT: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")

_RUN: Final = tomllib.loads(Path(__file__).with_name("git.toml").read_text("utf-8"))


class Commit(NamedTuple):
    """A commit: its whole hash, its time in seconds since 1970, and its subject."""

    id: str
    at: float
    subject: str


class FileChange(NamedTuple):
    """A changed file, relative to the top of the repository. Binary files have no line counts."""

    path: str
    added: int | None = None
    removed: int | None = None


@dataclass(frozen=True, slots=True)
class History:
    """What happened in a repository. The oldest commit is the first."""

    commits: tuple[Commit, ...] = ()
    files: tuple[FileChange, ...] = ()
    top: str | None = None


async def _bounded(work: Awaitable[_T], otherwise: _T, seconds: float = SECONDS) -> _T:
    """Return what work returns, or `otherwise` if it takes too long or git cannot be run."""
    try:
        async with asyncio.timeout(seconds):
            return await work
    except (OSError, TimeoutError):
        return otherwise


async def committed_at(folder: Path, *, seconds: float = SECONDS) -> float | None:
    """Return when the last commit was made, in seconds since 1970, or None if there is none."""
    command = ("rev-list", "--no-commit-header", "--format=%ct", "-1", "HEAD")
    made = (await _bounded(_git(folder, *command), b"", seconds)).strip()
    return float(made) if made.isdigit() else None


async def changed_files(
    folder: Path, since: str, files: Sequence[str], *, seconds: float = SECONDS
) -> frozenset[str]:
    """Return which of the files were committed after a moment, ISO 8601."""
    wanted = ("log", f"--since={since}", "--format=", "--name-only", "-z", "--relative")
    names = await _bounded(_git(folder, *wanted, "--", *files), b"", seconds)
    return frozenset(name.decode("utf-8", "replace") for name in names.split(b"\0") if name)


class Work(NamedTuple):
    """What a session did in a repository, as far as it is known.

    Its commits are those with the hashes `named`, which may be short. Else they are those after the
    commit `start` that the user of the repository made between `since` and `until`, in seconds
    since 1970: others were made elsewhere, by somebody else, or later. Without a start that still
    exists, the times alone decide. With `paths`, only commits that changed one of them count.
    """

    start: str | None
    since: float
    until: float
    named: Sequence[str] | None = None
    paths: Sequence[str] = ()


async def history(folder: Path, work: Work) -> History:
    """Return the commits of a session, and the files that they changed."""
    return await _bounded(_history(folder, work), History())


async def _history(folder: Path, work: Work) -> History:
    top = (await _git(folder, "rev-parse", "--show-toplevel")).decode("utf-8", "replace").strip()
    end = await commit_of(folder, "HEAD")
    if not top or end is None:
        return History(top=top or None)
    if work.named is not None:
        hashes = [await commit_of(folder, name) for name in work.named[:MAX_COMMITS]]
        wanted = ["--no-walk=unsorted", *dict.fromkeys(commit for commit in hashes if commit)]
        commits = await _listed(folder, wanted) if len(wanted) > 1 else []
    else:
        commits = list(reversed(await _listed(folder, await _wanted(folder, work, end))))
    if not commits:
        return History(top=top)
    ids = "\n".join(commit.id for commit in commits)
    command = ("diff-tree", "-r", "-z", "--no-renames", "--no-ext-diff", "--no-textconv")
    numbers = await _git(
        folder, *command, "--numstat", "--root", "--no-commit-id", "--stdin", stdin=ids
    )
    return History(tuple(commits), _files(numbers), top)


async def _wanted(folder: Path, work: Work, end: str) -> list[str]:
    wanted = [f"--max-count={MAX_COMMITS}", f"--since={int(work.since - _EARLIER)}"]
    wanted += [f"--until={int(work.until + _LATER)}", end]
    author = (await _git(folder, "config", "--get", "user.email", own=True)).decode().strip()
    if author:
        wanted += ["--fixed-strings", f"--author=<{author}>"]
    if work.start is not None and COMMIT.fullmatch(work.start):
        start = await commit_of(folder, work.start)
        wanted += [f"^{start}"] if start else []
    return [*wanted, "--", *work.paths] if work.paths else wanted


async def _listed(folder: Path, wanted: Sequence[str]) -> list[Commit]:
    command = ("rev-list", "--no-commit-header", "--format=%H%x00%ct%x00%s", *wanted)
    output = await _git(folder, *command)
    commits = []
    for line in output.decode("utf-8", "replace").splitlines():
        commit, _, rest = line.partition("\0")
        at, _, subject = rest.partition("\0")
        if COMMIT.fullmatch(commit) and at.isdecimal():
            commits.append(Commit(commit, float(at), subject))
    return commits


async def hashes_at(folder: Path, commit: str, paths: Sequence[str]) -> dict[str, str]:
    """Return the hashes that git has of files at a commit, by their paths below the top."""
    command = ("ls-tree", "-z", "--full-tree", commit, "--", *paths)
    listed = await _bounded(_git(folder, *command), b"")
    hashes = {}
    for record in listed.split(b"\0"):
        about, _, path = record.partition(b"\t")
        if len(about.split()) == 3:
            hashes[path.decode("utf-8", "replace")] = about.split()[2].decode()
    return hashes


async def commit_of(folder: Path, name: str) -> str | None:
    """Return the hash of a commit that exists, by its name, or None. Raises OSError."""
    output = await _git(folder, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    text = output.decode("ascii", "replace").strip()
    return text if COMMIT.fullmatch(text) else None


def _files(output: bytes) -> tuple[FileChange, ...]:
    """Return the files of `--numstat -z`. One that several commits changed is summed."""
    files: dict[str, FileChange] = {}
    for record in output.split(b"\0"):
        parts = record.split(b"\t", 2)
        if len(parts) != 3:
            continue
        path = parts[2].decode("utf-8", "replace")
        numbers = [int(number) if number.isdigit() else None for number in parts[:2]]
        before = files.get(path)
        if before is not None and None not in {*numbers, before.added, before.removed}:
            numbers = [
                (numbers[0] or 0) + (before.added or 0),
                (numbers[1] or 0) + (before.removed or 0),
            ]
        files[path] = FileChange(path, numbers[0], numbers[1])
    return tuple(files.values())


async def _git(folder: Path, *command: str, stdin: str | None = None, own: bool = False) -> bytes:
    """Return what git prints, or nothing if it fails or prints too much. Raises OSError.

    With `own`, git reads the settings of the user too.
    """
    environ = {name: os.environ[name] for name in _RUN["kept"] if name in os.environ}
    environ |= _RUN["environment"] if own else _RUN["environment"] | _RUN["without_settings"]
    process = await start_process(
        "git",
        *_RUN["options"],
        *command,
        stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        env=environ,
    )
    try:
        if process.stdin is not None and stdin is not None:
            with suppress(BrokenPipeError, ConnectionResetError):
                process.stdin.write(f"{stdin}\n".encode())
                await process.stdin.drain()
            process.stdin.close()
        assert process.stdout is not None  # noqa: S101 - a pipe was asked for
        parts: list[bytes] = []
        size = 0
        while part := await process.stdout.read(1 << 16):
            size += len(part)
            if size > MAX_OUTPUT:
                return b""
            parts.append(part)
        return b"".join(parts) if await process.wait() == 0 else b""
    finally:
        await end_process(process, 0.5)
