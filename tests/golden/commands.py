"""What is asked by commands, all with `--json`: every command, and its common errors."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import asyncclick as click
from tests.golden.house import Case, House

from vault_agent.cli.command import Noun
from vault_agent.cli.run import COMMANDS, program

WITHOUT = {
    "demo": "starts a server of its own for a person to look at; tests/cli/test_start.py",
    "serve": "runs until it is stopped; tests/cli/test_serve.py",
    "show": "is another name of `get note`; tests/cli/test_exit_codes.py",
    "config": "prints what `config get` prints; tests/cli/test_enable.py",
    "enable": "restarts the server; tests/cli/test_enable.py",
    "memory journal import": "reads what agents left here; tests/product/test_starts_full.py",
    "doctor": "looks at the computer and its free space; tests/cli/test_doctor.py",
    "uninstall": "removes the indexes that are served; tests/cli/test_uninstall.py",
    "setup": "starts a server; tests/cli/test_setup.py",
    "agent connect": "changes settings of other programs; tests/mcp/test_connect.py",
    "agent disconnect": "changes settings of other programs; tests/mcp/test_connect.py",
    "agent": "looks for programs of the computer; tests/mcp/test_connect.py",
    "mcp": "is the relay for agents on standard input; tests/mcp/test_relay.py",
}
"""Commands without a golden reply, with the reason and where they are tested."""

ONLY_REFUSED: dict[str, str] = {}


def every() -> set[str]:
    """Return the names of all commands, those in groups with the name of the group."""
    context = click.Context(program, **program.context_settings)
    return {
        name
        for command in COMMANDS
        for name in _below(program.get_command(context, command), command)
    }


def _below(command: click.Command | None, name: str) -> Iterator[str]:
    assert command is not None
    if isinstance(command, Noun) or not isinstance(command, click.Group):
        yield name
    if not isinstance(command, click.Group):
        return
    context = click.Context(command)
    for inner in command.list_commands(context):
        yield from _below(command.get_command(context, inner), f"{name} {inner}")


def run(command: str, *words: str, **more: Any) -> Case:
    """Return the case of a command with its arguments."""
    return Case(command, list(words), **more)


def recorded(house: House, case: Case) -> dict[str, Any]:
    """Return the exit code and what is printed: JSON values, or lines."""
    words = house.named(case.sent)
    ended = house.command(
        *case.of.split(), *words, "--json", given=house.named(case.given),
        at=house.shop if case.project else None,
    )  # fmt: skip
    assert ended.returncode == 0 or ended.stderr or case.of == "grep", (case, ended)
    values = []
    for line in ended.stdout.splitlines():
        try:
            values.append(json.loads(line))
        except ValueError:
            values.append(line)
    return {"exit": ended.returncode, "reply": values[0] if len(values) == 1 else values}


READING = {
    "find": (
        run("search", "sourdough", "rye", "-n", "2"),
        run("search", "oven", "--explain", "-n", "1", what="explained"),
        run("search", "zzzz", what="nothing found"),
        run("search", "", what="no words"),
        run("search", "a", "--endpoint", "http://127.0.0.1:1", what="no server"),
        run("search", "a", "--api-key", "x", what="another key"),
        run("search", "a", "--unknown", what="an unknown option"),
        run("related", "Bread", "-n", "2"),
        run("related", "Brad", what="unknown"),
        run("grep", "rye|oven", "--limit", "2"),
        run("list", "Drafts", "-n", "2"),
        run("tags"),
        run("tags", "Bread", what="of a note"),
        run("tags", "baking", what="the notes of one"),
        run("list", "--folders", what="folders"),
        run("list", "--orphans", "-n", "2", what="orphans"),
        run("grep", "no such line", what="no line"),
        run("context", "--search", "crust steam", "--read", "Starter"),
        run("get note", "Starter"),
        run("get note", "Same", what="ambiguous"),
        run("get note", "Brad", what="unknown"),
        run("get chunk", "Starter"),
        run("get attachment", "jar.png"),
        run("get attachment", "none.png", what="unknown"),
        run("open", "Bread", "--in", "editor"),
        run("ui", "--print"),
    ),
    "links": (
        run("links", "Starter"),
        run("links", "Bread", "--in", what="to it"),
        run("links", "jar.png", what="to an attachment"),
        run("links", "Bread", "--mentions", what="mentions"),
        run("links check", what="broken links"),
        run("links check", "Bread.md"),
        run("graph export", "--output", "-", "--path", "A", "--path", "B"),
        run("graph", "Bread"),
        run("graph path", "Starter", "A/Same"),
        run("graph path", "Starter", "Alone", what="none"),
    ),
    "server": (
        run("status"),
        run("index"),
        run("reindex"),
        run("jobs", keep={"job": "reply.data.jobs.0.id"}),
        run("jobs", "«job»", what="one job"),
        run("jobs", "none", what="unknown"),
        run("jobs follow", "«job»"),
        run("jobs cancel", "«job»", what="ended"),
        run("vaults", varying=("bytes",)),
        run("vaults forget", "none", what="unknown"),
        run("completion", "fish"),
        run("config path"),
        run("config get", "mcp.enabled"),
        run("config get", "none", what="unknown"),
        run("config reveal-api-key"),
        run("config set", "search.recency", "3"),
        run("config set", "search.recency", "x", what="no number"),
        run("config set", "search.recency", "", what="empty"),
        run("config unset", "search.recency"),
        run("agent add", "new", "--folder", "claude", keep={"agent key": "reply.data.key"}),
        run("agent set", "new", "--write", "create"),
        run("agent rotate", "new", keep={"new agent key": "reply.data.key"}),
        run("agent remove", "new"),
        run("agent remove", "new", what="unknown"),
    ),
    "project": (
        run("init", "--yes", project=True, what="again"),
        run("vaults add", "--yes", project=True, what="the vault of a project"),
        run("vaults add", "«claude»", "--name", "robot"),
        run("vaults forget", "robot"),
        run("memory hook", project=True, what="a start",
            given='{"hook_event_name": "start", "session_id": "golden-session-3",'
            ' "cwd": "«shop»", "session_title": "Prices"}'),
        run("memory show", "round prices in src/costs.py", project=True),
        run("memory"),
        run("memory log"),
        run("memory log", "golden-session-3", what="one session"),
        run("memory log", "none", what="unknown"),
        run("memory hook", "--agent", "claude-code", project=True,
            given='{"hook_event_name": "SessionStart", "session_id": "golden-session-4",'
            ' "cwd": "«shop»", "source": "startup"}'),
        run("memory journal make", "golden-session-3", project=True),
        run("memory journal", project=True, until=("reply.data.journals.0.state", "complete")),
        run("memory journal make", "--all", project=True, what="of all"),
        run("memory promote", "Round prices", project=True),
        run("memory promote", "Round prices", "--undo", project=True, what="undone"),
        run("memory forget", "golden-session-3"),
    ),
}  # fmt: skip
HERE = "Drafts/Command.md"
WRITING = {
    "change": (
        run("write", "Drafts/Typed.md", "-t", "# Typed\n"),
        run("write", "Drafts/Typed.md", "-t", "x", what="it exists"),
        run("write", HERE, "-t", "x", "--dry-run", "--mode", "append", what="tried"),
        run("edit section", HERE, what="the headings"),
        run("edit section", HERE, "--heading", "Log", "--action", "append", "-t", "More."),
        run("edit section", HERE, "--heading", "Logs", "--action", "append", "-t", "x",
            what="an unknown heading"),
        run("edit replace", HERE, "Old", "New", "-y"),
        run("edit replace", HERE, "Old", "New", "-y", what="none"),
        run("edit properties set", HERE, "rank", "2"),
        run("edit properties", HERE),
        run("edit properties", HERE, "RANK", what="one key"),
        run("edit properties", HERE, "none", what="unknown"),
        run("edit properties delete", HERE, "rank"),
        run("tags add", HERE, "made"),
        run("tags remove", HERE, "made"),
        run("tasks add", HERE, "Second step", "--section", "Tasks"),
        run("tasks", HERE, until=("reply.data.tasks.1.status", "open")),
        run("tasks done", f"{HERE}:10"),
        run("tasks toggle", f"{HERE}:10"),
        run("tasks cancel", f"{HERE}:11"),
        run("tasks done", f"{HERE}:1", what="no task"),
        run("new", "Drafts/Typed/", what="a folder"),
        run("new", "Invitation", "Drafts/Met.md", "--var", "who=A friend"),
        run("new", what="the templates"),
        run("move", "Drafts/Typed.md", "Drafts/Typed/", "-y"),
        run("delete", "Drafts/Typed/Typed.md", "-y"),
        run("delete", "Drafts/Typed/Typed.md", "-y", what="unknown"),
        run("undo"),
        run("undo", "none", what="unknown"),
        run("undo", "--list", keep={"write": "reply.data.writes.0.writeId"}, what="the writes"),
        run("undo", "--list", "«write»", what="one write"),
    ),
}  # fmt: skip
