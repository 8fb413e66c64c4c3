"""Says how many notes a filter by date leaves out because they have no date."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vault_agent.cli.each import ask_each
from vault_agent.cli.terminal import tell
from vault_agent.errors import VaultAgentError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vault_agent.cli.command import Invocation
    from vault_agent.client.client import Client

_FIRST_DAY = "0001-01-01"


async def say_undated(invocation: Invocation, client: Client, arguments: Mapping[str, Any]) -> None:
    """Print how many notes have no date, among those that match the other filters of a list.

    Nothing is printed without a filter by date, or if the number cannot be found.
    """
    if invocation.json or not (arguments.get("after") or arguments.get("before")):
        return
    others = {**arguments, "before": None, "limit": 1, "cursor": None}
    try:
        every = await _total(invocation, client, {**others, "after": None})
        dated = await _total(invocation, client, {**others, "after": _FIRST_DAY})
    except VaultAgentError:
        return
    if undated := every - dated:
        notes = "1 note has" if undated == 1 else f"{undated:,} notes have"
        tell(f"{notes} no date and {'is' if undated == 1 else 'are'} left out.")


async def _total(invocation: Invocation, client: Client, arguments: Mapping[str, Any]) -> int:
    replies = await ask_each(invocation, client, lambda: client.lists.notes(arguments))
    return sum(one.reply.envelope["data"]["total"] for one in replies)
