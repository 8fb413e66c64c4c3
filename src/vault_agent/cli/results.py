"""The options and the output of `search` and `related`.

Results are printed from the reply's plain JSON, so that a search need not import the models.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypedDict

import asyncclick as click

from vault_agent.cli.filters import chosen_filters, note_filters, with_options
from vault_agent.cli.local import LocalVault, local_vault, note_address, remember
from vault_agent.cli.terminal import (
    clean,
    has_links,
    is_terminal,
    linked,
    say,
    style,
    tell,
    warn,
)
from vault_agent.cli.times import ago
from vault_agent.cli.wrap import fits, fitted
from vault_agent.config.registry import DEFAULT
from vault_agent.model.modes import Mode

if TYPE_CHECKING:
    from vault_agent.cli.command import Invocation
    from vault_agent.client.client import Client, Reply

_MARGIN = " " * 6
EVERY_NOTE = "path:**"
"""A query that matches every note, for a search by filters only."""


class Ranking(TypedDict):
    """The fields of the requests of both commands."""

    mode: str | None
    limit: int
    filters: dict[str, Any]
    explain: bool


ranking_options = with_options(
    click.option(
        "-m",
        "--mode",
        type=click.Choice([mode.value for mode in Mode]),
        help="Search mode. Default: the best available.",
    ),
    click.option(
        "-n", "--limit", type=int, default=10, show_default=True, help="Results, 1 to 50."
    ),
    note_filters("paths", "tags", "types", "properties", "after", "before"),
    click.option("--explain", is_flag=True, help="Show how each score is made."),
    click.option("-l", "--paths", "only_paths", is_flag=True, help="Print only paths of notes."),
    click.option("--all-vaults", is_flag=True, help="In every vault of the server."),
)
"""The options that `search` and `related` share."""


def ranking(*, mode: str | None, limit: int, explain: bool, **filters: Any) -> Ranking:
    """Return the options as fields of a request. The server validates them."""
    return Ranking(mode=mode, limit=limit, filters=chosen_filters(**filters), explain=explain)


def searched(invocation: Invocation, *, all_vaults: bool) -> tuple[str, ...]:
    """Return the vaults that are searched as one: all, those named, or those of this project.

    () for one.
    """
    from vault_agent.cli.here import all_vaults as every
    from vault_agent.cli.here import vaults_here

    if all_vaults and (invocation.vault is not None or invocation.vaults):
        raise click.UsageError("--vault and --all-vaults exclude each other")
    return every() if all_vaults else invocation.vaults or vaults_here(invocation)


def show(
    invocation: Invocation,
    client: Client,
    reply: Reply[Any],
    *,
    first: str | None,
    numbered: bool = False,
    only_paths: bool = False,
    none: str = "No results.",
) -> None:
    """Print a reply's results, or `none` if there are none.

    At a terminal those of a search are `numbered`: `open` and other commands take the numbers,
    until the next search at a terminal. In a pipe each is one line, `path:line:text`. `first` is
    the vault whose paths need no name of a vault before them.
    """
    if invocation.passed_on(reply):
        return
    data = reply.envelope["data"]
    results = data["results"]
    if only_paths:
        for path in dict.fromkeys(_address(result, first) for result in results):
            say(clean(path))
    elif is_terminal(sys.stdout):
        _show_at_terminal(invocation, client, results, numbered=numbered)
    else:
        for result in results:
            text = clean(" ".join(result["snippet"].split()))
            say(line_of(clean(_address(result, first)), result.get("line"), text))
            _explain(result)
    if not results:
        tell(_nothing_found(data, none))
    warn(reply.warnings)


def line_of(path: str, line: int | None, text: str) -> str:
    """Return a result as editors and other programs read it. Its parts must be cleaned."""
    return f"{path}:{line or 1}:{text}"


def _address(result: dict[str, Any], first: str | None) -> str:
    """Return the path of a result as every command takes it."""
    vault = result.get("vault")
    return f"{vault}:{result['path']}" if vault not in (None, first) else str(result["path"])


def _show_at_terminal(
    invocation: Invocation, client: Client, results: list[dict[str, Any]], *, numbered: bool
) -> None:
    vault = local_vault(invocation.layers(), client.vault)
    if vault is not None and numbered:
        remember(vault, results, invocation.vault)
    for number, result in enumerate(results, 1):
        if number > 1:
            say()
        own = vault and _of_result(vault, result, invocation.vault)
        _show_one(result, number if numbered else None, own)


def _of_result(vault: LocalVault, result: dict[str, Any], searched: str | None) -> LocalVault:
    """Return the folder of a result's own vault, if it is another one."""
    name = result.get("vault", searched)
    if name in (None, DEFAULT):
        return vault
    from vault_agent.cli.here import root_of

    return vault._replace(root=root_of(name) or vault.root)


def _nothing_found(data: dict[str, Any], none: str) -> str:
    made = data.get("indexedAt")
    if not isinstance(made, str):
        return none
    return f"{none} Last index run: {ago(made)}.\nTo add newer notes: vault-agent index"


def _show_one(result: dict[str, Any], number: int | None, vault: LocalVault | None) -> None:
    place = clean(result["path"]) + (f":{result['line']}" if result.get("line") else "")
    path = style(place, "strong")
    if vault is not None:
        path = _linked(path, vault, result["path"])
    if result.get("vault"):
        named = f"  [{clean(result['vault'])}]"
        place, path = place + named, path + style(named, "faint")
    headings = " › ".join(clean(heading) for heading in result["headingPath"])
    # Results of filters alone have no score.
    score = f"{result['score']:.2f}  " if result["score"] else ""
    order = f"{number:>2}  " if vault is not None and number is not None else ""
    if fits(f"{order}{score}{place}  {headings}"):
        say(f"{order}{score}{path}{'  ' + headings if headings else ''}")
    else:
        say(f"{order}{score}{path}")
        for line in fitted(headings, margin=len(_MARGIN)):
            say(f"{_MARGIN}{line}")
    if result["snippet"]:
        for line in fitted(marked(result["snippet"], result["matches"]), margin=len(_MARGIN)):
            say(f"{_MARGIN}{line}")
    _explain(result)


def _explain(result: dict[str, Any]) -> None:
    for name, value in (result.get("explanation") or {}).items():
        if value != {}:
            say(_MARGIN + style(clean(f"{name}: {_listed(value)}"), "faint"))


def _linked(text: str, vault: LocalVault, path: str) -> str:
    if not has_links(sys.stdout) or ".." in path.split("/"):
        return text
    return linked(text, note_address(vault.root, path))


def _listed(value: object) -> str:
    """Return a part of an explanation as text: `body 2.5481, heading 0.2088`."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {part}" for name, part in value.items())
    return str(value)


def marked(snippet: str, matches: list[list[int]]) -> str:
    """Return a snippet with its matches highlighted. Each piece is cleaned separately."""
    pieces, end = [], 0
    for start, stop in matches:
        if end <= start <= stop <= len(snippet):
            pieces.append(clean(snippet[end:start]))
            pieces.append(style(clean(snippet[start:stop]), "match"))
            end = stop
    return "".join(pieces) + clean(snippet[end:])
