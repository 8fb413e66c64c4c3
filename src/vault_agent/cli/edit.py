"""`vault-agent edit`: the changes within a note."""

from __future__ import annotations

import json
from typing import Any

import asyncclick as click

from vault_agent.cli.command import Group, Invocation, Noun
from vault_agent.cli.names import find
from vault_agent.cli.terminal import clean, envelope, quoted, say, style, tell, warn
from vault_agent.cli.write import change_note, how_options, json_value, text_of, text_options
from vault_agent.errors import NotFound

_ACTIONS = {
    "append": "append",
    "prepend": "prepend",
    "replace": "replace",
    "insert-before": "insertBefore",
    "insert-after": "insertAfter",
    "rename": "renameHeading",
}


@click.group("edit", cls=Group)
def command() -> None:
    """Change a part of a note: a section, some text, or its properties."""


@command.command("section")
@click.argument("note", metavar="NOTE")
@click.option(
    "--heading",
    "--section",
    "heading",
    metavar="HEADING",
    help="A heading, or a path of them: 'Log > Friday'.",
)
@click.option("--heading-id", "headingId", metavar="ID", help="A heading by its ID.")
@click.option("--block", "blockId", metavar="ID", help="A block by its ID: ^abc.")
@click.option(
    "--action",
    type=click.Choice(tuple(_ACTIONS)),
    default="append",
    show_default=True,
    help="Use of the text. For rename it is the new heading.",
)
@text_options
@click.option(
    "--create", "create_if_missing", is_flag=True, help="Make the heading if it is missing."
)
@click.option("--deep", is_flag=True, help="Append after the subsections.")
@how_options(asks=True)
def section(invocation: Invocation, /, note: str, **options: Any) -> int | None:
    """Change a section or a block of a note, or list them.

    Without --heading, --heading-id and --block it lists the headings and blocks with their IDs.
    Replacing shows the difference and asks.
    """
    places = sum(options[name] is not None for name in ("heading", "headingId", "blockId"))
    if not places:
        _list_sections(invocation, note)
        return None
    if places > 1:
        raise click.UsageError("name one place: --heading, --heading-id or --block")
    asks = "Replace this section?" if options["action"] == "replace" else ""
    options["action"] = _ACTIONS[options["action"]]
    body = {"content": text_of(options)}
    return change_note(invocation, note, "POST /write/section", body, options, asks=asks)


def _list_sections(invocation: Invocation, note: str) -> None:
    with invocation.client() as client:
        reply = client.call("GET /notes/{noteId}/outline", **(find(invocation, client, note)).file)
    if invocation.passed_on(reply):
        return
    data = reply.envelope["data"]
    for heading in data["headings"]:
        text = f"{'  ' * (heading['level'] - 1)}{clean(heading['text'])}"
        say(f"{heading['line']:>6}  {text}  {style(heading['headingId'], 'faint')}")
    for block in data["blocks"]:
        say(f"{block['line']:>6}  {clean(block['blockId'])}")
    if not data["headings"] and not data["blocks"]:
        tell("The note has no headings and no blocks.")
    warn(reply.warnings)


@command.command("replace")
@click.argument("note", metavar="NOTE")
@click.argument("search")
@click.argument("replacement", metavar="REPLACE")
@click.option("-E", "--regex", is_flag=True, help=r"SEARCH is a regular expression; \1 is a group.")
@click.option("-i", "--ignore-case", is_flag=True, help="Ignore letter case.")
@click.option("-w", "--word", "whole_word", is_flag=True, help="Only whole words.")
@click.option(
    "--frontmatter", "in_frontmatter", is_flag=True, help="Replace in the frontmatter, too."
)
@click.option(
    "--count", type=int, default=1, show_default=True, help="How many matches there must be."
)
@click.option("--all", "every", is_flag=True, help="Any number of matches.")
@how_options(asks=True)
def replace(
    invocation: Invocation, /, note: str, search: str, replacement: str, **options: Any
) -> int | None:
    """Replace text in a note. A regular expression shows the difference and asks."""
    every, count = options.pop("every"), options.pop("count")
    body = {
        "search": search,
        "replace": replacement,
        "caseSensitive": not options.pop("ignore_case"),
        "expectedCount": None if every else count,
    }
    asks = "Replace this?" if options["regex"] else ""
    return change_note(invocation, note, "POST /write/replace", body, options, asks=asks)


properties = Noun("properties")
command.add_command(properties)


@properties.by_itself
@click.argument("note", metavar="NOTE")
@click.argument("key", required=False)
def show_properties(invocation: Invocation, note: str, key: str | None) -> None:
    """Print the properties of a note, or one, as JSON, and change them."""
    with invocation.client() as client:
        place = find(invocation, client, note)
        reply = client.call("GET /notes/{noteId}/frontmatter", **place.file)
    data = reply.envelope["data"]
    values = data["frontmatter"]
    if key is not None:
        names = [name for name in values if name.casefold() == key.casefold()]
        if not names:
            raise NotFound("PROPERTY_NOT_FOUND", f"The note has no key {quoted(key)}.")
        key = key if key in names else names[0]
    content = values if key is None else values[key]
    if invocation.json:
        chosen = values if key is None else {key: content}
        envelope({**data, "frontmatter": chosen}, reply.envelope.get("warnings", ()))
        return
    say(clean(json.dumps(content, ensure_ascii=False, indent=2), lines=True))
    warn(reply.warnings)


@properties.command("set")
@click.argument("note", metavar="NOTE")
@click.argument("key")
@click.argument("value")
@how_options()
def set_property(
    invocation: Invocation, /, note: str, key: str, value: str, **options: Any
) -> int | None:
    """Set a key. VALUE is JSON, or else text: done, 3, true, '["a", "b"]', '"3"'."""
    body = {"set": {key: json_value(value)}}
    return change_note(invocation, note, "POST /write/frontmatter", body, options)


@properties.command("delete")
@click.argument("note", metavar="NOTE")
@click.argument("keys", metavar="KEY...", nargs=-1, required=True)
@how_options()
def delete_property(
    invocation: Invocation, /, note: str, keys: tuple[str, ...], **options: Any
) -> int | None:
    """Delete keys."""
    body = {"delete": list(keys)}
    return change_note(invocation, note, "POST /write/frontmatter", body, options)
