"""The commit that is checked out in a folder, read without running git. Standard library only."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

from vault_agent.system.files import read_regular

_MAX_LEVELS: Final = 64
_MAX_BYTES: Final = 4_096
_MAX_PACKED: Final = 8 << 20
_COMMIT = r"[0-9a-f]{40}(?:[0-9a-f]{24})?"
_REF = r"refs/[^\x00-\x20~^:?*\[\\]{1,500}"


def commit_at(folder: Path) -> str | None:
    """Return the commit that is checked out in the repository of a folder, or None.

    Nothing of the repository is run. Files that are no regular ones are not read.
    """
    start = Path(os.path.realpath(folder))
    for _, level in zip(range(_MAX_LEVELS), (start, *start.parents), strict=False):
        git = level / ".git"
        if git.is_dir():
            return _head(git, git)
        text = _text(git)
        if text is not None and text.startswith("gitdir:"):
            own = level / text.removeprefix("gitdir:").strip()
            shared = _text(own / "commondir")
            return _head(own, own / shared if shared is not None else own)
    return None


def _head(own: Path, shared: Path) -> str | None:
    """Return the commit of `HEAD`. Branches are in the folder that worktrees share."""
    head = _text(own / "HEAD") or ""
    if not head.startswith("ref:"):
        return _commit(head)
    name = head.removeprefix("ref:").strip()
    if re.fullmatch(_REF, name) is None or ".." in name:
        return None
    loose = _text(shared / name)
    if loose is not None:
        return _commit(loose)
    for line in (_text(shared / "packed-refs", _MAX_PACKED) or "").splitlines():
        commit, _, packed = line.partition(" ")
        if packed == name:
            return _commit(commit)
    return None


def _commit(text: str) -> str | None:
    return text if re.fullmatch(_COMMIT, text) else None


def _text(path: Path, most: int = _MAX_BYTES) -> str | None:
    """Return the text of a regular file, or None."""
    data = read_regular(path, most, follow=True)
    return data.decode("utf-8", "surrogateescape").strip() if data is not None else None
