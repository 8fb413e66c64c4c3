"""`vault-agent write` and `new`, and how every command changes notes.

A change is sent after its difference was shown and a question, and what was done is told.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import asyncclick as click

from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.list import CommandFunction, pairs, with_options
from vault_agent.cli.names import client_here, named_file
from vault_agent.cli.terminal import (
    DECLINED,
    agreed,
    can_ask,
    clean,
    is_terminal,
    say,
    style,
    tell,
    warn,
)
from vault_agent.errors import InvalidRequest, counted
from vault_agent.text.lines import split_lines
from vault_agent.text.names import is_note

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from vault_agent.cli.command import Invocation
    from vault_agent.client.client import Client, Reply


_WAIT_MS = 10_000
"""How long a command waits until a search finds the change. A server that reopens may need it."""
_VERBS = {"delete": "deleted", "move": "moved", "undo": "undone"}


def how_options(*, asks: bool = False) -> Callable[[CommandFunction], CommandFunction]:
    """Return a decorator that adds the options of all changes.

    `asks`: the command may ask first.
    """
    options = [
        click.option("--dry-run", is_flag=True, help="Show the difference, and write nothing."),
        click.option(
            "--expected-hash",
            metavar="HASH",
            help="Refuse if the note has another hash: its first 16 digits or more.",
        ),
        click.option(
            "--no-wait", is_flag=True, help="Do not wait until a search finds the change."
        ),
    ]
    if asks:
        options.append(click.option("-y", "--yes", is_flag=True, help="Do not ask."))
    return with_options(*options)


def existing(invocation: Invocation, client: Client, name: str) -> dict[str, str]:
    """Return the fields that name an existing note, which a person means by a name.

    Raises:
        InvalidRequest: if the name is that of an attachment.
        NotFound: `NOTE_NOT_FOUND`, or `NOTE_AMBIGUOUS` with `details.notes`.
    """
    file = named_file(invocation, client, name)
    if file.path is not None and not is_note(file.path):
        what = "This is an attachment. It can be moved and deleted, but not edited."
        raise InvalidRequest("INVALID_REQUEST", what)
    return file.body


text_options = with_options(
    click.option(
        "-f", "--file", metavar="FILE|-", help="Read the text from a file, or - for stdin."
    ),
    click.option("-t", "--text", help="The text itself."),
)
"""The options that say which text to write."""


def text_of(options: dict[str, Any]) -> str:
    """Take the text out of a command's options, or read it from a file or standard input.

    Raises:
        UsageError: if there is none, or the file cannot be read or is not UTF-8.
    """
    file, text = options.pop("file"), options.pop("text")
    if file is not None and text is not None:
        raise click.UsageError("give either --text or --file")
    if text is not None:
        return str(text)
    if file is None and is_terminal(sys.stdin):
        raise click.UsageError("give the text with --text, with --file, or by a pipe")
    try:
        if file in (None, "-"):
            text = sys.stdin.buffer.read().decode("utf-8-sig")
            if not text:  # the command before it has probably failed
                raise click.UsageError("Standard input is empty. For an empty note: --text ''")
            return text
        return Path(file).read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise click.UsageError("the text is not UTF-8") from None
    except OSError as error:
        raise click.UsageError(f"the file cannot be read: {error.strerror}") from None


def change(
    invocation: Invocation,
    client: Client,
    operation: str,
    body: Mapping[str, Any],
    options: Mapping[str, Any],
    *,
    asks: str = "",
) -> int | None:
    """Send a change and say what was done. Return the exit code, None for success.

    `options` has those of `how_options`, and fields of the request by their names in Python.
    `asks` is the question of a change that can hide text from
    its reader, such as "Delete it?". `{path}` in it stands for the path after the change.
    It is asked after the difference was shown, and then exactly that change is sent.

    Raises:
        Conflict: `HASH_MISMATCH` and the like.
        VaultAgentError: as the operation.
    """
    fields = dict(options)
    fields["wait_ms"] = 0 if fields.pop("no_wait") else _WAIT_MS
    asked_first = not fields.pop("yes", True) and bool(asks) and not fields["dry_run"]
    if asks and not fields["dry_run"]:
        tried = client.call(operation, body, **{**fields, "dry_run": True})
        data = tried.envelope["data"]
        if not data["changed"]:
            _report(invocation, client, tried)
            return None
        if asked_first:
            if invocation.json or not can_ask():
                what = "This asks before it changes something."
                raise InvalidRequest("CONFIRM_REQUIRED", what, remedy="Add --yes.")
            _show_diff(data, sys.stderr)
            warn(tried.warnings)
            if not agreed(asks.replace("{path}", clean(data["path"])), yes=False):
                tell("Nothing was changed.")
                return DECLINED
        fields["expected_hash"] = fields["expected_hash"] or data["hashBefore"]
    reply = client.call(operation, body, **fields)
    if "job" in reply.envelope["data"]:  # a move of a note that many others link to, or its undo
        from vault_agent.cli.jobs import follow

        job_id = reply.envelope["data"]["job"]["id"]
        return follow(client, job_id, as_json=invocation.json)
    _report(invocation, client, reply, with_warnings=not asked_first)
    return None


def change_note(
    invocation: Invocation,
    name: str,
    operation: str,
    body: Mapping[str, Any],
    options: Mapping[str, Any],
    *,
    asks: str = "",
) -> int | None:
    """Change an existing note, which a person means by a name. The rest is as of `change`.

    Raises:
        VaultAgentError: as `existing` and `change`.
    """
    with invocation.client() as client:
        body = {**body, **existing(invocation, client, name)}
        return change(invocation, client, operation, body, options, asks=asks)


def _report(
    invocation: Invocation, client: Client, reply: Reply, *, with_warnings: bool = True
) -> None:
    if invocation.passed_on(reply):
        return
    data = reply.envelope["data"]
    if data["dryRun"] and data["changed"]:
        _show_diff(data, sys.stdout)
        tell(_done(data))
        tell("Nothing was written, because of --dry-run.")
    else:
        undo = f"  {style(clean(data['writeId']), 'faint')}" if data["writeId"] else ""
        say(f"{_done(data)}{undo}")
        if client.vault_name is not None:
            tell(f"In the vault {clean(client.vault_name)}.")
    if with_warnings:
        warn(reply.warnings)


def _done(data: Mapping[str, Any]) -> str:
    """Return what a change has done or would do, in one line."""
    path = style(clean(data["path"]), "strong")
    if not data["changed"]:
        return f"unchanged {path}"
    is_new = data["created"] and data["hashBefore"] is None  # not only a section of it
    verb = "created" if is_new else _VERBS.get(data["operation"], "changed")
    if data["movedFrom"]:
        path = f"{clean(data['movedFrom'])} -> {path}"
    if data["trashPath"]:
        path += f" -> {clean(data['trashPath'])}"
    is_tried = data["dryRun"]
    line = f"{'would be ' if is_tried else ''}{verb} {path}"
    if data["line"] is not None:
        line += f":{data['line']}"
    is_counted = data["diff"] and not data["diffTruncated"] and not data["fileCount"]
    if is_counted and data["operation"] not in ("delete", "move"):
        signs = Counter(row[:1] for row in split_lines(data["diff"])[2:])  # no name of the file
        line += f"  +{signs['+']} -{signs['-']}"
    if data["operation"] == "move" and data["spans"]:
        line += f"  ({counted(data['spans'], 'link')} in {counted(data['fileCount'], 'note')})"
    return line


def _show_diff(data: Mapping[str, Any], stream: Any) -> None:
    looks = {"+": "added", "-": "removed", "@": "place"}
    for line in split_lines(data["diff"]):
        text = clean(line.rstrip("\r\n"))
        text = style(text, looks[line[0]], stream) if line[:1] in looks else text
        (say if stream is sys.stdout else tell)(text)
    if data["diffTruncated"]:
        tell("The difference is longer than what is shown.")


def json_value(text: str) -> Any:
    """Return a value that was typed: JSON if it is JSON, else the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text


@click.command("write", cls=Command)
@click.argument("path", metavar="PATH|NOTE")
@click.option(
    "--mode",
    type=click.Choice(("create", "overwrite", "append", "prepend", "upsert")),
    default="create",
    show_default=True,
    help="upsert appends if the note exists, and creates it otherwise.",
)
@text_options
@click.option(
    "--set",
    "frontmatter",
    metavar="KEY=VALUE",
    multiple=True,
    callback=pairs,
    help="A key of the frontmatter of a new note. The value is JSON, or text.",
)
@click.option("--blank-line", is_flag=True, help="Append after an empty line.")
@how_options(asks=True)
def command(invocation: Invocation, /, path: str, **options: Any) -> int | None:
    """Create a note, or append to, prepend to or overwrite one.

    The text comes from --text, --file or a pipe. A new note is named by its PATH, whose .md may be
    left out. An existing one may be named as elsewhere. Overwriting shows the difference and asks.
    """
    properties = options["frontmatter"]
    options["frontmatter"] = {name: json_value(value) for name, value in properties}
    body = {"content": text_of(options)}
    asks = f"Overwrite {path}?" if options["mode"] == "overwrite" else ""
    with client_here(invocation) as client:
        new = options["mode"] in ("create", "upsert")
        body |= {"path": path} if new else existing(invocation, client, path)
        return change(invocation, client, "POST /write/note", body, options, asks=asks)


@click.command("new", cls=Command)
@click.argument("template", required=False)
@click.argument("path", required=False)
@click.option(
    "--var",
    "variables",
    metavar="KEY=VALUE",
    multiple=True,
    callback=pairs,
    help="A variable of the template.",
)
@click.option("--type", help="The type of the note, in a project or the global vault.")
@click.option("--title", help="Its title. Without a PATH, the note is named after it.")
@how_options()
def new(
    invocation: Invocation, /, template: str | None, path: str | None, **options: Any
) -> int | None:
    """Make a note from a template or a folder, or list the templates.

    A name with / at its end makes a folder, with those above it. Inside a project a type and a
    title are enough: the note gets its folder, `id` and dates.

    \b
    vault-agent new decision Decisions/Beds.md
    vault-agent new --type bug --title "Costs are counted twice"
    vault-agent new Archive/2025/
    """  # noqa: D301 - \\b tells the parser to keep these lines
    kind, title = options["type"], options["title"]
    if template is None and kind is None and title is None:
        _list_templates(invocation)
        return None
    variables = dict(options.pop("variables"))
    if template is not None and template.endswith("/") and path is kind is title is None:
        with client_here(invocation) as client:
            folder = {"path": template.removesuffix("/")}
            return change(invocation, client, "POST /write/folder", folder, options)
    if (template is None and kind is None) or (path is None and title is None):
        raise click.UsageError(
            "give a TEMPLATE and the PATH of the new note, or in a project --type and --title. For"
            " a note without a template: vault-agent write PATH --text TEXT"
        )
    options |= {"template": template, "path": path, "variables": variables}
    with client_here(invocation) as client:
        return change(invocation, client, "POST /write/template", {}, options)


def _list_templates(invocation: Invocation) -> None:
    with client_here(invocation) as client:
        reply = client.call("GET /templates")
    if invocation.passed_on(reply):
        return
    templates = reply.envelope["data"]["templates"]
    width = max((len(clean(template["name"])) for template in templates), default=0)
    for template in templates:
        needs = " ".join(f"--var {clean(name)}=…" for name in template["variables"])
        where = "built in" if template["builtIn"] else clean(template["path"])
        say(f"{style(clean(template['name']).ljust(width), 'strong')}  {where}  {needs}".rstrip())
    if not templates:
        tell("There are no templates.")
