"""`vault-agent devlog add|tail`."""

from __future__ import annotations

from typing import Any

import asyncclick as click

from vault_agent.cli.changing import change, how, how_options
from vault_agent.cli.command import Group, Invocation
from vault_agent.cli.names import look_up
from vault_agent.cli.terminal import clean, pass_on, say
from vault_agent.config.connection import writing_folder
from vault_agent.text.names import slug

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
@click.option("--again", is_flag=True, help="Add a line again that you have just added.")
@how_options()
@click.pass_obj
async def add(
    invocation: Invocation, /, kind: str, topic: str, text: str, **options: Any
) -> int | None:
    """Add a line to the devlog of a topic."""
    chosen = how(options)
    body: dict[str, Any] = {"kind": kind, "topic": topic, "text": text}
    if options["again"]:
        body["allowRepeat"] = True
    async with invocation.client() as client:
        return await change(invocation, client, "devlog", body, chosen)


@command.command("tail")
@click.argument("topic")
@click.option("-n", "--lines", type=click.IntRange(1, 1000), default=10, show_default=True)
@click.pass_obj
async def tail(invocation: Invocation, topic: str, lines: int) -> None:
    """Print the last lines of the devlog of a topic."""
    folder = writing_folder(invocation.layers(), "write.devlog_folder", "devlog")
    async with invocation.client() as client:
        place = await look_up(client, f"{folder}/{slug(topic)}.md")
        reply = await client.note(place.note_id, allow_large=True)
    if invocation.json:
        pass_on(reply.body)
        return
    text = reply.envelope["data"]["content"]
    for line in [each for each in text.splitlines() if each.strip()][-lines:]:
        say(clean(line))
