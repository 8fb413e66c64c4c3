"""The options and the output of `tags` and `folders`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import asyncclick as click

from vault_agent.cli.linking import printed
from vault_agent.cli.terminal import clean, say, style, tell, warn

if TYPE_CHECKING:
    from collections.abc import Callable

    from vault_agent.cli.command import Invocation
from vault_agent.cli.here import client_here

_Function = TypeVar("_Function", bound="Callable[..., Any]")


def tree_options(function: _Function) -> _Function:
    """Add the options of both commands."""
    options = (
        click.option("--prefix", help="Only names that begin with this text."),
        click.option("--depth", type=int, help="Levels, 1 to 20. Default: all."),
        click.option("-n", "--limit", type=int, help="Entries, 1 to 1,000, the default."),
    )
    for option in reversed(options):
        function = option(function)
    return function


async def show_tree(
    invocation: Invocation, name: str, key: str, options: dict[str, str | int | None]
) -> None:
    """Print the tree of `tags` or `folders`; `key` names an entry in the reply."""
    from vault_agent.client import links

    async with client_here(invocation) as client:
        reply = await links.tree(client, name, **options)
    if printed(reply, as_json=invocation.json):
        return
    data = reply.envelope["data"]
    width = max((len(f"{each['total']:,}") for each in data[name]), default=0)
    for branch in data[name]:
        _show(branch, key, width, 0)
    if not data[name]:
        tell(f"No {name}.")
    if data["truncated"]:
        tell("There are more. Give a --prefix, a lower --depth or a higher --limit to see them.")
    warn(reply.warnings)


def _show(branch: dict[str, Any], key: str, width: int, level: int) -> None:
    name = branch[key]
    # Below its parent, only the last part is shown.
    shown = name.rpartition("/")[2] if level else name
    say(f"{branch['total']:>{width},}  {'  ' * level}{style(clean(shown), 'strong')}")
    for child in branch["children"]:
        _show(child, key, width, level + 1)
