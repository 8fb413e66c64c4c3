"""`vault-agent edit section`."""

from __future__ import annotations

from typing import Any

import asyncclick as click

from vault_agent.cli.changing import change, existing, how, how_options, text_of, text_options
from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.names import find
from vault_agent.cli.terminal import clean, say, style, tell, warn
from vault_agent.client import calls

_ACTIONS = {
    "append": "append",
    "prepend": "prepend",
    "replace": "replace",
    "insert-before": "insertBefore",
    "insert-after": "insertAfter",
    "rename": "renameHeading",
}


@click.command("section", cls=Command)
@click.argument("note", metavar="NOTE")
@click.option(
    "--heading",
    "--section",
    "heading",
    metavar="HEADING",
    help="A heading, or a path of them: 'Log > Friday'.",
)
@click.option("--heading-id", metavar="ID", help="A heading by its ID.")
@click.option("--block", "block_id", metavar="ID", help="A block by its ID: ^abc.")
@click.option(
    "--action",
    type=click.Choice(tuple(_ACTIONS)),
    default="append",
    show_default=True,
    help="What to do with the text. For rename it is the new heading.",
)
@text_options
@click.option("--create", is_flag=True, help="Make the heading if it is missing.")
@click.option("--deep", is_flag=True, help="Append after the subsections.")
@how_options(asks=True)
@click.pass_obj
async def command(invocation: Invocation, /, note: str, **options: Any) -> int | None:
    """Change a section or a block of a note, or list them.

    Without --heading, --heading-id and --block it lists the headings and blocks with their IDs.
    Replacing shows the difference and asks.
    """
    chosen = how(options)
    names = {"heading": "heading", "heading_id": "headingId", "block_id": "blockId"}
    place = {wire: options[name] for name, wire in names.items() if options[name] is not None}
    if not place:
        await _list(invocation, note)
        return None
    action = _ACTIONS[options["action"]]
    body: dict[str, Any] = {**place, "action": action, "content": text_of(options)}
    flags = {"create": "createIfMissing", "deep": "deep"}
    body |= {wire: True for name, wire in flags.items() if options[name]}
    async with invocation.client() as client:
        body |= await existing(invocation, client, note)
        asks = "Replace this section?" if action == "replace" else ""
        return await change(invocation, client, calls.WRITE_SECTION, body, chosen, asks=asks)


async def _list(invocation: Invocation, note: str) -> None:
    async with invocation.client() as client:
        reply = await client.call(calls.OUTLINE, **(await find(invocation, client, note)).file)
    if invocation.passed_on(reply):
        return
    data = reply.envelope["data"]
    for each in data["headings"]:
        text = f"{'  ' * (each['level'] - 1)}{clean(each['text'])}"
        say(f"{each['line']:>6}  {text}  {style(each['headingId'], 'faint')}")
    for each in data["blocks"]:
        say(f"{each['line']:>6}  ^{clean(each['blockId'])}")
    if not data["headings"] and not data["blocks"]:
        tell("The note has no headings and no blocks.")
    warn(reply.warnings)
