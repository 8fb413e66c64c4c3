"""`vault-agent watch`."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import asyncclick as click
import orjson

from vault_agent.cli.command import Group, Invocation
from vault_agent.cli.index import run_job
from vault_agent.cli.terminal import clean, counted, say, style, tell, warn
from vault_agent.cli.times import ago
from vault_agent.client import calls
from vault_agent.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Mapping

_STATES = {
    "off": "off: changes are not noticed",
    "starting": "starting",
    "watching": "on, by events of the system",
    "polling": "on, by scans",
    "away": "waiting: the vault's folder is missing",
}
_REASONS = {"WATCH_LIMIT": "the system does not allow to watch all folders"}


@click.group("watch", cls=Group, invoke_without_command=True)
@click.pass_context
async def command(context: click.Context) -> None:
    """Show whether changes of notes are noticed."""
    if context.invoked_subcommand is None:
        await _status(context.obj)


@command.command("status")
@click.pass_obj
async def status(invocation: Invocation) -> None:
    """Show how the vault is watched."""
    await _status(invocation)


@command.command("scan")
@click.option("--detach", is_flag=True, help="Print the job's ID and do not wait for its end.")
@click.pass_obj
async def scan(invocation: Invocation, *, detach: bool) -> int:
    """Look at the whole vault now, for changes that were missed."""
    return await run_job(invocation, lambda client: client.call(calls.WATCH_SCAN), detach=detach)


@command.command("follow")
@click.pass_obj
async def follow_news(invocation: Invocation) -> None:
    """Print new revisions, jobs and states of the watch until Ctrl-C."""
    async with invocation.client() as client, aclosing(client.news()) as news:
        async for name, data in news:
            if invocation.json:
                say(orjson.dumps({"event": name, "data": data}).decode())
            else:
                say(_news(name, data))
    raise Unavailable("SERVER_UNAVAILABLE", "The server has ended the connection.")


async def _status(invocation: Invocation) -> None:
    async with invocation.client() as client:
        reply = await client.call(calls.WATCH)
        if invocation.passed_on(reply):
            return
        health = await client.call(calls.HEALTH)
    data = reply.envelope["data"]
    for name, value in _rows(data):
        say(f"{name:<12}{value}")
    warn(each for each in health.warnings if each.code.startswith(("WATCH_", "INDEX_", "VAULT_")))
    if not data["enabled"]:
        tell("Switch it on: vault-agent enable watch")


def _rows(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    state = _STATES.get(data["state"], clean(data["state"]))
    rows = [("watch", style(state, "strong"))]
    if not data["enabled"]:
        return rows
    if data["reason"]:
        rows.append(("reason", _REASONS.get(data["reason"], clean(data["reason"]))))
    waiting = counted(data["pending"], "change")
    if data["pending"]:
        waiting += f", the oldest for {data['lagSeconds']:.1f} s"
    rows.append(("waiting", waiting))
    for name, key in (("last event", "lastEventAt"), ("last scan", "lastScanAt")):
        rows.append((name, ago(data[key]) if data[key] else "none yet"))
    return rows


def _counts(counts: Mapping[str, Any]) -> str:
    named = ((counts[word], word) for word in ("added", "changed", "renamed", "removed"))
    return ", ".join(f"{number:,} {word}" for number, word in named if number) or "no change"


def _news(name: str, data: Mapping[str, Any]) -> str:
    if name == "revision":
        return f"revision {data['generation']}.{data['revision']}: {_counts(data)}"
    if name == "watch":
        return f"watch: {_STATES.get(data['state'], clean(data['state']))}"
    if name == "job":
        parts = (data["id"], data["kind"], data["trigger"], data["state"])
        return "job " + "  ".join(clean(part) for part in parts)
    return "Some events were lost." if name == "resync" else clean(name)
