"""Says why a search has found nothing: which filter left nothing, and what other vaults have."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from vault_agent.cli.results import EVERY_NOTE
from vault_agent.cli.terminal import clean, counted, quoted, tell
from vault_agent.config.registry import DEFAULT
from vault_agent.errors import VaultAgentError
from vault_agent.model.search import Filters
from vault_agent.model.syntax import conditions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from vault_agent.client.client import Client

_MOST = 50
_MOST_CONDITIONS = 8


async def say_why(
    client: Client,
    query: str,
    chosen: Mapping[str, Any],
    *,
    every_word: bool,
    vaults: Sequence[str],
    others: Sequence[str],
) -> None:
    """Print which condition of a search without results left nothing, one line each.

    `others` are the vaults that were not searched. Nothing is printed for what cannot be asked.
    """

    async def count(
        query: str,
        filters: Filters | None,
        *,
        every_word: bool = every_word,
        where: Sequence[str] = vaults,
    ) -> int:
        asked = {**chosen, "limit": _MOST, "explain": False, "filters": filters}
        try:
            reply = await client.search(
                query or EVERY_NOTE, **asked, every_word=every_word, vaults=where
            )
        except VaultAgentError:
            return 0
        return len(reply.envelope["data"]["results"])

    filters = chosen["filters"]
    for condition, alone, rest in _parts(query, filters or Filters()):
        if alone is not None and not await count(*alone, every_word=False):
            tell(f"No note matches {clean(condition)}.")
        elif found := await count(*rest):
            tell(f"{_number(found)} without {clean(condition)}.")
    if every_word and (found := await count(query, filters, every_word=False)):
        tell(f"{_number(found)} without --all-words.")
    everywhere = (*(vaults or (DEFAULT,)), *others)
    if others and (found := await count(query, filters, where=everywhere)):
        tell(f"{counted(len(others), 'vault')} left out. {_number(found)} in all: --all-vaults")


def _number(found: int) -> str:
    return f"{found} or more" if found >= _MOST else counted(found, "result")


def _parts(
    query: str, filters: Filters
) -> Iterator[tuple[str, tuple[str, Filters | None] | None, tuple[str, Filters | None]]]:
    """Yield each condition: as it was typed, the search for it alone, and the one without it.

    An exclusion alone says nothing, so it has no search.
    """
    whole = filters if filters != Filters() else None
    for text, rest in conditions(query)[:_MOST_CONDITIONS]:
        alone = None if text.startswith(("-", '"')) else (text, None)
        yield text, alone, (rest, whole)
    for field in fields(filters):
        value = getattr(filters, field.name)
        if field.name not in _OPTIONS or not value:
            continue
        nothing: Any = () if isinstance(value, tuple) else None
        # Each tag and property must match. Of paths and types, one must.
        each = value if field.name in ("tags", "properties") else (value,)
        for one in each:
            only: Any = (one,) if field.name in ("tags", "properties") else one
            left: Any = tuple(other for other in value if other != one) if only != one else nothing
            yield (
                _typed(field.name, only),
                (EVERY_NOTE, _changed(Filters(), field.name, only)),
                (query, _changed(filters, field.name, left)),
            )


def _changed(filters: Filters, name: str, value: Any) -> Filters:
    changes: dict[str, Any] = {name: value}
    return replace(filters, **changes)


_OPTIONS = {
    "paths": "--path",
    "tags": "--tag",
    "types": "--type",
    "properties": "--property",
    "after": "--after",
    "before": "--before",
}


def _typed(name: str, value: Any) -> str:
    values = value if isinstance(value, tuple) else (value,)
    texts = ("=".join(each) if isinstance(each, tuple) else each for each in values)
    return " ".join(f"{_OPTIONS[name]} {quoted(each) if ' ' in each else each}" for each in texts)
