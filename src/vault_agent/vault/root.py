"""The boundary of a vault. All its files are opened here."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

from vault_agent.errors import Misconfigured
from vault_agent.model.identifiers import identify
from vault_agent.vault import platform
from vault_agent.vault.folder import Folder
from vault_agent.vault.opening import (
    CannotOpen,
    Cause,
    Descent,
    DescriptorOpener,
    Opener,
    PortableOpener,
    cannot_open,
    check_regular,
    check_resources,
)
from vault_agent.vault.paths import Exclusions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from vault_agent.vault.opening import Entries


class OpenedFile:
    """A regular file of the vault, open for reading. Close it, or use it as a context manager."""

    __slots__ = ("fd", "stat")

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.stat = os.fstat(fd)

    def detach(self) -> int:
        """Return the descriptor. From now on the caller must close it."""
        fd, self.fd = self.fd, -1
        return fd

    def close(self) -> None:
        """Close the file. A second call does nothing."""
        if self.fd >= 0:
            os.close(self.detach())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


class VaultRoot:
    """One open vault. Only files inside it that are not excluded can be opened.

    Safe to share between threads. No symbolic link is followed. A hard link is a file like any
    other, and a file system mounted inside the vault belongs to it.
    """

    def __init__(self, path: str, fd: int | None, exclusions: Exclusions) -> None:
        self.path = path
        self.exclusions = exclusions
        self._fd = fd
        self._opener: Opener = PortableOpener(path) if fd is None else DescriptorOpener(fd)

    @classmethod
    def open(
        cls,
        path: str | Path,
        exclusions: Exclusions | None = None,
        *,
        identity: str | None = None,
    ) -> VaultRoot:
        """Open the vault at `path`. Without `exclusions`, the default ones apply.

        With `identity`, only a vault with this identity is opened: the path may lead elsewhere by
        now.

        Raises:
            Misconfigured: VAULT_NOT_FOUND if there is no readable folder, or another vault. The
                message does not contain the path; the caller may add it.
        """
        fd: int | None = None
        try:
            resolved = os.path.realpath(path)
            if platform.has_descriptor_relative_calls():
                fd = os.open(
                    resolved,
                    os.O_RDONLY | platform.flag("O_DIRECTORY") | platform.flag("O_CLOEXEC"),
                )
                if not platform.names_are_exact():
                    resolved = platform.descriptor_path(fd)
            else:
                os.scandir(resolved).close()
        except OSError as error:
            check_resources(error)
            raise _not_found(error) from None
        except ValueError:  # a NUL in the path
            raise _not_found(FileNotFoundError()) from None
        root = cls(resolved, fd, exclusions or Exclusions())
        if identity is not None and root.identity != identity:
            root.close()
            raise Misconfigured(
                "VAULT_NOT_FOUND",
                "The vault root leads to another folder now.",
                remedy="Restore it. To use the other folder, stop the server and start it again.",
            )
        return root

    def close(self) -> None:
        """Close the root. A second call does nothing."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    @property
    def identity(self) -> str:
        """The vault's identity, which names its index. It does not reveal the path."""
        return identify(self.path)

    @property
    def folder(self) -> tuple[int, ...]:
        """The device and inode of the folder. Another folder may come to lie at its path."""
        status = os.stat(self.path) if self._fd is None else os.fstat(self._fd)  # noqa: PTH116
        return status.st_dev, status.st_ino

    @property
    def is_in_place(self) -> bool:
        """Whether the path still leads to this folder. It may be moved, unmounted or replaced."""
        try:
            now = os.stat(self.path)  # noqa: PTH116 - the path is text here
            return self._fd is None or os.path.samestat(now, os.fstat(self._fd))
        except OSError:
            return False

    def open_file(self, path: str) -> OpenedFile:
        """Open a regular file for reading, by its exact path.

        An excluded path is refused by its name, before the disk is accessed.

        Raises:
            CannotOpen: with the cause.
        """
        self._check(path)
        file = OpenedFile(self._opener.open(path))
        try:
            check_regular(file.stat.st_mode)
            if not platform.names_are_exact():
                self._check_spelling(file)
        except CannotOpen:
            file.close()
            raise
        return file

    def open_folder(self, path: str) -> Folder:
        """Open a folder to write in it, by its exact path ("" is the vault).

        The folder may be excluded: the caller, which writes, checks that itself.

        Raises:
            CannotOpen: with the cause.
        """
        if path:
            _check_segments(path)
        fd = self._opener.folder(path)
        names = path.split("/") if path else ()
        return Folder(fd, path, os.path.join(self.path, *names))  # noqa: PTH118

    def has(self, path: str) -> bool:
        """Whether there is anything at a path. It may be hidden or excluded."""
        return self.status(path) is not None

    def is_one_file(self, path: str, other: str) -> bool:
        """Whether two paths are names of one file or folder."""
        one, two = self.status(path), self.status(other)
        return one is not None and two is not None and os.path.samestat(one, two)

    def status(self, path: str) -> os.stat_result | None:
        """Return the `stat` of a path, or None if there is nothing. A link is not followed."""
        _check_segments(path)
        folder, _, name = path.rpartition("/")
        try:
            with self.open_folder(folder) as opened:
                return opened.stat(name)
        except FileNotFoundError:
            return None
        except CannotOpen as error:
            if error.cause is Cause.VANISHED:
                return None
            raise

    def listing(self, path: str = "") -> AbstractContextManager[Entries]:
        """List a folder ("" is the vault itself). Raises CannotOpen.

        The folder may be excluded: the caller, a walk, checks that itself.
        """
        if path:
            _check_segments(path)
        return self._opener.listing(path)

    @contextmanager
    def descent(self) -> Iterator[Callable[[str], AbstractContextManager[Entries]]]:
        """Yield a faster `listing` for a walk, for one thread.

        Pass it only paths that come from its own listings. It does not check them.
        """
        if not isinstance(self._opener, DescriptorOpener):
            yield self.listing
            return
        descent = Descent(self._opener)
        try:
            yield descent.listing
        finally:
            descent.close()

    def _check(self, path: str) -> None:
        _check_segments(path)
        if self.exclusions.excludes(path):
            raise CannotOpen(Cause.EXCLUDED)

    def _check_spelling(self, file: OpenedFile) -> None:
        """Check the name on disk: the file may have been opened by another spelling of it."""
        try:
            path = platform.relative_to(self.path, platform.descriptor_path(file.fd))
        except OSError as error:
            raise cannot_open(error) from None
        if path is None:
            raise CannotOpen(Cause.OUTSIDE)
        if self.exclusions.excludes(path):
            raise CannotOpen(Cause.EXCLUDED)


_NO_NAMES = frozenset({"", ".", ".."})


def _check_segments(path: str) -> None:
    """Refuse a path that is not a plain sequence of names. The openers rely on this."""
    try:
        raw = os.fsencode(path)
    except UnicodeEncodeError:
        raise CannotOpen(Cause.OUTSIDE) from None
    strange = b"\0" in raw or (os.sep != "/" and ("\\" in path or ":" in path))
    if strange or not _NO_NAMES.isdisjoint(path.split("/")):
        raise CannotOpen(Cause.OUTSIDE)


def _not_found(error: OSError) -> Misconfigured:
    if isinstance(error, NotADirectoryError):
        why = "The vault root is not a folder."
    elif isinstance(error, PermissionError):
        why = "The vault root cannot be read."
    else:
        why = "The vault root does not exist."
    return Misconfigured("VAULT_NOT_FOUND", why)
