"""`vault-agent list`, and what all lists share: pages, trees, and the options that choose notes.

A list is a screenful at a terminal, and all of it in a pipe.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import asyncclick as click

from vault_agent.cli.command import Command, Exit, Invocation
from vault_agent.cli.names import client_here
from vault_agent.cli.terminal import (
    DAY,
    DAYS,
    clean,
    is_terminal,
    say,
    style,
    tell,
    warn,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Sequence

    from vault_agent.cli.command import Invocation
    from vault_agent.client.client import Reply
    from vault_agent.model.warning import Warning as Notice

CommandFunction = TypeVar("CommandFunction", bound="Callable[..., Any]")
SCREENFUL = 50
"""Rows at a terminal, and of a JSON reply."""
MAX_PAGE = 200


def with_options(*options: Callable[[Any], Any]) -> Callable[[CommandFunction], CommandFunction]:
    """Return a decorator that adds several options, the first one on top."""

    def add(function: CommandFunction) -> CommandFunction:
        for option in reversed(options):
            function = option(function)
        return function

    return add


def note_filters(*names: str) -> Callable[[CommandFunction], CommandFunction]:
    """Return a decorator that adds these filters: `paths`, `tags`, `properties` and so on."""
    return with_options(*(_FILTERS[name] for name in names))


def chosen_filters(**filters: Any) -> dict[str, Any]:
    """Return the filters that were given, as they are in a request's body."""
    chosen = {name: value for name, value in filters.items() if value}
    if "properties" in chosen:
        chosen["properties"] = dict(chosen["properties"])
    return chosen


def no_rows(noun: str, tags: Iterable[str] = ()) -> str:
    """Return that nothing passes the filters, and how to see the tags that there are."""
    return f"No {noun} (all tags: vault-agent tags)." if tags else f"No {noun}."


def _tags(context: click.Context, option: click.Parameter, value: tuple[str, ...]) -> Any:
    """Return tags without the `#` that people type."""
    del context, option
    return tuple(tag.removeprefix("#") for tag in value)


def pairs(context: click.Context, option: click.Parameter, value: tuple[str, ...]) -> Any:
    """Return the names and values that are typed as KEY=VALUE.

    Raises:
        UsageError: for an item without `=`.
    """
    parts = [text.partition("=") for text in value]
    if not all(name.strip() and sign for name, sign, _ in parts):
        raise click.UsageError(f"{option.opts[0]} must be KEY=VALUE", context)
    return tuple((name.strip(), value.strip()) for name, _, value in parts)


_FILTERS = {
    "paths": click.option("--path", "paths", multiple=True, help="Only under this folder or glob."),
    "tags": click.option(
        "--tag",
        "tags",
        multiple=True,
        callback=_tags,
        help="Only with this tag. Repeat to require several tags.",
    ),
    "types": click.option(
        "--type", "types", multiple=True, help="Only with this frontmatter `type`."
    ),
    "properties": click.option(
        "--property",
        "properties",
        multiple=True,
        metavar="KEY=VALUE",
        callback=pairs,
        help="Only with this frontmatter property. Repeat to require several.",
    ),
    "after": click.option(
        "--after",
        metavar="DATE",
        type=DAY,
        help=f"Only notes of this day or later: {DAYS}.",
    ),
    "before": click.option(
        "--before",
        metavar="DATE",
        type=DAY,
        help=f"Only notes of this day or earlier: {DAYS}.",
    ),
}


def limit_option(noun: str) -> Callable[[CommandFunction], CommandFunction]:
    """Return a decorator that adds `--limit`."""
    what = f"{noun}. Default: {SCREENFUL} at a terminal and with --json, else all."
    return click.option("-n", "--limit", type=click.IntRange(1), help=what)


def page_options(noun: str) -> Callable[[CommandFunction], CommandFunction]:
    """Return a decorator that adds `--limit`, and `--cursor` for scripts."""
    cursor = click.option("--cursor", hidden=True, help="Continue a reply of --json.")
    return with_options(limit_option(noun), cursor)


@dataclass
class Listing:
    """A list of one vault.

    Args:
        key: the name of the rows in a reply.
        limit: the most rows that are wanted; None for the usual number.
        cursor: where the list goes on.
        page: the most rows of a reply.
    """

    invocation: Invocation
    key: str
    limit: int | None
    cursor: str | None = None
    page: int = MAX_PAGE
    printed: int = 0
    total: int | None = None
    is_cut: bool = False  # whether rows are left
    warnings: Sequence[Notice] = ()  # of the last reply

    @property
    def whole(self) -> bool:
        """Whether all rows are wanted: in a pipe, unless a limit was given."""
        return self.limit is None and not self.invocation.json and not is_terminal(sys.stdout)

    def rows(self, ask: Callable[..., Reply]) -> Generator[list[dict[str, Any]]]:
        """Yield the rows of each page as it comes. With `--json`, print one page instead.

        `ask` asks for a page, at most `limit` rows after `cursor`.
        """
        room = sys.maxsize if self.whole else self.limit or SCREENFUL
        cursor = self.cursor
        while room:
            reply = ask(limit=min(room, self.page), cursor=cursor)
            data, self.warnings = reply.envelope["data"], reply.warnings
            rows = data[self.key]
            if cursor is None:
                self.total = data.get("total")
            self.printed += len(rows)
            if self.invocation.passed_on(reply):
                return
            yield rows
            room -= len(rows)
            cursor = data.get("nextCursor")
            self.is_cut = data.get("hasMore", False)
            if cursor is None:
                return

    def close(self, none: str, noun: str) -> Exit:
        """Print that there is nothing, or how many rows are left and how to see them.

        Return the exit code, which is another one if a folder or note that was named is missing.
        """
        code = exit_code_of(self.printed, self.warnings)
        if self.invocation.json:
            return code
        warn(self.warnings)
        if self.is_cut:
            tell_more(self.printed, self.total, noun)
        elif not self.printed and code == Exit.SUCCESS:
            tell(none)
        return code


def exit_code_of(printed: int, warnings: Iterable[Notice]) -> Exit:
    """Return the exit code for so many rows: another one if a folder that was named is missing."""
    is_missing = any(notice.code == "FOLDER_NOT_FOUND" for notice in warnings)
    return Exit.NOT_FOUND if is_missing and not printed else Exit.SUCCESS


def tell_more(printed: int, total: int | None, noun: str) -> None:
    """Print how many rows are left, if that is known, and how to see them."""
    if total is not None:
        tell(f"{total - printed:,} more: --limit {total}")
    else:
        tell(f"There are more {noun}s: --limit {max(10 * printed, SCREENFUL)}")


def show_tree(invocation: Invocation, call: str, key: str, **options: Any) -> None:
    """Print the tree of tags or folders; `key` names an entry in the reply."""
    with client_here(invocation) as client:
        reply = client.call(call, **options)
    if invocation.passed_on(reply):
        return
    data = reply.envelope["data"]
    branches = data[f"{key}s"]
    widest = max((len(f"{branch['total']:,}") for branch in branches), default=0)
    for branch in branches:
        _show_branch(branch, key, widest, 0)
    if not branches:
        tell(f"No {key}s.")
    if data["truncated"]:
        tell("There are more: use --limit, --depth or --prefix")
    warn(reply.warnings)


def _show_branch(branch: dict[str, Any], key: str, widest: int, level: int) -> None:
    name = branch[key]
    # Below its parent, only the last part is shown.
    label = name.rpartition("/")[2] if level else name
    say(f"{branch['total']:>{widest},}  {'  ' * level}{style(clean(label), 'strong')}")
    for child in branch["children"]:
        _show_branch(child, key, widest, level + 1)


_SORTS = ("path", "updated", "created", "title", "connections")


@click.command("list", cls=Command)
@click.argument("folders", nargs=-1, metavar="[FOLDER]...")
@note_filters("tags", "types", "properties", "after", "before")
@click.option(
    "--orphans", "linked", flag_value="false", help="Only notes that no link leads to or from."
)
@click.option("--open-tasks", "tasks", flag_value="open", help="Only notes with open tasks.")
@click.option("--folders", "only_folders", is_flag=True, help="The folders, not the notes.")
@click.option(
    "-s", "--sort", type=click.Choice(_SORTS), default="path", show_default=True, help="Order."
)
@page_options("Notes")
def command(invocation: Invocation, /, folders: tuple[str, ...], **options: Any) -> int:
    """List notes, all or those of a folder.

    Prints paths, at a terminal also the day of the last change and the tags.

    \b
    vault-agent list Projects --property status=active
    vault-agent list --sort updated -n 10
    vault-agent list --folders
    """  # noqa: D301 - \\b tells the parser to keep these lines
    limit, tags = options.pop("limit"), options.pop("tags")
    if options.pop("only_folders"):
        if len(folders) > 1:
            raise click.UsageError("--folders takes one FOLDER")
        prefix = folders[0] if folders else None
        show_tree(invocation, "GET /folders", "folder", prefix=prefix, limit=limit)
        return Exit.SUCCESS
    listing = Listing(invocation, "notes", limit, options.pop("cursor"))
    options |= {"path": folders, "tag": tags, "type": options.pop("types")}
    options["property"] = tuple(map(":".join, options.pop("properties")))
    with client_here(invocation) as client:
        for notes in listing.rows(partial(client.call, "GET /notes", **options)):
            for note in notes:
                _show(note)
    return listing.close(no_rows("notes", tags), "note")


def _show(note: dict[str, Any]) -> None:
    path = clean(note["path"])
    if not is_terminal(sys.stdout):
        say(path)
        return
    tags = " ".join(f"#{clean(tag)}" for tag in note["tags"])
    day = style(clean(note["updated"][:10]), "faint")
    say(f"{day}  {path}{'  ' + style(tags, 'faint') if tags else ''}")
