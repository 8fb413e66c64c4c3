"""Carries out every write, always in the same order.

It takes the locks, checks the right and the path, reads the file, compares its hash, waits until
nobody else changes the file, runs the plan, logs, changes the disk, and has the index follow.
Operations are small functions on top: they make a `Write` and a plan, and call one method here.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

import anyio

from vault_agent.errors import Busy, NotFound, VaultAgentError
from vault_agent.model.warning import Warning
from vault_agent.model.writing import WriteHealth
from vault_agent.system.cancelling import Threads
from vault_agent.system.crash import describe_crash
from vault_agent.system.workers import SMALL_BYTES
from vault_agent.text.names import fold, is_note
from vault_agent.vault.opening import CannotOpen
from vault_agent.vault.replacing import Changed, FileInUse
from vault_agent.writing.disk import NoteBusy, coded_error
from vault_agent.writing.finish import now_ms
from vault_agent.writing.plan import Costly
from vault_agent.writing.undo import UNDO
from vault_agent.writing.write_steps import WriteSteps

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

    from vault_agent.model.writing import Author, IndexState, LoggedWrite, Write, Written
    from vault_agent.system.crash import CrashReport
    from vault_agent.system.workers import TextWorkers
    from vault_agent.vault.root import VaultRoot
    from vault_agent.writing.executor import WriteExecutor
    from vault_agent.writing.plan import Plan, Transaction
    from vault_agent.writing.write_steps import Done

THREADS = 4
TRIES = 3
_EXPIRE_SECONDS = 3_600.0
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0
_CLOSING_LOOKS = 2
"""The second look is at files that somebody had saved into before the first one."""

_OPENING: Final = Busy("SERVER_BUSY", "The vault is opening.")
_OF_VAULT: Final = frozenset(
    {"WRITE_UNSUPPORTED_HERE", "VAULT_NOT_FOUND", "DISK_FULL", "WRITE_LOG_DAMAGED"}
)
"""Codes of what stops every write of a vault."""

_T = TypeVar("_T")

IndexPaths: TypeAlias = "Callable[[Sequence[str], int], Awaitable[IndexState]]"
"""`IndexQueue.index`: indexes paths, and returns the revision that has them, or `PENDING` if that
takes more milliseconds than the second argument."""


class VaultWriter:
    """Carries out every write of one open vault, and keeps its log.

    Its background task `run` must be running.
    """

    def __init__(
        self,
        executor: WriteExecutor,
        index_paths: IndexPaths,
        text_workers: TextWorkers,
        *,
        knows: Callable[[str], Awaitable[bool]] | None = None,
        on_written: Callable[[LoggedWrite], object] = lambda _: None,
        on_crash: Callable[[CrashReport], object] = lambda _: None,
    ) -> None:
        self._executor = executor
        self._times = executor.limits.times
        self._index_paths = index_paths
        self.text_workers = text_workers
        self._on_written = on_written
        self._on_crash = on_crash
        self._steps = WriteSteps(executor)
        self._locks = Locks()
        self._threads = Threads(THREADS, "write")
        self._knows = knows  # whether the index has a note at a path
        self._looking = Threads(1, "look")  # its own: writes on a slow disk do not delay it
        self._refusal: VaultAgentError | None = _OPENING
        self._state = "recovering"
        self._conflicts: list[LoggedWrite] = []  # as last read from the log, for `health`
        self._ready = anyio.Event()
        self._tasks: set[asyncio.Future[Any]] = set()
        self._is_failing = False  # whether the last look raised an unexpected error

    # --- writing --------------------------------------------------------------------------------

    async def read(self, path: str, write: Write) -> bytes:
        """Return the bytes of a file that `write` may change. Raises as `edit`."""
        await self._require_ready()
        return await self._try(lambda: self._steps.read(path, write), retries=True)

    async def edit(self, path: str, write: Write, plan: Plan) -> Written:
        """Edit a note that exists.

        `plan` takes the bytes of the note, and returns splices or a `Planned` with them. It raises
        coded errors.

        Raises:
            NotFound: `NOTE_NOT_FOUND`.
            Forbidden: `WRITE_NOT_ALLOWED`, `WRITE_OUTSIDE_SCOPE`, `FILE_NOT_WRITABLE`.
            Conflict: `HASH_MISMATCH`, `NOTE_BUSY`, `NOTE_IN_CONFLICT`, `WRITE_CONFLICT`,
                `FILE_IN_USE`.
            InvalidRequest: `EXPECTED_HASH_REQUIRED`, `IDEMPOTENCY_KEY_REUSED`.
            TooLarge: `NOTE_TOO_LARGE`.
            Busy: `TOO_MANY_REQUESTS`, `SERVER_BUSY`.
            Unavailable: `WRITE_UNSUPPORTED_HERE`.
            Failed: `DISK_FULL`, `WRITE_NOT_VERIFIED`.
        """
        if isinstance(plan, Costly):  # its work on a large note is done before the lock is held
            await self._require_ready()
            read = partial(self._steps.read_to_plan, path, write, SMALL_BYTES)
            note = None
            with suppress(NotFound):  # `_run_locked` waits until it is back
                note = await self._try(read, retries=True)
            plan = plan if note is None else await plan.done_for(note, self.text_workers)
        step = partial(self._steps.edit, path, write, plan)
        return await self._run_locked(write, step, path, retries=write.may_replan)

    async def create(self, path: str, write: Write, content: bytes) -> Written:
        """Create a file that does not exist, and its folders. It never replaces one.

        New names are checked by the rules of `vault.paths`. A folder of the path that exists in
        another spelling is used as it is spelled.

        Raises:
            InvalidRequest: `INVALID_NOTE_NAME`.
            Conflict: `NOTE_EXISTS`, `NAME_COLLISION`, `NOTE_NOT_LOCAL`.
            VaultAgentError: as `edit`.
        """
        step = partial(self._steps.create, path, write, content)
        return await self._run_locked(write, step, path, creates=True)

    async def upsert(self, path: str, write: Write, content: bytes, plan: Plan) -> Written:
        """Create a file with `content`, or edit it if it exists. Raises as both."""
        step = partial(self._steps.upsert, path, write, content, plan)
        return await self._run_locked(write, step, path, retries=write.may_replan, creates=True)

    async def remove(self, path: str, write: Write, *, permanent: bool = False) -> Written:
        """Move a file to `.trash/`, or with `permanent` remove it. Raises as `edit`.

        The log keeps the bytes of a removed file. The owner can also move a folder to `.trash/`.
        """
        step = partial(self._steps.remove, path, write, permanent=permanent)
        return await self._run_locked(write, step, path)

    async def last_write(self, write: Write) -> int | None:
        """Return the number of the last write, for a plan that is made before `transact`.

        Return None if an earlier request with the same idempotency key has done it.

        Raises:
            VaultAgentError: if the author may not write, or nobody may.
        """
        await self._require_ready()
        return await self._threads.run(self._steps.last_write, write)

    async def transact(
        self, write: Write, plan: Callable[[], Transaction], since: int | None = None
    ) -> Written:
        """Change several files. All changes are logged, then carried out, and always finished.

        `plan` runs in a thread, while no other write runs, and reads the files that it needs. If
        the transaction was planned earlier, `since` is what `last_write` returned before that.
        `write.expected_hash` is compared with the file of the first change that has a hash before.
        A change that somebody else's save makes impossible is left out, with the warning
        `RECOVERY_CONFLICT`. If it is the first change, nothing is done.

        Raises:
            Overtaken: if another write came after `since`.
            VaultAgentError: what `plan` raises, and as `edit`.
        """
        step = partial(self._steps.transact, write, plan, since)
        return await self._run_locked(write, step)

    async def undo(
        self,
        write_id: str | None,
        write: Write,
        *,
        copy_beside: bool = False,
        at_once: int | None = None,
    ) -> Written:
        """Take back a write: by default the author's last one. An undo is itself a write.

        A file that was changed since is merged line by line. If that is not possible and
        `copy_beside` is set, nothing is taken back. Instead the bytes from before the write become
        a new file beside that file, with the warning `UNDO_CONFLICT`. The new file needs the right
        to create, and can be undone.

        Raises:
            NeedsJob: if the write has changed more than `at_once` files.
            NotFound: `WRITE_NOT_FOUND`, `UNDO_EXPIRED`.
            Conflict: `UNDO_CONFLICT`.
            VaultAgentError: as `edit`.
        """
        write = replace(write, operation=UNDO)
        undo = partial(self._steps.undo, write_id, write)
        step = partial(undo, copy_beside=copy_beside, at_once=at_once)
        return await self._run_locked(write, step, retries=True)

    def may_write(self, author: Author, path: str) -> bool:
        """Whether an author may change the note at a path, by the folders alone."""
        return self._executor.permission.allows(author, path)

    # --- the log --------------------------------------------------------------------------------

    async def logged_writes(
        self,
        *,
        path: str | None = None,
        agent: str | None = None,
        before: int | None = None,
        limit: int = 50,
    ) -> list[LoggedWrite]:
        """Return a page of the log, newest first, of writes whose `seq` is below `before`."""
        log = self._executor.log
        return await self._threads.run(
            lambda: log.page(path=path, agent=agent, before=before, limit=limit)
        )

    async def logged(self, write_id: str) -> tuple[LoggedWrite, bool | None]:
        """Return one write, and whether its file has other bytes now; None if it has several files.

        Raises:
            NotFound: `WRITE_NOT_FOUND`.
        """
        return await self._threads.run(self._steps.logged, write_id)

    async def forget(
        self, *, write_id: str | None = None, older_than_days: int | None = None
    ) -> int:
        """Delete the kept bytes of one write, of old ones, or of all. Return how many writes.

        Raises:
            NotFound: `WRITE_NOT_FOUND`.
        """
        before = None if older_than_days is None else now_ms() - older_than_days * 86_400_000
        async with self._locks.everything():
            return await self._threads.run(self._steps.forget, write_id, before)

    # --- running --------------------------------------------------------------------------------

    async def run(self) -> None:
        """Recover, then look at displaced files and delete old bytes until cancelled.

        An unexpected error goes to `on_crash`, and `health` shows it. The loop goes on after a
        pause.
        """
        pause = _FIRST_PAUSE
        while not await self._try_to_recover():
            await anyio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        expire_at = time.monotonic() + _EXPIRE_SECONDS
        pause = _FIRST_PAUSE
        while True:
            await anyio.sleep(pause if self._is_failing else self._times.look_pause)
            try:
                await self.look()
                if self._executor.is_interrupted:
                    await self._try_to_recover()
                if time.monotonic() >= expire_at:
                    expire_at += _EXPIRE_SECONDS
                    await self._expire()
            except Exception as error:  # noqa: BLE001 - no error may end this loop
                self._on_crash(describe_crash(error))
                pause = min(2 * pause, _LONGEST_PAUSE) if self._is_failing else _FIRST_PAUSE
                self._is_failing = True
            else:
                self._is_failing = False

    async def ready(self) -> None:
        """Wait until writes are accepted, or known to be impossible here."""
        await self._ready.wait()

    async def look(self) -> None:
        """Look at the displaced files that are due."""
        executor = self._executor
        while paths := executor.linger.due_paths:
            async with self._locks.names(*map(fold, paths)):
                saved = await self._looking.run(self._look, paths)
            if saved:
                await self._read_conflicts()
                await self._index_paths([*saved, *executor.take_unindexed()], 0)

    async def close(self) -> None:
        """Look at all displaced files before they are due, and close the log."""
        try:
            for _ in range(_CLOSING_LOOKS):
                if len(self._executor.linger) and self._state == "ready":
                    await anyio.sleep(self._times.closing)
                    self._executor.linger.hurry()
                    await self.look()
        except Exception as error:  # noqa: BLE001 - the log is closed all the same
            self._on_crash(describe_crash(error))
        for task in self._tasks:
            task.cancel()
        self._looking.close()
        self._threads.close()
        self._executor.log.close()

    def health(self) -> WriteHealth:
        """Return the state of writing in the vault."""
        disk = self._executor.disk
        paths = [conflict.changes[0].path_after for conflict in self._conflicts]
        is_recovering = self._executor.is_interrupted or self._is_failing
        return WriteHealth(
            enabled=True,
            state="recovering" if is_recovering else self._state,
            atomicity=disk.replacer.way.value if self._state == "ready" else None,
            durable=disk.durable,
            lingering=len(self._executor.linger),
            conflicts=len(self._conflicts),
            conflict_paths=tuple(dict.fromkeys(paths)),
        )

    def warnings(self) -> tuple[Warning, ...]:
        """Return the warnings for the server's state."""
        if self._refusal not in (None, _OPENING):
            return (Warning(self._refusal.code, *self._refusal.over_http()),)
        return ()

    # --- internals ------------------------------------------------------------------------------

    async def _require_ready(self) -> None:
        """Wait until the vault accepts writes, at most `quiet_wait` seconds.

        Raises:
            VaultAgentError: why it accepts none.
        """
        with anyio.move_on_after(self._times.quiet_wait):
            await self._ready.wait()
        refusal = self._refusal
        if refusal is not None and refusal.code in _OF_VAULT:
            raise refusal.again()
        # The code and the words of another failure are about a file that the caller may not know.
        if refusal is not None or self._executor.is_interrupted:
            raise Busy("SERVER_BUSY", "The vault is opening, or an earlier write is unfinished.")

    async def _try_to_recover(self) -> bool:
        """Recover. Return whether writes are accepted now, or known to be impossible here."""
        async with self._locks.everything():
            try:
                await self._threads.run(self._recover)
            except VaultAgentError as error:
                self._refusal = error
                if error.code == "WRITE_UNSUPPORTED_HERE":
                    self._state = "unsupported"
                    self._ready.set()
                    return True
                return False
            except (Changed, FileInUse, CannotOpen, OSError) as error:
                self._refusal = coded_error(error)
                return False
            except Exception as error:  # noqa: BLE001 - unexpected, and writing stays off
                self._on_crash(describe_crash(error))
                return False
        await self._read_conflicts()
        self._refusal, self._state = None, "ready"
        self._ready.set()
        self._index_unindexed()
        return True

    async def _read_conflicts(self) -> None:
        with suppress(VaultAgentError):
            self._conflicts = await self._looking.run(self._executor.log.conflicts)

    def _recover(self) -> None:
        self._executor.prepare()
        self._executor.recover()
        with suppress(VaultAgentError, OSError):  # tried again after an hour
            self._executor.expire()

    async def _expire(self) -> None:
        async with self._locks.everything():
            with suppress(VaultAgentError, OSError):  # tried again after an hour
                await self._threads.run(self._executor.expire)

    def _look(self, paths: Sequence[str]) -> list[str]:
        """Look at the displaced files of notes. Return the paths of those that were saved into."""
        executor, saved = self._executor, []
        with suppress(VaultAgentError, CannotOpen, OSError), executor.open_root() as root:
            for path in paths:  # a move of its folder may have looked at one
                lingering = executor.linger.take_due(path)
                if lingering is not None and executor.look(root, lingering):
                    saved.append(path)
        return saved

    async def _wait_until_back(self, path: str) -> None:
        """Wait, for a short time, for a note that the index has and the disk has not.

        Some editors rename a note as they save it, and then write a new file.
        """
        if self._knows is None or not is_note(path):
            return
        deadline = time.monotonic() + self._times.until_back
        while await self._threads.run(self._is_gone, path):
            if time.monotonic() >= deadline or not await self._knows(path):
                return
            await anyio.sleep(self._times.look_pause)

    def _is_gone(self, path: str) -> bool:
        try:
            with self._executor.open_root() as root:
                return not root.has(path)
        except (VaultAgentError, CannotOpen, OSError):
            return False  # the write itself says what is wrong

    async def _try(
        self, work: Callable[[], _T], path: str | None = None, *, retries: bool = False
    ) -> _T:
        """Run `work` in a thread. Repeat it if somebody else changes the note meanwhile.

        If there is no note at `path`, wait once until it is back.
        """
        deadline = time.monotonic() + self._times.quiet_wait
        tries = TRIES if retries else 1
        while True:
            try:
                return await self._threads.run(work)
            except Changed as error:
                tries -= 1
                if not tries:
                    raise coded_error(error) from None
            except NotFound as error:
                if path is None or error.code != "NOTE_NOT_FOUND":
                    raise
                await self._wait_until_back(path)
                path = None
            except NoteBusy:
                if time.monotonic() >= deadline:
                    raise
                await anyio.sleep(self._times.look_pause)

    async def _run_locked(
        self,
        write: Write,
        step: Callable[[VaultRoot], Done],
        path: str | None = None,
        *,
        retries: bool = False,
        creates: bool = False,
    ) -> Written:
        """Carry out a write of one path or of several, and return its reply.

        The locks of the path and the key are held, or of everything. If the caller is cancelled
        before the step has begun, nothing is done. Once it has begun, the write is carried out,
        announced and indexed all the same.
        """
        await self._require_ready()
        if path is None:
            lock = self._locks.everything()
        else:
            key = () if write.key is None else (f"\0{write.author.name}\0{write.key}",)
            lock = self._locks.names(fold(path), *key)
        async with lock:
            await self._require_ready()
            if creates and path is not None:
                await self._wait_until_back(path)
            # The thread puts its result here, because a cancelled `await` loses what it returns.
            # There is none only if the step fails or never begins: then the error is raised.
            results: list[Done] = []
            try:
                await self._try(
                    lambda: results.append(self._steps.run(write, step)), path, retries=retries
                )
            finally:
                self._index_unindexed()
                replies = [self._announce(write, *result) for result in results]
        return await asyncio.shield(replies[0])

    def _announce(
        self, write: Write, reply: Written, logged: LoggedWrite | None
    ) -> asyncio.Future[Written]:
        """Tell of a write that was carried out, and have it indexed. The result is its reply."""
        if logged is not None:
            self._on_written(logged)
        return self._keep(self._wait_for_index(reply, logged, write))

    def _index_unindexed(self) -> None:
        """Index what interrupted writes may have changed, and new copies beside notes."""
        if paths := self._executor.take_unindexed():
            self._keep(self._index_paths(paths, 0))

    def _keep(self, work: Awaitable[_T]) -> asyncio.Future[_T]:
        """Run work in a task of its own, and keep a reference: the event loop's is weak."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _wait_for_index(
        self, reply: Written, logged: LoggedWrite | None, write: Write
    ) -> Written:
        """Wait until searches find a write, and return its reply."""
        if logged is not None and logged.warning is not None:
            await self._read_conflicts()
        if reply.write_id is None:
            return reply
        changes = () if logged is None else logged.changes  # a reply may name only some
        named = [path for change in changes for path in (change.path_after, change.path)]
        paths = [reply.path, reply.moved_from, *named]
        index = await self._index_paths(list(dict.fromkeys(filter(None, paths))), write.wait_ms)
        reply = replace(reply, index=index)
        if index.indexed:
            return reply
        warning = Warning.of("INDEX_PENDING", "The change is on the disk.")
        return replace(reply, warnings=(*reply.warnings, warning))


class Locks:
    """Locks for names. One task holds a name at a time, or one task holds all names."""

    def __init__(self) -> None:
        self._held: set[str] = set()
        self._everything = False
        self._waiting = 0  # tasks that want everything: they come first
        self._freed = asyncio.Event()

    @asynccontextmanager
    async def names(self, *names: str) -> AsyncIterator[None]:
        """Hold these names."""
        wanted = set(names)
        while self._everything or self._waiting or self._held & wanted:
            await self._freed.wait()
        self._held |= wanted
        try:
            yield
        finally:
            self._held -= wanted
            self._free()

    @asynccontextmanager
    async def everything(self) -> AsyncIterator[None]:
        """Hold every name."""
        self._waiting += 1
        try:
            while self._everything or self._held:
                await self._freed.wait()
            self._everything = True
        finally:
            self._waiting -= 1
            self._free()
        try:
            yield
        finally:
            self._everything = False
            self._free()

    def _free(self) -> None:
        """Wake all waiting tasks, which then look again at what is held."""
        self._freed.set()
        self._freed = asyncio.Event()
