"""What is known of a session when its journal is written: hooks, transcript and git in one."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING, Final, NamedTuple

from vault_agent.journals.transcripts.recorder import Transcript
from vault_agent.text.redaction import is_secret_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from vault_agent.system.git import History

MAX_FILES: Final = 200
_NOT_OURS: Final = (".vault-agent", ".synk", ".git")


class Changed(NamedTuple):
    """A changed file, relative to the project, with its lines where git knows them."""

    path: str
    added: int | None = None
    removed: int | None = None


class Made(NamedTuple):
    """A commit: the first seven digits of its hash, and its subject."""

    id: str
    subject: str


class Line(NamedTuple):
    """A line of the devlog that was written during the session."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Collected:
    """A session. Texts are without secrets, times in seconds since 1970."""

    session_id: str
    agent: str
    project: str
    started_at: float
    ended_at: float
    title: str | None = None
    models: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()
    prompt_count: int = 0
    last_message: str | None = None
    summaries: tuple[str, ...] = ()
    files: tuple[Changed, ...] = ()
    commits: tuple[Made, ...] = ()
    lines: tuple[Line, ...] = ()
    transcript: Transcript = field(default_factory=Transcript)

    @property
    def has_changes(self) -> bool:
        """Whether a file or the history was changed."""
        return bool(self.files or self.commits)

    @property
    def minutes(self) -> int:
        """The duration in whole minutes."""
        return max(0, round((self.ended_at - self.started_at) / 60))


def files_of(
    edited: Iterable[str],
    history: History | None,
    *,
    folders: Sequence[str],
    cwd: str,
    clean: Callable[[str], str] = str,
) -> tuple[Changed, ...]:
    """Return the changed files by their paths in the project, at most 200.

    `folders` are the project's folder and those of its worktrees; what lies elsewhere is left out.
    So are the vault itself, and files of keys. `clean` removes secrets from a name.
    """
    found: dict[str, Changed] = {}
    if history is not None and history.top is not None:
        for change in history.files:
            path = relative(f"{history.top}/{change.path}", folders, cwd)
            if path is not None:
                found[path] = Changed(path, change.added, change.removed)
    for name in edited:
        path = relative(name, folders, cwd)
        if path is not None:
            found.setdefault(path, Changed(path))
    cleaned = (each._replace(path=clean(each.path)) for each in found.values())
    return tuple(sorted(cleaned))[:MAX_FILES]


def relative(path: str, folders: Sequence[str], cwd: str) -> str | None:
    """Return a path relative to the first of the folders that it is in, with `/`, or None."""
    given = path.replace("\\", "/") if "\\" in str(PurePath("a", "b")) else path
    whole = posixpath.normpath(posixpath.join(cwd, given))
    if not given or any(each in given for each in "\0\n\r") or is_secret_file(whole):
        return None
    for folder in folders:
        inside = folder.rstrip("/") + "/"
        if whole.startswith(inside):
            name = whole.removeprefix(inside)
            return None if name.split("/")[0] in _NOT_OURS else name
    return None
