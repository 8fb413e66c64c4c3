"""Facts about notes that memory compares, kept for each vault until its index changes."""

from __future__ import annotations

import math
import re
import time
from typing import TYPE_CHECKING, Final, NamedTuple

from vault_agent.config.project import read_project_file
from vault_agent.config.vault_list import Role
from vault_agent.errors import VaultAgentError
from vault_agent.memory.score import Candidate, Frequencies, file_key
from vault_agent.model.identifiers import GLOBAL, identify
from vault_agent.model.note_types import type_of_folder
from vault_agent.store.index import lists
from vault_agent.system.cancelling import in_thread
from vault_agent.text.names import is_note
from vault_agent.text.words import fold_words
from vault_agent.vaults.federated_search import left_out
from vault_agent.vaults.open_vault import index_now, is_unwatched

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from vault_agent.config.sections import MemorySettings
    from vault_agent.model.memory import Address
    from vault_agent.model.warning import Warning
    from vault_agent.store.index.lists import NoteFacts
    from vault_agent.vaults.open_vault import OpenVault
    from vault_agent.vaults.vaults import Vaults


_LOOK_SECONDS = 5.0


class VaultFacts(NamedTuple):
    """A vault, what requests call it, and its notes."""

    name: str
    vault: OpenVault
    notes: FactIndex


class Facts:
    """The facts about notes of vaults, read again for each revision. Made by `Memory`."""

    def __init__(self, vaults: Vaults, settings: MemorySettings) -> None:
        self._vaults = vaults
        self._settings = settings
        # With their revision, by the folder of the index and whether they are about every note.
        self._kept: dict[tuple[Path, bool], tuple[str, FactIndex]] = {}
        self._looked: dict[Path, float] = {}  # when each vault was last looked at

    async def around(
        self,
        vault: OpenVault,
        *,
        with_global: bool = True,
        every: bool = False,
        index_seconds: float = 0.0,
    ) -> tuple[list[VaultFacts], list[Warning]]:
        """Return the facts about a vault, then those about the global one.

        A caller that knows one vault asks without the global one. With `every`, they are also about
        notes that are never recalled. With `index_seconds`, what has changed is indexed before,
        unless that was done a moment ago.

        Raises:
            VaultAgentError: as a search. Without the global vault it is a warning.
        """
        await self._freshen(vault, index_seconds)
        vaults = [await self.of(vault, every=every)]
        warnings: list[Warning] = []
        wanted = self._settings.include_global and with_global
        if not (wanted and self._vaults.has_several):
            return vaults, warnings
        try:
            global_vault = await self._vaults.open(GLOBAL)
            if global_vault.identity != vault.identity:
                await self._freshen(global_vault, index_seconds)
                vaults.append(await self.of(global_vault, every=every))
        except VaultAgentError as error:
            if error.code != "VAULT_UNKNOWN":
                warnings.append(left_out(GLOBAL, error))
        return vaults, warnings

    async def of(self, vault: OpenVault, *, every: bool = False) -> VaultFacts:
        """Return the facts about a vault that is open."""
        name = self._vaults.unique_name_of(vault)
        async with vault.reader.snapshot() as snapshot:
            revision, index = self._kept.get((vault.index_folder, every), (None, None))
            if index is None or revision != snapshot.revision:
                rows = [
                    *await snapshot.read(lists.read_facts),
                    *await snapshot.read(lists.read_attachments),
                ]
                included = rows if every else self._included(vault, rows)
                index = await in_thread(FactIndex, included)
                self._kept[vault.index_folder, every] = snapshot.revision, index
        return VaultFacts(name, vault, index)

    async def _freshen(self, vault: OpenVault, seconds: float) -> None:
        looked = self._looked.get(vault.index_folder, -math.inf)
        if not seconds or not is_unwatched(vault) or time.monotonic() < looked + _LOOK_SECONDS:
            return
        self._looked[vault.index_folder] = time.monotonic()
        await index_now(vault, seconds=seconds)

    async def hashes(self, notes: Iterable[Address]) -> dict[Address, str | None]:
        """Return the hash of the file of each note, "" for one that is gone.

        None stands for a note whose vault cannot be read now.
        """
        hashes: dict[Address, str | None] = {}
        by_vault: dict[str, list[str]] = {}
        for name, note_id in notes:
            by_vault.setdefault(name, []).append(note_id)
        for name, ids in by_vault.items():
            try:
                vault = await self._vaults.open(name)
                index = (await self.of(vault)).notes
            except VaultAgentError:
                hashes |= dict.fromkeys(((name, note_id) for note_id in ids), None)
                continue
            for note_id in ids:
                rowid = index.ids.get(note_id)
                hashes[name, note_id] = index.notes[rowid].hash.hex() if rowid is not None else ""
        return hashes

    def _included(self, vault: OpenVault, rows: Iterable[NoteFacts]) -> list[NoteFacts]:
        excluded = {kind.lower() for kind in self._settings.exclude_types}
        entry = self._vaults.entry(vault.identity)
        if entry is not None and entry.role is Role.PROJECT:
            shared = read_project_file(entry.root.parent.parent)
            excluded |= {kind.lower() for kind in shared.memory_exclude_types}
        return [row for row in rows if may_be_remembered(row) and type_of(row) not in excluded]


# --- the notes of a revision ----------------------------------------------------------------------


NEWEST: Final = 20
MAX_BY_FILE: Final = 200
MAX_FILES: Final = 20
"""Files that a task is compared by."""
_SAME_NAME = 5
"""So many files with one name are not told apart by it, such as `__init__.py`."""


class FactIndex:
    """The notes of one revision of a vault, found by their files and tags."""

    def __init__(self, notes: Iterable[NoteFacts]) -> None:
        """Take notes of the revision."""
        self.notes = {note.rowid: note for note in notes}
        self.ids = {identify(note.path): note.rowid for note in self.notes.values()}
        self.files: dict[str, list[int]] = {}
        self.tags: dict[str, list[int]] = {}
        self.named: dict[str, list[str]] = {}
        newest = sorted(self.notes.values(), key=lambda note: (note.updated, note.path))[::-1]
        for note in newest:  # so that each list has the newest first
            for file in dict.fromkeys(map(file_key, note.files)):
                if file not in self.files:
                    self.named.setdefault(file.rpartition("/")[2], []).append(file)
                self.files.setdefault(file, []).append(note.rowid)
            for tag in dict.fromkeys(map(fold_words, note.tags)):
                self.tags.setdefault(tag, []).append(note.rowid)
        # An attachment counts for its words alone.
        own = [note.rowid for note in newest if is_note(note.path)]
        self.newest = own[:NEWEST]
        self.size = len(own)
        self.identifiers = {note.identifier for note in self.notes.values() if note.identifier}

    def near(self, files: Iterable[str], tags: Iterable[str]) -> set[int]:
        """Return the notes with one of the files, or one of its name, or with one of the tags."""
        groups: list[Sequence[int]] = []
        for file in map(file_key, files):
            same_name = self.named.get(file.rpartition("/")[2], ())
            groups += [self.files[other] for other in same_name]
        rowids: dict[int, None] = {}
        for group in sorted(groups, key=len):  # what few notes have says most
            rowids |= dict.fromkeys(group)
        near = set(list(rowids)[:MAX_BY_FILE])
        for tag in map(fold_words, tags):
            near.update(self.tags.get(tag, ())[:MAX_BY_FILE])
        return near


def frequencies(indexes: Sequence[FactIndex], candidates: Sequence[Candidate]) -> Frequencies:
    """Return how often the files and tags of the candidates occur in several vaults together."""
    files = {file_key(file) for candidate in candidates for file in candidate.note.files}
    tags = {fold_words(tag) for candidate in candidates for tag in candidate.note.tags}
    return Frequencies(
        sum(index.size for index in indexes),
        {name: sum(len(index.files.get(name, ())) for index in indexes) for name in files},
        {name: sum(len(index.tags.get(name, ())) for index in indexes) for name in tags},
    )


def type_of(note: NoteFacts) -> str:
    """Return the type of a note: as it says, else by its folder, else `note`."""
    return note.type.lower() if note.type else type_of_folder(note.path)


def named_files(prompt: str, indexes: Iterable[FactIndex]) -> tuple[str, ...]:
    """Return the files of notes that a prompt names by their path or by their name."""
    words = dict.fromkeys(file_key(word.strip(".,;:!?()[]{}'\"`")) for word in prompt.split())
    files: dict[str, None] = {}
    for index in indexes:
        for word in words:
            if word in index.files:
                files[word] = None
            elif "." in word and len(index.named.get(word, ())) <= _SAME_NAME:
                files |= dict.fromkeys(index.named.get(word, ()))
    return tuple(files)


def named_tags(prompt: str, indexes: Iterable[FactIndex]) -> tuple[str, ...]:
    """Return the tags of notes that are words of a prompt."""
    words = set(re.findall(r"[^\s.,;:!?()\[\]{}'\"`#]+", fold_words(prompt)))
    return tuple(sorted({tag for index in indexes for tag in words & index.tags.keys()}))


def may_be_remembered(note: NoteFacts) -> bool:
    """Whether a note is no template, not superseded, and not excluded by its owner."""
    folders = note.path.lower().split("/")[:-1]
    return not (
        "templates" in folders
        or (note.type or "").lower() == "template"
        or (note.status or "").lower() == "superseded"
        or (note.memory or "").lower() == "never"
    )
