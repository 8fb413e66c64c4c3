"""`vault-agent new`."""

from __future__ import annotations

from typing import Any

import asyncclick as click

from vault_agent.cli.changing import assignments, change, how, how_options
from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.here import client_here
from vault_agent.cli.terminal import clean, pass_on, say, style, tell


@click.command("new", cls=Command)
@click.argument("template", required=False)
@click.argument("path", required=False)
@click.option(
    "--var", "variables", metavar="KEY=VALUE", multiple=True, help="A variable of the template."
)
@how_options()
@click.pass_obj
async def command(
    invocation: Invocation, /, template: str | None, path: str | None, **options: Any
) -> int | None:
    """Make a note from a template, or list the templates."""
    chosen = how(options)
    if template is None:
        await _list(invocation)
        return None
    if path is None:
        raise click.UsageError("give the PATH of the new note")
    body = {
        "template": template,
        "path": path,
        "variables": assignments(options["variables"], "--var"),
    }
    async with client_here(invocation) as client:
        return await change(invocation, client, "template", body, chosen)


async def _list(invocation: Invocation) -> None:
    async with client_here(invocation) as client:
        reply = await client.writing.templates()
    if invocation.json:
        pass_on(reply.body)
        return
    templates = reply.envelope["data"]["templates"]
    width = max((len(clean(each["name"])) for each in templates), default=0)
    for each in templates:
        needs = " ".join(f"--var {clean(name)}=…" for name in each["variables"])
        where = "built in" if each["builtIn"] else clean(each["path"])
        say(f"{style(clean(each['name']).ljust(width), 'strong')}  {where}  {needs}".rstrip())
    if not templates:
        tell("There are no templates.")
