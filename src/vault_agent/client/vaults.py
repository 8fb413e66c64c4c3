"""The calls about several vaults: promotion to the global one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vault_agent.client.client import Reply
    from vault_agent.client.lists import Call
    from vault_agent.model.promotion import Demoted, Promoted, PromotionCheck


class Vaults:
    """Promotes notes. Bodies have the names of the HTTP interface."""

    def __init__(self, call: Call) -> None:
        self._call = call

    async def promote(self, note_id: str, body: Mapping[str, Any]) -> Reply[Promoted]:
        """Copy a note of a project's vault to the global one.

        Raises:
            InvalidRequest: `PROMOTE_SECRETS`.
            Conflict: `PROMOTE_SIMILAR`, `PROMOTE_EDITED`.
            VaultAgentError: the other codes of the operation.
        """
        return await self._call("POST", _place(note_id), "promotion.Promoted", body)

    async def demote(self, note_id: str, *, keep: bool) -> Reply[Demoted]:
        """Take a promotion back. With `keep` the copy stays. Raises as `promote`."""
        path = _place(note_id) + ("?keep=true" if keep else "")
        return await self._call("DELETE", path, "promotion.Demoted")

    async def check(self) -> Reply[PromotionCheck]:
        """Mend promotions that a crash has interrupted."""
        return await self._call("POST", "/vaults/check", "promotion.PromotionCheck", {})


def _place(note_id: str) -> str:
    return f"/notes/{quote(note_id, safe='')}/promote"
