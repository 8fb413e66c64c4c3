"""`vault-agent grep`."""

from __future__ import annotations

import re
import sys
from collections import Counter
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import asyncclick as click

from vault_agent.cli.command import Command, Exit, Invocation
from vault_agent.cli.list import MAX_PAGE, Listing, chosen_filters, note_filters, page_options
from vault_agent.cli.names import client_here
from vault_agent.cli.terminal import clean, is_terminal, marked, say, style, tell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vault_agent.client.client import Client


@click.command("grep", cls=Command)
@click.argument("pattern")
@note_filters("paths", "tags")
@click.option("-i", "--ignore-case", is_flag=True, help="Ignore letter case.")
@click.option("-w", "--word", is_flag=True, help="Only whole words.")
@click.option("-F", "--fixed", is_flag=True, help="PATTERN is text, not a regular expression.")
@click.option("-l", "--files", "only_paths", is_flag=True, help="Print only paths of notes.")
@click.option("-c", "--count", is_flag=True, help="Print how many lines each note has.")
@click.option(
    "-C", "--context", type=int, default=0, metavar="N", help="Lines around each line, 0 to 3."
)
@page_options("Lines")
def command(invocation: Invocation, /, pattern: str, **options: Any) -> int:
    """Find lines of notes by a regular expression.

    The text is that of the last index run, without the frontmatter: `list --property` filters by
    that. Prints `path:line:text`, at a terminal grouped by note.
    The exit code is 1 if nothing is found.

    \b
    vault-agent grep 'TODO|FIXME'
    vault-agent grep -i -C 1 'late frost' --path Garden
    """  # noqa: D301 - \\b tells the parser to keep these lines
    body = {
        "pattern": _pattern(pattern, fixed=options["fixed"], word=options["word"]),
        "ignoreCase": options["ignore_case"],
        "context": options["context"],
        "filters": chosen_filters(paths=options["paths"], tags=options["tags"]),
    }
    only_paths = options["only_paths"]
    # All lines are needed to count them, and to name all notes.
    summary = (only_paths or options["count"]) and not invocation.json
    limit = sys.maxsize if summary else options["limit"]
    listing = Listing(invocation, "lines", limit, options["cursor"])
    counts: Counter[str] = Counter()
    last = ("", 0)
    with client_here(invocation) as client:
        for page in listing.rows(partial(client.call, "POST /grep", **body)):
            every_line = (summary and not only_paths) or listing.whole
            rows = _with_rest(client, body, page) if every_line else page
            counts.update(row["path"] for row in rows)
            if not summary:
                last = _print(rows, last)
    for path, count in list(counts.items())[: options["limit"]] if summary else ():
        say(clean(path) if only_paths else f"{clean(path)}:{count}")
    none = (
        "No lines found. Properties are not searched."
        " A search finds similar words too: vault-agent search WORDS"
    )
    code = listing.close(none, "line")
    return code or (Exit.SUCCESS if listing.printed else Exit.FAILURE)


def _pattern(typed: str, *, fixed: bool, word: bool) -> str:
    """Return the regular expression that is meant."""
    pattern = re.escape(typed) if fixed else typed
    return rf"\b(?:{pattern})\b" if word else pattern


def _with_rest(
    client: Client, body: dict[str, Any], rows: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return the lines with those that a note has beyond the limit of a reply for each note."""
    lines: list[dict[str, Any]] = []
    for row in rows:
        lines.append(row)
        if not row["moreInNote"]:
            continue
        only, cursor = {**body, "filters": {"paths": [row["path"]]}, "limit": MAX_PAGE}, None
        while True:
            data = client.call("POST /grep", **only, cursor=cursor).envelope["data"]
            lines += (
                line
                for line in data["lines"]
                if line["path"] == row["path"] and line["line"] > row["line"]
            )
            cursor = data["nextCursor"]
            if not data["hasMore"]:
                break
        lines[-1]["moreInNote"] = False
    return lines


def _print(rows: Sequence[dict[str, Any]], last: tuple[str, int]) -> tuple[str, int]:
    """Print `path:line:text`, and `path-line-text` once for each line around.

    At a terminal the path is a heading, and `--` is between groups of lines around that do not
    touch. Take and return the path and the number of the last line
    that is printed.
    """
    at_terminal = is_terminal(sys.stdout)
    for row, following in zip_longest(rows, rows[1:]):
        number, before = row["line"], row["before"]
        lines = [(number - len(before) + place, "-", text) for place, text in enumerate(before)]
        lines.append((number, ":", row["text"]))
        lines += [(number + 1 + place, "-", text) for place, text in enumerate(row["after"])]
        same = following is not None and following["path"] == row["path"]
        end = following["line"] if following is not None and same else sys.maxsize
        path = clean(row["path"])
        if at_terminal and row["path"] != last[0]:
            if last[0]:
                say()
            say(style(path, "strong"))
        elif at_terminal and row["before"] and lines[0][0] > last[1] + 1:
            say(style("--", "faint"))
        for line, mark, text in lines:
            if line < end and (row["path"], line) > last:
                marked_text = clean(text) if mark == "-" else marked(text, row["matches"])
                heading = "" if at_terminal else f"{path}{mark}"
                say(f"{heading}{style(f'{line}{mark}', 'faint')}{marked_text}")
                last = (row["path"], line)
        if row["moreInNote"]:
            tell(f"There are more lines in {path}: --path with its path")
    return last
