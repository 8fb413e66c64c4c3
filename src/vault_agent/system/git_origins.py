"""Which files of a folder git has brought from elsewhere since a commit.

What was committed in this checkout is in the log of its `HEAD`, which git never copies. So a file
whose content no such commit has came by a checkout, a pull or a merge. The author of a commit says
nothing: anybody can write any name. Files that are not committed were written here.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from vault_agent.system.git import COMMIT, SECONDS, commit_of, printed

if TYPE_CHECKING:
    from pathlib import Path

NO_COMMIT: Final = "none"
"""Stands for a repository without a commit, or no repository."""
_MAX_LOGGED: Final = 5_000
_CHANGES: Final = (
    *("diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", "--relative"),
    *("--no-ext-diff", "--no-textconv"),
)


async def brought(folder: Path, since: str) -> frozenset[str] | None:
    """Return the files below a folder that git has brought since a commit. None if that is unknown.

    Paths are relative to the folder. Without a commit `since` that still exists, all files that are
    committed count, except those that were committed here. Without git, it has brought nothing.
    """
    try:
        async with asyncio.timeout(SECONDS):
            return await _brought(folder, since)
    except TimeoutError:
        return None
    except OSError:
        return frozenset()


async def _brought(folder: Path, since: str) -> frozenset[str] | None:
    head = await commit_of(folder, "HEAD")
    if head is None or head == since:
        return frozenset()
    known = await commit_of(folder, since) if COMMIT.fullmatch(since) else None
    found = await _since(folder, known, head)
    if found is None:
        return None
    if not found:
        return frozenset()
    logged = await printed(
        folder, "log", "-g", "--format=%H %gs", f"--max-count={_MAX_LOGGED}", "HEAD"
    )
    lines = (logged or b"").decode("utf-8", "replace").splitlines()
    made = [commit for commit, _, what in (each.partition(" ") for each in lines) if _made(what)]
    own = b""
    if made:
        asked = (*_CHANGES, "--root", "--no-commit-id", "--stdin")
        own = await printed(folder, *asked, stdin="\n".join(dict.fromkeys(made))) or b""
    return frozenset(path for path, _ in found - _contents(own))


async def _since(folder: Path, since: str | None, head: str) -> set[tuple[str, str]] | None:
    """Return the files of a commit that another one has not, or all of them, with their hashes."""
    if since is not None:
        changed = await printed(folder, *_CHANGES, since, head)
        return None if changed is None else _contents(changed)
    listed = await printed(folder, "ls-tree", "-r", "-z", head)
    if listed is None:
        return None
    found = set()
    for line in listed.split(b"\0")[:-1]:
        facts, _, path = line.partition(b"\t")
        content = facts.decode("ascii", "replace").split(" ")[2]
        found.add((path.decode("utf-8", "surrogateescape"), content))
    return found


def _made(what: str) -> bool:
    """Whether an entry of the log of `HEAD` is a commit that was made here."""
    return what.partition(":")[0].partition(" ")[0] == "commit"


def _contents(output: bytes) -> set[tuple[str, str]]:
    """Return the files of `--raw -z` that exist afterwards, with the hashes of their contents."""
    found = set()
    parts = output.split(b"\0")
    for facts, path in zip(parts[::2], parts[1::2], strict=False):
        _, _, _, content, status = facts.decode("ascii", "replace").split(" ")
        if status != "D":
            found.add((path.decode("utf-8", "surrogateescape"), content))
    return found
