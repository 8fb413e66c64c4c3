"""Writes of whole files: moves, deletion, folders, attachments, and headings that links name.

Which links a move, a deletion or a new heading concerns is read from the index. A move first brings
the index up to date, because an index that is behind the files would miss links.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

from vault_agent.errors import (
    Failed,
    IndexUnavailable,
    InvalidRequest,
    NotFound,
    TooLarge,
)
from vault_agent.model.writing import BY_OWNER, VaultChange
from vault_agent.store.current import SnapshotOutdated
from vault_agent.store.index.links import LinkReader
from vault_agent.system.cancelling import in_thread
from vault_agent.text.names import is_note, lies_in
from vault_agent.vault.paths import validate
from vault_agent.writing.canvases import links_to_parts
from vault_agent.writing.disk import coded
from vault_agent.writing.executor import check_hash
from vault_agent.writing.move import (
    MoveControl,
    MoveRequest,
    notice_of_links,
    plan_move,
)
from vault_agent.writing.permission import check_may_write, sees
from vault_agent.writing.placing import folder_exists, place_to_move
from vault_agent.writing.plan import Overtaken, Transaction
from vault_agent.writing.relinking import links_taken
from vault_agent.writing.sections import rename_heading

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from vault_agent.markdown.address import PartAddress
    from vault_agent.model.writing import Author, Write, Written
    from vault_agent.store.current import Snapshot
    from vault_agent.store.index.links import LinkFrom
    from vault_agent.vault.root import VaultRoot
    from vault_agent.writing.vault_writer import VaultWriter


AT_ONCE = 50
"""Notes that a move rewrites without being a job."""
MAX_ATTACHMENT_BYTES = 50 * 1024 * 1024
_ATTEMPTS = 5

_T = TypeVar("_T")


class IndexForWrites(Protocol):
    """The index of the vault."""

    def snapshot(self, *, up_to_date: bool) -> AbstractAsyncContextManager[Snapshot]:
        """Lend the current snapshot. With `up_to_date`, first index all changes of the vault."""
        ...

    async def knows(self, path: str) -> bool:
        """Whether the index has a note at a path."""
        ...


@dataclass(frozen=True, slots=True)
class Files:
    """Moves and deletes files and folders of one open vault, and adds folders and attachments."""

    writer: VaultWriter
    index: IndexForWrites
    open_root: Callable[[], VaultRoot]

    async def move(
        self,
        path: str,
        to: str,
        write: Write,
        *,
        rewrite_links: bool = True,
        control: MoveControl | None = None,
    ) -> Written:
        """Move a note, an attachment or a folder, and rewrite the links that would lead elsewhere.

        `write.expected_hash` is that of a file. A folder has none, and only the owner moves it. If
        `to` ends with `/`, the file or folder moves into that folder and keeps its name.

        Raises:
            NeedsJob: if `control` wants a job for a move of this size.
            MoveStopped: if `control` has stopped the move. Nothing was changed.
            VaultAgentError: as `plan_move` and `VaultWriter.transact`.
        """
        if to.endswith("/") and not is_note(to[:-1]):  # `a.md/` is refused as a mistake
            to += path.rpartition("/")[2]
        request = MoveRequest(
            path,
            to,
            rewrite_links,
            lambda note: self.writer.may_write(write.author, note),
            partial(sees, write.author),
            not write.author.is_owner,
            control or MoveControl(),
            partial(check_hash, write),
        )

        # The plan compares the hash, because a folder has none.
        own = replace(write, expected_hash=None, hash_required=False)
        for attempt in range(1, _ATTEMPTS + 1):
            since = await self.writer.last_write(own)
            ahead = since is not None and attempt < _ATTEMPTS
            try:
                return await self._move(own, request, since if ahead else None)
            except (SnapshotOutdated, Overtaken):
                continue
        raise Failed("INTERNAL_ERROR", "The index changed faster than it could be read. Ask again.")

    async def _move(self, write: Write, request: MoveRequest, since: int | None) -> Written:
        """Plan a move and carry it out.

        With `since`, it is planned while others may write, otherwise while nobody else writes.
        """
        async with self.index.snapshot(up_to_date=True) as snapshot:

            def plan() -> Transaction:
                with coded(), self.open_root() as root:
                    return plan_move(snapshot, root, request)

            if since is None:
                return await self.writer.transact(write, plan)
            planned = await in_thread(plan)
            return await self.writer.transact(write, lambda: planned, since)

    async def rename_heading(
        self, path: str, write: Write, address: PartAddress, text: str
    ) -> Written:
        """Give a heading another text. The reply names the links that no longer lead to it.

        `write.expected_hash` is optional: that of the section or of the whole note.

        Raises:
            VaultAgentError: as `change_section`.
        """

        def links_of(reader: LinkReader) -> tuple[list[LinkFrom], list[str]]:
            with self.open_root() as root:
                of_canvases, unread = links_to_parts(root, reader, path)
            return [*reader.links_to_parts(path), *of_canvases], unread

        seen = partial(sees, write.author)
        links, unread = await self._of_index(links_of) or ([], [])
        return await rename_heading(
            *(self.writer, path, write, address, text),
            links=[row for row in links if seen(row.source)],
            unread=[*filter(seen, unread)],
        )

    async def delete(
        self, path: str, write: Write, *, permanent: bool = False, missing_ok: bool = False
    ) -> Written | None:
        """Move a file or a folder to `.trash/`, or with `permanent` remove a file.

        Links to it stay, and the reply counts them. Only the owner deletes folders. With
        `missing_ok`, return None if there is no such file.

        Raises:
            VaultAgentError: as `VaultWriter.remove`.
        """
        validate(path)
        lost = await self._of_index(partial(_links_from_outside, path=path))
        try:
            reply = await self.writer.remove(path, write, permanent=permanent)
        except NotFound:
            if missing_ok:
                return None
            raise
        seen = [row for row in lost or () if sees(write.author, row.source)]
        what = "Links to this file that were not changed: {}."
        warnings = (*reply.warnings, *notice_of_links("LINKS_BROKEN", what, seen))
        return replace(reply, broken_links=len(seen), warnings=warnings)

    async def make_folder(self, path: str, write: Write) -> Written:
        """Make a folder, and those above it that are missing.

        Raises:
            VaultAgentError: as `place_to_move` and `VaultWriter.transact`.
        """

        def plan() -> Transaction:
            check_may_write(lambda folder: self.writer.may_write(write.author, folder), path)
            with self.open_root() as root:
                if folder_exists(root, path):
                    return Transaction(path, ())
                place = place_to_move(root, path, "", is_folder=True)
                return Transaction(place, (VaultChange.make_folder(place),), created=True)

        return await self.writer.transact(write, plan)

    async def attach(self, path: str, write: Write, content: bytes) -> Written:
        """Add a file that is not a note. An existing file is never replaced.

        Raises:
            InvalidRequest: `INVALID_NOTE_NAME` for a note, and for a name without extension.
            TooLarge: `ATTACHMENT_TOO_LARGE` over 50 MiB.
            VaultAgentError: as `VaultWriter.create`.
        """
        if len(content) > MAX_ATTACHMENT_BYTES:
            raise TooLarge(
                "ATTACHMENT_TOO_LARGE",
                "An attachment may have at most 50 MiB.",
                {"size": len(content), "limit": MAX_ATTACHMENT_BYTES},
                remedy="",
            )
        if is_note(path) or not posixpath.splitext(path)[1]:
            raise InvalidRequest(
                "INVALID_NOTE_NAME", "An attachment needs an extension other than .md.", remedy=""
            )
        return await self.writer.create(path, write, content)

    async def with_link_warnings(self, reply: Written, author: Author = BY_OWNER) -> Written:
        """Add a warning to the reply of a new file if links to other files now lead to it."""
        if not (reply.created and reply.changed):
            return reply
        taken = await self._of_index(lambda reader: links_taken(reader, reply.path))
        seen = [row for row in taken or () if sees(author, row.source)]
        what = "Links to another file of this name that now lead to the new one: {}."
        warnings = notice_of_links("LINKS_LEAD_ELSEWHERE", what, seen)
        return replace(reply, warnings=(*reply.warnings, *warnings))

    async def _of_index(self, read: Callable[[LinkReader], _T]) -> _T | None:
        """Return what `read` finds in the index as it is, or None if there is no index."""

        def found(snapshot: Snapshot) -> _T:
            with snapshot.unchanged() as connection:
                return read(LinkReader(connection))

        for _ in range(_ATTEMPTS):
            try:
                async with self.index.snapshot(up_to_date=False) as snapshot:
                    return await in_thread(found, snapshot)
            except SnapshotOutdated:
                continue
            except IndexUnavailable:
                return None
        return None


def _links_from_outside(reader: LinkReader, path: str) -> list[LinkFrom]:
    """Return the links that lead to a file from others, or into a folder from outside."""
    links = [link for file in reader.paths_at(path) for link in reader.links_into(file)]
    return [link for link in links if not lies_in(link.source, path)]
