"""`vault-agent devlog add|tail`."""

from __future__ import annotations

from typing import Any

import asyncclick as click

from vault_agent.cli.changing import change, how, how_options
from vault_agent.cli.command import Group, Invocation
from vault_agent.cli.here import client_here
from vault_agent.cli.terminal import clean, say, style, tell, warn
from vault_agent.client import calls

_KINDS = ("impl", "problem", "insight", "verify")


@click.group("devlog", cls=Group)
def command() -> None:
    """Keep devlogs.

    A devlog has one line for each thing that was done or learned.
    """


@command.command("add")
@click.argument("kind", type=click.Choice(_KINDS))
@click.argument("topic")
@click.argument("text")
@how_options()
@click.pass_obj
async def add(
    invocation: Invocation, /, kind: str, topic: str, text: str, **options: Any
) -> int | None:
    """Add a line to the devlog of a topic."""
    chosen = how(options)
    body: dict[str, Any] = {"kind": kind, "topic": topic, "text": text}
    async with client_here(invocation) as client:
        return await change(invocation, client, calls.ADD_TO_DEVLOG, body, chosen)


@command.command("tail")
@click.argument("topic", required=False)
@click.option(
    "-n", "--limit", "--lines", "lines", type=int, default=10, show_default=True,
    help="Lines, 1 to 1,000.",
)  # fmt: skip
@click.pass_obj
async def tail(invocation: Invocation, topic: str | None, lines: int) -> None:
    """Print the last lines of the devlog of a topic, or of all."""
    async with client_here(invocation) as client:
        reply = await client.call(calls.DEVLOG, topic=topic, limit=lines)
    if invocation.passed_on(reply):
        return
    entries = reply.envelope["data"]["entries"]
    for each in entries:
        place = style(f"{clean(each['path'])}:{each['line']}:", "faint")
        tag = f"[{clean(each['kind'])}]"
        say(f"{place} {tag:<9} {clean(each['date'])}  {clean(each['text'])}")
    if not entries:
        tell("Nothing is logged.")
    warn(reply.warnings)
