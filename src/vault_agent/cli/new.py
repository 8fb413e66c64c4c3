"""`vault-agent new`."""

from __future__ import annotations

from typing import Any

import asyncclick as click

from vault_agent.cli.changing import assignments, change, how, how_options
from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.here import client_here
from vault_agent.cli.terminal import clean, quoted, say, style, tell
from vault_agent.client import calls


@click.command("new", cls=Command)
@click.argument("template", required=False)
@click.argument("path", required=False)
@click.option(
    "--var", "variables", metavar="KEY=VALUE", multiple=True, help="A variable of the template."
)
@click.option("--type", "kind", help="The type of the note, in a project or the global vault.")
@click.option("--title", help="Its title. Without a PATH, the note is named after it.")
@how_options()
@click.pass_obj
def command(
    invocation: Invocation, /, template: str | None, path: str | None, **options: Any
) -> int | None:
    """Make a note from a template or a folder, or list the templates.

    A name with / at its end makes a folder, with those above it. Inside a project a type and a
    title are enough: the note gets its folder, `id` and dates.

    \b
    vault-agent new decision Decisions/Beds.md
    vault-agent new --type bug --title "Costs are counted twice"
    vault-agent new Archive/2025/
    """  # noqa: D301 - \\b tells the parser to keep these lines
    chosen = how(options)
    kind, title = options["kind"], options["title"]
    if template is None and kind is None:
        if title is not None:
            raise click.UsageError(
                "--title needs a TEMPLATE: `vault-agent new` lists them. For a note without one:"
                " vault-agent write PATH --text TEXT"
            )
        _list(invocation)
        return None
    if template is not None and template.endswith("/") and path is kind is title is None:
        with client_here(invocation) as client:
            folder = {"path": template.removesuffix("/")}
            return change(invocation, client, calls.WRITE_FOLDER, folder, chosen)
    if path is None and title is None:
        raise click.UsageError(
            f"{quoted(template or '')} is taken for a template: give the PATH of the new note too,"
            " or in a project its --title. For a note without a template:"
            " vault-agent write PATH --text TEXT"
        )
    body = {
        "template": template,
        "path": path,
        "type": kind,
        "title": title,
        "variables": assignments(options["variables"], "--var"),
    }
    body = {name: value for name, value in body.items() if value is not None}
    with client_here(invocation) as client:
        return change(invocation, client, calls.NEW_FROM_TEMPLATE, body, chosen)


def _list(invocation: Invocation) -> None:
    with client_here(invocation) as client:
        reply = client.call(calls.TEMPLATES)
    if invocation.passed_on(reply):
        return
    templates = reply.envelope["data"]["templates"]
    width = max((len(clean(each["name"])) for each in templates), default=0)
    for each in templates:
        needs = " ".join(f"--var {clean(name)}=…" for name in each["variables"])
        where = "built in" if each["builtIn"] else clean(each["path"])
        say(f"{style(clean(each['name']).ljust(width), 'strong')}  {where}  {needs}".rstrip())
    if not templates:
        tell("There are no templates.")
