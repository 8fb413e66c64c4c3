"""`vault-agent ui`."""

from __future__ import annotations

import asyncclick as click

from vault_agent.cli.browser import VIEWS, new_address, open_in_browser, place_of, way_to_print
from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.names import find
from vault_agent.cli.terminal import envelope, say, tell


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
