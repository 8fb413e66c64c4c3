"""`vault-agent open` and `vault-agent ui`: a note in a program, and the web page in the browser."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import webbrowser
from pathlib import Path, PurePath
from shlex import quote
from typing import TYPE_CHECKING
from urllib import parse

import asyncclick as click

from vault_agent.cli.command import Command, Invocation, read_table
from vault_agent.cli.names import (
    find_part,
    heading_line,
    is_obsidian,
    local_vault,
    look_up,
    obsidian_address,
    root_of,
)
from vault_agent.cli.terminal import clean, envelope, say, tell
from vault_agent.config.fast_settings import setting
from vault_agent.config.setting_names import SETTINGS
from vault_agent.errors import Failed, Misconfigured, NotFound
from vault_agent.model.health import Health
from vault_agent.model.reading import ChunkContent
from vault_agent.system.files import reason_of
from vault_agent.text.names import is_note

if TYPE_CHECKING:
    from vault_agent.cli.names import NamedPlace
    from vault_agent.client.client import Client

VIEWS = ("notes", "graph", "memory", "jobs")


def place_of(view: str, note: NamedPlace | None = None) -> str:
    """Return a place in the page: a view, and a note in it."""
    if note is None:
        return f"/{view}"
    line = f"?line={note.line}" if note.line is not None else ""
    return f"/{view}/{note.note_id}{line}"


def page_address(endpoint: str, place: str, ticket: str | None) -> str:
    """Return the address of the web page.

    Everything about the vault is in the fragment, which browsers do not send.
    """
    if ticket is None:
        return f"{endpoint}/ui/#{place}"
    return f"{endpoint}/ui/#ticket={ticket}&to={parse.quote(place, safe='')}"


def new_address(client: Client, place: str) -> str:
    """Return an address to print that opens the page, with a ticket if the server has a key.

    Raises:
        Misconfigured: `FEATURE_DISABLED` if the server has no web page.
    """
    data = client.call("POST /ui/tickets", {"printed": True}).envelope["data"]
    return page_address(client.endpoint, place, data["ticket"])


def opens_in_browser(address: str) -> bool:
    """Open an address in the user's browser. Return whether one could be started."""
    try:
        return webbrowser.open(address)
    except (webbrowser.Error, OSError):
        return False


@click.command("ui", cls=Command)
@click.argument("name", metavar="[NOTE]", required=False)
@click.option("--view", type=click.Choice(VIEWS), default=VIEWS[0], help="The view to show first.")
@click.option("--print", "printed", is_flag=True, help="Print the address, and do not open it.")
def ui(invocation: Invocation, name: str | None, *, view: str, printed: bool) -> None:
    """Print the address of the web page, and open it in your browser.

    NOTE is an ID, a path or its end, a title, or the number of a result of your last search at a
    terminal. The page needs `web.enabled`, or a server that runs with `serve --web`.

    If the server has a key, the address has a ticket that works once, within five minutes. Anyone
    on this computer who sees it in that time can use it.

    \b
    vault-agent ui
    vault-agent ui "Kitchen/Stock.md" --view graph
    vault-agent ui --print
    """  # noqa: D301 - \\b tells the parser to keep these lines
    with invocation.client() as client:
        note = find_part(invocation, client, name) if name is not None else None
        address = new_address(client, place_of(view, note))
    if invocation.json:
        envelope({"address": address})
        return
    say(address)
    if not printed and not opens_in_browser(address):
        tell("No browser could be started. Open the address above.")


def editor_command(setting: str, file: str, line: int | None) -> list[str]:
    """Return the command that opens a file in the editor of `$VISUAL` or `$EDITOR`.

    An editor whose syntax for lines is unknown opens the file at its beginning.

    Raises:
        ValueError: if the setting is empty or has an unclosed quote.
    """
    words = shlex.split(setting, posix=os.name != "nt")
    if not words:
        raise ValueError("empty")
    name = PurePath(words[0].strip('"')).name.lower().removesuffix(".exe").removesuffix(".cmd")
    form = read_table("editors.toml").get(name)
    if line is None or form is None:
        return [*words, file]
    return [*words, *(part.format(file=file, line=line) for part in form)]


@click.command("open", cls=Command)
@click.argument("name", metavar="NOTE")
@click.option(
    "--in",
    "chosen",
    type=click.Choice([way for way in SETTINGS["cli.open_in"].choices if way != "auto"]),
    help="Where to open it. Default: the setting cli.open_in.",
)
def command(invocation: Invocation, name: str, chosen: str | None) -> None:
    """Open a note in your editor, in Obsidian or on the web page.

    NOTE is an ID, a path or its end, a title, or the number of a result of your last search at a
    terminal. An editor opens it at the line of the match, or at the line in PATH:LINE. An
    attachment opens in the system's program for it, a PDF in the browser at the page.

    \b
    vault-agent open 1
    vault-agent open "Kitchen/Stock.md:12"
    vault-agent open Stock --in obsidian
    """  # noqa: D301 - \\b tells the parser to keep these lines
    layers = invocation.layers()
    way = chosen or setting(layers, "cli.open_in")
    with invocation.client() as client:
        place = find_part(invocation, client, name)
        if place.path is None:
            place = look_up(client, place.id)._replace(chunk=place.chunk, line=place.line)
        passage = _passage(client, place)
        line = place.line or (passage.start_line if passage else None)
        line = line or _line_of_heading(client, place)
        vault = local_vault(layers, client.vault)
        root = root_of(client.vault_name) or (vault.root if vault is not None else None)
        attached = not is_note(place.path or "")
        if way == "auto":
            way = "program" if attached else _usual_way(root)
        if way == "program" and not attached and _has_page(client):
            way = "ui"
        page = place_of("notes", place._replace(line=line))
        address = new_address(client, page) if way == "ui" else ""
    try:
        if way == "ui":
            _browse(address)
        elif root is None:
            raise Misconfigured(
                "VAULT_MISMATCH", "The server's notes are not those of vault.root.", remedy=""
            )
        else:
            file = _file(root, place.path or "")
            _open(way, file, line, page=passage.page if passage else None)
    except Failed as error:
        way_out = f" To read it here: `vault-agent show {quote(name)}`"
        raise Failed(error.code, error.message.rstrip(".") + "." + way_out) from None
    if invocation.json:
        envelope({"path": place.path, "line": line, "in": way})
    elif way != "editor":
        tell(f"Opened {clean(place.path or '')}.")


def _browse(address: str) -> None:
    if not opens_in_browser(address):
        what = f"No browser could be started. The address is {address} ."
        raise Failed("PROGRAM_FAILED", what)


def _open(way: str, file: Path, line: int | None, *, page: int | None) -> None:
    if way == "editor":
        _edit(str(file), line)
    elif way == "program" and page is not None:
        _browse(f"{file.as_uri()}#page={page}")
    else:
        _open_by_system(obsidian_address(file) if way == "obsidian" else str(file), way)


def _passage(client: Client, place: NamedPlace) -> ChunkContent | None:
    """Return the chunk that was named."""
    if place.chunk is None:
        return None
    return client.call(
        "GET /chunks/{noteId}/{chunkIndex}", note_id=place.note_id, chunk_index=place.chunk
    ).read(ChunkContent)


def _has_page(client: Client) -> bool:
    return "web.enabled" in client.call("GET /health").read(Health).switched_on


def _line_of_heading(client: Client, place: NamedPlace) -> int | None:
    """Return the line of the heading that was named, or None for a whole note."""
    if place.heading is None:
        return None
    return heading_line(
        client.call("GET /notes/{noteId}/outline", **place.file).envelope["data"], place.heading
    )


def _file(root: Path, path: str) -> Path:
    """Return the file of a note. A server's path never leads out of the vault."""
    parts = Path(path).parts
    file = root / path
    if not parts or ".." in parts or Path(path).is_absolute() or not file.is_file():
        raise NotFound("NOTE_NOT_FOUND", "The note's file was moved or deleted.")
    return file


def _editor() -> str | None:
    return os.environ.get("VISUAL") or os.environ.get("EDITOR")


def _usual_way(root: Path | None) -> str:
    """Return where a note is opened: `editor`, `obsidian`, or the system's `program`."""
    if _editor():
        return "editor"
    return "obsidian" if root is not None and is_obsidian(root) else "program"


def _edit(file: str, line: int | None) -> None:
    """Open a file in the user's editor and wait for its end. The editor handles Ctrl-C itself."""
    editor = _editor()
    if not editor:
        raise Failed("PROGRAM_FAILED", "No editor is set. Set $EDITOR, for example to `nano`.")
    try:
        command = editor_command(editor, file, line)
    except ValueError:
        raise Failed("PROGRAM_FAILED", "$VISUAL or $EDITOR is not a valid command.") from None
    _run(command, f"The editor {clean(Path(command[0]).name)}")


def _open_by_system(address: str, way: str) -> None:
    """Open a file or an address in the program that the system has for it."""
    if sys.platform == "win32":
        try:
            os.startfile(address)  # noqa: S606 - needs no shell
        except OSError as error:
            what = f"No program opens the note: {reason_of(error)}."
            raise Failed("PROGRAM_FAILED", what) from None
        return
    program = "open" if sys.platform == "darwin" else "xdg-open"
    what = "Obsidian was not opened:" if way == "obsidian" else "No $EDITOR is set, and"
    # It prints each program that it has tried.
    _run([program, address], f"{what} {program}", errors=subprocess.DEVNULL)


def _run(command: list[str], what: str, *, errors: int | None = None) -> None:
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        code = subprocess.run(command, check=False, stderr=errors).returncode  # noqa: S603 - the user's own program
    except OSError as error:
        raise Failed("PROGRAM_FAILED", f"{what} cannot be started: {reason_of(error)}.") from None
    finally:
        signal.signal(signal.SIGINT, before)
    if code != 0:
        raise Failed("PROGRAM_FAILED", f"{what} ended with exit code {code}.")
