"""Reads the texts of attachments and keeps them for the index run that stores them.

Any attachment may be hostile, so one worker reads them: one file at a time, once, and within limits
of its own. No lock of the index is held meanwhile: saved notes and searches never wait for that.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from vault_agent.errors import Failed, Misconfigured
from vault_agent.extract.parts import CPU_SECONDS, MEMORY_BYTES, UnreadableAttachment, byte_limit
from vault_agent.extract.read import extract
from vault_agent.indexing.parse import KeptText, KeptTexts
from vault_agent.indexing.protocol import AttachmentsRead
from vault_agent.model.identifiers import content_hash
from vault_agent.model.warning import Warning
from vault_agent.store.database import open_reader
from vault_agent.store.directory import IndexDirectory
from vault_agent.store.index import notes as stored_notes
from vault_agent.system.workers import WorkerCrashed, WorkerNotReady, WorkerPool
from vault_agent.text.names import kind_of
from vault_agent.vault.platform import folder_at
from vault_agent.vault.read import Skipped, decode, read_bytes
from vault_agent.vault.root import VaultRoot

if TYPE_CHECKING:
    from collections.abc import Callable

    from vault_agent.indexing.protocol import IndexSpec, ProgressReport, ReadAttachments
    from vault_agent.system.crash import CrashReport
    from vault_agent.text.names import AttachmentKind

ROUND_SECONDS = 5.0
ROUND_FILES = 500
"""Limits of one answer, after which the texts that were read are indexed."""


class OneFile(NamedTuple):
    """An attachment to read. If reading it has `failed`, it is kept as one without text."""

    spec: IndexSpec
    folder: tuple[int, int] | None  # see `platform.folder_at`, when the reading began
    path: str = ""
    failed: bool = False


async def read_attachments(
    request: ReadAttachments,
    report: ProgressReport,
    on_crash: Callable[[CrashReport], object],
    *,
    cpu_seconds: float = CPU_SECONDS,
    memory_bytes: int = MEMORY_BYTES,
) -> AttachmentsRead:
    """Read the attachments that wait, in the order of their paths, and keep their texts.

    An attachment that ends its worker, or exceeds the limits, is kept as one without text.
    `on_crash` gets a report of every error that an attachment raised. If no text was read, the
    texts that no attachment of the index has are removed.

    Raises:
        Failed: `INDEXER_FAILED` if no worker starts.
        IndexUnavailable: `INDEX_INCOMPATIBLE` if the index is damaged.
    """
    spec = request.spec
    waiting = waiting_attachments(spec)
    left = [path for path in waiting if path > request.after]
    file = OneFile(spec, folder_at(spec.root))
    done: list[str] = []
    until = time.monotonic() + ROUND_SECONDS
    async with WorkerPool[OneFile, bool](
        attachment_reader, size=1, memory_bytes=memory_bytes
    ) as pool:
        for path in left:
            place = len(waiting) - len(left)
            report.phase("attachments", place + len(done), len(waiting))
            try:
                try:
                    is_kept = await pool.run(file._replace(path=path), cpu_seconds=cpu_seconds)
                except WorkerCrashed as crash:
                    if crash.report is not None:
                        on_crash(crash.report)
                    failed = file._replace(path=path, failed=True)
                    is_kept = await pool.run(failed, cpu_seconds=cpu_seconds)
            except (WorkerCrashed, WorkerNotReady):
                raise Failed(
                    "INDEXER_FAILED", "The process that reads attachments does not start."
                ) from None
            if is_kept:
                done.append(path)
            if path != left[-1] and (time.monotonic() > until or len(done) >= ROUND_FILES):
                return AttachmentsRead(tuple(done), path)
    if not done:
        sweep_texts(spec)
    return AttachmentsRead(tuple(done), None)


def waiting_attachments(spec: IndexSpec) -> list[str]:
    """Return the paths of attachments that no run has indexed as they are now, sorted.

    Raises:
        IndexUnavailable: `INDEX_INCOMPATIBLE` if the index is damaged.
    """
    directory = IndexDirectory(Path(spec.directory))
    number = directory.current()
    if number is None:
        return []
    with open_reader(directory.database(number)) as connection:
        unread = [entry.path for entry, is_unread in stored_notes.left_out(connection) if is_unread]
    return sorted(path for path in unread if kind_of(path) in spec.attachments)


def sweep_texts(spec: IndexSpec) -> None:
    """Remove the texts that no attachment of the index has.

    Raises:
        IndexUnavailable: `INDEX_INCOMPATIBLE` if the index is damaged.
    """
    directory = IndexDirectory(Path(spec.directory))
    number = directory.current()
    if number is None:
        return
    with open_reader(directory.database(number)) as connection:
        contents = {file.hash for file in stored_notes.files(connection, "document")}
    KeptTexts(directory.texts).sweep(contents)


def attachment_reader() -> Callable[[OneFile], bool]:
    """Return the handler of a worker, which tells whether an index run can take the file now."""

    def read(file: OneFile) -> bool:
        try:
            root = VaultRoot.open(file.spec.root, file.spec.exclusions)
        except Misconfigured:
            return False
        with root:
            if folder_at(file.spec.root) != file.folder:
                return False
            texts = KeptTexts(IndexDirectory(Path(file.spec.directory)).texts)
            return keep_text(root, file.path, texts, failed=file.failed)

    return read


def keep_text(root: VaultRoot, path: str, texts: KeptTexts, *, failed: bool = False) -> bool:
    """Read one attachment, unless its text is kept. Return whether an index run can take it."""
    kind = kind_of(path)
    if kind is None:
        return False
    try:
        content = read_bytes(root, path, byte_limit(kind))
    except Skipped as skipped:
        return skipped.warning.code != "FILE_UNREADABLE"
    digest = content_hash(content.data)
    if not content.complete or texts.get(kind, digest) is not None:
        return True
    text = KeptText(warnings=(_not_read("limits"),)) if failed else _text(kind, content.data)
    return texts.put(kind, digest, text)


def _text(kind: AttachmentKind, data: bytes) -> KeptText:
    warnings: list[Warning] = []

    def decoded(data: bytes) -> str:
        text, problems = decode(data, "")
        warnings.extend(problems)
        return text

    try:
        extracted = extract(kind, data, decoded)
    except Skipped as skipped:
        return KeptText(warnings=(skipped.warning,), left_out=True)
    except UnreadableAttachment as unreadable:
        return KeptText(warnings=(_not_read(unreadable.reason),))
    if extracted.cut is not None:
        warnings.append(
            Warning(
                "ATTACHMENT_CUT",
                f"An attachment is over the limit of {extracted.cut}: only its beginning is"
                " searched.",
                {"reason": extracted.cut},
            )
        )
    return KeptText(extracted.parts, tuple(warnings))


def _not_read(reason: str) -> Warning:
    return Warning(
        "ATTACHMENT_NOT_READ",
        f"An attachment has no text that can be read ({reason}): it is found by its name only.",
        {"reason": reason},
    )
