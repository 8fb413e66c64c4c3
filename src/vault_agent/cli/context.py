"""`vault-agent context`: excerpts of notes for the prompts of a task file."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import asyncclick as click
import orjson

from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.names import client_here
from vault_agent.cli.terminal import clean, envelope, say, warn
from vault_agent.errors import InvalidRequest, NotFound

if TYPE_CHECKING:
    from vault_agent.client.client import Client

_MISSING = "CONTEXT_NOTE_NOT_FOUND"


@click.command("context", cls=Command)
@click.option(
    "--task-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Tasks as TOML or JSON.",
)
@click.option("--task", metavar="NAME", help="Only this task of the file.")
@click.option("--search", "searches", multiple=True, metavar="QUERY", help="Add a search.")
@click.option("--read", "reads", multiple=True, metavar="NOTE", help="Add a note.")
@click.option(
    "--format",
    "form",
    type=click.Choice(("section", "prompt")),
    help="The section, the prompt with the section, or all as JSON. Default: section.",
)
@click.option(
    "--max-tokens",
    type=click.IntRange(200, 32_000),
    default=4000,
    show_default=True,
    help="The most tokens of a section.",
)
@click.option("--strict", is_flag=True, help="Fail if a note to read is missing.")
def command(
    invocation: Invocation, /, task_file: Path | None, task: str | None, **options: Any
) -> None:
    """Print excerpts of notes for the prompt of an agent's task.

    \b
    vault-agent context --task-file tasks.toml --task login --format prompt
    vault-agent context --read conventions/style.md --search "token rotation"
    """  # noqa: D301 - \\b tells the parser to keep these lines
    form = "json" if invocation.json else options["form"] or "section"
    tasks = _tasks(task_file, task, options)
    if len(tasks) > 1 and form != "json":
        raise click.UsageError("Missing --task NAME: the file has several tasks")
    with client_here(invocation) as client:
        filled = [
            {**task, "context": _context(client, task, options["max_tokens"])} for task in tasks
        ]
    notices = [notice for task in filled for notice in task["context"].pop("warnings")]
    if options["strict"] and any(notice.code == _MISSING for notice in notices):
        raise NotFound("NOTE_NOT_FOUND", "A note to read is missing.", remedy="Check the names.")
    if form == "json":
        warnings = [{"code": n.code, "message": n.message, "details": n.details} for n in notices]
        envelope({"tasks": filled}, warnings)
    else:
        section = filled[0]["context"]["section"]
        prompt = str(filled[0]["prompt"]) if form == "prompt" else ""
        text = "\n\n".join(filter(None, (prompt.rstrip("\n"), section.rstrip("\n"))))
        if text:
            say(clean(text, lines=True))
    warn(notices)


def _tasks(file: Path | None, name: str | None, options: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the tasks of the file, or one made of the options."""
    queries = [{"kind": "read", "query": name} for name in options["reads"]]
    queries += [{"kind": "search", "query": words} for words in options["searches"]]
    if (file is None) == (not queries):
        raise click.UsageError("Give either --task-file, or at least one --search or --read")
    if file is None:
        if options["form"] == "prompt" or name is not None:
            raise click.UsageError("--task and --format prompt need --task-file")
        return [{"name": "", "prompt": "", "vault_context": queries}]
    tasks = read_tasks(file)
    if name is None:
        return tasks
    chosen = [task for task in tasks if task["name"] == name]
    if not chosen:
        names = ", ".join(clean(task["name"]) for task in tasks[:20])
        raise NotFound(
            "NOTE_NOT_FOUND", f"The file has no such task. Its tasks: {names}.", remedy=""
        )
    return chosen[:1]


def _context(client: Client, task: dict[str, Any], max_tokens: int) -> dict[str, Any]:
    queries = task.get("vault_context")
    if not queries:
        return {"section": "", "tokens": 0, "sources": [], "warnings": ()}
    reply = client.call("POST /context", {"queries": queries}, max_tokens=max_tokens)
    return {**reply.envelope["data"], "warnings": reply.warnings}


def read_tasks(path: Path) -> list[dict[str, Any]]:
    """Return the tasks of a file.

    Raises:
        InvalidRequest: `INVALID_REQUEST` that names the broken rule with its place, never content.
    """
    try:
        text = path.read_text("utf-8-sig")
        value = orjson.loads(text) if path.suffix.lower() == ".json" else tomllib.loads(text)
    except OSError as error:
        raise _wrong(f"cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise _wrong("is neither TOML nor, with the suffix .json, JSON") from None
    tasks = value.get("tasks") if isinstance(value, dict) else None
    texts = ("name", "prompt")
    if not isinstance(tasks, list) or not all(
        isinstance(task, dict) and all(isinstance(task.get(key), str) for key in texts)
        for task in tasks
    ):
        raise _wrong("needs a list `tasks` of mappings with the texts `name` and `prompt`")
    return tasks


def _wrong(what: str) -> InvalidRequest:
    return InvalidRequest("INVALID_REQUEST", f"The task file {what}.")
