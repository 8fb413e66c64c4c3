"""`vault-agent move`."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import asyncclick as click

from vault_agent.cli.changing import change, how, how_options
from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.names import choose_first, find, look_up
from vault_agent.client import calls
from vault_agent.errors import NotFound

if TYPE_CHECKING:
    from vault_agent.client.client import Client

_QUESTION = "Move it to {path}?"


@click.command("move", cls=Command)
@click.argument("source", metavar="FROM")
@click.argument("to", metavar="TO")
@click.option("--keep-links", is_flag=True, help="Do not change links. They may break.")
@how_options(asks=True)
@click.pass_obj
async def command(invocation: Invocation, /, source: str, to: str, **options: Any) -> int | None:
    """Move or rename a file, and change its links.

    A file is a note, an attachment or a folder.

    FROM is a path, or the name of a note. TO is the new path, or a folder: one that exists, or
    any with / at its end. If both are only names, the note stays in its folder. It shows what
    would change and asks.

    \b
    vault-agent move "Late frost" "Frost in May"
    vault-agent move "Late frost" Archive/
    """  # noqa: D301 - \\b tells the parser to keep these lines
    chosen = how(options)
    body: dict[str, Any] = {"to": to}
    if options["keep_links"]:
        body["rewriteLinks"] = False
    async with invocation.client() as client:
        body["path"] = choose_first(invocation, client, source).rstrip("/")
        try:
            return await change(invocation, client, calls.WRITE_MOVE, body, chosen, asks=_QUESTION)
        except NotFound as error:
            if error.code != "NOTE_NOT_FOUND":
                raise
        del body["path"]
        place = await find(invocation, client, source)
        if place.path is None:
            place = await look_up(client, place.note_id)
        body["noteId"] = place.note_id
        if (
            place.path is not None
            and "/" not in f"{source}{to}"
            and not await _is_folder(client, to)
        ):
            body["to"] = (PurePosixPath(place.path).parent / to).as_posix()
        return await change(invocation, client, calls.WRITE_MOVE, body, chosen, asks=_QUESTION)


async def _is_folder(client: Client, name: str) -> bool:
    """Whether the vault has a folder of this name at its root."""
    tree = (await client.call(calls.FOLDERS)).envelope["data"]["folders"]
    return any(each["folder"].casefold() == name.casefold() for each in tree)
