"""`vault-agent move` and `vault-agent delete`."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import asyncclick as click

from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.names import choose_vault, is_title, look_up, named_file, seems_file
from vault_agent.cli.write import change, how_options
from vault_agent.errors import Busy, IndexUnavailable, InvalidRequest, NotFound, VaultAgentError
from vault_agent.text.names import fold

if TYPE_CHECKING:
    from vault_agent.client.client import Client

_NO_PATH = ("NOTE_NOT_FOUND", "INVALID_PATH", "WRITE_OUTSIDE_SCOPE")
"""Codes for a path that does not exist or may not be written."""


@click.command("move", cls=Command)
@click.argument("source", metavar="FROM")
@click.argument("to", metavar="TO")
@click.option("--keep-links", is_flag=True, help="Do not change links. They may break.")
@how_options(asks=True)
def command(invocation: Invocation, /, source: str, to: str, **options: Any) -> int | None:
    """Move or rename a file, and change its links.

    A file is a note, an attachment or a folder.

    FROM is an ID, a path or its end, a title, the number of a result, or a folder. TO is the new
    path, or a folder: one that exists, or any with / at its end. If both are only names, the note
    stays in its folder. It shows what would change and asks.

    \b
    vault-agent move "Late frost" "Frost in May"
    vault-agent move "Late frost" Archive/
    """  # noqa: D301 - \\b tells the parser to keep these lines
    body: dict[str, Any] = {"to": to, "rewriteLinks": not options.pop("keep_links")}
    with invocation.client() as client:
        move = partial(
            change, invocation, client, "POST /write/move",
            options=options, asks="Move it to {path}?",
        )  # fmt: skip
        # A path of the vault comes before a name. Only the server knows all files and folders.
        path = choose_vault(invocation, client, source).rstrip("/")
        try:
            return move({"path": path, **body})
        except VaultAgentError as error:
            if error.code not in _NO_PATH:
                raise
            refused = error
        try:
            file = named_file(invocation, client, source)
        except VaultAgentError:
            if _is_folder(client, path):
                raise refused from None
            raise
        if "/" not in f"{source}{to}" and not _is_folder(client, to):
            now = file.path or (look_up(client, file.note_id)).path or ""
            body["to"] = (PurePosixPath(now).parent / to).as_posix()
        return move({**file.body, **body})


def _is_folder(client: Client, path: str) -> bool:
    """Whether the client's vault has a folder with notes at a path, in any letter case."""
    with suppress(Busy, IndexUnavailable, InvalidRequest):
        reply = client.call("GET /folders", prefix=path, depth=1, limit=1)
        folders = reply.envelope["data"]["folders"]
        return any(fold(folder["folder"]) == fold(path) for folder in folders)
    return False


@click.command("delete", cls=Command)
@click.argument("note", metavar="NOTE")
@click.option("--permanent", is_flag=True, help="Do not keep it in .trash/. Undo still works.")
@click.option("--missing-ok", is_flag=True, help="A note that is not there is no error.")
@how_options(asks=True)
def delete(invocation: Invocation, /, note: str, **options: Any) -> int | None:
    """Move a note or an attachment to .trash/ of the vault, after a question.

    NOTE is an ID, a path or its end, a title, or the number of a result of your last search at a
    terminal. An attachment is named by its path.
    """
    options["confirm"] = True
    with invocation.client() as client:
        file = _named(invocation, client, note, missing_ok=options["missing_ok"])
        return change(
            invocation, client, "POST /write/delete", file, options, asks="Delete this file?"
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
    path = choose_vault(invocation, client, name)
    return {"path": path if seems_file(path) else f"{path}.md"}
