"""The one path that every write takes.

Permission, locks, reading, quiet time, compare-and-swap, the plan, the log, the disk, the index.
Operations are small functions on top: they make a `Write` and a plan, and call one method here.
"""

from __future__ import annotations

import difflib
import secrets
from typing import TYPE_CHECKING, Protocol

from vault_agent.errors import Conflict, InvalidRequest, NotFound
from vault_agent.markdown.edit import spliced
from vault_agent.model.identifiers import content_hash
from vault_agent.model.writing import PENDING, IndexState, Write, Written
from vault_agent.system.cancelling import in_thread
from vault_agent.vault.opening import CannotOpen, Cause
from vault_agent.writing.transaction import Planned

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vault_agent.vault.root import VaultRoot
    from vault_agent.writing.transaction import Plan, Transaction


class Follow(Protocol):
    """Brings the index up to date for paths, and waits for it."""

    async def __call__(self, paths: Sequence[str], wait_ms: int) -> IndexState:
        """Return the revision that has the paths, or `PENDING` after `wait_ms`."""


class Writing:
    """The writes of one open vault."""

    def __init__(self, open_root: Callable[[], VaultRoot], follow: Follow) -> None:
        self._open_root = open_root
        self._follow = follow

    async def read(self, path: str, write: Write) -> bytes:
        """Return the bytes of a file that `write` may change, for a plan of several files.

        Raises:
            Forbidden: `WRITE_NOT_ALLOWED`, `WRITE_OUTSIDE_SCOPE`.
            NotFound: `NOTE_NOT_FOUND`.
        """
        del write
        return await in_thread(self._read, path)

    async def edit(self, path: str, write: Write, plan: Plan) -> Written:
        """Edit a note that exists.

        `plan` gets its bytes and returns splices, or a `Planned` with them. It raises coded errors.

        Raises:
            NotFound: `NOTE_NOT_FOUND`.
            Forbidden: `WRITE_NOT_ALLOWED`, `WRITE_OUTSIDE_SCOPE`, `FILE_READ_ONLY`,
                `FILE_NOT_WRITABLE`.
            Conflict: `HASH_MISMATCH`, `NOTE_BUSY`, `NOTE_IN_CONFLICT`, `WRITE_CONFLICT`.
            InvalidRequest: `EXPECTED_HASH_REQUIRED`, `IDEMPOTENCY_KEY_REUSED`.
            TooLarge: `NOTE_TOO_LARGE`.
            Busy: `WRITE_RATE_LIMITED`, `RECOVERY_PENDING`.
            Failed: `DISK_FULL`, `WRITE_NOT_VERIFIED`.
        """
        written = await in_thread(self._edit, path, write, plan)
        return await self._followed(written, write)

    async def create(self, path: str, write: Write, content: bytes) -> Written:
        """Create a file that does not exist, and its folders. It never replaces one.

        The caller has checked the name by the rules of `vault.naming`. A folder on the way that
        exists in another spelling is used as it is.

        Raises:
            Conflict: `NOTE_EXISTS`, `NAME_COLLISION`, `NOTE_NOT_LOCAL`.
            VaultAgentError: as `edit`.
        """
        written = await in_thread(self._create, path, write, content)
        return await self._followed(written, write)

    async def upsert(self, path: str, write: Write, content: bytes, plan: Plan) -> Written:
        """Create a file with `content`, or edit it if it exists. Raises as both."""
        try:
            return await self.create(path, write, content)
        except Conflict as error:
            if error.code != "NOTE_EXISTS":
                raise
        return await self.edit(path, write, plan)

    async def remove(self, path: str, write: Write, *, permanent: bool = False) -> Written:
        """Move a file to `.trash/`, or remove it. Its bytes stay in the log. Raises as `edit`."""
        raise NotImplementedError

    async def transact(self, write: Write, plan: Callable[[], Transaction]) -> Written:
        """Change several files. All changes are logged, then carried out, and always finished.

        `plan` runs in a thread, while no other write runs. It reads what it needs itself.
        `write.expected_hash` is compared with the first change that has bytes before.

        Raises:
            VaultAgentError: what `plan` raises, and as `edit`.
        """
        raise NotImplementedError

    async def undo(
        self, write_id: str | None, write: Write, *, copy_beside: bool = False
    ) -> Written:
        """Put the bytes before a write back: by default the caller's last one.

        Raises:
            NotFound: `WRITE_NOT_FOUND`, `UNDO_EXPIRED`.
            Conflict: `UNDO_CONFLICT`.
            VaultAgentError: as `edit`.
        """
        raise NotImplementedError

    # --- in a thread ----------------------------------------------------------------------------

    def _read(self, path: str) -> bytes:
        with self._open_root() as root:
            try:
                real = root.real_path(path)
                folder, _, name = real.rpartition("/")
                with root.open_folder(folder) as opened:
                    return opened.read(name).data
            except (CannotOpen, FileNotFoundError):
                raise NotFound("NOTE_NOT_FOUND", "There is no such note.") from None

    def _edit(self, path: str, write: Write, plan: Plan) -> Written:
        before = self._read(path)
        found = plan(before)
        planned = found if isinstance(found, Planned) else Planned(found)
        after = spliced(before, planned.splices)
        if write.hash_required and write.expected_hash is None:
            raise InvalidRequest("EXPECTED_HASH_REQUIRED", "This needs the hash of the note.")
        if write.expected_hash and not content_hash(before).hex().startswith(write.expected_hash):
            raise Conflict("HASH_MISMATCH", "The note has changed.")
        if after != before and not write.dry_run:
            with self._open_root() as root:
                folder, _, name = root.real_path(path).rpartition("/")
                with root.open_folder(folder) as opened:
                    temporary = f".va-{secrets.token_hex(8)}.tmp"
                    opened.make(temporary, after)
                    opened.replace(temporary, name)
        return _written(path, write, before, after, planned)

    def _create(self, path: str, write: Write, content: bytes) -> Written:
        with self._open_root() as root:
            folder, _, name = path.rpartition("/")
            try:
                with root.open_folder(folder) as opened:
                    opened.make(name, content)
            except FileExistsError:
                raise Conflict("NOTE_EXISTS", "There is a note of this name.") from None
            except CannotOpen as error:
                if error.cause is Cause.VANISHED:
                    raise NotFound("NOTE_NOT_FOUND", "There is no such folder.") from None
                raise
        return _written(path, write, None, content, Planned(()))

    async def _followed(self, written: Written, write: Write) -> Written:
        index = await self._follow([written.path], write.wait_ms) if written.changed else PENDING
        return _with_index(written, index)


def _with_index(written: Written, index: IndexState) -> Written:
    from dataclasses import replace

    return replace(written, index=index)


def _written(
    path: str, write: Write, before: bytes | None, after: bytes, planned: Planned
) -> Written:
    old, new = ((each or b"").decode("utf-8", "replace").splitlines() for each in (before, after))
    return Written(
        write_id=None,
        operation=write.operation,
        changed=before != after,
        path=path,
        created=before is None,
        hash_before=None if before is None else content_hash(before).hex(),
        hash_after=content_hash(after).hex(),
        bytes_before=None if before is None else len(before),
        bytes_after=len(after),
        spans=len(planned.splices),
        section_hash=planned.section_hash,
        line=planned.line,
        warnings=planned.warnings,
        diff="\n".join(difflib.unified_diff(old, new, lineterm="")),
    )
