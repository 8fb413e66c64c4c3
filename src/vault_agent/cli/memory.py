"""`vault-agent memory`: what agents got of earlier sessions, and the journals of their sessions."""

from __future__ import annotations

import time
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any

import asyncclick as click

from vault_agent.cli.command import Invocation, Noun, read_table
from vault_agent.cli.names import client_here, find
from vault_agent.cli.terminal import (
    clean,
    distinct_warnings,
    envelope,
    local_time,
    say,
    style,
    tell,
    warn,
)
from vault_agent.errors import Failed, Forbidden, NotFound, Unavailable, counted
from vault_agent.model.memory import RecallWeights

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from vault_agent.client.client import Client

_MOST = 500
"""Sessions that one request lists."""
_MOST_SECONDS = 120.0


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
def journals(invocation: Invocation, everything: bool, state: str | None, limit: int) -> None:
    """List the journals of agents' sessions, and write missing ones.

    Inside a project, only its sessions are listed. SESSION is the ID of a session, or the
    beginning of one.
    """
    wanted = state or ("all" if everything else None)
    with client_here(invocation, only_trusted=True) as client:
        reply = client.call("GET /journals", state=wanted, limit=limit)
    warn(reply.warnings)
    if invocation.passed_on(reply):
        return
    journals = reply.envelope["data"]["journals"]
    for journal in journals:
        say(_journal_line(journal))
    if not journals:
        tell(
            "There are no journals. They begin with the next session of an agent with hooks."
            if wanted == "all"
            else "There are no such journals. All sessions: vault-agent memory journal --all"
        )


@journal_command.command("make")
@click.argument("session_id", metavar="[SESSION]", required=False)
@click.option("--all", "everything", is_flag=True, help="All sessions that have none.")
def make(invocation: Invocation, session_id: str | None, everything: bool) -> None:
    """Write the journal of a session now, however short the session was.

    With --all, it writes those of all sessions that have none or an incomplete one. Inside a
    project, only of its sessions.
    """
    if (session_id is None) != everything:
        raise click.UsageError("give a SESSION or --all")
    with client_here(invocation, only_trusted=True) as client:
        if session_id is not None:
            wanted = [whole_id(session_id, (row["sessionId"] for row in _all_journals(client)))]
        else:
            missing = {"pending", "incomplete"}
            wanted = [row["sessionId"] for row in _all_journals(client) if row["state"] in missing]
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


@journal_command.command("import")
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(1, 5_000),
    default=50,
    show_default=True,
    help="Sessions, the latest ones.",
)
def import_(invocation: Invocation, limit: int) -> None:
    """Make journals of the sessions of this project that are on this disk.

    They are those of Claude Code, Codex and Gemini CLI. Run again, it adds nothing. Without a
    server, the next one writes the journals.
    """
    made, total = import_here(invocation, limit)
    if not invocation.json:
        say(f"{counted(total, 'session')} of this project on this disk, {len(made)} of them new.")
    number = _wait_for_journals(invocation, made) if made else None
    if invocation.json:
        envelope({"found": total, "added": made, "written": number})
    elif number is not None:
        tell(f"{counted(number, 'journal')} written. Next: vault-agent memory journal")
    elif made:
        tell("Their journals are written by the next server: vault-agent serve --background")


def _wait_for_journals(invocation: Invocation, made: list[str]) -> int | None:
    """Wait until a running server has tried all journals. Return how many there are."""
    deadline = time.monotonic() + _MOST_SECONDS
    with suppress(Unavailable), client_here(invocation, only_trusted=True) as client:
        client.call("POST /journals", session_id=made[0])  # it looks at all of them
        while True:
            journals = [row for row in _all_journals(client) if row["sessionId"] in made]
            is_done = all(row["state"] != "pending" for row in journals)
            if is_done or time.monotonic() > deadline:
                return sum(row["noteId"] is not None for row in journals)
            time.sleep(0.5)
    return None


def _all_journals(client: Client) -> list[dict[str, Any]]:
    reply = client.call("GET /journals", state="all", limit=_MOST)
    rows: list[dict[str, Any]] = reply.envelope["data"]["journals"]
    return rows


def whole_id(begin: str, session_ids: Iterable[str]) -> str:
    """Return the only ID that begins so, or the text itself if not exactly one does."""
    matching = [session_id for session_id in session_ids if session_id.startswith(begin)]
    return matching[0] if len(matching) == 1 else begin


def count_here(project: Path) -> int:
    """Return how many sessions of a project are on this disk."""
    from vault_agent.memory.transcripts.read import past_sessions

    return len(past_sessions(project))


def import_here(invocation: Invocation, limit: int) -> tuple[list[str], int]:
    """Take over the latest sessions of this project. Return the new ones, and how many there are.

    Raises:
        NotFound: `VAULT_UNKNOWN` outside a project with a vault.
        Forbidden: `VAULT_NOT_TRUSTED`.
        Failed: `OUTPUT_FAILED`.
    """
    from vault_agent.config.fast_settings import hook_settings
    from vault_agent.config.project import find_project, trusted_entry
    from vault_agent.config.vault_list import read_registry
    from vault_agent.memory.transcripts.read import past_sessions, take_over_sessions

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


@cache
def _reasons() -> dict[str, str]:
    """Return in words why a session has no journal, or not a complete one."""
    return read_table("journal_reasons.toml")


def _journal_line(journal: dict[str, Any]) -> str:
    day = journal["startedAt"][:10]
    reason = journal["reason"]
    why = f" ({_reasons().get(reason, reason)})" if reason is not None else ""
    name = journal["path"] or journal["sessionId"]
    title = f"  {journal['title']}" if journal["title"] else ""
    return clean(f"{day}  {journal['state']}{why}  {name}{title}")


command = Noun("memory")
command.add_command(journal_command)


@command.command("show")
@click.argument("prompt", nargs=-1)
@click.option("--file", "files", multiple=True, metavar="PATH", help="A file of the task.")
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="A tag of the task.")
@click.option("--start", is_flag=True, help="Show what a session gets at its start.")
@click.option("-n", "--limit", "maxNotes", type=click.IntRange(1, 20), help="Notes, 1 to 20.")
@click.option("--max-tokens", "maxTokens", type=click.IntRange(100, 2_000), help="The most tokens.")
def show(invocation: Invocation, /, prompt: tuple[str, ...], **options: Any) -> None:
    """Print the notes that matter for a task, as an agent gets them.

    Inside a project, they are those of the project and the global vault.

    \b
    vault-agent memory show "streaming cost updates" --file src/cost.py
    vault-agent --json memory show --file src/cost.py     why each note was taken or left out
    """  # noqa: D301 - \\b tells the parser to keep these lines
    body = {"prompt": " ".join(prompt), "explain": True, **options}
    with client_here(invocation, only_trusted=True) as client:
        reply = client.call("POST /memory", **body)
    if invocation.passed_on(reply):
        return
    warn(reply.warnings)
    data = reply.envelope["data"]
    if data["text"]:
        say(clean(data["text"], lines=True))
    else:
        tell(f"Nothing is recalled: {_why_nothing(data, body['prompt'])}.")


@command.command("log")
@click.argument("session", required=False)
@click.option("--project", metavar="NAME", help="Only sessions of this project.")
@click.option(
    "-n", "--limit", type=click.IntRange(1, 100), default=20, show_default=True, help="Sessions."
)
@click.option("--cursor", help="Continue the page before, with the same other options.")
def log(invocation: Invocation, /, session: str | None, **options: Any) -> None:
    """List the sessions of agents, or show all that one SESSION got, and why.

    SESSION is an ID, or the beginning of one. Inside a project, its sessions are listed.
    """
    if session is None:
        _list_sessions(invocation, **options)
        return
    with invocation.client() as client:
        whole = _whole(client, session)
        reply = client.call("GET /memory/sessions/{sessionId}", session_id=whole)
    if not invocation.passed_on(reply):
        _show_session(reply.envelope["data"]["session"])


def _list_sessions(invocation: Invocation, *, project: str | None, **options: Any) -> None:
    """List the sessions of agents: those of the project of this name, or of the one here."""
    is_here = project is None
    connected = client_here(invocation, only_trusted=True) if is_here else invocation.client()
    with connected as client:
        reply = client.call("GET /memory/sessions", project=project, **options)
    if invocation.passed_on(reply):
        return
    data = reply.envelope["data"]
    for row in data["sessions"]:
        got = f"{counted(row['notes'], 'note')}, ~{row['tokens']:,} tokens"
        title = f"  {clean(row['title'])}" if row["title"] else ""
        project = clean(row["project"] or row["vault"])
        say(
            f"{style(clean(row['sessionId']), 'strong')}  {local_time(row['lastEventAt']):<16}"
            f" {clean(row['agent'])}  {project}  {got}{title}"
        )
    if not data["sessions"]:
        tell("No session of an agent is known. Next: vault-agent agent connect CLIENT")
    if data["nextCursor"] is not None:
        tell(f"More: add --cursor {clean(data['nextCursor'])}")


@command.by_itself
def sessions(invocation: Invocation) -> None:
    """Show what is recalled and what agents got, and the journals of their sessions.

    By itself it lists the sessions of agents, as `memory log` does.
    """
    _list_sessions(invocation, project=None, limit=20, cursor=None)


@command.command("forget")
@click.argument("session", required=False)
@click.option(
    "--older-than",
    "older_than_days",
    type=click.IntRange(0),
    metavar="DAYS",
    help="Sessions without an event for so many days.",
)
@click.option("--all", is_flag=True, help="All sessions.")
def forget(invocation: Invocation, /, session: str | None, **options: Any) -> None:
    """Delete what is logged about sessions: what they got, and when. Notes stay.

    \b
    vault-agent memory forget --older-than 90
    """  # noqa: D301 - \\b tells the parser to keep these lines
    chosen = (session is not None, options["older_than_days"] is not None, options["all"])
    if sum(chosen) != 1:
        raise click.UsageError("give a SESSION, --older-than or --all")
    with invocation.client() as client:
        whole = _whole(client, session) if session is not None else None
        reply = client.call("POST /memory/forget", session_id=whole, **options)
    if invocation.passed_on(reply):
        return
    say(f"{counted(reply.envelope['data']['forgotten'], 'session')} forgotten.")


@command.command("hook")
@click.option("--agent", metavar="CLIENT", default="generic", help="The client that calls it.")
def hook(invocation: Invocation, agent: str) -> None:
    """Take an event of an agent's session from standard input. Agents call it.

    `vault-agent agent connect` writes it into an agent's settings.
    """
    from vault_agent.cli.hook import HookOptions, run_hook

    config = str(invocation.config) if invocation.config is not None else None
    run_hook(HookOptions(agent, config, invocation.endpoint))


@command.command("promote")
@click.argument("note")
@click.option("--section", metavar="HEADING", help="Copy only what is below this heading.")
@click.option("--folder", help="The folder of the global vault. Default: that of the note's type.")
@click.option("--force", is_flag=True, help="Even if the global vault has a similar note.")
@click.option("--undo", is_flag=True, help="Take the promotion back: the copy goes to the trash.")
def promote(invocation: Invocation, /, note: str, **options: Any) -> None:
    """Copy a note of a project, or a section of it, to the global vault.

    \b
    vault-agent memory promote "Parse costs with a regex"
    vault-agent memory promote "Parse costs with a regex" --section "Key Decisions"
    vault-agent memory promote id:decision-2026-02-13-k3x7qa --undo
    """  # noqa: D301 - \\b tells the parser to keep these lines
    undo = options.pop("undo")
    if undo and (options["folder"] or options["force"]):
        raise click.UsageError("--undo takes no other option than --section")
    with invocation.client() as client:
        place = find(invocation, client, note)
        if undo:
            _undo_promotion(invocation, client, place.note_id, options["section"])
            return
        body = {name: value for name, value in options.items() if value}
        reply = client.call("POST /notes/{noteId}/promote", body, note_id=place.note_id)
    if invocation.passed_on(reply):
        return
    data = reply.envelope["data"]
    path = clean(data["global"]["path"])
    say(f"{'copied to' if data['created'] else 'is already in'} global:{path}")
    warn(reply.warnings)


def _undo_promotion(
    invocation: Invocation, client: Client, note_id: str, section: str | None
) -> None:
    reply = client.call("DELETE /notes/{noteId}/promote", note_id=note_id, section=section)
    if invocation.passed_on(reply):
        return
    data = reply.envelope["data"]
    if not data["changed"]:
        tell("The note was not promoted.")
    elif data["trashPath"] is not None:
        say(f"moved to global:{clean(data['trashPath'])}")
    else:
        say("not promoted any more; no copy was moved to the trash")
    warn(reply.warnings)


def _show_session(session: dict[str, Any]) -> None:
    say(
        f"{clean(session['sessionId'])}  {clean(session['agent'])}"
        f"  {clean(session['project'] or session['vault'])}  {clean(session['state'])}"
    )
    for delivery in session["deliveries"]:
        tokens = f"~{delivery['tokens']:,} of {delivery['maxTokens']:,} tokens"
        say(
            f"\n{style(clean(delivery['event']), 'strong')}  {local_time(delivery['at'])}  {tokens}"
        )
        for note in delivery["notes"]:
            changed = "  (changed since)" if note["changed"] else ""
            say(f"  {_line(note, ', '.join(note['reasons']))}{changed}")
        for note in delivery["leftOut"]:
            say(style(f"  {_line(note, 'left out: ' + note['leftOut'])}", "faint"))
    for note in session["pinned"]:
        say(f"\ncomes first at the next event: {clean(note['vault'])}/{clean(note['path'])}")


def _whole(client: Client, begin: str) -> str:
    latest = client.call("GET /memory/sessions", limit=100).envelope["data"]["sessions"]
    return whole_id(begin, (session["sessionId"] for session in latest))


def _why_nothing(data: dict[str, Any], prompt: str) -> str:
    """Return why no note is recalled: what is wrong with the nearest one, or with the prompt."""
    near = [note for note in data["leftOut"] if note["leftOut"] != "relevance"]
    if near:
        note = max(near, key=lambda note: note["score"])
        return clean(f"{note['vault']}/{note['path']} is left out: {note['leftOut']}")
    if prompt and data["wordMatch"] is None:
        return "the prompt has fewer than two words that name a subject"
    return "no note is about this"


def _line(note: dict[str, Any], why: str) -> str:
    parts = " ".join(f"{note[name]:.2f}" for name in RecallWeights._fields)
    return clean(f"{note['score']:.2f} ({parts})  {note['vault']}/{note['path']}  {why}")
