"""`vault-agent grep`."""

from __future__ import annotations

import sys
from itertools import groupby
from typing import TYPE_CHECKING, Any

import asyncclick as click

from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.here import client_here
from vault_agent.cli.terminal import clean, is_terminal, pass_on, say, style, tell, warn

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from vault_agent.client.client import Reply
    from vault_agent.wire.lists import GrepData


@click.command("grep", cls=Command)
@click.argument("pattern")
@click.option("--path", "paths", multiple=True, help="Only under this folder or glob.")
@click.option(
    "--tag", "tags", multiple=True, help="Only with this tag. Repeat to require several tags."
)
@click.option("-i", "--ignore-case", is_flag=True, help="Ignore letter case.")
@click.option(
    "-C", "--context", type=int, default=0, metavar="N", help="Lines around each line, 0 to 3."
)
@click.option("-n", "--line-number", is_flag=True, help="Has no effect: numbers are always shown.")
@click.option("--limit", type=int, default=50, show_default=True, help="Lines, 1 to 200.")
@click.option("--cursor", help="Continue the page before, with the same other options.")
@click.pass_obj
async def command(invocation: Invocation, /, pattern: str, **options: Any) -> None:
    """Find lines of notes by a regular expression.

    The text is that of the last index run. Prints `path:line:text`, at a terminal grouped by note.
    The exit code is 0 even if nothing is found.

    \b
    vault-agent grep 'TODO|FIXME'
    vault-agent grep -i -C 1 'late frost' --path Garden
    """  # noqa: D301 - \\b tells the parser to keep these lines
    from vault_agent.client.lists import given

    tags = [tag.removeprefix("#") for tag in options["tags"]]
    body = {
        "pattern": pattern,
        "ignoreCase": options["ignore_case"],
        "context": options["context"],
        "limit": options["limit"],
        "filters": given({"paths": options["paths"], "tags": tags}),
        "cursor": options["cursor"],
    }
    async with client_here(invocation) as client:
        reply = await client.lists.grep(body)
    _show(reply, as_json=invocation.json)


def _show(reply: Reply[GrepData], *, as_json: bool) -> None:
    if as_json:
        pass_on(reply.body)
        return
    data = reply.envelope["data"]
    show = _show_grouped if is_terminal(sys.stdout) else _show_plain
    show(data["lines"])
    if not data["lines"] and not data["hasMore"]:
        tell("No lines found.")
    warn(reply.warnings)
    if data["hasMore"]:
        tell(f"More: add --cursor {clean(data['nextCursor'])}")


def _show_grouped(lines: Sequence[dict[str, Any]]) -> None:
    """Print a heading for each note, then its lines."""
    for number, (path, group) in enumerate(_by_note(lines)):
        if number:
            say()
        say(style(clean(path), "strong"))
        last = 0
        for line, (text, matches) in _numbered(group):
            if last and line > last + 1 and any(each["before"] or each["after"] for each in group):
                say(style("--", "faint"))
            mark = "-" if matches is None else ":"
            say(f"{style(f'{line}{mark}', 'faint')}{_marked(text, matches or ())}")
            last = line
        if group[-1]["moreInNote"]:
            say(style("… more lines in this note: use --path with its path", "faint"))


def _show_plain(lines: Sequence[dict[str, Any]]) -> None:
    """Print `path:line:text`, and `path-line-text` for the lines around."""
    for path, group in _by_note(lines):
        for line, (text, matches) in _numbered(group):
            mark = "-" if matches is None else ":"
            say(f"{clean(path)}{mark}{line}{mark}{clean(text)}")


def _by_note(lines: Sequence[dict[str, Any]]) -> list[tuple[str, list[dict[str, Any]]]]:
    return [(path, list(group)) for path, group in groupby(lines, key=lambda line: line["path"])]


def _numbered(
    group: Iterable[dict[str, Any]],
) -> list[tuple[int, tuple[str, Sequence[Sequence[int]] | None]]]:
    """Return the lines of a note once each, by number; the matches of a line around are None."""
    found: dict[int, tuple[str, Sequence[Sequence[int]] | None]] = {}
    for line in group:
        number, before = line["line"], line["before"]
        for place, text in enumerate(before):
            found.setdefault(number - len(before) + place, (text, None))
        for place, text in enumerate(line["after"]):
            found.setdefault(number + 1 + place, (text, None))
        found[number] = (line["text"], line["matches"])
    return sorted(found.items(), key=lambda each: each[0])


def _marked(text: str, matches: Sequence[Sequence[int]]) -> str:
    pieces, end = [], 0
    for start, stop in matches:
        if end <= start <= stop <= len(text):
            pieces += [clean(text[end:start]), style(clean(text[start:stop]), "match")]
            end = stop
    return "".join(pieces) + clean(text[end:])
