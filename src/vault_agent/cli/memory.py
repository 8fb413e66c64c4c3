"""`vault-agent memory`: what is recalled of earlier sessions."""

from __future__ import annotations

from typing import Any

import asyncclick as click

from vault_agent.cli.command import Command, Group, Invocation
from vault_agent.cli.here import vaults_here
from vault_agent.cli.terminal import clean, envelope, say, tell, warn

_PROJECT = "project:"


@click.group("memory", cls=Group)
def command() -> None:
    """Show what is recalled of earlier sessions."""


@command.command("show", cls=Command)
@click.argument("prompt", nargs=-1)
@click.option("--file", "files", multiple=True, metavar="PATH", help="A file of the task.")
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="A tag of the task.")
@click.option("--limit", type=click.IntRange(1, 20), help="The most notes.")
@click.option("--max-tokens", type=click.IntRange(100, 2_000), help="The most tokens.")
@click.option("--explain", is_flag=True, help="Say why each note was taken or left out.")
@click.pass_obj
async def show(invocation: Invocation, /, prompt: tuple[str, ...], **options: Any) -> None:
    """Print the notes that matter for a task, as an agent gets them.

    Inside a project, they are those of the project and the global vault.

    \b
    vault-agent memory show "streaming cost updates" --file src/cost.py
    vault-agent memory show --file src/cost.py --explain
    """  # noqa: D301 - \\b tells the parser to keep these lines
    here = next((each for each in vaults_here(invocation) if each.startswith(_PROJECT)), None)
    body = {
        "project": here.removeprefix(_PROJECT) if here is not None else None,
        "prompt": " ".join(prompt),
        "files": options["files"],
        "tags": options["tags"],
        "maxNotes": options["limit"],
        "maxTokens": options["max_tokens"],
        "explain": options["explain"],
    }
    async with invocation.client() as client:
        reply = await client.lists.memory(body)
    warn(reply.warnings)
    data = reply.envelope["data"]
    if invocation.json:
        envelope(data)
        return
    if data["text"]:
        say(clean(data["text"], lines=True))
    else:
        tell("Nothing is recalled: no note is about this. Give a prompt of some words, or --file.")
    if options["explain"]:
        _explain(data)


@command.command("hook", cls=Command)
@click.option("--agent", metavar="AGENT", default="generic", help="The agent that calls it.")
@click.pass_obj
async def hook(invocation: Invocation, agent: str) -> None:
    """Take an event of an agent's session from standard input. Agents call it.

    `vault-agent hooks install` writes it into an agent's settings.
    """
    from vault_agent.cli.hook import Options, run_hook

    config = str(invocation.config) if invocation.config is not None else None
    run_hook(Options(agent, config, invocation.endpoint))


def _explain(data: dict[str, Any]) -> None:
    weights = data["weights"]
    tell(
        f"\nscore = {weights['tag']:g} tag + {weights['semantic']:g} words"
        f" + {weights['recency']:g} recency; without a signal, its weight goes to the others"
    )
    for note in data["notes"]:
        tell(_line(note, ", ".join(note["reasons"])))
    for note in data["leftOut"]:
        tell(_line(note, f"left out: {note['leftOut']}"))


def _line(note: dict[str, Any], why: str) -> str:
    parts = " ".join(f"{note[name]:.2f}" for name in ("tag", "semantic", "recency"))
    return clean(f"{note['score']:.2f} ({parts})  {note['vault']}/{note['path']}  {why}")
