"""Searches over several vaults. A result is what one index of all would give."""

from __future__ import annotations

import asyncio
import shutil
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from vault_agent.config.registry import GLOBAL
from vault_agent.errors import (
    Failed,
    InvalidRequest,
    NotFound,
    VaultAgentError,
)
from vault_agent.model.warning import Warning
from vault_agent.search.combined import CombinedSnapshot, CombinedText, Part, combine_text
from vault_agent.search.doubles import without_doubles
from vault_agent.search.related import related
from vault_agent.search.search import search
from vault_agent.store.current import SnapshotOutdated
from vault_agent.store.fulltext.union import PREFIX
from vault_agent.store.index import documents

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from vault_agent.model.search import Answer, RelatedQuery, SearchQuery
    from vault_agent.vaults.open_vault import OpenVault
    from vault_agent.vaults.vaults import Vaults

_KEPT = 4
"""Combinations of vaults whose full text is kept open."""
_ATTEMPTS = 5
_SPARE = 20
"""More results than asked for, since some may be in several vaults."""
_NEVER_SKIPPED = {"VAULT_UNKNOWN", "VAULT_AMBIGUOUS", "FEATURE_DISABLED"}


class Several:
    """Searches over several vaults. Made by `open_app`."""

    def __init__(self, vaults: Vaults) -> None:
        self._vaults = vaults
        self._texts: dict[tuple[str, ...], CombinedText] = {}  # by identities, oldest use first
        self._combining = asyncio.Lock()
        self._swept = False

    async def search(self, names: Sequence[str], query: SearchQuery) -> Answer:
        """Return ranked candidates of all these vaults.

        Raises:
            VaultAgentError: as the search of one vault; and as `Vaults.open` for names that are
                not of one vault, or if no vault can be searched.
        """

        async def ask(
            snapshot: CombinedSnapshot, vaults: Sequence[OpenVault], notes: tuple[Warning, ...]
        ) -> Answer:
            end = query.offset + query.limit
            asked = replace(query, offset=0, limit=2 * end + _SPARE)
            found = await search(
                snapshot,
                asked,
                embedder=vaults[0].embedder,
                reranker=vaults[0].reranker,
                warnings=notes,
                indexing=any(vault.jobs.running for vault in vaults),
            )
            hits = await without_doubles(snapshot, found.hits)
            shown = hits[query.offset : end]
            return replace(found, limit=query.limit, hits=shown, has_more=len(hits) > end)

        return await self._ask(names, ask)

    async def related(
        self, names: Sequence[str], query: RelatedQuery, *, home: OpenVault
    ) -> Answer:
        """Return candidates of all these vaults that are similar to a note or chunk.

        The note is that of the vault `home` if it is among the vaults, else of the first that has a
        note of this ID.

        Raises:
            NotFound: `NOTE_NOT_FOUND` if none has it.
            VaultAgentError: as `search`.
        """

        async def ask(
            snapshot: CombinedSnapshot, vaults: Sequence[OpenVault], notes: tuple[Warning, ...]
        ) -> Answer:
            snapshot.home = await _home(snapshot, query.id, home.identity)
            asked = replace(query, limit=2 * query.limit + _SPARE)
            found = await related(
                snapshot,
                asked,
                embeddings=vaults[0].embedder is not None,
                warnings=notes,
                indexing=any(vault.jobs.running for vault in vaults),
            )
            hits = await without_doubles(snapshot, found.hits)
            return replace(found, limit=query.limit, hits=hits[: query.limit])

        return await self._ask(names, ask)

    async def _ask(
        self,
        names: Sequence[str],
        ask: Callable[
            [CombinedSnapshot, Sequence[OpenVault], tuple[Warning, ...]], Awaitable[Answer]
        ],
    ) -> Answer:
        async with AsyncExitStack() as stack:
            vaults, skipped = await self._open(stack, names)
            for _ in range(_ATTEMPTS):
                async with AsyncExitStack() as lent:
                    parts, warnings = await self._parts(lent, vaults, skipped)
                    used = [vault for vault in vaults if vault.identity in parts]
                    try:
                        snapshot = await self._combined([parts[each.identity] for each in used])
                        about = [each for vault in used for each in vault.warnings()]
                        return await ask(snapshot, used, (*warnings, *_distinct(about)))
                    except SnapshotOutdated:
                        pass
                for vault in vaults:
                    await vault.runs.refresh()
        raise Failed("INTERNAL_ERROR", "The indexes changed faster than they could be read.")

    async def _open(
        self, stack: AsyncExitStack, names: Sequence[str]
    ) -> tuple[list[OpenVault], list[tuple[str, VaultAgentError]]]:
        """Return the vaults that can be opened, project vaults first, and the others."""
        found: dict[str, OpenVault] = {}
        skipped: list[tuple[str, VaultAgentError]] = []
        for name in dict.fromkeys(names):
            try:
                vault = await stack.enter_async_context(self._vaults.open(name, beyond=True))
                found.setdefault(vault.identity, vault)
            except VaultAgentError as error:
                if error.code in _NEVER_SKIPPED:
                    raise
                skipped.append((name, error))
        if not found:
            raise skipped[0][1]
        return sorted(found.values(), key=_preference), skipped

    async def _parts(
        self,
        stack: AsyncExitStack,
        vaults: Sequence[OpenVault],
        skipped: Sequence[tuple[str, VaultAgentError]],
    ) -> tuple[dict[str, Part], list[Warning]]:
        """Return the revisions of the vaults that have one, and warnings about the others."""
        parts: dict[str, Part] = {}
        failed = list(skipped)
        for vault in vaults:
            name = self._vaults.address_of(vault)
            try:
                snapshot = await stack.enter_async_context(vault.snapshot())
            except VaultAgentError as error:
                failed.append((name, error))
            else:
                parts[vault.identity] = Part(name, vault.identity, snapshot)
        if not parts:
            raise failed[0][1]
        return parts, [left_out(name, error) for name, error in failed]

    async def _combined(self, parts: Sequence[Part]) -> CombinedSnapshot:
        identities = tuple(part.identity for part in parts)
        keys = tuple(part.key for part in parts)
        async with self._combining:
            text = self._texts.pop(identities, None)
            if text is None or text.keys != keys:
                workplace = self._vaults.default.workplace
                if not self._swept:
                    self._swept = True
                    for left in workplace.glob(f"{PREFIX}*"):  # by a server that was killed
                        shutil.rmtree(left, ignore_errors=True)
                text = await asyncio.to_thread(combine_text, parts, workplace)
            self._texts[identities] = text
            while len(self._texts) > _KEPT:
                del self._texts[next(iter(self._texts))]
        return CombinedSnapshot(parts, text)

    def forget(self, identity: str) -> None:
        """Close the full text of combinations with this vault."""
        for identities in [each for each in self._texts if identity in each]:
            del self._texts[identities]


def _preference(vault: OpenVault) -> int:
    """Return the place of a vault among those with the same note: the project's comes first."""
    return 0 if vault.address.startswith("project:") else 2 if vault.address == GLOBAL else 1


async def _home(snapshot: CombinedSnapshot, identifier: str, identity: str) -> int:
    for place, part in enumerate(snapshot.parts):
        if part.identity == identity:
            return place
    note_id = identifier.partition(":")[0]
    if len(note_id) != 32:
        raise InvalidRequest("INVALID_ID", "A note ID is 32 lowercase hexadecimal digits.")
    for place, part in enumerate(snapshot.parts):
        if await part.snapshot.read(documents.readable_by_id, note_id) is not None:
            return place
    raise NotFound("NOTE_NOT_FOUND", "None of these vaults has this note in its index.")


def left_out(name: str, error: VaultAgentError) -> Warning:
    """Return the warning about a vault that is left out."""
    what = f"The vault {name} is left out: {error.what}"
    return Warning.of("VAULT_SKIPPED", what, {"vault": name, "code": error.code})


def _distinct(warnings: Sequence[Warning]) -> list[Warning]:
    return list({(each.code, each.message): each for each in warnings}.values())
