"""`vault-agent move`."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import asyncclick as click

from vault_agent.cli.changing import change, how, how_options
from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.files import UNKNOWN, File, folder_like, named_file
from vault_agent.cli.names import choose_first, look_up
from vault_agent.client import calls
from vault_agent.errors import VaultAgentError

if TYPE_CHECKING:
    from vault_agent.client.client import Client

_QUESTION = "Move it to {path}?"
_NO_PATH = ("NOTE_NOT_FOUND", "INVALID_PATH", "WRITE_OUTSIDE_SCOPE")
"""Codes for a path that does not exist or may not be written."""


@click.command("move", cls=Command)
@click.argument("source", metavar="FROM")
@click.argument("to", metavar="TO")
@click.option("--keep-links", is_flag=True, help="Do not change links. They may break.")
@how_options(asks=True)
@click.pass_obj
async def command(invocation: Invocation, /, source: str, to: str, **options: Any) -> int | None:
    """Move or rename a file, and change its links.

    A file is a note, an attachment or a folder.

    FROM is an ID, a path or its end, a title, the number of a result, or a folder. TO is the new
    path, or a folder: one that exists, or any with / at its end. If both are only names, the note
    stays in its folder. It shows what would change and asks.

    \b
    vault-agent move "Late frost" "Frost in May"
    vault-agent move "Late frost" Archive/
    """  # noqa: D301 - \\b tells the parser to keep these lines
    chosen = how(options)
    body: dict[str, Any] = {"to": to}
    if options["keep_links"]:
        body["rewriteLinks"] = False
    async with invocation.client() as client:
        file, unknown = await _source(invocation, client, source)
        body |= file.body
        if "/" not in f"{source}{to}" and await folder_like(client, to) is None:
            path = file.path or (await look_up(client, file.note_id or "")).path or ""
            body["to"] = (PurePosixPath(path).parent / to).as_posix()
        try:
            return await change(invocation, client, calls.WRITE_MOVE, body, chosen, asks=_QUESTION)
        except VaultAgentError as error:
            if unknown is None or error.code not in _NO_PATH:
                raise
            raise unknown from None


async def _source(
    invocation: Invocation, client: Client, name: str
) -> tuple[File, VaultAgentError | None]:
    """Return the file or folder that a person means, and the error if the index has none.

    A folder comes before a note of the same name. The index has no folder without notes.
    """
    path = choose_first(invocation, client, name).rstrip("/")
    if name.endswith("/") or await folder_like(client, path) == path:
        return File(path=path), None
    try:
        return await named_file(invocation, client, name), None
    except VaultAgentError as error:
        if error.code not in UNKNOWN:
            raise
        # Once more, because the lookup has changed the vault of the client.
        return File(path=choose_first(invocation, client, name)), error
