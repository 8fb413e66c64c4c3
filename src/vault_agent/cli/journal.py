"""`vault-agent memory journal`: the journals of agents' sessions."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import asyncclick as click

from vault_agent.cli.command import Invocation, Noun
from vault_agent.cli.names import whole_id
from vault_agent.cli.scope import client_here
from vault_agent.cli.terminal import clean, counted, distinct_warnings, envelope, say, tell, warn
from vault_agent.errors import Failed, Forbidden, NotFound, Unavailable

if TYPE_CHECKING:
    from pathlib import Path

    from vault_agent.client.client import Client

_LOOK_SECONDS = 0.5
_MOST_SECONDS = 120.0
_MOST = 500
"""Sessions that one request lists."""
_REASONS = {
    "short": "too short for a journal",
    "asked": "waits for: vault-agent memory journal make",
    "excluded": "in a folder that leaves none",
    "edited": "changed by you: it is never rewritten",
    "crash": "the session ended without a word",
    "command_failed": "journal.command wrote none",
    "transcript_missing": "the agent's transcript could not be read",
}


journal_command = Noun("journal")


@journal_command.by_itself
@click.option("--all", "everything", is_flag=True, help="Also sessions that have no journal.")
@click.option(
    "--state",
    type=click.Choice(["pending", "incomplete", "complete", "skipped"]),
    help="Only journals in this state.",
)
@click.option(
    "-n", "--limit", type=click.IntRange(1, _MOST), default=50, show_default=True, help="Journals."
)
@click.pass_obj
def journals(invocation: Invocation, everything: bool, state: str | None, limit: int) -> None:
    """List the journals of agents' sessions, and write missing ones.

    It says what is missing. Inside a project, only its sessions are listed. SESSION is the ID of
    a session, or the beginning of one.
    """
    is_plain = not (invocation.json or everything or state)
    wanted = state or ("all" if everything or is_plain else None)
    with client_here(invocation, only_trusted=True) as client:
        most = _MOST if is_plain else limit
        reply = client.call("GET /journals", state=wanted, limit=most)
    warn(reply.warnings)
    if invocation.passed_on(reply):
        return
    journals = reply.envelope["data"]["journals"]
    left_out = [journal for journal in journals if is_plain and journal["state"] == "skipped"]
    for journal in [journal for journal in journals if journal not in left_out][:limit]:
        say(_journal_line(journal))
    if not journals:
        tell("There are no journals. They begin with the next session of an agent with hooks.")
    if left_out:
        why = Counter(_reason(journal) for journal in left_out)
        reasons = ", ".join(f"{number} {reason}" for reason, number in why.most_common())
        tell(
            f"Sessions without a journal: {reasons}. To list them: vault-agent memory journal --all"
        )


@journal_command.command("make")
@click.argument("session_id", metavar="[SESSION]", required=False)
@click.option("--all", "everything", is_flag=True, help="All sessions that have none.")
@click.pass_obj
def make(invocation: Invocation, session_id: str | None, everything: bool) -> None:
    """Write the journal of a session now, however short the session was.

    With --all, it writes those of all sessions that have none or an incomplete one. Inside a
    project, only of its sessions.
    """
    if (session_id is None) != everything:
        raise click.UsageError("give a SESSION or --all")
    with client_here(invocation, only_trusted=True) as client:
        if session_id is not None:
            wanted = [_whole_session(client, session_id)]
        else:
            page = client.call("GET /journals", state="all", limit=_MOST)
            journals = page.envelope["data"]["journals"]
            wanted = [journal["sessionId"] for journal in journals if _lacks_one(journal)]
        replies = [client.call("POST /journals", session_id=session) for session in wanted]
    made = [reply.envelope["data"]["journal"] for reply in replies]
    if invocation.json:
        envelope({"journals": made}, distinct_warnings(replies))
        return
    for journal in made:
        say(_journal_line(journal))
    if made:
        tell("To see what is written: vault-agent memory journal")
    else:
        tell("All sessions have their journals.")


def _lacks_one(journal: dict[str, Any]) -> bool:
    return journal["state"] in {"pending", "incomplete"}


@journal_command.command("import")
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(1, 5_000),
    default=50,
    show_default=True,
    help="Sessions, the latest ones.",
)
@click.pass_obj
def import_(invocation: Invocation, limit: int) -> None:
    """Make journals of the sessions of this project that are on this disk.

    They are those of Claude Code, Codex and Gemini CLI. Run again, it adds nothing. Without a
    server, the next one writes the journals.
    """
    made, total = import_here(invocation, limit)
    if not invocation.json:
        tell(f"{counted(total, 'session')} of this project on this disk, {len(made)} of them new.")
    number = _wait_for_journals(invocation, made) if made else None
    if invocation.json:
        envelope({"found": total, "added": made, "written": number})
    elif number is not None:
        none = len(made) - number
        why = f" {counted(none, 'session')} left none." if none else ""
        say(f"{counted(number, 'journal')} written.{why} Next: vault-agent memory journal")
    elif made:
        tell("Their journals are written by the next server: vault-agent serve --background")


def count_here(project: Path) -> int:
    """Return how many sessions of a project are on this disk."""
    from vault_agent.memory.past_sessions import past_sessions

    return len(past_sessions(project))


def import_here(invocation: Invocation, limit: int) -> tuple[list[str], int]:
    """Take over the latest sessions of this project. Return the new ones, and how many there are.

    Raises:
        NotFound: `VAULT_UNKNOWN` outside a project with a vault.
        Forbidden: `VAULT_NOT_TRUSTED`.
        Failed: `OUTPUT_FAILED`.
    """
    from vault_agent.config.connection import hook_settings
    from vault_agent.config.project import find_project
    from vault_agent.config.registry import read_registry
    from vault_agent.config.trust import trusted_entry
    from vault_agent.memory.past_sessions import past_sessions, take_over_sessions

    project = find_project()
    if project is None:
        raise NotFound(
            "VAULT_UNKNOWN",
            "This folder is in no project with a vault.",
            remedy="Run `vault-agent init` to make one.",
        )
    entry = trusted_entry(project, read_registry())
    if entry is None:
        raise Forbidden("VAULT_NOT_TRUSTED", "This project has a vault that you have not allowed.")
    sessions = past_sessions(project.folder)
    data = hook_settings(invocation.layers()).folder
    try:
        made = take_over_sessions(data, entry.identity, project.folder, sessions[:limit])
    except OSError as error:
        raise Failed("OUTPUT_FAILED", f"A file cannot be written: {error.strerror}.") from None
    return made, len(sessions)


def _wait_for_journals(invocation: Invocation, made: list[str]) -> int | None:
    """Wait until a running server has tried all journals. Return how many there are."""
    try:
        with client_here(invocation, only_trusted=True) as client:
            client.call("POST /journals", session_id=made[0])  # it looks at all of them
            left = set(made)
            deadline = time.monotonic() + _MOST_SECONDS
            while left and time.monotonic() < deadline:
                time.sleep(_LOOK_SECONDS)
                page = client.call("GET /journals", state="all", limit=_MOST)
                journals = page.envelope["data"]["journals"]
                ready = {
                    journal["sessionId"]: journal
                    for journal in journals
                    if journal["state"] != "pending"
                }
                left -= ready.keys()
            return sum(
                journal["noteId"] is not None
                for journal in journals
                if journal["sessionId"] in made
            )
    except Unavailable:
        return None


def _whole_session(client: Client, session: str) -> str:
    """Return the ID of one of the latest sessions by its beginning."""
    latest = client.call("GET /journals", state="all", limit=_MOST)
    return whole_id(
        session, (journal["sessionId"] for journal in latest.envelope["data"]["journals"])
    )


def _reason(journal: dict[str, Any]) -> str:
    return _REASONS.get(journal["reason"], str(journal["reason"]))


def _journal_line(journal: dict[str, Any]) -> str:
    day = journal["startedAt"][:10]
    why = f" ({_reason(journal)})" if journal["reason"] is not None else ""
    name = journal["path"] or journal["sessionId"]
    title = f"  {journal['title']}" if journal["title"] else ""
    return clean(f"{day}  {journal['state']}{why}  {name}{title}")
