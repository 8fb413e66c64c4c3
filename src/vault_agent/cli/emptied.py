"""Says why a search has found nothing: which filter left nothing, and what other vaults have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vault_agent.cli.filters import chosen_filters
from vault_agent.cli.results import EVERY_NOTE
from vault_agent.cli.terminal import clean, counted, quoted, tell
from vault_agent.client import calls
from vault_agent.config.registry import DEFAULT
from vault_agent.errors import VaultAgentError
from vault_agent.model.syntax import conditions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import TypeAlias

    from vault_agent.client.client import Client

    _Search: TypeAlias = tuple[str, Mapping[str, Any]]
    """A query and filters."""

_MOST = 50
_MOST_CONDITIONS = 8


def say_why(
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

    def count(
        query: str,
        filters: Mapping[str, Any],
        *,
        every_word: bool = every_word,
        where: Sequence[str] = vaults,
    ) -> int:
        asked = {**chosen, "limit": _MOST, "explain": False, "filters": filters}
        try:
            reply = client.call(
                calls.SEARCH,
                query=query or EVERY_NOTE,
                match="all" if every_word else None,
                vaults=where,
                **asked,
            )
        except VaultAgentError:
            return 0
        return len(reply.envelope["data"]["results"])

    filters = chosen["filters"]
    for condition, alone, rest in _parts(query, filters):
        if alone is not None and not count(*alone, every_word=False):
            tell(f"No note matches {clean(condition)}.")
        elif found := count(*rest):
            tell(f"{_number(found)} without {clean(condition)}.")
    if every_word and (found := count(query, filters, every_word=False)):
        tell(f"{_number(found)} without --all-words.")
    everywhere = (*(vaults or (DEFAULT,)), *others)
    if others and (found := count(query, filters, where=everywhere)):
        tell(f"{counted(len(others), 'vault')} left out. {_number(found)} in all: --all-vaults")


def _number(found: int) -> str:
    return f"{found} or more" if found >= _MOST else counted(found, "result")


def _parts(query: str, filters: Mapping[str, Any]) -> Iterator[tuple[str, _Search | None, _Search]]:
    """Yield each condition: as it was typed, the search for it alone, and the one without it.

    An exclusion alone says nothing, so it has no search.
    """
    for text, rest in conditions(query)[:_MOST_CONDITIONS]:
        alone: _Search | None = None if text.startswith(("-", '"')) else (text, {})
        yield text, alone, (rest, filters)
    for name in _OPTIONS:
        for only, left in _one_by_one(name, filters.get(name)):
            others = chosen_filters(**{**filters, name: left})
            yield _typed(name, only), (EVERY_NOTE, {name: only}), (query, others)


def _one_by_one(name: str, value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the parts of a filter that a note must match, each with the rest of the filter."""
    if not value:
        return
    if name == "tags":
        for one in value:
            yield (one,), tuple(other for other in value if other != one)
    elif name == "properties":
        for key in value:
            yield {key: value[key]}, {each: value[each] for each in value if each != key}
    else:
        yield value, None  # of paths and types, one must match


_OPTIONS = {
    "paths": "--path",
    "tags": "--tag",
    "types": "--type",
    "properties": "--property",
    "after": "--after",
    "before": "--before",
}


def _typed(name: str, value: Any) -> str:
    if isinstance(value, dict):
        value = tuple("=".join(pair) for pair in value.items())
    texts = value if isinstance(value, tuple) else (value,)
    return " ".join(f"{_OPTIONS[name]} {quoted(each) if ' ' in each else each}" for each in texts)
