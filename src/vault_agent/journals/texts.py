"""The text of a journal: by the agent itself, by a model, or the extract."""

from __future__ import annotations

import secrets
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vault_agent.errors import IndexUnavailable, Unavailable, VaultAgentError
from vault_agent.journals import summary
from vault_agent.journals.extract import FILES, extract
from vault_agent.journals.note_text import Facts, body, properties, stamp
from vault_agent.journals.related import related, tags_of
from vault_agent.journals.session_facts import VaultNotes, notes_of
from vault_agent.journals.transcripts.read import AGENTS
from vault_agent.model.journals import (
    CRASH,
    MODEL_INVALID,
    MODEL_UNAVAILABLE,
    PENDING,
    TRANSCRIPT_MISSING,
)
from vault_agent.model.sessions import IDLE
from vault_agent.system.cancelling import in_thread
from vault_agent.text.redaction import doubtful
from vault_agent.vaults.on_demand import index_now
from vault_agent.writing.notes import whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vault_agent.chat.client import ChatClient
    from vault_agent.config.memory_sections import JournalSettings
    from vault_agent.journals.collected import Collected
    from vault_agent.journals.extract import Draft
    from vault_agent.journals.kept_texts import Given
    from vault_agent.journals.note_text import Named
    from vault_agent.journals.related import Related
    from vault_agent.journals.session_facts import Gathered
    from vault_agent.model.sessions import Session
    from vault_agent.vaults.open_vault import OpenVault

_INDEX_SECONDS = 3.0
_NO_NOTES = VaultNotes((), lambda _: False)
_TELLS_ITS_END = frozenset({"claude-code", "gemini"})
"""Agents that tell when a session ends: one that did not has crashed."""


@dataclass(frozen=True, slots=True)
class Text:
    """The text of a journal, and why it is incomplete, if it is."""

    session: Collected
    draft: Draft
    generator: str
    incomplete: str | None
    notes: VaultNotes

    @property
    def title(self) -> str:
        """The title of the journal."""
        return self.draft.title

    @property
    def is_doubtful(self) -> bool:
        """Whether the text may have a secret of no known form, so that a person should look."""
        sections = (text for name, text in self.draft.sections.items() if name != FILES)
        return bool(doubtful("\n".join((self.draft.title, *sections))))

    def linked(self, path: str) -> list[Related]:
        """Return the notes that the journal at a path leads to."""
        return related(
            self.notes.notes,
            own=path,
            files=(each.path for each in self.session.files),
            text="\n".join((self.draft.title, *self.draft.sections.values())),
            project=self.session.project,
            before=stamp(self.session.started_at),
        )

    def note(self, name: Named) -> bytes:
        """Return the whole note."""
        linked = self.linked(name.path)
        tags = tags_of(
            self.notes.notes,
            linked,
            title=self.draft.title,
            subjects=(each.subject for each in self.session.commits),
        )
        facts = Facts(self.generator, self.incomplete, tags, linked)
        return whole(body(self.draft, linked), properties(self.session, self.draft, name, facts))

    def modules(self, path: str) -> Sequence[str]:
        """Return the paths of the notes of modules that were changed."""
        types = {note.path: note.type for note in self.notes.notes}
        paths = (f"{each.target}.md" for each in self.linked(path))
        return [each for each in paths if types.get(each) == "module"]


class JournalTexts:
    """Makes the text of journals by `journal.writer`."""

    def __init__(self, settings: JournalSettings, chat: ChatClient | None, max_input: int) -> None:
        self._settings = settings
        self._chat = chat
        self._max_input = max_input

    async def of(
        self,
        vault: OpenVault,
        session: Session,
        gathered: Gathered,
        given: Given | None,
        *,
        by_model: bool,
    ) -> Text:
        """Return the text of a journal. A model that fails leaves the extract, incomplete."""
        notes = await _notes(vault)
        found = gathered.session
        if given is not None and self._settings.writer in {"auto", "agent"}:
            draft = summary.given(given.sections, found, given.title, is_known=notes.is_known)
            return Text(found, draft, "agent", None, notes)
        draft = await in_thread(extract, found)
        if not by_model or self._chat is None:
            return Text(found, draft, "extract", self._why(session, gathered), notes)
        marker = f"===== {secrets.token_hex(8)} ====="
        question = await in_thread(summary.question, found, marker, self._max_input)
        try:
            reply = await self._chat.ask(summary.INSTRUCTIONS, question)
        except Unavailable:
            return Text(found, draft, "extract", MODEL_UNAVAILABLE, notes)
        answered = summary.answered(reply, found, is_known=notes.is_known)
        if answered is None:
            return Text(found, draft, "extract", MODEL_INVALID, notes)
        return Text(found, answered, "model", _lacking(session, gathered), notes)

    def _why(self, session: Session, gathered: Gathered) -> str | None:
        """Return why an extract is incomplete, or None if it is all that is wanted."""
        if self._settings.writer == "agent" or self._chat is not None:
            return PENDING
        if self._settings.writer == "model":
            return MODEL_UNAVAILABLE
        return _lacking(session, gathered)


async def _notes(vault: OpenVault) -> VaultNotes:
    """Return the notes of a vault. A vault without an index gets one, and a moment for it."""
    try:
        return await notes_of(vault)
    except IndexUnavailable as error:
        if error.code != "INDEX_NOT_FOUND":
            return _NO_NOTES
    await index_now(vault, seconds=_INDEX_SECONDS)
    with suppress(VaultAgentError):
        return await notes_of(vault)
    return _NO_NOTES


def _lacking(session: Session, gathered: Gathered) -> str | None:
    """Return what is missing from what is known of a session, or None."""
    if session.agent in AGENTS and not gathered.has_transcript:
        return TRANSCRIPT_MISSING
    if session.end_reason == IDLE and session.agent in _TELLS_ITS_END:
        return CRASH
    return None
