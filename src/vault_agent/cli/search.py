"""`vault-agent search`."""

from __future__ import annotations

import sys
from contextlib import closing
from typing import TYPE_CHECKING, Any

import asyncclick as click

from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.here import listed, others
from vault_agent.cli.results import EVERY_NOTE, ranking, ranking_options, searched, show
from vault_agent.cli.terminal import clean, counted, is_terminal, quoted, tell
from vault_agent.cli.waking import wake
from vault_agent.client import calls
from vault_agent.errors import IndexUnavailable

if TYPE_CHECKING:
    from vault_agent.client.client import Client, Reply

_MAX_LIMIT = 50
_MOST_CHARACTERS = 1_000


@click.command("search", cls=Command)
@click.argument("words", nargs=-1, metavar="[QUERY]...")
@ranking_options
@click.option("--all-words", is_flag=True, help="Each word must be in the note as it is written.")
@click.option("--cursor", help="Continue the page before, with the same other options.")
@click.pass_obj
def command(
    invocation: Invocation,
    /,
    words: tuple[str, ...],
    all_words: bool,
    cursor: str | None,
    **options: Any,
) -> None:
    """Find the notes and passages that match a query.

    Starts the server if none runs. With - it reads the query from standard input. Without a QUERY,
    lists all notes that match a filter such as --tag. `open`, `get` and `related`
    take the number of a result.

    \b
    vault-agent search sourdough starter
    vault-agent search "dark adaptation" -n 3 --path Observatory --tag astronomy
    vault-agent search '"late frost" -greenhouse tag:garden'
    """  # noqa: D301 - \\b tells the parser to keep these lines
    all_vaults, only_paths = options.pop("all_vaults"), options.pop("only_paths")
    chosen = ranking(**options)
    query = _query(words)
    if not query and not chosen["filters"]:  # also of an empty shell variable
        raise click.UsageError(
            "Missing query: type what to look for, or give a filter such as --tag",
            click.get_current_context(),
        )
    vaults = searched(invocation, all_vaults=all_vaults)
    wake(invocation)
    with invocation.client() as client:
        reply = _call_with_index(
            client,
            query=query or EVERY_NOTE,
            match="all" if all_words else None,
            cursor=cursor,
            vaults=vaults,
            **chosen,
        )
        data = reply.envelope["data"]
        skipped = {
            warning.details.get("vault")
            for warning in reply.warnings
            if warning.code == "VAULT_SKIPPED"
        }
        asked = [vault for vault in vaults if vault not in skipped]
        none = f"No results in {listed(asked)}." if asked else "No results."
        by_meaning = _is_by_meaning_alone(data)
        if by_meaning and not invocation.json:
            tell("No note has it; nearest in meaning:")
        first = vaults[0] if vaults else None
        show(
            invocation, client, reply,
            first=first, numbered=True, only_paths=only_paths, none=none,
        )  # fmt: skip
        if invocation.json:
            return
        if not by_meaning:
            _name_unknown(query, data)
        left = others(invocation, vaults or (invocation.vault,))
        if left and (not data["results"] or (vaults and is_terminal(sys.stderr))):
            tell(f"Not searched: {counted(len(left), 'other vault')} (--all-vaults)")
    if data.get("nextCursor") and (cursor or data["limit"] == _MAX_LIMIT):
        tell(f"More: add --cursor {clean(data['nextCursor'])}")  # before that, --limit is simpler


def _query(words: tuple[str, ...]) -> str:
    """Return the query: the words, or standard input for `-`. A longer one than allowed is cut."""
    query = " ".join(words).strip()
    if words == ("-",):
        query = " ".join(sys.stdin.buffer.read().decode("utf-8", "replace").split())
    if len(query) > _MOST_CHARACTERS:
        tell(f"Only the first {_MOST_CHARACTERS:,} characters of the query are searched.")
    return query[:_MOST_CHARACTERS].strip()


def _call_with_index(client: Client, **fields: Any) -> Reply[Any]:
    """Search. While the first index is built, wait for it, and search then."""
    try:
        return client.call(calls.SEARCH, **fields)
    except IndexUnavailable as error:
        job_id = error.details.get("jobId")
        if not isinstance(job_id, str):
            raise
    tell("The first index is being built. The search begins when it is ready …")
    with closing(client.events(job_id)) as jobs:
        for _ in jobs:
            pass
    return client.call(calls.SEARCH, **fields)


def _is_by_meaning_alone(data: dict[str, Any]) -> bool:
    """Whether a search by words and meaning has found no word of the query."""
    reasons = {result["reason"] for result in data["results"]}
    return bool(data.get("unknown")) and reasons == {"embedding_match"}


def _name_unknown(query: str, data: dict[str, Any]) -> None:
    """Print the words that are in no note. A beginning of a word that was found is none."""
    words = query.split()
    for unknown in data.get("unknown") or ():
        word, instead = words[unknown["position"] - 1].strip('"'), unknown["instead"]
        if instead and all(each.lower().startswith(word.lower()) for each in instead):
            continue
        near = f": searched for {' and '.join(map(clean, instead))}" if instead else ""
        tell(f"No note has {quoted(word)}{near}.")
