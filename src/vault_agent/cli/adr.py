"""`vault-agent adr new|list`."""

from __future__ import annotations

from typing import Any

import asyncclick as click

from vault_agent.cli.changing import change, how, how_options, text_of, text_options
from vault_agent.cli.command import Group, Invocation
from vault_agent.cli.here import client_here
from vault_agent.cli.terminal import clean, say, style, tell, warn
from vault_agent.client import calls


@click.group("adr", cls=Group)
def command() -> None:
    """Record decisions in numbered notes."""


@command.command("new")
@click.argument("title")
@text_options
@how_options()
@click.pass_obj
async def new(invocation: Invocation, /, title: str, **options: Any) -> int | None:
    """Make the record of a decision, with the next free number.

    Without a text it has the usual headings, to be filled.
    """
    chosen = how(options)
    body: dict[str, Any] = {"title": title}
    if options["text"] is not None or options["file"] is not None:
        body["content"] = text_of(options)
    async with client_here(invocation) as client:
        return await change(invocation, client, calls.NEW_DECISION, body, chosen)


@command.command("list")
@click.pass_obj
async def list_(invocation: Invocation) -> None:
    """List the records in the order of their numbers."""
    async with client_here(invocation) as client:
        reply = await client.call(calls.DECISIONS)
    if invocation.passed_on(reply):
        return
    decisions = reply.envelope["data"]["decisions"]
    for each in decisions:
        status = f"  {style(clean(each['status']), 'faint')}" if each["status"] else ""
        say(f"{style(clean(each['path']), 'strong')}  {clean(each['title'])}{status}")
    if not decisions:
        tell("There are no decision records.")
    warn(reply.warnings)
