"""Collects what is known of a session: its texts, its transcript and the history of its project."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from vault_agent.config.project_file import read_project_file
from vault_agent.journals.collected import Collected, Made, files_of
from vault_agent.journals.related import Known
from vault_agent.journals.transcripts.read import AGENTS, read_transcript
from vault_agent.journals.transcripts.recorder import Said, Transcript
from vault_agent.markdown.resolve import LinkResolver
from vault_agent.memory.candidates import type_of
from vault_agent.model.notes import LinkKind
from vault_agent.store.index import facts
from vault_agent.system.cancelling import in_thread
from vault_agent.system.git import History, head_of, history
from vault_agent.text.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vault_agent.config.memory_sections import JournalSettings
    from vault_agent.config.registry import Registered
    from vault_agent.journals.collected import Line
    from vault_agent.model.sessions import Session, SessionEvent
    from vault_agent.vaults.open_vault import OpenVault

_SHORT_HASH = 7
_MAX_POINTER = 4_096


class Gathered(NamedTuple):
    """What was collected, and whether the agent's transcript was read."""

    session: Collected
    has_transcript: bool


class SessionFacts:
    """Collects what is known of sessions, without secrets."""

    def __init__(self, settings: JournalSettings, *, home: Path | None = None) -> None:
        self._settings = settings
        self._patterns = [re.compile(each, re.MULTILINE) for each in settings.redact_patterns]
        self._home = home or Path.home()

    def clean(self, text: str) -> str:
        """Return a text without secrets."""
        return redact(text, home=str(self._home), more=self._patterns).text

    def is_excluded(self, session: Session, entry: Registered) -> bool:
        """Whether sessions in the folder of this one leave no journal."""
        project = project_of(entry)
        cwd = Path(os.path.realpath(session.cwd))
        shared = read_project_file(project).journal_exclude
        for name in (*self._settings.exclude, *shared):
            try:
                folder = Path(name).expanduser()
            except RuntimeError:
                continue
            if cwd.is_relative_to(os.path.realpath(project / folder)):
                return True
        return False

    async def start_commit(self, session: Session, entry: Registered) -> str | None:
        """Return the commit that is checked out where a session works."""
        return await head_of(await in_thread(checkout_of, session.cwd, project_of(entry)))

    async def gather(
        self,
        session: Session,
        entry: Registered,
        texts: Sequence[SessionEvent],
        lines: Sequence[Line],
    ) -> Gathered:
        """Return all that is known of a session."""
        project = project_of(entry)
        told = None
        if session.agent in AGENTS and session.transcript_path is not None:
            told = await in_thread(
                read_transcript,
                session.agent,
                session.transcript_path,
                self.clean,
                output_lines=self._settings.output_lines if self._settings.include_output else 0,
                home=self._home,
            )
        checkout = await in_thread(checkout_of, session.cwd, project)
        found = await history(checkout, session.start_commit, since=session.started_at)
        return Gathered(
            await in_thread(
                self._joined, session, entry, texts=texts, lines=lines, told=told, found=found
            ),
            told is not None,
        )

    def _joined(
        self,
        session: Session,
        entry: Registered,
        *,
        texts: Sequence[SessionEvent],
        lines: Sequence[Line],
        told: Transcript | None,
        found: History,
    ) -> Collected:
        # A hook has removed the secrets that it knows; the patterns of the user come here.
        prompts = [self.clean(each.prompt) for each in texts if each.prompt]
        last = next((each.last_message for each in reversed(texts) if each.last_message), None)
        summaries = [self.clean(each.summary) for each in texts if each.summary]
        told = told or Transcript(prompt_count=len(prompts), said=self._said(texts))
        folders = [str(project_of(entry)), *([found.top] if found.top else [])]
        models = list(told.models) or ([session.model] if session.model else [])
        title = self.clean(session.title) if session.title else told.title
        return Collected(
            session_id=session.session_id,
            agent=session.agent,
            project=entry.name,
            started_at=min(session.started_at, told.started_at or session.started_at),
            ended_at=max(session.last_event_at, told.ended_at or 0.0),
            title=title,
            models=tuple(models),
            prompts=told.prompts or tuple(prompts),
            prompt_count=max(session.prompts, told.prompt_count),
            last_message=self.clean(last) if last else (told.said[-1].text if told.said else None),
            summaries=tuple(dict.fromkeys((*told.summaries, *summaries))),
            files=files_of(told.edited, found, folders=folders, cwd=session.cwd, clean=self.clean),
            commits=tuple(
                Made(each.id[:_SHORT_HASH], self.clean(each.subject)) for each in found.commits
            ),
            lines=tuple(lines),
            transcript=told,
        )

    def _said(self, texts: Sequence[SessionEvent]) -> tuple[Said, ...]:
        """Return what an agent said last in each turn, as the hooks have told it."""
        said, turn = [], 0
        for each in texts:
            turn += bool(each.prompt)
            if each.last_message:
                said.append(Said(self.clean(each.last_message), turn))
        return tuple(said)


def project_of(entry: Registered) -> Path:
    """Return the folder of the project that a vault belongs to."""
    return entry.root.parent.parent


def checkout_of(cwd: str, project: Path) -> Path:
    """Return where to read the history of a session: its folder, if it is of the project.

    That is a folder in the project, or in a linked worktree that the project's repository knows.
    Any other folder is never looked at.
    """
    if "\0" in cwd:
        return project
    folder = Path(os.path.realpath(cwd))
    known = [project, *_worktrees(project)]
    if any(folder.is_relative_to(each) for each in known) and folder.is_dir():
        return folder
    return project


def _worktrees(project: Path) -> list[Path]:
    """Return the linked worktrees that the repository of a project names."""
    found = []
    for pointer in sorted((project / ".git" / "worktrees").glob("*/gitdir"))[:100]:
        try:
            with pointer.open("rb") as file:
                named = os.fsdecode(file.read(_MAX_POINTER)).strip()
        except OSError:
            continue
        worktree = Path(os.path.realpath(named)).parent
        if named and worktree.is_absolute():
            found.append(worktree)
    return found


class VaultNotes(NamedTuple):
    """The notes of a vault: what a journal may link to."""

    notes: Sequence[Known]
    is_known: Callable[[str], bool]


async def notes_of(vault: OpenVault) -> VaultNotes:
    """Return the notes of a vault.

    Raises:
        IndexUnavailable: if there is no index, or it cannot be read.
    """
    async with vault.snapshot() as snapshot:
        rows = await snapshot.read(facts.read_facts)
        named = dict(await snapshot.threads.run(snapshot.names))
    resolver = LinkResolver(named.items())
    notes = [
        Known(
            row.path,
            row.title,
            type_of(row),
            row.updated,
            tuple(each for each in named.get(row.path, ()) if each.isprintable()),
            row.files,
            row.tags,
        )
        for row in rows
        if (row.status or "").lower() != "superseded" and not row.path.startswith("templates/")
    ]

    def is_known(target: str) -> bool:
        return resolver.resolve("", target, LinkKind.WIKILINK).is_note

    return VaultNotes(notes, is_known)


async def journal_of(vault: OpenVault, session_id: str) -> str | None:
    """Return the path of the journal of a session in a vault, as its index knows it.

    Raises:
        IndexUnavailable: if there is no index, or it cannot be read.
    """
    async with vault.snapshot() as snapshot:
        rows = await snapshot.read(facts.read_facts)
    found = (row.path for row in rows if row.session == session_id and type_of(row) == "journal")
    return next(found, None)
