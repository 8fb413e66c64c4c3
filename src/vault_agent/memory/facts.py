"""The facts about the notes of open vaults that memory compares. Those of a revision are kept."""

from __future__ import annotations

import asyncio
import math
import time
from typing import TYPE_CHECKING, NamedTuple

from vault_agent.config.project_file import read_project_file
from vault_agent.config.registry import GLOBAL, Role
from vault_agent.errors import VaultAgentError
from vault_agent.memory.candidates import FactIndex, may_be_remembered, type_of
from vault_agent.model.scope import EVERYTHING
from vault_agent.model.warning import Warning
from vault_agent.store.index import facts
from vault_agent.system.cancelling import in_thread
from vault_agent.system.checkout import commit_at
from vault_agent.system.git_origins import brought
from vault_agent.vaults.on_demand import index_now, is_unwatched
from vault_agent.vaults.several import left_out

if TYPE_CHECKING:
    from collections.abc import Iterable
    from contextlib import AsyncExitStack

    from vault_agent.config.memory_sections import MemorySettings
    from vault_agent.model.memory import Address
    from vault_agent.model.scope import Scope
    from vault_agent.store.index.facts import NoteFacts
    from vault_agent.vaults.open_vault import OpenVault
    from vault_agent.vaults.vaults import Vaults


_LOOK_SECONDS = 5.0


class Known(NamedTuple):
    """A vault, what requests call it, and its notes. `not_allowed` are those that git brought."""

    name: str
    vault: OpenVault
    notes: FactIndex
    not_allowed: int = 0


class _Kept(NamedTuple):
    """The facts of a revision and a state of git."""

    of: tuple[object, ...]
    notes: FactIndex
    not_allowed: int


class Facts:
    """The facts about notes of vaults, read again for each revision. Made by `Memory`."""

    def __init__(self, vaults: Vaults, settings: MemorySettings) -> None:
        self._vaults = vaults
        self._settings = settings
        # By identity, and whether they are about every note.
        self._kept: dict[tuple[str, bool], _Kept] = {}
        self._looked: dict[str, float] = {}  # when each vault was last looked at
        self._origins: dict[str, tuple[object, asyncio.Task[frozenset[str] | None]]] = {}

    def forget(self, identity: str) -> None:
        """Drop the facts about a vault that was closed."""
        for every in (False, True):
            self._kept.pop((identity, every), None)
        self._origins.pop(identity, None)
        self._looked.pop(identity, None)

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
        warnings = _not_allowed(known[0])
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
        # What is searched, and not put into a prompt, may come from anywhere.
        brought = frozenset[str]() if every else await self._brought(vault)
        async with vault.snapshot() as snapshot:
            kept = self._kept.get((vault.identity, every))
            if kept is None or kept.of != (snapshot.revision, brought):
                rows = [
                    *await snapshot.read(facts.read_facts),
                    *await snapshot.read(facts.read_attachments),
                ]
                included = rows if every else self._included(vault, rows)
                allowed = [
                    row for row in included if brought is not None and row.path not in brought
                ]
                index = await in_thread(FactIndex, allowed)
                kept = _Kept((snapshot.revision, brought), index, len(included) - len(allowed))
                self._kept[vault.identity, every] = kept
        notes = kept.notes
        if scope != EVERYTHING:
            inside = [note for note in notes.notes.values() if scope.contains(note.path)]
            notes = await in_thread(FactIndex, inside)
        return Known(name, vault, notes, kept.not_allowed)

    async def _freshen(self, vault: OpenVault, seconds: float) -> None:
        looked = self._looked.get(vault.identity, -math.inf)
        if not seconds or not is_unwatched(vault) or time.monotonic() < looked + _LOOK_SECONDS:
            return
        self._looked[vault.identity] = time.monotonic()
        await index_now(vault, seconds=seconds)

    async def _brought(self, vault: OpenVault) -> frozenset[str] | None:
        """Return the notes of a project that git has brought since they were allowed.

        None if that is not known: then all of them are left out. It is found out once for each
        state of git. Who gives up waiting finds the result the next time.
        """
        entry = self._vaults.entry(vault.identity)
        if entry is None or entry.role is not Role.PROJECT or not entry.commit:
            return frozenset()
        head = await in_thread(commit_at, entry.root)
        if head is None or head == entry.commit:
            return frozenset()
        state, task = self._origins.get(vault.identity, (None, None))
        failed = task is not None and task.done() and task.result() is None
        if task is None or failed or state != (entry.commit, head):
            task = asyncio.create_task(brought(entry.root, entry.commit))
            self._origins[vault.identity] = ((entry.commit, head), task)
        return await asyncio.shield(task)

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


def _not_allowed(known: Known) -> list[Warning]:
    """Return the warning about notes that git has brought, if there are any."""
    count = known.not_allowed
    if not count:
        return []
    what = f"{count:,} new notes" if count > 1 else "1 new note"
    what = f"{what} came by git from elsewhere. Agents do not get {'them' if count > 1 else 'it'}."
    code = "NOTES_NOT_ALLOWED"
    return [Warning.of(code, what, {"notes": count})]
