"""`vault-agent tasks`."""

from __future__ import annotations

import re
import sys
from functools import partial
from typing import Any

import asyncclick as click

from vault_agent.cli.command import Exit, Invocation, Noun
from vault_agent.cli.list import Listing, note_filters, page_options
from vault_agent.cli.names import client_here, find
from vault_agent.cli.terminal import DAY, DAYS, clean, is_terminal, say, style, tell
from vault_agent.cli.write import change, change_note, how_options

_TASK_ID = re.compile(r"[0-9a-f]{32}:[1-9][0-9]*:[0-9a-f]{8}")
_SHOWN = ("due", "scheduled", "start", "done", "cancelled", "priority", "recurrence")


command = Noun("tasks")


@command.by_itself
@click.argument("places", nargs=-1, metavar="[PATH]...")
@click.option(
    "--status",
    type=click.Choice(("open", "done", "cancelled", "all")),
    default="open",
    show_default=True,
    help="Only with this status.",
)
@note_filters("tags")
@click.option("--due-after", metavar="DATE", type=DAY, help=f"Only due from this day: {DAYS}.")
@click.option("--due-before", metavar="DATE", type=DAY, help=f"Only due to this day: {DAYS}.")
@page_options("Tasks")
def show(invocation: Invocation, /, places: tuple[str, ...], **options: Any) -> int:
    """List and change tasks in notes.

    A task is a list item with a check box. PATH is a note or a folder.

    \b
    vault-agent tasks --due-before +7     what is due this week
    vault-agent tasks done Plan.md:12
    """  # noqa: D301 - \\b tells the parser to keep this line
    listing = Listing(invocation, "tasks", options.pop("limit"), options.pop("cursor"))
    options |= {"path": places, "tag": options.pop("tags")}
    with client_here(invocation) as client:
        for tasks in listing.rows(partial(client.call, "GET /tasks", **options)):
            for task in tasks:
                _show(task)
    code = listing.close("No such tasks. All: vault-agent tasks --status all", "task")
    if code == Exit.NOT_FOUND and not invocation.json:
        verbs = ", ".join(command.commands)
        tell(f"Commands of tasks: {verbs}. To take back a change: vault-agent undo")
    return code


@command.command("add")
@click.argument("note", metavar="NOTE")
@click.argument("text")
@click.option(
    "--heading",
    "--section",
    "section",
    metavar="HEADING",
    help="Add it below this heading. Default: the end.",
)
@click.option("--due", metavar="DATE", type=DAY, help=f"When it is due: {DAYS}.")
@click.option("--scheduled", metavar="DATE", type=DAY, help="When you plan to do it.")
@click.option("--start", metavar="DATE", type=DAY, help="When it can be begun.")
@click.option(
    "--priority",
    type=click.Choice(("highest", "high", "medium", "low", "lowest")),
    help="How important it is.",
)
@click.option(
    "--every", "recurrence", metavar="RULE", help="How it recurs: week, 2 days, month on the 1st."
)
@how_options()
def add(invocation: Invocation, /, note: str, text: str, **options: Any) -> int | None:
    """Add a task to a note."""
    if options["recurrence"] is not None:
        options["recurrence"] = f"every {options['recurrence'].removeprefix('every ')}"
    return change_note(invocation, note, "POST /write/tasks/add", {"text": text}, options)


def _add_verb(verb: str, status: str, summary: str) -> None:
    """Add a command that gives a task a status."""

    @command.command(verb, help=summary)
    @click.argument("task", metavar="NOTE:LINE")
    @how_options()
    def set_status(invocation: Invocation, /, task: str, **options: Any) -> int | None:
        body: dict[str, Any] = {"status": status}
        note, _, line = task.rpartition(":")
        is_id = _TASK_ID.fullmatch(task)
        if not is_id and not (note and line.isdecimal()):
            raise click.UsageError("name the task by its note and line, as in Plan.md:12")
        with client_here(invocation) as client:
            if is_id:
                body["taskId"] = task
            else:
                body |= {"noteId": find(invocation, client, note).note_id, "line": int(line)}
            return change(invocation, client, "POST /write/tasks/set", body, options)


_add_verb("done", "done", "Complete a task, dated today. A recurring one gets its next one.")
_add_verb("toggle", "toggle", "Complete a task, or open it again.")
_add_verb("cancel", "cancelled", "Cancel a task, dated today.")


def _show(task: dict[str, Any]) -> None:
    fields = ", ".join(f"{name} {clean(task[name])}" for name in _SHOWN if task.get(name))
    place = style(f"{clean(task['path'])}:{task['line']}:", "faint")
    text = f"[{clean(task['symbol'])}] {clean(task['text'])}"
    space = " " if is_terminal(sys.stdout) else ""
    say(f"{place}{space}{text}{'  ' + style(f'({fields})', 'faint') if fields else ''}")
