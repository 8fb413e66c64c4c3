"""`vault-agent search` and `vault-agent related`: their options, and what they print."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import asyncclick as click

from vault_agent.cli.command import Command, Exit, Invocation
from vault_agent.cli.list import (
    chosen_filters,
    exit_code_of,
    no_rows,
    note_filters,
    with_options,
)
from vault_agent.cli.names import (
    all_vaults,
    find,
    listed,
    local_vault,
    note_address,
    others,
    remember,
    root_of,
    vaults_here,
)
from vault_agent.cli.terminal import (
    clean,
    has_links,
    is_terminal,
    linked,
    local_time,
    marked,
    quoted,
    say,
    say_indented,
    style,
    tell,
    warn,
)
from vault_agent.config.vault_list import DEFAULT
from vault_agent.errors import counted
from vault_agent.model.modes import Mode

if TYPE_CHECKING:
    from vault_agent.cli.names import LocalVault
    from vault_agent.client.client import Client, Reply

_MARGIN = " " * 6
EVERY_NOTE = "path:**"
"""A query that matches every note, for a search by filters only."""
_FILTERS = ("paths", "tags", "types", "properties", "after", "before")
_MAX_LIMIT = 50
_MOST_CHARACTERS = 1_000


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
    note_filters(*_FILTERS),
    click.option("--explain", is_flag=True, help="Show how each score is made."),
    click.option("-l", "--paths", "only_paths", is_flag=True, help="Print only paths of notes."),
    click.option("--all-vaults", is_flag=True, help="In every vault of the server."),
)
"""The options that `search` and `related` share."""


def request_fields(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options as fields of a request. The server validates them."""
    filters = chosen_filters(**{name: options.pop(name) for name in _FILTERS})
    return {**options, "filters": filters}


def vaults_to_search(invocation: Invocation, *, every: bool) -> tuple[str, ...]:
    """Return the vaults that are searched as one: all, those named, or those of this project.

    () for one.
    """
    if every and (invocation.vault is not None or invocation.vaults):
        raise click.UsageError("--vault and --all-vaults exclude each other")
    return all_vaults() if every else invocation.vaults or vaults_here(invocation)


def show(
    invocation: Invocation,
    client: Client,
    reply: Reply,
    *,
    numbered: bool = False,
    only_paths: bool = False,
    none: str = "No results.",
) -> Exit:
    """Print a reply's results, or `none` if there are none.

    At a terminal those of a search are `numbered`: `open` and other commands take the numbers,
    until the next search at a terminal. Of paths alone they are the numbers of the lines. In a pipe
    each is one line, `path:line:text`. Paths have the name of their vault before them, unless other
    commands take them without it.
    """
    results = reply.envelope["data"]["results"]
    code = exit_code_of(len(results), reply.warnings)
    if invocation.passed_on(reply):
        return code
    first = (vaults_here(invocation) or (invocation.vault or DEFAULT,))[0]
    at_terminal = is_terminal(sys.stdout)
    if only_paths:
        firsts: dict[str, dict[str, Any]] = {}
        for result in results:
            firsts.setdefault(_address(result, first), result)
        results = list(firsts.values())
    vault = local_vault(invocation.layers(), client.vault) if at_terminal else None
    if vault is not None and numbered:
        remember(vault, results, invocation.vault)
    if only_paths:
        for result in results:
            say(clean(_address(result, first)))
    elif at_terminal:
        for number, result in enumerate(results, 1):
            if number > 1:
                say()
            own = vault and _of_result(vault, result, invocation.vault)
            _show_one(result, number if numbered else None, own)
    else:
        for result in results:
            text = " ".join(result["snippet"].split()) or result["title"]
            say(line_of(clean(_address(result, first)), result.get("line"), clean(text)))
            _explain(result)
    warn(reply.warnings)
    if not results and code == Exit.SUCCESS:  # the folder that was named is not missing
        tell(_nothing_found(client, reply.envelope["data"], none))
    return code


def line_of(path: str, line: int | None, text: str) -> str:
    """Return a result as editors and other programs read it. Its parts must be cleaned."""
    return f"{path}:{line or 1}:{text}"


def _address(result: dict[str, Any], first: str) -> str:
    """Return the path of a result as every command takes it."""
    vault = result.get("vault")
    return f"{vault}:{result['path']}" if vault not in (None, first) else str(result["path"])


def _of_result(vault: LocalVault, result: dict[str, Any], searched: str | None) -> LocalVault:
    """Return the folder of a result's own vault, if it is another one."""
    root = root_of(result.get("vault", searched))
    return vault if root is None else vault._replace(root=root)


def _nothing_found(client: Client, data: dict[str, Any], none: str) -> str:
    """Return that there is nothing, and when the index was made if nobody watches the notes."""
    made = data.get("indexedAt")
    if not isinstance(made, str) or client.call("GET /health").envelope["data"]["watch"]["enabled"]:
        return none
    return f"{none} Last index run: {local_time(made)}.\nTo add newer notes: vault-agent index"


def _show_one(result: dict[str, Any], number: int | None, vault: LocalVault | None) -> None:
    place = clean(result["path"]) + (f":{result['line']}" if result.get("line") else "")
    path = style(place, "strong")
    if vault is not None:
        path = _linked(path, vault, result["path"])
    if result.get("vault"):
        path += style(f"  [{clean(result['vault'])}]", "faint")
    headings = " › ".join(clean(heading) for heading in result["headingPath"])
    # Results of filters alone have no score.
    score = f"{result['score']:.2f}  " if result["score"] else ""
    order = f"{number:>2}  " if vault is not None and number is not None else ""
    say(f"{order}{score}{path}  {headings}".rstrip())
    if result["snippet"]:
        say_indented(marked(result["snippet"], result["matches"]), len(_MARGIN))
    _explain(result)


def _explain(result: dict[str, Any]) -> None:
    for name, value in (result.get("explanation") or {}).items():
        if isinstance(value, dict):
            value = ", ".join(f"{part} {score}" for part, score in value.items())  # noqa: PLW2901
        if value:
            say(_MARGIN + style(clean(f"{name}: {value}"), "faint"))


def _linked(text: str, vault: LocalVault, path: str) -> str:
    if not has_links(sys.stdout) or ".." in path.split("/"):
        return text
    return linked(text, note_address(vault.root, path))


@click.command("search", cls=Command)
@click.argument("words", nargs=-1, metavar="[QUERY]...")
@ranking_options
@click.option(
    "--all-words",
    "match",
    flag_value="all",
    help="Each word must be in the note as it is written.",
)
@click.option("--cursor", help="Continue the page before, with the same other options.")
def command(invocation: Invocation, /, words: tuple[str, ...], **options: Any) -> Exit:
    """Find the notes and passages that match a query.

    With - it reads the query from standard input. Without a QUERY, it lists all notes that match a
    filter such as --tag. Commands that take a note take the number of a result that a terminal has
    shown. The date of a note is that of its frontmatter, else of its file's name, else of the
    file.

    The exit code is 0 also without a result; that of `grep` is 1. With --json, `unknown` has the
    position of a word in the query, from 1, if no note has the word.

    \b
    vault-agent search sourdough starter
    vault-agent search "dark adaptation" -n 3 --path Observatory --tag astronomy
    vault-agent search '"late frost" -greenhouse tag:garden'
    """  # noqa: D301 - \\b tells the parser to keep these lines
    every, only_paths = options.pop("all_vaults"), options.pop("only_paths")
    fields = request_fields(options)
    query = _query(words)
    if not query and not fields["filters"]:  # also of an empty shell variable
        raise click.UsageError(
            "Missing query: type what to look for, or give a filter such as --tag",
            click.get_current_context(),
        )
    vaults = vaults_to_search(invocation, every=every)
    with invocation.client() as client:
        reply = client.call("POST /search", query=query or EVERY_NOTE, vaults=vaults, **fields)
        data = reply.envelope["data"]
        noun = f"results in {listed(vaults)}" if vaults else "results"
        none = no_rows(noun, fields["filters"].get("tags", ()))
        code = show(invocation, client, reply, numbered=True, only_paths=only_paths, none=none)
        if invocation.json:
            return code
        _name_unknown(query, data)
        left = others(invocation, vaults or (invocation.vault,))
        if left and (not data["results"] or (vaults and is_terminal(sys.stderr))):
            tell(f"Not searched: {counted(len(left), 'other vault')} (--all-vaults)")
    if data.get("nextCursor") and (fields["cursor"] or data["limit"] == _MAX_LIMIT):
        tell(f"More: add --cursor {clean(data['nextCursor'])}")  # before that, --limit is simpler
    return code


def _query(words: tuple[str, ...]) -> str:
    """Return the query: the words, or standard input for `-`. A longer one than allowed is cut."""
    query = " ".join(words).strip()
    if words == ("-",):
        query = " ".join(sys.stdin.buffer.read().decode("utf-8", "replace").split())
    if len(query) > _MOST_CHARACTERS:
        tell(f"Only the first {_MOST_CHARACTERS:,} characters of the query are searched.")
    return query[:_MOST_CHARACTERS].strip()


def _name_unknown(query: str, data: dict[str, Any]) -> None:
    """Print the words that are in no note. A beginning of a word that was found is none."""
    words = query.split()
    for unknown in data.get("unknown") or ():
        word, instead = words[unknown["position"] - 1].strip('"'), unknown["instead"]
        if instead and all(term.lower().startswith(word.lower()) for term in instead):
            continue
        near = f": searched for {' and '.join(map(clean, instead))}" if instead else ""
        tell(f"No note has {quoted(word)}{near}.")


@click.command("related", cls=Command)
@click.argument("name", metavar="NOTE")
@click.option(
    "--unlinked",
    "linked",
    flag_value="exclude",
    help="Only notes that are not linked with it yet.",
)
@ranking_options
def related(invocation: Invocation, /, name: str, **options: Any) -> Exit:
    """Find notes like this one.

    They are similar in text, linked, or linked with the same notes. NOTE is an ID, a path or its
    end, a title, or the number of a result of your last search at a terminal.
    """
    every, only_paths = options.pop("all_vaults"), options.pop("only_paths")
    fields = request_fields(options)
    with invocation.client() as client:
        place = find(invocation, client, name)
        vaults = vaults_to_search(invocation, every=every)
        if (client.vault_name or DEFAULT) not in vaults:
            vaults = ()  # the note is in another vault, so only that one is searched
        reply = client.call("POST /related", id=place.id, vaults=vaults, **fields)
        return show(invocation, client, reply, only_paths=only_paths)
