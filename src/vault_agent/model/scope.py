"""The part of a vault that a caller may see."""

from __future__ import annotations

from dataclasses import dataclass

from vault_agent.text.names import covers, fold


@dataclass(frozen=True, slots=True)
class Scope:
    """Folders of a vault without some others. What lies outside does not exist for the caller.

    Paths are vault-relative, and compared as names are: without letter case. `folders` is () for
    the whole vault. `deny` has folders and notes, whose suffix is optional. With `base`, names are
    relative to this folder, and the scope is the same.
    """

    folders: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    base: str | None = None

    @property
    def folder(self) -> str:
        """The folder that names are relative to: the only one, or "" for the vault itself."""
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
        """Whether a folder is one of the scope or lies above one, so that a walk must enter it."""
        return any(f"{fold(mine)}/".startswith(f"{fold(folder)}/") for mine in self.folders)

    def inner(self, path: str) -> str:
        """Return a path of the vault relative to the folder, if it is below it."""
        start = f"{self.folder}/"
        if not self.folder or path.startswith(start):
            return path.removeprefix(start) if self.folder else path
        if not fold(path).startswith(fold(start)):
            return path
        return path.split("/", start.count("/"))[-1]

    def outer(self, path: str) -> str:
        """Return a path relative to the folder as a path of the vault."""
        return f"{self.folder}/{path}".rstrip("/") if self.folder else path


EVERYTHING = Scope()
