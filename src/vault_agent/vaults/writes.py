"""Opens the writing of a vault: its log, its limits, and what follows a write."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import anyio

from vault_agent.errors import Forbidden, Misconfigured
from vault_agent.freshness.following import Following
from vault_agent.model.writing import Right, WriteHealth, WriteLimits
from vault_agent.store.writes.log import WriteLog
from vault_agent.writing.files import Files
from vault_agent.writing.journal import Journal
from vault_agent.writing.write import Writing

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence

    from vault_agent.config import Config
    from vault_agent.config.sections import WriteSettings
    from vault_agent.freshness.background import Background
    from vault_agent.freshness.following import Run
    from vault_agent.model.warning import Warning
    from vault_agent.model.writing import LoggedWrite
    from vault_agent.store.layout import IndexDirectory
    from vault_agent.system.allowance import Allowance
    from vault_agent.system.crash import CrashReport
    from vault_agent.vault.exclude import Exclusions
    from vault_agent.vault.root import VaultRoot
    from vault_agent.writing.files import Index


def limits_of(settings: WriteSettings) -> WriteLimits:
    """Return the limits of writes from the settings."""
    return WriteLimits(
        folders=tuple("" if folder == "." else folder for folder in settings.folders),
        allow=frozenset(map(Right, settings.allow)),
        quiet_seconds=settings.quiet_seconds,
        max_note_bytes=settings.max_note_bytes,
        max_per_minute=settings.max_per_minute,
        undo_days=settings.undo_days,
        undo_writes=settings.undo_writes,
        undo_bytes=settings.undo_bytes,
    )


class Writes:
    """What may be changed in one vault, and the index that follows. Off unless it is enabled."""

    def __init__(  # noqa: PLR0917 - one caller, and each argument has another type
        self,
        config: Config,
        directory: IndexDirectory,
        exclusions: Exclusions,
        open_root: Callable[[], VaultRoot],
        background: Background,
        run: Run,
        links: Index,
        allowance: Allowance,
        *,
        has_types: bool,
        embed: Callable[[], Awaitable[object]] | None,
        on_unindexed: Callable[[Sequence[str]], object],
        on_written: Callable[[LoggedWrite], object],
        on_crash: Callable[[CrashReport], object],
    ) -> None:
        self._settings = config.write
        self._has_types = has_types
        self._allowance = allowance
        self._directory = directory
        self._exclusions = exclusions
        self._open_root = open_root
        self._on_written = on_written
        self._on_crash = on_crash
        self._following = Following(
            run,
            background,
            open_root,
            on_failure=on_unindexed,
            embed=embed,
            embed_delay=config.watch.embed_delay_seconds,
        )
        self._links = links
        self._writing: Writing | None = None
        self._by_itself = False

    @property
    def files(self) -> Files:
        """The writes of whole files. Raises Misconfigured `FEATURE_DISABLED`."""
        return Files(
            self.writing,
            self._links,
            self._open_root,
            self.writing.may_write,
            self._settings.max_move_notes,
        )

    @property
    def writing(self) -> Writing:
        """The writes of the vault.

        Raises:
            Misconfigured: `FEATURE_DISABLED`.
        """
        if self._writing is None or not self._settings.enabled:
            setting = "write.enabled"
            what = f"This is switched off: {setting} is not true."
            raise Misconfigured("FEATURE_DISABLED", what, {"setting": setting})
        return self._writing

    @property
    def by_itself(self) -> Writing:
        """The writes that the server makes by itself, such as promoted notes.

        They need no `write.enabled`. Each has `Write.by_itself` set.

        Raises:
            Forbidden: `VAULT_READ_ONLY` if it may not write in this vault by itself.
        """
        if self._writing is None or not self._by_itself:
            raise Forbidden("VAULT_READ_ONLY", "The notes of this vault are never changed.")
        return self._writing

    @asynccontextmanager
    async def accepting(self, *, by_itself: bool = False) -> AsyncIterator[None]:
        """Accept writes, if that is enabled, once what a crash has interrupted is finished.

        With `by_itself` the server's own writes are accepted, also while all others are off.

        Raises:
            Busy: `INDEX_LOCKED` if another process may change notes of this vault.
            Failed: `DISK_FULL`, `INDEX_IO_ERROR`.
        """
        self._by_itself = by_itself
        if not (self._settings.enabled or by_itself):
            yield
            return
        with self._directory.changing_notes():
            self._writing = await asyncio.to_thread(self._open)
            running = asyncio.create_task(self._writing.run())
            try:
                yield
            finally:
                running.cancel()
                with anyio.CancelScope(shield=True):
                    await asyncio.wait([running])
                    await self._writing.close()
                self._writing = None

    def mark(self) -> int | None:
        """Return a number that changes with writes, or None while one is being indexed."""
        return None if self._following.is_busy else self._following.count

    async def own_among(self, paths: Iterable[str]) -> set[str]:
        """Return the files that are as a write of this server has left them. See `Following`."""
        return await self._following.own_among(paths)

    def health(self) -> WriteHealth:
        """Return how the vault is written."""
        if self._writing is None or not self._settings.enabled:
            return WriteHealth()
        return self._writing.health()

    def warnings(self) -> tuple[Warning, ...]:
        """Return the warnings for the server's state."""
        return () if self._writing is None else self._writing.warnings()

    def _open(self) -> Writing:
        log = WriteLog.open(self._directory.writes, self._directory.bytes_before)
        limits = replace(limits_of(self._settings), dates=self._has_types)
        journal = Journal(self._open_root, log, limits, self._exclusions)
        return Writing(
            journal,
            self._following,
            self._allowance,
            knows=self._links.knows,
            on_written=self._on_written,
            on_crash=self._on_crash,
        )
