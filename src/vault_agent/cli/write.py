"""`vault-agent write`."""

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
from vault_agent.cli.here import client_here
from vault_agent.client import calls

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
    given = assignments(options["properties"], "--set")
    body: dict[str, Any] = {"mode": mode, "content": text_of(options)}
    if given:
        body["frontmatter"] = {name: json_value(value) for name, value in given.items()}
    if options["blank_line"]:
        body["blankLine"] = True
    asks = f"Overwrite {path}?" if mode == "overwrite" else ""
    with client_here(invocation) as client:
        new = mode in ("create", "upsert")
        body |= {"path": path} if new else existing(invocation, client, path)
        return change(invocation, client, calls.WRITE_NOTE, body, chosen, asks=asks)
