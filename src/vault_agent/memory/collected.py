"""What is known of a session when its journal is written: hooks, transcript and git in one."""

from __future__ import annotations

import hashlib
import os
import posixpath
import re
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Final

from vault_agent.config.project import find_project, read_project_file
from vault_agent.errors import VaultAgentError
from vault_agent.memory.transcripts.read import AGENTS, read_transcript
from vault_agent.memory.transcripts.recorder import Exchange, Transcript
from vault_agent.system.cancelling import in_thread
from vault_agent.system.files import expanded
from vault_agent.system.git import Commit, FileChange, History, Work, hashes_at, history
from vault_agent.text.redaction import doubtful_spans, is_secret_file, redact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from vault_agent.config.sections import JournalSettings
    from vault_agent.config.vault_list import Registered
    from vault_agent.memory.session_file import Session, Words

MAX_FILES: Final = 200
_NOT_OURS: Final = (".vault-agent", ".synk", ".git")
_SHORT_HASH = 7
_MAX_COMPARED = 8 << 20


@dataclass(frozen=True, slots=True)
class Collected:
    """A session. Texts are without secrets, times in seconds since 1970.

    The paths of files are relative to the project, and a commit has seven digits of its hash.
    """

    session_id: str
    agent: str
    project: str
    started_at: float
    ended_at: float
    title: str | None = None
    models: tuple[str, ...] = ()
    files: tuple[FileChange, ...] = ()
    commits: tuple[Commit, ...] = ()
    transcript: Transcript = field(default_factory=Transcript)
    has_transcript: bool = False
    has_ended: bool = True

    @property
    def has_changes(self) -> bool:
        """Whether a file or the history was changed."""
        return bool(self.files or self.commits)

    @property
    def minutes(self) -> int:
        """The duration in whole minutes."""
        return max(0, round((self.ended_at - self.started_at) / 60))


class Collector:
    """Collects what is known of sessions, without secrets."""

    def __init__(self, settings: JournalSettings, *, home: Path | None = None) -> None:
        self._settings = settings
        self._patterns = [re.compile(pattern, re.MULTILINE) for pattern in settings.redact_patterns]
        self._home = home or Path.home()

    def clean(self, text: str) -> str:
        """Return a text without secrets, and without random characters that may be one."""
        redacted = redact(text, home=str(self._home), more=self._patterns).text
        parts: list[str] = []
        done = 0
        for start, end in doubtful_spans(redacted):
            parts += redacted[done:start], "[redacted: token]"
            done = end
        return "".join((*parts, redacted[done:]))

    def is_excluded(self, session: Session, entry: Registered) -> bool:
        """Whether sessions in the folder of this one leave no journal."""
        project = project_of(entry)
        cwd = Path(os.path.realpath(session.cwd))
        shared = read_project_file(project).journal_exclude
        for name in (*self._settings.exclude, *shared):
            if cwd.is_relative_to(os.path.realpath(project / expanded(name))):
                return True
        return False

    async def collect(self, session: Session, entry: Registered) -> Collected:
        """Return all that is known of a session."""
        project = project_of(entry)
        told = None
        if session.agent in AGENTS and session.transcript_path is not None:
            told = await in_thread(
                read_transcript,
                session.agent,
                session.transcript_path,
                self.clean,
                home=self._home,
            )
        transcript = with_words(told or Transcript(), session.words, self.clean)
        started = min(session.started_at, transcript.started_at or session.started_at)
        ended = max(session.last_event_at, transcript.ended_at or 0.0)
        checkout = await in_thread(checkout_of, session.cwd, project)
        git = await self._commits(session, told, checkout, since=started, until=ended)
        folders = [str(project), *([git.top] if git.top else [])]
        committed, edited = places_of(transcript.edited, git, folders=folders, cwd=session.cwd)
        edited = await _still_changed(edited, session.start_commit, checkout, git, folders)
        models = transcript.models or ((session.model,) if session.model else ())
        return Collected(
            session_id=session.session_id,
            agent=session.agent,
            project=entry.name,
            started_at=started,
            ended_at=ended,
            title=self.clean(session.title) if session.title else transcript.title,
            models=tuple(models),
            files=tuple(
                file._replace(path=self.clean(file.path))
                for file in sorted((*committed, *edited))[:MAX_FILES]
            ),
            commits=tuple(
                commit._replace(id=commit.id[:_SHORT_HASH], subject=self.clean(commit.subject))
                for commit in git.commits
            ),
            transcript=transcript,
            has_transcript=told is not None,
            has_ended=session.ended_at is not None,
        )

    async def _commits(
        self,
        session: Session,
        told: Transcript | None,
        checkout: Path,
        *,
        since: float,
        until: float,
    ) -> History:
        """Return the session's own commits: by their hashes, else by their time and author.

        Where its transcript shows none, those count that changed a file which it edited: another
        session may have worked in the same folder.
        """
        named: Sequence[str] | None = None
        paths: Sequence[str] = ()
        if told is not None and not told.commits_unseen:
            paths = [os.path.join(session.cwd, path) for path in told.edited]  # noqa: PTH118
            named = told.commits if told.commits or not paths else None
        return await history(checkout, Work(session.start_commit, since, until, named, paths))


def with_words(told: Transcript, words: Sequence[Words], clean: Callable[[str], str]) -> Transcript:
    """Return a transcript with the words that only the hooks have told, by their time.

    The middle of a long transcript is not read, and some agents have none that can be read.
    """
    told_words = {_text_key(exchange.words) for exchange in told.exchanges}
    exchanges = list(told.exchanges)
    before = ""
    for said in words:
        if not said.by_person:
            before = said.text
            continue
        text = clean(said.text)
        if _text_key(text) not in told_words:
            told_words.add(_text_key(text))
            later = (
                place
                for place, exchange in enumerate(exchanges)
                if exchange.at is not None and exchange.at > said.at
            )
            exchanges.insert(next(later, len(exchanges)), Exchange(text, clean(before), said.at))
    spoken = [said for said in words if not said.by_person]
    last, last_at = told.last, told.last_at
    if spoken and spoken[-1].at > (last_at or 0.0):
        last, last_at = clean(spoken[-1].text), spoken[-1].at
    unanswered = told.unanswered
    if not told.exchanges and words:
        unanswered = words[-1].by_person
    return replace(
        told, exchanges=tuple(exchanges), last=last, last_at=last_at, unanswered=unanswered
    )


def _text_key(text: str) -> str:
    return "".join(text.split())[:300]


def places_of(
    edited: Iterable[str], git: History, *, folders: Sequence[str], cwd: str
) -> tuple[list[FileChange], list[FileChange]]:
    """Return the files of commits, and the other edited files, by their paths in the project.

    `folders` are the project's folder and those of its worktrees; what lies elsewhere is left out.
    So are the vault itself, and files of keys.
    """
    committed: dict[str, FileChange] = {}
    others: dict[str, FileChange] = {}
    if git.top is not None:
        for change in git.files:
            path = relative(f"{git.top}/{change.path}", folders, cwd)
            if path is not None:
                committed[path] = change._replace(path=path)
    for name in edited:
        path = relative(name, folders, cwd)
        if path is not None and path not in committed:
            others[path] = FileChange(path)
    return list(committed.values()), list(others.values())[:MAX_FILES]


async def _still_changed(
    edited: list[FileChange],
    start: str | None,
    checkout: Path,
    git: History,
    folders: Sequence[str],
) -> list[FileChange]:
    """Return the files that differ from those at a session's start: others were put back."""
    if start is None or git.top is None or not edited:
        return edited
    top = Path(git.top)
    inside = os.path.relpath(folders[0], git.top)
    prefix = "" if inside == "." or inside.startswith("..") else f"{Path(inside).as_posix()}/"
    paths = {file.path: f"{prefix}{file.path}" for file in edited}
    before = await hashes_at(checkout, start, list(paths.values()))
    if not before:
        return edited

    def differs(path: str) -> bool:
        return before.get(path) != _git_hash(top / path)

    return [file for file in edited if await in_thread(differs, paths[file.path])]


def _git_hash(path: Path) -> str | None:
    """Return the hash that git would give a file, None if there is none."""
    try:
        if path.is_symlink() or path.stat().st_size > _MAX_COMPARED:
            return ""
        data = path.read_bytes()
    except OSError:
        return None
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def relative(path: str, folders: Sequence[str], cwd: str) -> str | None:
    """Return a path relative to the first of the folders that it is in, with `/`, or None."""
    name = path.replace("\\", "/") if "\\" in str(PurePath("a", "b")) else path
    whole = posixpath.normpath(posixpath.join(cwd, name))
    if not name or any(sign in name for sign in "\0\n\r") or is_secret_file(whole):
        return None
    for folder in folders:
        inside = folder.rstrip("/") + "/"
        if whole.startswith(inside):
            inner = whole.removeprefix(inside)
            return None if inner.split("/")[0] in _NOT_OURS else inner
    return None


def project_of(entry: Registered) -> Path:
    """Return the folder of the project that a vault belongs to."""
    return entry.root.parent.parent


def checkout_of(cwd: str, project: Path) -> Path:
    """Return where to read the history of a session: its folder, if it is of the project.

    That is a folder in the project, or in a linked worktree of its repository. Any other folder is
    never looked at.
    """
    folder = Path(os.path.realpath(cwd)) if "\0" not in cwd else project
    with suppress(VaultAgentError):
        place = find_project(folder, environ={})
        if place is not None and place.folder == project and folder.is_dir():
            return folder
    return project
