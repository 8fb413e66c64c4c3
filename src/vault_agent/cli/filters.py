"""The options that choose notes, for all commands that filter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import asyncclick as click

from vault_agent.cli.times import DAY, DAYS

if TYPE_CHECKING:
    from collections.abc import Callable

_Function = TypeVar("_Function", bound="Callable[..., Any]")


def with_options(*options: Callable[[Any], Any]) -> Callable[[_Function], _Function]:
    """Return a decorator that adds several options, the first one on top."""

    def add(function: _Function) -> _Function:
        for option in reversed(options):
            function = option(function)
        return function

    return add


def note_filters(*names: str) -> Callable[[_Function], _Function]:
    """Return a decorator that adds these filters: `paths`, `tags`, `properties` and so on."""
    return with_options(*(_FILTERS[name] for name in names))


def chosen_filters(**filters: Any) -> dict[str, Any]:
    """Return the filters that were given, as they are in a request's body."""
    chosen = {name: value for name, value in filters.items() if value}
    if "properties" in chosen:
        chosen["properties"] = dict(chosen["properties"])
    return chosen


def _tags(context: click.Context, option: click.Parameter, value: tuple[str, ...]) -> Any:
    """Return tags without the `#` that people type."""
    del context, option
    return tuple(tag.removeprefix("#") for tag in value)


def _pairs(context: click.Context, option: click.Parameter, value: tuple[str, ...]) -> Any:
    """Return the names and values of properties."""
    del context, option
    return tuple(map(_named_value, value))


def _named_value(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator or not name.strip():
        raise click.UsageError("--property takes NAME=VALUE")
    return name.strip(), value.strip()


_FILTERS = {
    "paths": click.option("--path", "paths", multiple=True, help="Only under this folder or glob."),
    "tags": click.option(
        "--tag",
        "tags",
        multiple=True,
        callback=_tags,
        help="Only with this tag. Repeat to require several tags.",
    ),
    "types": click.option(
        "--type", "types", multiple=True, help="Only with this frontmatter `type`."
    ),
    "properties": click.option(
        "--property",
        "properties",
        multiple=True,
        metavar="NAME=VALUE",
        callback=_pairs,
        help="Only with this frontmatter property. Repeat to require several.",
    ),
    "after": click.option(
        "--after",
        metavar="DATE",
        type=DAY,
        help=f"Only notes whose frontmatter has a date on or after this day: {DAYS}.",
    ),
    "before": click.option(
        "--before",
        metavar="DATE",
        type=DAY,
        help=f"Only notes whose frontmatter has a date on or before this day: {DAYS}.",
    ),
}
