"""`vault-agent ui`: the web page in the user's browser."""

from __future__ import annotations

import webbrowser
from shlex import quote
from typing import TYPE_CHECKING
from urllib import parse

import asyncclick as click

from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.names import find
from vault_agent.cli.terminal import clean, envelope, say, tell
from vault_agent.client.call import Call
from vault_agent.errors import Failed

if TYPE_CHECKING:
    from vault_agent.cli.names import Place
    from vault_agent.client.client import Client
    from vault_agent.model.pages import Ticket

_TICKET: Call[Ticket] = Call("POST", "/ui/tickets", ("pages.Ticket",), has_body=True)
VIEWS = ("notes", "graph", "memory", "jobs")


def place_of(view: str, note: Place | None = None) -> str:
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


def new_address(client: Client, place: str, *, printed: bool = False) -> str:
    """Return an address that opens the page, with a ticket if the server has a key.

    Raises:
        Misconfigured: `FEATURE_DISABLED` if the server has no web page.
    """
    data = client.call(_TICKET, {"printed": printed}).envelope["data"]
    return page_address(client.endpoint, place, data["ticket"])


def open_in_browser(address: str, otherwise: str) -> None:
    """Open an address in the user's browser.

    Raises:
        Failed: `OPEN_FAILED`, with what to do `otherwise`.
    """
    try:
        opened = webbrowser.open(address)
    except (webbrowser.Error, OSError):
        opened = False
    if not opened:
        raise Failed("OPEN_FAILED", f"No browser could be started. {otherwise}")


def way_to_print(note: str | None = None, view: str = VIEWS[0]) -> str:
    """Return how to see the address of the page without a browser. `note` is as it was typed."""
    named = "" if note is None else f" {clean(quote(note))}"
    shown = "" if view == VIEWS[0] else f" --view {view}"
    return f"`vault-agent ui{named}{shown} --print` prints the address instead."


@click.command("ui", cls=Command)
@click.argument("name", metavar="[NOTE]", required=False)
@click.option("--view", type=click.Choice(VIEWS), default=VIEWS[0], help="What to show first.")
@click.option("--print", "printed", is_flag=True, help="Print the address instead of opening it.")
@click.pass_obj
def command(invocation: Invocation, name: str | None, *, view: str, printed: bool) -> None:
    """Open the web page in your browser.

    NOTE is an ID, a path or its end, a title, or the number of a result of your last search. The
    page needs `web.enabled`, or a server that runs with `serve --web`.

    If the server has a key, the address has a ticket that works once. A printed one works for five
    minutes. Anyone on this computer who sees it in that time can use it.

    \b
    vault-agent ui
    vault-agent ui "Kitchen/Stock.md" --view graph
    vault-agent ui --print
    """  # noqa: D301 - \\b tells the parser to keep these lines
    with invocation.client() as client:
        note = find(invocation, client, name) if name is not None else None
        copied = printed or invocation.json
        address = new_address(client, place_of(view, note), printed=copied)
    if invocation.json:
        envelope({"address": address})
    elif printed:
        say(address)
    else:
        open_in_browser(address, way_to_print(name, view))
        tell("The web page opens in your browser.")
