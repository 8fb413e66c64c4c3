"""The part of a vault that a caller may see."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scope:
    """One folder of a vault without some others. What lies outside does not exist for the caller.

    Paths are vault-relative. `folder` is "" for the whole vault.
    """

    folder: str = ""
    deny: tuple[str, ...] = ()

    def contains(self, path: str) -> bool:
        """Whether a path, exactly as on disk, lies in the scope."""
        return _below(path, self.folder) and not any(_below(path, each) for each in self.deny)

    def inner(self, path: str) -> str:
        """Return a path of the vault relative to the folder."""
        return path.removeprefix(f"{self.folder}/") if self.folder else path

    def outer(self, path: str) -> str:
        """Return a path relative to the folder as a path of the vault."""
        return f"{self.folder}/{path}".rstrip("/") if self.folder else path


EVERYTHING = Scope()


def _below(path: str, folder: str) -> bool:
    return not folder or path == folder or path.startswith(f"{folder}/")
