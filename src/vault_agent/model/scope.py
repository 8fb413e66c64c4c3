"""The part of a vault that a caller may see."""

from __future__ import annotations

from dataclasses import dataclass

from vault_agent.text.names import covers, fold


@dataclass(frozen=True, slots=True)
class Scope:
    """The files in `folders` of a vault except those in `deny`: all that exists for a caller.

    `folders` is () for the whole vault. `deny` has folders, and notes with or without their suffix.
    Both are vault-relative, and compared as names are: without letter case. The paths that a
    caller sends and gets are relative to `start`, see `inner` and `outer`. A toolset whose calls
    name a folder sets `base`, which takes the place of `start`: what is seen stays the same.
    """

    folders: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    base: str | None = None

    @property
    def start(self) -> str:
        """The folder that a caller's paths are relative to: `base`, the only folder, or ""."""
        if self.base is not None:
            return self.base
        return self.folders[0] if len(self.folders) == 1 else ""

    def contains(self, path: str) -> bool:
        """Whether a note with this path lies in the scope."""
        if not (self.folders or self.deny):
            return True  # the whole vault: lists ask for each of its notes
        path = fold(path)
        if self.folders and not any(path.startswith(f"{fold(folder)}/") for folder in self.folders):
            return False
        return not any(covers(fold(name), path) for name in self.deny)

    def reaches(self, folder: str) -> bool:
        """Whether a folder is or contains one of `folders`, so that a walk must enter it."""
        return any(f"{fold(mine)}/".startswith(f"{fold(folder)}/") for mine in self.folders)

    def inner(self, path: str) -> str:
        """Return a path of the vault relative to `start`, or as it is if it is not below that."""
        before = f"{self.start}/"
        if not self.start or path.startswith(before):
            return path.removeprefix(before) if self.start else path
        if not fold(path).startswith(fold(before)):
            return path
        return path.split("/", before.count("/"))[-1]

    def outer(self, path: str) -> str:
        """Return a path relative to `start` as a path of the vault."""
        return f"{self.start}/{path}".rstrip("/") if self.start else path


EVERYTHING = Scope()
