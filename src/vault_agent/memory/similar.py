"""Finds notes of a vault that are much the same as a text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vault_agent.memory.candidates import type_of
from vault_agent.model.identifiers import identify
from vault_agent.model.modes import Mode
from vault_agent.model.search import SearchQuery
from vault_agent.store.index import facts
from vault_agent.store.index.notes import bodies
from vault_agent.system.cancelling import in_thread
from vault_agent.text.names import fold
from vault_agent.text.words import fold_words
from vault_agent.vaults.reads import ask

if TYPE_CHECKING:
    from vault_agent.store.database import Connection
    from vault_agent.vaults.open_vault import OpenVault

_COMPARED = 30
"""Notes whose texts are compared: those that a search for the text finds first."""
_READ = 4_000
_MAX_QUERY = 1_000
_WORDS = re.compile(r"[^\W_]+")
_SHORT = 60
"""Words of a text whose single words are compared."""
_SAME, _SAME_SHORT = 0.8, 0.7


async def similar_notes(kind: str, title: str, body: str, vault: OpenVault) -> list[dict[str, str]]:
    """Return the notes of a vault with the same type and title, or with almost the same text."""
    name = fold(title)
    words = _WORDS.findall(f"{title} {body[:_READ]}")
    query = SearchQuery(" ".join(words)[:_MAX_QUERY], Mode.LEXICAL, _COMPARED)
    hits = (await vault.search(query)).hits if words else ()

    def read(connection: Connection) -> tuple[list[facts.NoteFacts], list[bytes]]:
        notes = facts.read_facts(connection)
        wanted = {hit.note_id for hit in hits}
        near = [each for each in notes if identify(each.path) in wanted]
        named = [each for each in notes if fold(each.title) == name and type_of(each) == kind]
        found = {each.rowid: each for each in (*named, *near)}
        return list(found.values()), bodies(connection, list(found))

    notes, texts = await ask(vault, read)

    def compare() -> list[dict[str, str]]:
        found = []
        for note, own in zip(notes, texts, strict=True):
            named = fold(note.title) == name and type_of(note) == kind
            if named or is_same_text(body, own.decode("utf-8", "replace")):
                found.append(
                    {
                        "noteId": identify(note.path),
                        "path": note.path,
                        "title": note.title,
                        "by": "title" if named else "text",
                    }
                )
        return found

    return await in_thread(compare)


def is_same_text(first: str, second: str) -> bool:
    """Whether two texts are almost the same, by their groups of words.

    Of short texts single words are compared: one other word changes five groups of five.
    """
    one, other = (_WORDS.findall(fold_words(text)) for text in (first, second))
    size = 1 if min(len(one), len(other)) < _SHORT else 5
    groups = [
        {tuple(words[at : at + size]) for at in range(len(words) - size + 1)}
        for words in (one, other)
    ]
    least = _SAME_SHORT if size == 1 else _SAME
    return one == other or len(groups[0] & groups[1]) >= least * len(groups[0] | groups[1]) > 0
