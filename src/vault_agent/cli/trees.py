"""The trees of tags and folders, with the number of notes of each."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from vault_agent.cli.here import client_here, name_rest
from vault_agent.cli.terminal import clean, is_terminal, say, style, tell, warn

if TYPE_CHECKING:
    from vault_agent.cli.command import Invocation
    from vault_agent.client.call import Call


def show_tree(invocation: Invocation, call: Call[Any], key: str, **options: Any) -> None:
    """Print the tree of tags or folders; `key` names an entry in the reply."""
    with client_here(invocation) as client:
        reply = client.call(call, **options)
    if invocation.passed_on(reply):
        return
    data = reply.envelope["data"]
    branches = data[f"{key}s"]
    widest = max((len(f"{branch['total']:,}") for branch in branches), default=0)
    for branch in branches:
        _show(branch, key, widest, 0)
    if not branches:
        tell(f"No {key}s.")
    if data["truncated"]:
        tell("There are more: use --limit, --depth or --prefix")
    warn(reply.warnings)
    if not branches or is_terminal(sys.stderr):
        name_rest(invocation)


def _show(branch: dict[str, Any], key: str, widest: int, level: int) -> None:
    name = branch[key]
    # Below its parent, only the last part is shown.
    shown = name.rpartition("/")[2] if level else name
    say(f"{branch['total']:>{widest},}  {'  ' * level}{style(clean(shown), 'strong')}")
    for child in branch["children"]:
        _show(child, key, widest, level + 1)
