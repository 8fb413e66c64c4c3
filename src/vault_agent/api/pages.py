"""Pages of long lists: the request's cursor, and as many entries as fit into a reply."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from vault_agent.api.bounds import REPLY_BYTES
from vault_agent.api.cursors import decode_cursor, encode_cursor
from vault_agent.model.graph import Listed, Page
from vault_agent.model.values import dump

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vault_agent.vaults.open_vault import OpenVault

PAGE_BYTES = REPLY_BYTES - 64 * 1024
"""JSON of the entries of a page. The rest of a reply is for what else it has, such as warnings."""


class Shown(NamedTuple):
    """The entries of a page, and the fields of its reply that every page has."""

    entries: tuple[Any, ...]
    fields: dict[str, Any]


def page_of(vault: OpenVault, sent: Any, positions: int = 1) -> Page:
    """Return the part of a list that a request asks for.

    `positions` is how many numbers the cursor of this list has.

    Raises:
        InvalidRequest: `INVALID_CURSOR`.
    """
    if sent.cursor is None:
        return Page(sent.limit)
    cursor = decode_cursor(sent, sent.cursor, *[int] * positions, vault=vault.identity)
    start = tuple(number for number in cursor.position if isinstance(number, int))
    return Page(sent.limit, tuple(max(number, 0) for number in start), cursor.revision or "")


def entries_that_fit(entries: Sequence[object]) -> int:
    """Return how many entries a page has room for, at least one.

    The next page begins with the rest, so that a cursor never skips an entry.
    """
    sizes = accumulate(len(dump(entry)) + 1 for entry in entries)
    return max(sum(size <= PAGE_BYTES for size in sizes), min(1, len(entries)))


def shown(vault: OpenVault, sent: object, found: Listed[Any]) -> Shown:
    """Return the entries that fit into a reply. The cursor continues after the last of them."""
    entries = found.entries[: entries_that_fit(found.entries)]
    more = found.more or len(entries) < len(found.entries)
    following = None
    if more and entries:
        following = encode_cursor(
            sent, found.ends[len(entries) - 1], vault=vault.identity, revision=found.revision
        )
    fields = {"revision": found.revision, "has_more": more, "next_cursor": following}
    return Shown(entries, fields)
