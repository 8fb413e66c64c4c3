"""`vault-agent tasks list`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import asyncclick as click

from vault_agent.cli.command import Group, Invocation
from vault_agent.cli.terminal import clean, pass_on, say, style, tell, warn

if TYPE_CHECKING:
    from vault_agent.client.client import Reply
    from vault_agent.wire.lists import TasksData

_SHOWN = ("due", "scheduled", "start", "done", "cancelled", "priority", "recurrence")


@click.group("tasks", cls=Group)
def command() -> None:
    """List the tasks of notes: list items with a check box."""


@command.command("list")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option(
    "--status",
    type=click.Choice(("open", "done", "cancelled", "all")),
    default="open",
    show_default=True,
    help="Only with this status.",
)
@click.option(
    "--tag", "tags", multiple=True, help="Only with this tag. Repeat to require several tags."
)
@click.option("--due-after", metavar="DATE", help="Only due from this day, YYYY-MM-DD.")
@click.option("--due-before", metavar="DATE", help="Only due to this day, YYYY-MM-DD.")
@click.option("-n", "--limit", type=int, default=50, show_default=True, help="Tasks, 1 to 200.")
@click.option("--cursor", help="Continue the page before, with the same other options.")
@click.pass_obj
async def list_(invocation: Invocation, /, paths: tuple[str, ...], **options: Any) -> None:
    """List tasks as `path:line: [ ] text`, all or those of a note or folder."""
    arguments = {
        "path": paths,
        "status": options["status"],
        "tag": tuple(tag.removeprefix("#") for tag in options["tags"]),
        "dueAfter": options["due_after"],
        "dueBefore": options["due_before"],
        "limit": options["limit"],
        "cursor": options["cursor"],
    }
    async with invocation.client() as client:
        reply = await client.lists.tasks(arguments)
    _show(reply, as_json=invocation.json)


def _show(reply: Reply[TasksData], *, as_json: bool) -> None:
    if as_json:
        pass_on(reply.body)
        return
    data = reply.envelope["data"]
    for task in data["tasks"]:
        fields = ", ".join(f"{name} {clean(task[name])}" for name in _SHOWN if task.get(name))
        place = style(f"{clean(task['path'])}:{task['line']}:", "faint")
        text = f"[{clean(task['symbol'])}] {clean(task['text'])}"
        say(f"{place} {text}{'  ' + style(f'({fields})', 'faint') if fields else ''}")
    if not data["tasks"]:
        tell("No tasks.")
    warn(reply.warnings)
    if data["hasMore"]:
        tell(f"More: add --cursor {clean(data['nextCursor'])}")
