"""Links from the notes of a project to those of the global vault: `global:` and a path or name."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from vault_agent.config.registry import GLOBAL
from vault_agent.errors import VaultAgentError
from vault_agent.model.identifiers import identify
from vault_agent.model.notes import LinkKind
from vault_agent.search.resolve import resolve_links
from vault_agent.store.index import fields
from vault_agent.store.index import notes as reading
from vault_agent.vaults.reads import ask

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from vault_agent.store.database import Connection
    from vault_agent.store.index.fields import NamedRow
    from vault_agent.vaults.open_vault import OpenVault
    from vault_agent.vaults.vaults import Vaults

PREFIX = "global:"
_LINKS = "links"


class GlobalNote(NamedTuple):
    """A note of the global vault to which a note of a project links."""

    note_id: str
    path: str
    title: str
    type: str | None
    identifier: str | None  # the `id` of its frontmatter


class Across:
    """Finds where links into the global vault lead."""

    def __init__(self, vaults: Vaults) -> None:
        self._vaults = vaults

    async def targets(self, vault: OpenVault, names: Collection[str]) -> dict[str, GlobalNote]:
        """Return the notes of the global vault that targets such as `global:a.md` lead to.

        Without a global vault there are none. Nor are there for notes of that vault itself.
        """
        wanted = {each: each.removeprefix(PREFIX) for each in names if each.startswith(PREFIX)}
        entry = self._vaults.entry_of(vault)
        if not wanted or entry is None or not entry.has_note_types or entry.address == GLOBAL:
            return {}

        def read(connection: Connection) -> dict[str, GlobalNote]:
            links = [("", target, LinkKind.WIKILINK) for target in wanted.values()]
            found = resolve_links(connection, links)
            notes: dict[str, GlobalNote] = {}
            for name, target in wanted.items():
                file = found["", target, LinkKind.WIKILINK]
                if file is None or file.note_id is None:
                    continue
                note = reading.note_by_id(connection, file.note_id)
                if note is not None:
                    values = fields.values_of(connection, [note.rowid], "id")
                    notes[name] = GlobalNote(
                        *(note.id, note.path, note.title, note.metadata.type),
                        next(iter(values.get(note.rowid, ())), None),
                    )
            return notes

        try:
            async with self._vaults.open(GLOBAL) as there:
                return await ask(there, read)
        except VaultAgentError:
            return {}  # there is none, or it cannot be opened now

    async def edges(
        self, vault: OpenVault, note_ids: Sequence[str]
    ) -> list[tuple[str, GlobalNote]]:
        """Return the links of some notes into the global vault, each pair once."""

        def read(connection: Connection) -> list[tuple[str, str]]:
            rows: list[NamedRow] = fields.rows_of_ids(connection, note_ids)
            paths = {row.rowid: row.path for row in rows}
            listed = fields.values_of(connection, paths, _LINKS)
            written = [(rowid, each) for rowid, values in listed.items() for each in values]
            written += fields.unresolved_targets(connection, paths, PREFIX)
            return [
                (identify(paths[rowid]), target)
                for rowid, target in written
                if target.startswith(PREFIX)
            ]

        if self._vaults.entry_of(vault) is None:
            return []
        links = await ask(vault, read)
        notes = await self.targets(vault, {target for _, target in links})
        found = ((source, notes[target]) for source, target in links if target in notes)
        return list(dict.fromkeys(found))
