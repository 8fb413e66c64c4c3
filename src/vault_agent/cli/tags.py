"""`vault-agent tags`."""

from __future__ import annotations

import sys
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import asyncclick as click

from vault_agent.cli.command import Invocation, Noun
from vault_agent.cli.list import Listing, no_rows, show_tree
from vault_agent.cli.names import client_here, find, is_title
from vault_agent.cli.terminal import clean, is_terminal, quoted, say, tell, warn
from vault_agent.cli.write import change_note, how_options
from vault_agent.errors import NotFound
from vault_agent.model.reading import NoteFrontmatter
from vault_agent.text.names import is_note

if TYPE_CHECKING:
    from vault_agent.cli.names import NamedPlace
    from vault_agent.client.client import Client

command = Noun("tags")


@command.by_itself
@click.argument("name", metavar="[TAG|NOTE]", required=False)
@click.option("--prefix", help="Only tags that begin with this text.")
@click.option("--depth", type=int, help="Levels, 1 to 20. Default: all.")
@click.option("-n", "--limit", type=click.IntRange(1, 1_000), help="Tags or notes.")
@click.option(
    "-s",
    "--sort",
    type=click.Choice(("name", "count")),
    help="Order. Default: by name, at a terminal by count.",
)
def show(invocation: Invocation, /, name: str | None, **options: Any) -> None:
    """List all tags, the notes of one, or those of a note, and change them.

    It counts the notes of each tag. Nested tags are indented below their parent, which counts
    their notes too.

    \b
    vault-agent tags
    vault-agent tags garden/seeds
    """  # noqa: D301 - \\b tells the parser to keep these lines
    if name is None:
        if options["sort"] is None and is_terminal(sys.stdout) and not invocation.json:
            options["sort"] = "count"
        show_tree(invocation, "GET /tags", "tag", **options)
    elif is_note(name) or not is_title(name):
        with invocation.client() as client:
            _tags_of(invocation, client, find(invocation, client, name))
    else:
        _notes_of(invocation, name, options["limit"])


def _notes_of(invocation: Invocation, name: str, limit: int | None) -> None:
    """Print the paths of the notes that have a tag, or the tags of the note of this name."""
    tag = name.removeprefix("#")
    listing = Listing(invocation, "notes", limit)
    with client_here(invocation) as client:
        place = None
        if not client.call("GET /notes", tag=tag, limit=1).envelope["data"]["total"]:
            with suppress(NotFound):
                place = find(invocation, client, name)
        if place is not None:
            _tags_of(invocation, client, place, no_tag=f"No note has the tag {quoted(tag)}. ")
            return
        for notes in listing.rows(partial(client.call, "GET /notes", tag=tag)):
            for note in notes:
                say(clean(note["path"]))
    listing.close(no_rows("notes", [tag]), "note")


def _tags_of(
    invocation: Invocation, client: Client, place: NamedPlace, *, no_tag: str = ""
) -> None:
    """Print the tags of a note, after `no_tag`: why it is not the notes of a tag."""
    reply = client.call("GET /notes/{noteId}/frontmatter", **place.file)
    if invocation.passed_on(reply):
        return
    tags = reply.read(NoteFrontmatter).tags
    note = clean(place.path or "The note")
    if not tags:
        tell(f"{no_tag}{note} has no tags.")
    elif no_tag:
        tell(f"{no_tag}These are the tags of {note}:")
    for tag in tags:
        say(clean(tag))
    warn(reply.warnings)


def _add_verb(verb: str, summary: str) -> None:
    """Add a command that changes the tags of a note. The request has its tags by the verb."""

    @command.command(verb, help=summary)
    @click.argument("note", metavar="NOTE")
    @click.argument("tags", metavar="TAG...", nargs=-1, required=True)
    @click.option(
        "--where",
        type=click.Choice(("frontmatter", "inline", "both")),
        default="frontmatter",
        show_default=True,
        help="Which tags.",
    )
    @how_options()
    def change_tags(
        invocation: Invocation, /, note: str, tags: tuple[str, ...], **options: Any
    ) -> int | None:
        body = {verb: [tag.removeprefix("#") for tag in tags]}
        return change_note(invocation, note, "POST /write/tags", body, options)


_add_verb("add", "Add tags to a note.")
_add_verb("remove", "Remove tags from a note.")
