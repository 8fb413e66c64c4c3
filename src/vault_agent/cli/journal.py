"""`vault-agent journal`: the journals of agents' sessions."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import asyncclick as click

from vault_agent.cli.asking import agreed
from vault_agent.cli.command import Command, Group, Invocation
from vault_agent.cli.here import client_here
from vault_agent.cli.names import whole_id
from vault_agent.cli.terminal import (
    clean,
    counted,
    distinct_warnings,
    envelope,
    is_terminal,
    say,
    tell,
    warn,
)
from vault_agent.client import calls
from vault_agent.errors import InvalidRequest

if TYPE_CHECKING:
    from vault_agent.client.client import Client

_KINDS = ("impl", "problem", "insight", "verify")
_REASONS = {
    "short": "too short for a journal",
    "empty": "nothing is known of it but what was asked for",
    "excluded": "in a folder that leaves none",
    "rejected": "rejected in the review",
    "edited": "changed by you: it is never rewritten",
    "crash": "the session ended without a word",
    "pending": "its text is still being written",
    "model_unavailable": "the model of chat.endpoint did not answer",
    "model_invalid": "the model's answer was no journal",
    "transcript_missing": "the agent's transcript could not be read",
}


@click.group("journal", cls=Group)
def command() -> None:
    """List, write and review the journals of agents' sessions.

    SESSION is the ID of a session, or the beginning of one.
    """


@command.command("list", cls=Command)
@click.option("--all", "everything", is_flag=True, help="Also sessions that have no journal.")
@click.option(
    "--state",
    type=click.Choice(["pending", "incomplete", "complete", "draft", "skipped"]),
    help="Only journals in this state.",
)
@click.option(
    "-n", "--limit", type=click.IntRange(1, 500), default=50, show_default=True, help="Journals."
)
@click.pass_obj
async def list_(invocation: Invocation, everything: bool, state: str | None, limit: int) -> None:
    """List the journals of the latest sessions, with what is missing.

    Inside a project, only its sessions.
    """
    asked = {"state": state or ("all" if everything else None), "limit": limit}
    async with client_here(invocation, only_trusted=True) as client:
        reply = await client.call(calls.JOURNALS, **asked)
    warn(reply.warnings)
    if invocation.passed_on(reply):
        return
    found = reply.envelope["data"]["journals"]
    for each in found:
        say(_line(each))
    if not found:
        tell("There are no journals. They begin with the next session of an agent with hooks.")


@command.command("make", cls=Command)
@click.argument("session_id", metavar="SESSION")
@click.pass_obj
async def make(invocation: Invocation, session_id: str) -> None:
    """Write the journal of a session now, however short the session was."""
    async with invocation.client() as client:
        reply = await client.call(calls.JOURNAL_MAKE, session_id=await _whole(client, session_id))
    _show_one(invocation, reply)
    if not invocation.json and reply.envelope["data"]["journal"]["state"] == "pending":
        tell("It is being written. To see it: vault-agent journal list")


@command.command("complete", cls=Command)
@click.pass_obj
async def complete(invocation: Invocation) -> None:
    """Try all journals again that are not complete."""
    made = []
    async with client_here(invocation, only_trusted=True) as client:
        for state in ("incomplete", "pending"):
            asked = {"state": state, "limit": 500}
            reply = await client.call(calls.JOURNALS, **asked)
            made += [
                await client.call(calls.JOURNAL_MAKE, session_id=each["sessionId"])
                for each in reply.envelope["data"]["journals"]
            ]
    if invocation.json:
        done = [reply.envelope["data"]["journal"] for reply in made]
        envelope({"journals": done}, distinct_warnings(made))
        return
    tried = f"Tried again: {counted(len(made), 'journal')}."
    tell(tried if made else "All journals are complete.")


@command.command("log", cls=Command)
@click.argument("text", nargs=-1, required=True)
@click.option("--session", "session_id", metavar="SESSION", required=True, help="Its session.")
@click.option(
    "--kind",
    type=click.Choice(_KINDS),
    default="insight",
    show_default=True,
    help="What the line is.",
)
@click.pass_obj
async def log(invocation: Invocation, text: tuple[str, ...], session_id: str, kind: str) -> None:
    """Add a line to the journal of a session."""
    async with invocation.client() as client:
        body = {"text": " ".join(text), "kind": kind}
        reply = await client.call(
            calls.JOURNAL_ENTRY, body, session_id=await _whole(client, session_id)
        )
    _show_one(invocation, reply)


@command.command("review", cls=Command)
@click.argument("session_id", metavar="SESSION", required=False)
@click.option("--accept", "answer", flag_value="accept", help="Take it into the vault.")
@click.option("--reject", "answer", flag_value="reject", help="Drop it.")
@click.pass_obj
async def review(invocation: Invocation, session_id: str | None, answer: str | None) -> None:
    """Show journals that wait for your review, and take them into the vault or drop them.

    Without SESSION, all that wait, one after another.
    """
    if answer is not None and session_id is None:
        raise click.UsageError("--accept and --reject need a SESSION")
    every = client_here(invocation, only_trusted=True)
    async with every if session_id is None else invocation.client() as client:
        if session_id is None:
            asked = {"state": "draft", "limit": 500}
            page = await client.call(calls.JOURNALS, **asked)
            waiting = [each["sessionId"] for each in page.envelope["data"]["journals"]]
        else:
            waiting = [await _whole(client, session_id)]
        if invocation.json and answer is None:
            drafts = [await client.call(calls.JOURNAL_DRAFT, session_id=each) for each in waiting]
            rows = [draft.envelope["data"] for draft in drafts]
            envelope({"drafts": rows}, distinct_warnings(drafts))
            return
        if not waiting:
            tell("No journal waits for your review.")
        for each in waiting:
            await _review_one(invocation, client, each, answer)


async def _whole(client: Client, session: str) -> str:
    """Return the ID of one of the latest sessions by its beginning."""
    latest = await client.call(calls.JOURNALS, state="all", limit=500)
    return whole_id(session, (each["sessionId"] for each in latest.envelope["data"]["journals"]))


async def _review_one(
    invocation: Invocation, client: Client, session_id: str, answer: str | None
) -> None:
    if answer is None:
        draft = await client.call(calls.JOURNAL_DRAFT, session_id=session_id)
        warn(draft.warnings)
        say(clean(draft.envelope["data"]["text"], lines=True))
        if not is_terminal(sys.stdin):
            raise InvalidRequest(
                "INVALID_REQUEST",
                "Nobody can be asked here.",
                remedy=f"Give --accept or --reject: vault-agent journal review {session_id}",
            )
        answer = "accept" if agreed("Take it into the vault?", yes=False) else "reject"
    reply = await client.call(
        calls.JOURNAL_REVIEW, {"accept": answer == "accept"}, session_id=session_id
    )
    _show_one(invocation, reply)


def _show_one(invocation: Invocation, reply: Any) -> None:
    warn(reply.warnings)
    if invocation.passed_on(reply):
        return
    journal = reply.envelope["data"]["journal"]
    if journal is None:
        tell("It goes into the journal when the session ends.")
    else:
        say(_line(journal))


def _line(journal: dict[str, Any]) -> str:
    day = journal["startedAt"][:10]
    reason = journal["reason"]
    why = f" ({_REASONS.get(reason, reason)})" if reason not in {None, "forced"} else ""
    name = journal["path"] or journal["sessionId"]
    title = f"  {journal['title']}" if journal["title"] else ""
    return clean(f"{day}  {journal['state']}{why}  {name}{title}")
