"""`vault-agent get note|chunk|attachment`."""

from __future__ import annotations

import os
import sys
from contextlib import closing
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import asyncclick as click
from asyncclick.shell_completion import CompletionItem

from vault_agent.cli.command import Group, Invocation
from vault_agent.cli.names import find, find_attachment, find_part, heading_line, is_title
from vault_agent.cli.terminal import (
    clean,
    envelope,
    is_terminal,
    local_time,
    pass_on,
    quoted,
    say,
    tell,
    warn,
    write,
)
from vault_agent.errors import Failed, NotFound, counted
from vault_agent.model.reading import AttachmentInfo
from vault_agent.system.files import reason_of, replacing
from vault_agent.text.lines import split_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from vault_agent.cli.list import CommandFunction
    from vault_agent.cli.names import NamedPlace
    from vault_agent.client.client import Client, Reply


@dataclass(frozen=True)
class _Text:
    """What is printed of a note or a chunk."""

    content: str


_LARGE = click.option("--allow-large", is_flag=True, help="Lift the size limit.")


def output_option(*, required: bool) -> Callable[[CommandFunction], CommandFunction]:
    """Return a decorator that adds `--output`."""
    return click.option(
        "--output",
        metavar="PATH|-",
        required=required,
        help="File to write to, or - for stdout.",
        shell_complete=lambda *words: [CompletionItem(words[-1], type="file")],
        callback=_check_pipe,
    )


def _check_pipe(_context: click.Context, _option: click.Parameter, output: str | None) -> Any:
    if output == "-" and is_terminal(sys.stdout):
        raise click.UsageError("--output - is for a pipe or file, not for a terminal")
    return output


@click.group("get", cls=Group)
def command() -> None:
    """Read one note, chunk or attachment."""


@command.command("note")
@click.argument("name", metavar="NOTE")
@_LARGE
def note(invocation: Invocation, name: str, allow_large: bool) -> None:
    """Print the Markdown of a note's current file.

    NOTE is an ID, a path or its end, a title, or the number of a result of your last search at a
    terminal. The limit is 200 KiB without --allow-large. NOTE#HEADING prints one section, and
    PATH:LINE the section with this line.

    \b
    vault-agent show "Late frost#Protecting seedlings"
    vault-agent show Garden/Frost.md:12
    """  # noqa: D301 - \\b tells the parser to keep these lines
    with invocation.client() as client:
        place = find_part(invocation, client, name)
        is_part = is_title(name) and (place.line is not None or place.heading is not None)
        reply = client.call("GET /notes/{noteId}", **place.file, allow_large=allow_large or is_part)
        if is_part and not invocation.json:
            outline = client.call("GET /notes/{noteId}/outline", **place.file).envelope["data"]
            _print_text(_section(reply.read(_Text).content, outline, place))
            warn(reply.warnings)
            return
    _show_text(reply, as_json=invocation.json)


show = copy(note)
show.name = "show"


def _section(text: str, outline: dict[str, Any], place: NamedPlace) -> str:
    """Return the section with the place's heading, block or line: to the next heading like it."""
    headings = outline["headings"]
    line = place.line or 1
    if place.heading is not None:
        heading = heading_line(outline, place.heading)
        if heading is None:
            what = f"The note has no heading {quoted(place.heading)}."
            raise NotFound("HEADING_NOT_FOUND", what, {"headings": headings}, remedy="")
        line = heading
    above = [heading for heading in headings if heading["line"] <= line]
    first = above[-1]["line"] if above else 1
    last = above[-1]["endLine"] if above else headings[0]["line"] - 1 if headings else None
    return "".join(split_lines(text)[first - 1 : last])


@command.command("chunk")
@click.argument("name", metavar="CHUNK")
def chunk(invocation: Invocation, name: str) -> None:
    """Print one chunk as it was indexed.

    CHUNK is a chunk ID, or the number of a result of your last search at a terminal. For
    a note it is the first chunk.
    """
    with invocation.client() as client:
        place = find(invocation, client, name)
        reply = client.call(
            "GET /chunks/{noteId}/{chunkIndex}", note_id=place.note_id, chunk_index=place.chunk or 0
        )
    _show_text(reply, as_json=invocation.json)


@command.command("attachment")
@click.argument("path")
@click.option("--download", is_flag=True, help="Download the file to --output.")
@output_option(required=False)
@_LARGE
def attachment(
    invocation: Invocation, path: str, download: bool, output: str | None, allow_large: bool
) -> None:
    """Print the metadata of an attachment, or download it.

    PATH is relative to the vault, with / between folders. The limit is 10 MiB without
    --allow-large.
    """
    # --output implies --download, but not the other way round.
    if download and output is None:
        raise click.UsageError("--download needs --output FILE, or --output - for a pipe")
    if output == "-" and invocation.json:
        raise click.UsageError("--output - prints the bytes, so --json cannot print beside them")
    with invocation.client() as client:
        path = find_attachment(invocation, client, path) or path
        if output is not None:
            length = _download(client, path, output, allow_large=allow_large)
            if invocation.json:
                envelope({"path": path, "bytes": length})
            elif output != "-":
                tell(f"{counted(length, 'byte')} written.")
            return
        reply = client.call("GET /attachments/{path}", path=path)
    if invocation.passed_on(reply):
        return
    data = reply.read(AttachmentInfo)
    size = counted(data.size, "byte")
    facts = (data.path, data.media_type, size, f"changed {local_time(data.modified)}")
    say("  ".join(map(clean, facts)))
    warn(reply.warnings)


def _show_text(reply: Reply, *, as_json: bool) -> None:
    if as_json:
        pass_on(reply.body)
        return
    _print_text(reply.read(_Text).content)
    warn(reply.warnings)


def _print_text(content: str) -> None:
    if is_terminal(sys.stdout):
        say(clean(content, lines=True).rstrip("\n"))
    else:
        write(content.encode())


def _download(client: Client, path: str, output: str, *, allow_large: bool) -> int:
    """Write the bytes and return their number. A file is written as a whole or not at all."""
    with closing(client.download(path, allow_large=allow_large)) as blocks:
        return _copy(blocks, write) if output == "-" else save(blocks, Path(output))


def save(blocks: Iterable[bytes], named: Path) -> int:
    """Write a file that a person names, and return its size. Raises Failed: `OUTPUT_FAILED`."""
    target = Path(os.path.realpath(named))  # keeps a symbolic link
    try:
        if named.exists() and not named.is_file():
            # A device or pipe is written to, never replaced by a file.
            with named.open("wb") as file:
                return _copy(blocks, file.write)
        mode = _mode_of_new_files()
        with replacing(target, mode=mode, keep_mode=True, durable=False) as file:
            return _copy(blocks, file.write)
    except OSError as error:
        raise Failed("OUTPUT_FAILED", f"the file cannot be written: {reason_of(error)}") from None


def _copy(blocks: Iterable[bytes], put: Callable[[bytes], object]) -> int:
    size = 0
    for block in blocks:
        put(block)
        size += len(block)
    return size


def _mode_of_new_files() -> int:
    """Return the mode of a new file under the current umask."""
    umask = os.umask(0o077)  # the only way to read it is to set it
    os.umask(umask)
    return 0o666 & ~umask
