"""`vault-agent grep`."""

from __future__ import annotations

import re
import sys
from collections import Counter
from shlex import quote
from typing import TYPE_CHECKING, Any

import asyncclick as click

from vault_agent.cli.command import Command, Exit, Invocation
from vault_agent.cli.list import MAX_PAGE, Listing, chosen_filters, note_filters, page_options
from vault_agent.cli.names import client_here
from vault_agent.cli.terminal import clean, is_terminal, marked, say, style
from vault_agent.errors import InvalidRequest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from vault_agent.client.client import Client, Reply

_PLAIN = re.compile(r"[\w ]+")
"""A pattern that is a query too."""


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
@click.pass_obj
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
    # All lines are needed to count them, and to name all notes.
    summary = (options["count"] or options["only_paths"]) and not invocation.json
    limit = sys.maxsize if summary else options["limit"]
    listing = Listing(invocation, "lines", limit, options["cursor"])
    lines = _Lines()
    counts: Counter[str] = Counter()
    with client_here(invocation) as client:
        pages = listing.rows(
            lambda most, cursor: _ask(client, {**body, "limit": most, "cursor": cursor})
        )
        for page in pages:
            every_line = (summary and not options["only_paths"]) or listing.whole
            rows = _with_rest(client, body, page) if every_line else page
            counts.update(row["path"] for row in rows)
            if not summary:
                lines.add(rows)
        listing.explain_nothing(client, options["tags"])
    lines.end()
    for path, count in list(counts.items())[: options["limit"]] if summary else ():
        say(clean(path) if options["only_paths"] else f"{clean(path)}:{count}")
    words = clean(quote(pattern)) if _PLAIN.fullmatch(pattern) else "WORDS"
    none = (
        "No lines found. Properties are not searched."
        f" A search finds similar words too: vault-agent search {words}"
    )
    code = listing.close(none, "line")
    return code or (Exit.SUCCESS if listing.printed else Exit.FAILURE)


def _pattern(typed: str, *, fixed: bool, word: bool) -> str:
    """Return the regular expression that is meant."""
    pattern = re.escape(typed) if fixed else typed
    return rf"\b(?:{pattern})\b" if word else pattern


def _ask(client: Client, body: dict[str, Any]) -> Reply:
    try:
        return client.call("POST /grep", **body)
    except InvalidRequest as error:
        if error.code != "REGEX_INVALID":
            raise
        remedy = "To find it as text: `vault-agent grep -F`"
        raise InvalidRequest(error.code, error.message, remedy=remedy) from None


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


class _Lines:
    """Prints lines note by note. The last note waits, since the next page may continue it."""

    def __init__(self) -> None:
        self._path: str | None = None
        self._group: list[dict[str, Any]] = []
        self._notes = 0

    def add(self, rows: Sequence[dict[str, Any]]) -> None:
        for line in rows:
            path = line["path"]
            if path != self._path:
                self.end()
                self._path = path
            self._group.append(line)

    def end(self) -> None:
        """Print the note that waits."""
        if self._path is None:
            return
        if is_terminal(sys.stdout):
            if self._notes:
                say()
            _show_note(self._path, self._group)
        else:
            _show_plain(self._path, self._group)
        self._notes += 1
        self._path, self._group = None, []


def _show_note(path: str, group: Sequence[dict[str, Any]]) -> None:
    """Print a heading, then the lines of a note."""
    say(style(clean(path), "strong"))
    last = 0
    for line, (text, matches) in _numbered(group):
        if last and line > last + 1 and any(row["before"] or row["after"] for row in group):
            say(style("--", "faint"))
        mark = "-" if matches is None else ":"
        say(f"{style(f'{line}{mark}', 'faint')}{marked(text, matches or ())}")
        last = line
    if group[-1]["moreInNote"]:
        say(style("… more lines in this note: use --path with its path", "faint"))


def _show_plain(path: str, group: Sequence[dict[str, Any]]) -> None:
    """Print `path:line:text`, and `path-line-text` for the lines around."""
    for line, (text, matches) in _numbered(group):
        mark = "-" if matches is None else ":"
        say(f"{clean(path)}{mark}{line}{mark}{clean(text)}")


def _numbered(
    group: Iterable[dict[str, Any]],
) -> list[tuple[int, tuple[str, Sequence[Sequence[int]] | None]]]:
    """Return the lines of a note once each, by number; the matches of a line around are None."""
    texts: dict[int, tuple[str, Sequence[Sequence[int]] | None]] = {}
    for line in group:
        number, before = line["line"], line["before"]
        for place, text in enumerate(before):
            texts.setdefault(number - len(before) + place, (text, None))
        for place, text in enumerate(line["after"]):
            texts.setdefault(number + 1 + place, (text, None))
        texts[number] = (line["text"], line["matches"])
    return sorted(texts.items(), key=lambda pair: pair[0])
