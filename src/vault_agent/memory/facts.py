"""The facts about the notes of open vaults that memory compares. Those of a revision are kept."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, NamedTuple

from vault_agent.config.project_file import read_project_file
from vault_agent.config.registry import GLOBAL, Role
from vault_agent.errors import VaultAgentError
from vault_agent.memory.candidates import FactIndex, may_be_remembered, type_of
from vault_agent.model.scope import EVERYTHING
from vault_agent.store.index import facts
from vault_agent.system.cancelling import in_thread
from vault_agent.vaults.reads import index_now, is_unwatched
from vault_agent.vaults.several import left_out

if TYPE_CHECKING:
    from collections.abc import Iterable
    from contextlib import AsyncExitStack

    from vault_agent.config.memory_sections import MemorySettings
    from vault_agent.model.memory import Address
    from vault_agent.model.scope import Scope
    from vault_agent.model.warning import Warning
    from vault_agent.store.index.facts import NoteFacts
    from vault_agent.vaults.open_vault import OpenVault
    from vault_agent.vaults.vaults import Vaults


_LOOK_SECONDS = 5.0


class Known(NamedTuple):
    """A vault, what requests call it, and its notes."""

    name: str
    vault: OpenVault
    notes: FactIndex


class _Kept(NamedTuple):
    """The facts of a revision."""

    of: object
    notes: FactIndex


class Facts:
    """The facts about notes of vaults, read again for each revision. Made by `Memory`."""

    def __init__(self, vaults: Vaults, settings: MemorySettings) -> None:
        self._vaults = vaults
        self._settings = settings
        # By identity, and whether they are about every note.
        self._kept: dict[tuple[str, bool], _Kept] = {}
        self._looked: dict[str, float] = {}  # when each vault was last looked at

    async def around(
        self,
        stack: AsyncExitStack,
        vault: OpenVault,
        scope: Scope = EVERYTHING,
        *,
        with_global: bool = True,
        every: bool = False,
        index_seconds: float = 0.0,
    ) -> tuple[list[Known], list[Warning]]:
        """Return the facts about a vault, then those about the global one, open until `stack` ends.

        A caller with a narrower scope knows only its part of the vault, and one that knows one
        vault asks without the global one. With `every`, they are also about notes that are never
        recalled. With `index_seconds`, what has changed is indexed before, unless that was done a
        moment ago.

        Raises:
            VaultAgentError: as a search. Without the global vault it is a warning.
        """
        await self._freshen(vault, index_seconds)
        known = [await self.of(vault, scope, every=every)]
        warnings: list[Warning] = []
        wanted = self._settings.include_global and with_global and scope == EVERYTHING
        if not (wanted and self._vaults.has_several):
            return known, warnings
        try:
            shared = await stack.enter_async_context(self._vaults.open(GLOBAL))
            if shared.identity != vault.identity:
                await self._freshen(shared, index_seconds)
                known.append(await self.of(shared, every=every))
        except VaultAgentError as error:
            if error.code != "VAULT_UNKNOWN":
                warnings.append(left_out(GLOBAL, error))
        return known, warnings

    async def of(
        self, vault: OpenVault, scope: Scope = EVERYTHING, *, every: bool = False
    ) -> Known:
        """Return the facts about a vault that is open."""
        name = self._vaults.address_of(vault)
        async with vault.snapshot() as snapshot:
            kept = self._kept.get((vault.identity, every))
            if kept is None or kept.of != snapshot.revision:
                rows = [
                    *await snapshot.read(facts.read_facts),
                    *await snapshot.read(facts.read_attachments),
                ]
                included = rows if every else self._included(vault, rows)
                kept = _Kept(snapshot.revision, await in_thread(FactIndex, included))
                self._kept[vault.identity, every] = kept
        notes = kept.notes
        if scope != EVERYTHING:
            inside = [note for note in notes.notes.values() if scope.contains(note.path)]
            notes = await in_thread(FactIndex, inside)
        return Known(name, vault, notes)

    async def _freshen(self, vault: OpenVault, seconds: float) -> None:
        looked = self._looked.get(vault.identity, -math.inf)
        if not seconds or not is_unwatched(vault) or time.monotonic() < looked + _LOOK_SECONDS:
            return
        self._looked[vault.identity] = time.monotonic()
        await index_now(vault, seconds=seconds)

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
                async with self._vaults.open(name) as vault:
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
        entry = self._vaults.entry(vault.identity)
        if entry is not None and entry.role is Role.PROJECT:
            shared = read_project_file(entry.root.parent.parent)
            excluded |= {each.lower() for each in shared.memory_exclude_types}
        return [row for row in rows if may_be_remembered(row) and type_of(row) not in excluded]
