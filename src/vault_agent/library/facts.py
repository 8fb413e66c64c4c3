"""The facts about the notes of open vaults that memory compares. Those of a revision are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from vault_agent.config.project_file import read_project_file
from vault_agent.config.registry import GLOBAL, Role
from vault_agent.errors import VaultAgentError
from vault_agent.knowledge.recall import FactIndex, type_of
from vault_agent.library.several import left_out
from vault_agent.model.scope import EVERYTHING
from vault_agent.store.index import facts
from vault_agent.system.cancelling import in_thread

if TYPE_CHECKING:
    from collections.abc import Iterable
    from contextlib import AsyncExitStack

    from vault_agent.config.settings import MemorySettings
    from vault_agent.library.library import Library
    from vault_agent.library.open_vault import OpenVault
    from vault_agent.model.memory import Address
    from vault_agent.model.scope import Scope
    from vault_agent.model.warning import Warning
    from vault_agent.store.index.facts import NoteFacts


class Known(NamedTuple):
    """A vault, what requests call it, and its notes."""

    name: str
    vault: OpenVault
    notes: FactIndex


class Facts:
    """The facts about vaults of a library, read again for each revision. Made by `Memory`."""

    def __init__(self, library: Library, settings: MemorySettings) -> None:
        self._library = library
        self._settings = settings
        self._kept: dict[str, tuple[str, FactIndex]] = {}  # by identity: revision and facts

    def forget(self, identity: str) -> None:
        """Drop the facts about a vault that was closed."""
        self._kept.pop(identity, None)

    async def around(
        self, stack: AsyncExitStack, vault: OpenVault, scope: Scope = EVERYTHING
    ) -> tuple[list[Known], list[Warning]]:
        """Return the facts about a vault, then those about the global one, open until `stack` ends.

        A caller with a narrower scope knows only its part of the vault.

        Raises:
            VaultAgentError: as a search. Without the global vault it is a warning.
        """
        known = [await self.of(vault, scope)]
        warnings: list[Warning] = []
        wanted = self._settings.include_global and scope == EVERYTHING
        if not (wanted and self._library.has_several):
            return known, warnings
        try:
            shared = await stack.enter_async_context(self._library.vault(GLOBAL))
            if shared.identity != vault.identity:
                known.append(await self.of(shared))
        except VaultAgentError as error:
            if error.code != "VAULT_UNKNOWN":
                warnings.append(left_out(GLOBAL, error))
        return known, warnings

    async def of(self, vault: OpenVault, scope: Scope = EVERYTHING) -> Known:
        """Return the facts about a vault that is open."""
        name = self._library.address_of(vault)
        async with vault.snapshot() as snapshot:
            revision, kept = self._kept.get(vault.identity, ("", None))
            if kept is None or revision != snapshot.revision:
                async with snapshot.connection() as connection:
                    rows = await facts.read_facts(connection)
                kept = await in_thread(FactIndex, self._included(vault, rows))
                self._kept[vault.identity] = (snapshot.revision, kept)
        if scope != EVERYTHING:
            inside = [note for note in kept.notes.values() if scope.contains(note.path)]
            kept = await in_thread(FactIndex, inside)
        return Known(name, vault, kept)

    async def hashes(self, notes: Iterable[Address]) -> dict[Address, str | None]:
        """Return the hash of the file of each note, "" for one that is gone.

        None stands for a note whose vault cannot be read now.
        """
        found: dict[Address, str | None] = {}
        by_vault: dict[str, list[str]] = {}
        for name, note_id in notes:
            by_vault.setdefault(name, []).append(note_id)
        for name, ids in by_vault.items():
            try:
                async with self._library.vault(name) as vault:
                    index = (await self.of(vault)).notes
            except VaultAgentError:
                found |= dict.fromkeys(((name, each) for each in ids), None)
                continue
            for each in ids:
                rowid = index.ids.get(each)
                found[name, each] = index.notes[rowid].hash.hex() if rowid is not None else ""
        return found

    def _included(self, vault: OpenVault, rows: Iterable[NoteFacts]) -> list[NoteFacts]:
        excluded = {each.lower() for each in self._settings.exclude_types}
        entry = self._library.entry(vault.identity)
        if entry is not None and entry.role is Role.PROJECT:
            shared = read_project_file(entry.root.parent.parent)
            excluded |= {each.lower() for each in shared.memory_exclude_types}
        return [row for row in rows if type_of(row) not in excluded]
