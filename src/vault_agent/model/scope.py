"""The part of a vault that a caller may see."""

from __future__ import annotations

from dataclasses import dataclass

from vault_agent.text.names import covers, fold


@dataclass(frozen=True, slots=True)
class Scope:
    """One folder of a vault without some others. What lies outside does not exist for the caller.

    Paths are vault-relative, and compared as names are: without letter case. `folder` is "" for
    the whole vault. `deny` has folders and notes, whose suffix is optional.
    """

    folder: str = ""
    deny: tuple[str, ...] = ()

    def contains(self, path: str) -> bool:
        """Whether a note with this path lies in the scope."""
        if not (self.folder or self.deny):
            return True  # the whole vault: lists ask for each of its notes
        path = fold(path)
        if self.folder and not path.startswith(f"{fold(self.folder)}/"):
            return False
        return not any(covers(fold(each), path) for each in self.deny)

    def reaches(self, folder: str) -> bool:
        """Whether a folder is the scope's own or lies above it, so that a walk must enter it."""
        return f"{fold(self.folder)}/".startswith(f"{fold(folder)}/")

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
