"""`vault-agent edit properties get|set|delete`."""

from __future__ import annotations

import json
from typing import Any

import asyncclick as click

from vault_agent.cli.changing import change, existing, how, how_options, json_value
from vault_agent.cli.command import Group, Invocation
from vault_agent.cli.names import find
from vault_agent.cli.terminal import clean, envelope, pass_on, quoted, say, warn
from vault_agent.client import calls
from vault_agent.errors import NotFound


@click.group("frontmatter", cls=Group)
def command() -> None:
    """Read and change the frontmatter of a note."""


@command.command("get")
@click.argument("note", metavar="NOTE")
@click.argument("key", required=False)
@click.pass_obj
async def get(invocation: Invocation, note: str, key: str | None) -> None:
    """Print the frontmatter, or the value of one key, as JSON."""
    async with invocation.client() as client:
        place = await find(invocation, client, note)
        reply = await client.call(calls.FRONTMATTER, **place.file)
    data = reply.envelope["data"]
    values = data["frontmatter"]
    if key is not None:
        names = [name for name in values if name.casefold() == key.casefold()]
        if not names:
            raise NotFound("PROPERTY_NOT_FOUND", f"The note has no key {quoted(key)}.")
        key = key if key in names else names[0]
    if invocation.json and key is None:
        pass_on(reply.body)
        return
    if invocation.json:
        envelope({**data, "frontmatter": {key: values[key]}}, reply.envelope.get("warnings", ()))
        return
    shown = values if key is None else values[key]
    say(clean(json.dumps(shown, ensure_ascii=False, indent=2), lines=True))
    warn(reply.warnings)


@command.command("set")
@click.argument("note", metavar="NOTE")
@click.argument("key")
@click.argument("value")
@how_options()
@click.pass_obj
async def set_(
    invocation: Invocation, /, note: str, key: str, value: str, **options: Any
) -> int | None:
    """Set a key. VALUE is JSON, or else text: done, 3, true, '["a", "b"]', '"3"'."""
    body = {"set": {key: json_value(value)}}
    async with invocation.client() as client:
        named = await existing(invocation, client, note)
        return await change(
            invocation, client, calls.WRITE_FRONTMATTER, {**named, **body}, how(options)
        )


@command.command("delete")
@click.argument("note", metavar="NOTE")
@click.argument("keys", metavar="KEY...", nargs=-1, required=True)
@how_options()
@click.pass_obj
async def delete(
    invocation: Invocation, /, note: str, keys: tuple[str, ...], **options: Any
) -> int | None:
    """Delete keys."""
    async with invocation.client() as client:
        named = await existing(invocation, client, note)
        body = {**named, "delete": list(keys)}
        return await change(invocation, client, calls.WRITE_FRONTMATTER, body, how(options))
