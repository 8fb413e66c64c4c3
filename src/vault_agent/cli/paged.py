"""Lists of several pages, of one vault or more: a screenful at a terminal, all of it in a pipe."""

from __future__ import annotations

import sys
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import asyncclick as click

from vault_agent.cli.each import address, label, over
from vault_agent.cli.filters import with_options
from vault_agent.cli.here import listed, name_others, scope
from vault_agent.cli.terminal import distinct_warnings, envelope, is_terminal, pass_on, tell, warn
from vault_agent.config.registry import DEFAULT
from vault_agent.errors import InvalidRequest

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
    from typing import TypeAlias

    from vault_agent.cli.command import Invocation
    from vault_agent.client.client import Client, Reply
    from vault_agent.model.warning import Warning as Notice

    Ask: TypeAlias = Callable[[int | None, str | None], Awaitable[Reply[Any]]]
    """Asks for a page: at most so many rows, None for the server's default, after a cursor."""

_Function = TypeVar("_Function", bound="Callable[..., Any]")

SCREENFUL = 50
"""Rows at a terminal, and of a JSON reply."""
MAX_PAGE = 200
_VAULT_END = "/"
"""Ends the name of the vault in a cursor over several vaults. No name contains it."""


def page_options(noun: str, *, short: bool = True) -> Callable[[_Function], _Function]:
    """Return a decorator that adds `--limit` and `--cursor`."""
    what = f"{noun}. Default: {SCREENFUL} at a terminal and with --json, else all."
    return with_options(
        click.option(*(["-n"] * short), "--limit", type=click.IntRange(1), help=what),
        click.option("--cursor", help="Continue a reply of --json, with the same other options."),
    )


@dataclass
class Page:
    """Rows of one vault. `vault` is None for the vault that the command is about by itself.

    `before` is the number of rows in the pages before it.
    """

    vault: str | None
    rows: list[dict[str, Any]]
    reply: Reply[Any]
    before: int

    def address(self, path: str) -> str:
        """Return the path as every command takes it."""
        return address(self.vault, path)


@dataclass
class Listing:
    """A list over the vaults of the scope, one after another.

    Args:
        key: the name of the rows in a reply.
        limit: the most rows that are wanted; None for the usual number.
        cursor: where the list goes on.
        page: the most rows of a reply.
        screenful: the usual number at a terminal and of a JSON reply; None for the server's.
        vaults: the vaults instead of those of the scope.
    """

    invocation: Invocation
    client: Client
    key: str
    limit: int | None
    cursor: str | None = None
    page: int = MAX_PAGE
    screenful: int | None = SCREENFUL
    vaults: tuple[str | None, ...] | None = None
    shown: int = 0
    total: int | None = None
    _room: int | None = None
    _totals: list[int] = field(default_factory=list)
    _notices: list[Sequence[Notice]] = field(default_factory=list)  # of each page
    _vaults: tuple[str | None, ...] = ()
    _next: str | None = None  # the cursor of what is left

    @property
    def whole(self) -> bool:
        """Whether all rows are wanted: in a pipe, unless a limit was given."""
        return self.limit is None and not self.invocation.json and not is_terminal(sys.stdout)

    async def show(self, ask: Ask, show: Callable[[Page], Awaitable[None] | None]) -> None:
        """Print the pages as they come, or one JSON reply. Then print what is left.

        Raises:
            VaultAgentError: as `ask`. Of several vaults, those that cannot be read are skipped.
        """
        async with aclosing(self._pages(ask)) as pages:
            if self.invocation.json:
                self._print_json([page async for page in pages])
                return
            async for page in pages:
                shown = show(page)
                if shown is not None:
                    await shown

    def leave_out(self, count: int) -> None:
        """Do not count the last `count` rows, which are not shown."""
        if self.total is not None:
            self.total -= count
            if self.total <= self.shown:
                self._next = None

    def close(self, none: str, noun: str) -> None:
        """Print that there is nothing, or how many rows are left and how to see them."""
        if self.invocation.json:
            return
        several = len(self._vaults) > 1
        if not self.shown and self._next is None:
            tell(f"{none.rstrip('.')} in {listed(self._vaults)}." if several else none)
        warn(self.warnings())
        if self._next is not None:
            tell_more(self.shown, self.total, noun)
        if self.vaults is None and (not self.shown or (several and is_terminal(sys.stderr))):
            name_others(self.invocation, self._vaults)

    async def _pages(self, ask: Ask) -> AsyncGenerator[Page]:
        self._room = sys.maxsize if self.whole else self.limit or self.screenful
        self._vaults = scope(self.invocation) if self.vaults is None else self.vaults
        first, cursor = self._start()
        begin = {self._vaults[first]: cursor}
        async with aclosing(
            over(
                self.invocation,
                self.client,
                self._vaults[first:],
                lambda vault: self._pages_of(vault, ask, begin.get(vault)),
            )
        ) as pages:
            async for page in pages:
                yield page
        is_begun = first > 0 or self.cursor is not None
        self.total = sum(self._totals) if self._totals and not is_begun else None

    async def _pages_of(
        self, vault: str | None, ask: Ask, cursor: str | None
    ) -> AsyncGenerator[Page]:
        """Yield the pages of one vault, until all rows that are wanted have come."""
        while True:
            wanted = None if self._room is None else min(self._room, self.page)
            # A page of one row tells the total of a vault that has no room left.
            reply = await ask(1 if wanted == 0 else wanted, cursor)
            data = reply.envelope["data"]
            if isinstance(data.get("total"), int) and cursor is None:
                self._totals.append(data["total"])
            if wanted == 0:
                if data[self.key] or data["hasMore"]:
                    self._leave(vault, "")
                return
            rows = data[self.key][:wanted]
            self._notices.append(reply.warnings)
            page = Page(label(vault, self._vaults), rows, reply, self.shown)
            self.shown += len(rows)
            yield page
            cursor = data.get("nextCursor") if data.get("hasMore") else None
            if self._room is not None:
                self._room -= len(rows)
            if cursor is None:
                if data.get("hasMore") and self._next is None:
                    self._next = ""
                return
            if not self._room:
                self._leave(vault, cursor)
                return

    def _leave(self, vault: str | None, cursor: str) -> None:
        """Remember where the rest begins, unless it begins in a vault before."""
        if self._next is None:
            several = len(self._vaults) > 1
            self._next = f"{vault or DEFAULT}{_VAULT_END}{cursor}" if several else cursor

    def warnings(self) -> list[Notice]:
        """Return the warnings of the replies, without those that another reply makes needless."""
        kept: dict[tuple[str, str], Notice] = {}
        for place, notices in enumerate(self._notices, 1):
            continued = place < len(self._notices) or self._next is None
            for each in notices:
                late = each.code == "REGEX_INCOMPLETE" and continued
                elsewhere = each.code == "FOLDER_NOT_FOUND" and self.shown > 0
                if not late and not elsewhere:
                    kept.setdefault((each.code, each.message), each)
        return list(kept.values())

    def _start(self) -> tuple[int, str | None]:
        """Return the first vault, by its place, and the cursor in it."""
        if self.cursor is None or len(self._vaults) == 1:
            return 0, self.cursor
        name, separator, cursor = self.cursor.partition(_VAULT_END)
        if not separator or name not in self._vaults:
            raise InvalidRequest("INVALID_CURSOR", "The cursor is of a request about other vaults.")
        return self._vaults.index(name), cursor or None

    def _print_json(self, pages: Sequence[Page]) -> None:
        if len(pages) == 1 and len(self._vaults) == 1:
            pass_on(pages[0].reply.body)
            return
        rows = []
        for page in pages:
            named = {"vault": page.vault or self._vaults[0]} if len(self._vaults) > 1 else {}
            rows += [{**row, **named} for row in page.rows]
        data = {**pages[0].reply.envelope["data"], self.key: rows}
        if "total" in data and self.total is not None:
            data["total"] = self.total
        data |= {"hasMore": self._next is not None, "nextCursor": self._next}
        envelope(data, distinct_warnings(page.reply for page in pages))


def of_one_vault(
    invocation: Invocation, client: Client, key: str, limit: int | None, *, page: int
) -> Listing:
    """Return a list of the vault that the client's calls are about.

    The server says how many rows are usual.
    """
    vaults = (client.vault_name,)
    return Listing(invocation, client, key, limit, page=page, screenful=None, vaults=vaults)


def tell_more(shown: int, total: int | None, noun: str) -> None:
    """Print how many rows are left, if that is known, and how to see them."""
    if total is not None:
        tell(f"{total - shown:,} more: --limit {total}")
    else:
        tell(f"There are more {noun}s: --limit {max(10 * shown, SCREENFUL)}")
