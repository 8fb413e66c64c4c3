"""`vault-agent write` and `vault-agent new`."""

from __future__ import annotations

from typing import Any

import asyncclick as click

from vault_agent.cli.changing import (
    assignments,
    change,
    existing,
    how,
    how_options,
    json_value,
    text_of,
    text_options,
)
from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.scope import client_here
from vault_agent.cli.terminal import clean, quoted, say, style, tell

_MODES = ("create", "overwrite", "append", "prepend", "upsert")


@click.command("write", cls=Command)
@click.argument("path", metavar="PATH|NOTE")
@click.option(
    "--mode",
    type=click.Choice(_MODES),
    default="create",
    show_default=True,
    help="upsert appends if the note exists, and creates it otherwise.",
)
@text_options
@click.option(
    "--set",
    "properties",
    metavar="KEY=VALUE",
    multiple=True,
    help="A key of the frontmatter of a new note. The value is JSON, or text.",
)
@click.option("--blank-line", is_flag=True, help="Append after an empty line.")
@how_options(asks=True)
@click.pass_obj
def command(invocation: Invocation, /, path: str, **options: Any) -> int | None:
    """Create a note, or append to, prepend to or overwrite one.

    The text comes from --text, --file or a pipe. A new note is named by its PATH, whose .md may be
    left out. An existing one may be named as elsewhere. Overwriting shows the difference and asks.
    """
    chosen = how(options)
    mode = options["mode"]
    properties = assignments(options["properties"], "--set")
    body: dict[str, Any] = {"mode": mode, "content": text_of(options)}
    if properties:
        body["frontmatter"] = {name: json_value(value) for name, value in properties.items()}
    if options["blank_line"]:
        body["blankLine"] = True
    asks = f"Overwrite {path}?" if mode == "overwrite" else ""
    with client_here(invocation) as client:
        new = mode in ("create", "upsert")
        body |= {"path": path} if new else existing(invocation, client, path)
        return change(invocation, client, "POST /write/note", body, chosen, asks=asks)


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
def new(
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
        _list_templates(invocation)
        return None
    if template is not None and template.endswith("/") and path is kind is title is None:
        with client_here(invocation) as client:
            folder = {"path": template.removesuffix("/")}
            return change(invocation, client, "POST /write/folder", folder, chosen)
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
        return change(invocation, client, "POST /write/template", body, chosen)


def _list_templates(invocation: Invocation) -> None:
    with client_here(invocation) as client:
        reply = client.call("GET /templates")
    if invocation.passed_on(reply):
        return
    templates = reply.envelope["data"]["templates"]
    width = max((len(clean(template["name"])) for template in templates), default=0)
    for template in templates:
        needs = " ".join(f"--var {clean(name)}=…" for name in template["variables"])
        where = "built in" if template["builtIn"] else clean(template["path"])
        say(f"{style(clean(template['name']).ljust(width), 'strong')}  {where}  {needs}".rstrip())
    if not templates:
        tell("There are no templates.")
