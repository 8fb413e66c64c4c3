"""`vault-agent delete`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import asyncclick as click

from vault_agent.cli.changing import change, how, how_options
from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.files import named_file
from vault_agent.cli.names import choose_first, is_title, seems_file
from vault_agent.client import calls
from vault_agent.errors import NotFound

if TYPE_CHECKING:
    from vault_agent.client.client import Client


@click.command("delete", cls=Command)
@click.argument("note", metavar="NOTE")
@click.option("--permanent", is_flag=True, help="Do not keep it in .trash/. Undo still works.")
@click.option("--missing-ok", is_flag=True, help="A note that is not there is no error.")
@how_options(asks=True)
@click.pass_obj
def command(invocation: Invocation, /, note: str, **options: Any) -> int | None:
    """Move a note or an attachment to .trash/ of the vault, after a question.

    NOTE is an ID, a path or its end, a title, or the number of a result of your last search. An
    attachment is named by its path.
    """
    chosen = how(options)
    body: dict[str, Any] = {"confirm": True}
    body |= {"permanent": True} if options["permanent"] else {}
    body |= {"missingOk": True} if options["missing_ok"] else {}
    with invocation.client() as client:
        body |= _named(invocation, client, note, missing_ok=options["missing_ok"])
        return change(
            invocation, client, calls.WRITE_DELETE, body, chosen, asks="Delete this file?"
        )


def _named(
    invocation: Invocation, client: Client, name: str, *, missing_ok: bool
) -> dict[str, str]:
    """Return the fields that name a file.

    With `missing_ok`, a title that no note has becomes a path. Without an index nobody knows
    whether a note has it.
    """
    try:
        return (named_file(invocation, client, name)).body
    except NotFound as error:
        if not missing_ok or error.code != "NOTE_NOT_FOUND" or not is_title(name):
            raise
    path = choose_first(invocation, client, name)
    return {"path": path if seems_file(path) else f"{path}.md"}
