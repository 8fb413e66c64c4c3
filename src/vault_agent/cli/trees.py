"""The options and the output of `tags` and `folders`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import asyncclick as click

from vault_agent.cli.each import ask_each
from vault_agent.cli.filters import with_options
from vault_agent.cli.terminal import (
    clean,
    distinct_warnings,
    envelope,
    is_terminal,
    say,
    style,
    tell,
    warn,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vault_agent.cli.command import Invocation
    from vault_agent.client.call import Call
    from vault_agent.model.graph import FolderTree, TagTree

tree_options = with_options(
    click.option("--prefix", help="Only names that begin with this text."),
    click.option("--depth", type=int, help="Levels, 1 to 20. Default: all."),
    click.option("-n", "--limit", type=int, help="Entries, 1 to 1,000. Default: 1,000."),
    click.option(
        "-s",
        "--sort",
        type=click.Choice(("name", "count")),
        help="Order. Default: by name, but tags at a terminal by count.",
    ),
)
"""The options of both commands."""


async def show_tree(
    invocation: Invocation,
    call: Call[TagTree] | Call[FolderTree],
    key: str,
    options: dict[str, str | int | None],
) -> None:
    """Print the tree of tags or folders; `key` names an entry in the reply.

    Tags of several vaults are one tree. Folders have the name of their vault.
    """
    name = "tags" if key == "tag" else "folders"
    at_terminal = is_terminal(sys.stdout) and not invocation.json
    if options["sort"] is None and name == "tags" and at_terminal:
        options = {**options, "sort": "count"}
    async with invocation.client() as client:
        replies = await ask_each(invocation, client, lambda: client.call(call, **options))
    first, *others = replies
    if not others and invocation.passed_on(first.reply):
        return
    trees = [one.reply.envelope["data"] for one in replies]
    if name == "tags":
        branches = [branch for tree in trees for branch in tree[name]]
        if others:
            by_count = options["sort"] == "count"
            branches = _sorted(_merged(branches, key), key, by_count=by_count)
    else:
        branches = [
            {**branch, key: one.address(branch[key])}
            for one, tree in zip(replies, trees, strict=True)
            for branch in tree[name]
        ]
    truncated = any(tree["truncated"] for tree in trees)
    if invocation.json:
        whole = {field: sum(tree[field] for tree in trees) for field in _COUNTS & trees[0].keys()}
        warnings = distinct_warnings(one.reply for one in replies)
        envelope({**trees[0], name: branches, **whole, "truncated": truncated}, warnings)
        return
    width = max((len(f"{each['total']:,}") for each in branches), default=0)
    for branch in branches:
        _show(branch, key, width, 0)
    if not branches:
        tell(f"No {name}.")
    if truncated:
        tell("There are more. Give a --prefix, a lower --depth or a higher --limit.")
    for one in replies:
        warn(one.reply.warnings)


_COUNTS = {"untagged", "count"}


def _merged(branches: Iterable[dict[str, Any]], key: str) -> list[dict[str, Any]]:
    """Return branches of several trees as those of one. Letter case does not count."""
    found: dict[str, dict[str, Any]] = {}
    for branch in branches:
        known = found.setdefault(
            branch[key].casefold(), {**branch, "count": 0, "total": 0, "children": []}
        )
        known["count"] += branch["count"]
        known["total"] += branch["total"]
        known["children"] = [*known["children"], *branch["children"]]
    return [{**each, "children": _merged(each["children"], key)} for each in found.values()]


def _sorted(
    branches: Iterable[dict[str, Any]], key: str, *, by_count: bool
) -> list[dict[str, Any]]:
    return [
        {**each, "children": _sorted(each["children"], key, by_count=by_count)}
        for each in sorted(
            branches, key=lambda each: (-each["total"] * by_count, each[key].casefold())
        )
    ]


def _show(branch: dict[str, Any], key: str, width: int, level: int) -> None:
    name = branch[key]
    # Below its parent, only the last part is shown.
    shown = name.rpartition("/")[2] if level else name
    say(f"{branch['total']:>{width},}  {'  ' * level}{style(clean(shown), 'strong')}")
    for child in branch["children"]:
        _show(child, key, width, level + 1)
