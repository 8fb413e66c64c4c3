"""`vault-agent grep`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import asyncclick as click

from vault_agent.cli.command import Command, Invocation
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
    async with invocation.client() as client:
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


def _show_grouped(lines: Iterable[dict[str, Any]]) -> None:
    """Print a heading for each note, then its lines."""
    path = None
    shown = 0  # last line of the note that is printed
    for line in lines:
        if line["path"] != path:
            if path is not None:
                say()
            path, shown = line["path"], 0
            say(style(clean(path), "strong"))
        elif line["before"] and line["line"] - len(line["before"]) > shown + 1:
            say(style("--", "faint"))
        for number, text, matches in _around(line):
            if number > shown or matches:
                mark = ":" if number == line["line"] else "-"
                say(f"{style(f'{number}{mark}', 'faint')}{_marked(text, matches)}")
                shown = number
        if line["moreInNote"]:
            say(style("… more lines in this note: use --path with its path", "faint"))


def _show_plain(lines: Iterable[dict[str, Any]]) -> None:
    """Print `path:line:text`, and `path-line-text` for the lines around."""
    for line in lines:
        for number, text, _ in _around(line):
            mark = ":" if number == line["line"] else "-"
            say(f"{clean(line['path'])}{mark}{number}{mark}{clean(text)}")


def _around(line: dict[str, Any]) -> Iterable[tuple[int, str, Sequence[Sequence[int]]]]:
    number = line["line"]
    before, after = line["before"], line["after"]
    yield from ((number - len(before) + place, text, ()) for place, text in enumerate(before))
    yield number, line["text"], line["matches"]
    yield from ((number + 1 + place, text, ()) for place, text in enumerate(after))


def _marked(text: str, matches: Sequence[Sequence[int]]) -> str:
    pieces, end = [], 0
    for start, stop in matches:
        if end <= start <= stop <= len(text):
            pieces += [clean(text[end:start]), style(clean(text[start:stop]), "match")]
            end = stop
    return "".join(pieces) + clean(text[end:])
