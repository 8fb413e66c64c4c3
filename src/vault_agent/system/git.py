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
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from vault_agent.system.processes import end_process, start_process

if TYPE_CHECKING:
    from pathlib import Path

SECONDS: Final = 5.0
MAX_COMMITS: Final = 200
MAX_OUTPUT: Final = 4 << 20
_EARLIER: Final = 60.0
"""A commit so many seconds before the start still counts: clocks differ."""
COMMIT: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")

_SAFE: Final = (
    "--no-pager",
    "--no-replace-objects",
    "--literal-pathspecs",
    *(
        part
        for setting in (
            "core.fsmonitor=false",
            f"core.hooksPath={os.devnull}",
            f"core.attributesFile={os.devnull}",
            "core.quotePath=false",
            "diff.external=",
            "diff.ignoreSubmodules=all",
            "log.showSignature=false",
            "protocol.allow=never",
            "gc.auto=0",
            "maintenance.auto=false",
        )
        for part in ("-c", setting)
    ),
)
_ENVIRONMENT: Final = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat",
    "LC_ALL": "C",
}
_KEPT_ENVIRONMENT: Final = ("PATH", "HOME", "SYSTEMROOT", "TEMP", "TMP")


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit: its whole hash, its time in seconds since 1970, and its subject."""

    id: str
    at: float
    subject: str


@dataclass(frozen=True, slots=True)
class FileChange:
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


async def head_of(folder: Path) -> str | None:
    """Return the commit that is checked out, or None if there is none, or no repository."""
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(SECONDS):
            return await commit_of(folder, "HEAD")
    return None


@dataclass(frozen=True, slots=True)
class Latest:
    """What was committed last: the files, relative to the folder, and the branch."""

    files: tuple[str, ...] = ()
    branch: str | None = None


async def latest(folder: Path, *, seconds: float = SECONDS) -> Latest:
    """Return what the last commit changed in a folder, and which branch is checked out."""
    try:
        async with asyncio.timeout(seconds):
            changed, branch = await asyncio.gather(
                _git(folder, *_NAMES, "HEAD"), _git(folder, "symbolic-ref", "--short", "-q", "HEAD")
            )
    except (OSError, TimeoutError):
        return Latest()
    names = [each.decode("utf-8", "replace") for each in changed.split(b"\0") if each]
    return Latest(tuple(names), branch.decode("utf-8", "replace").strip() or None)


async def history(folder: Path, start: str | None, *, since: float) -> History:
    """Return what was committed after the commit `start`.

    Commits that are older than `since`, in seconds since 1970, were made elsewhere and do not
    count. Without a start that still exists, the time alone decides.
    """
    try:
        async with asyncio.timeout(SECONDS):
            return await _history(folder, start, since)
    except (OSError, TimeoutError):
        return History()


async def _history(folder: Path, start: str | None, since: float) -> History:
    top = (await _git(folder, "rev-parse", "--show-toplevel")).decode("utf-8", "replace").strip()
    end = await commit_of(folder, "HEAD")
    if not top or end is None:
        return History(top=top or None)
    if start is not None and not COMMIT.fullmatch(start):
        start = None
    if start is not None:
        start = await commit_of(folder, start)
    wanted = [f"--max-count={MAX_COMMITS}", f"--since={int(since - _EARLIER)}", end]
    if start is not None:
        wanted.append(f"^{start}")
    commits = _commits(
        await _git(folder, "rev-list", "--no-commit-header", "--format=%H%x00%ct%x00%s", *wanted)
    )
    if not commits:
        return History(top=top)
    ids = [each.id for each in commits]
    everything = []
    if start is not None:
        everything = (
            (await _git(folder, "rev-list", f"--max-count={len(ids) + 1}", end, f"^{start}"))
            .decode("ascii", "replace")
            .split()
        )
    if start is not None and set(everything) == set(ids) and await _is_before(folder, start, end):
        numbers = await _git(folder, *_NUMBERS, start, end)
    else:
        # Some of the history came from elsewhere: each commit of the session by itself.
        numbers = await _git(
            folder, *_NUMBERS, "--root", "--no-commit-id", "--stdin", stdin="\n".join(ids)
        )
    return History(tuple(reversed(commits)), _files(numbers), top)


_DIFF: Final = ("diff-tree", "-r", "-z", "--no-renames", "--no-ext-diff", "--no-textconv")
_NUMBERS: Final = (*_DIFF, "--numstat")
_NAMES: Final = (*_DIFF, "--name-only", "--no-commit-id", "--root", "--relative")


async def commit_of(folder: Path, name: str) -> str | None:
    """Return the hash of a commit that exists, by its name, or None. Raises OSError."""
    found = await _git(folder, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    text = found.decode("ascii", "replace").strip()
    return text if COMMIT.fullmatch(text) else None


async def _is_before(folder: Path, start: str, end: str) -> bool:
    base = await _git(folder, "merge-base", start, end)
    return base.decode("ascii", "replace").strip() == start


def _commits(output: bytes) -> list[Commit]:
    found = []
    for line in output.decode("utf-8", "replace").splitlines():
        commit, _, rest = line.partition("\0")
        at, _, subject = rest.partition("\0")
        if COMMIT.fullmatch(commit) and at.isdecimal():
            found.append(Commit(commit, float(at), subject))
    return found


def _files(output: bytes) -> tuple[FileChange, ...]:
    """Return the files of `--numstat -z`. One that several commits changed is summed."""
    found: dict[str, FileChange] = {}
    for record in output.split(b"\0"):
        parts = record.split(b"\t", 2)
        if len(parts) != 3:
            continue
        path = parts[2].decode("utf-8", "replace")
        numbers = [int(each) if each.isdigit() else None for each in parts[:2]]
        before = found.get(path)
        if before is not None and None not in {*numbers, before.added, before.removed}:
            numbers = [
                (numbers[0] or 0) + (before.added or 0),
                (numbers[1] or 0) + (before.removed or 0),
            ]
        found[path] = FileChange(path, numbers[0], numbers[1])
    return tuple(found.values())


async def _git(folder: Path, *command: str, stdin: str | None = None) -> bytes:
    """Return what git prints, or nothing if it fails or prints too much."""
    return await printed(folder, *command, stdin=stdin) or b""


async def printed(folder: Path, *command: str, stdin: str | None = None) -> bytes | None:
    """Return what git prints, or None if it fails or prints too much. Raises OSError."""
    environ = {name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ}
    process = await start_process(
        "git",
        *_SAFE,
        *command,
        stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        env=environ | _ENVIRONMENT,
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
                return None
            parts.append(part)
        return b"".join(parts) if await process.wait() == 0 else None
    finally:
        await end_process(process, 0.5)
