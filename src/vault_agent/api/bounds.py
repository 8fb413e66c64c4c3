"""The size limit of every reply that is a list."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

from vault_agent.model.search import Hit
from vault_agent.model.values import dump
from vault_agent.model.warning import Warning

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vault_agent.model.reply import Reply

REPLY_BYTES = 256 * 1024
"""The most bytes of JSON in a reply of search, related or a list."""

MAX_ENTRIES = 50
MAX_CHARACTERS = 200
_NAMES = ("title", "heading", "heading_path", "metadata")
"""Fields of a result that are shortened if the reply is too large. IDs and paths never are."""

_WARNING_BYTES = 1024
"""Space reserved for the warning about what is left out."""


def bounded(reply: Reply[Any], listed: str) -> tuple[Reply[Any], bytes]:
    """Return a reply of at most 256 KiB, and its JSON.

    `listed` names the list in the reply's data that may be cut. If the reply is too large, long
    names in its results are shortened first, then entries that do not fit are left out. A warning
    `REPLY_TRUNCATED` says how many.
    """
    body = dump(reply)
    if len(body) <= REPLY_BYTES:
        return reply, body
    entries: Sequence[Any] = getattr(reply.data, listed)
    share = REPLY_BYTES // max(len(entries), 1)
    shorter = [_shortened(entry, share) for entry in entries]
    changed = sum(before is not after for before, after in zip(entries, shorter, strict=True))
    empty = replace(reply, data=replace(reply.data, **{listed: ()}))
    kept = _fitting(shorter, REPLY_BYTES - len(dump(empty)) - _WARNING_BYTES)
    warning = _warning(len(entries) - len(kept), changed)
    cut = replace(
        reply,
        data=replace(reply.data, **{listed: tuple(kept)}),
        warnings=(*reply.warnings, warning),
    )
    return cut, dump(cut)


def _fitting(entries: Sequence[Any], room: int) -> list[Any]:
    kept = []
    for entry in entries:
        size = len(dump(entry)) + 1  # the comma
        if size > room:
            continue
        room -= size
        kept.append(entry)
    return kept


def _shortened(entry: Any, share: int) -> Any:
    """Return a result; if it is larger than its share, with long names cut."""
    if not isinstance(entry, Hit) or len(dump(entry)) <= share:
        return entry
    return replace(entry, **{name: _cut(getattr(entry, name)) for name in _NAMES})


def _cut(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= MAX_CHARACTERS else value[: MAX_CHARACTERS - 1] + "…"
    if isinstance(value, tuple):
        return tuple(_cut(each) for each in value[:MAX_ENTRIES])
    if is_dataclass(value) and not isinstance(value, type):
        return replace(
            value, **{each.name: _cut(getattr(value, each.name)) for each in fields(value)}
        )
    return value


def _warning(omitted: int, shortened: int) -> Warning:
    what = (
        f"The reply would be larger than {REPLY_BYTES // 1024} KiB: {omitted} entries that"
        f" do not fit are left out, and long names of {shortened} entries are shortened."
    )
    return Warning.of("REPLY_TRUNCATED", what, {"omitted": omitted, "shortened": shortened})
