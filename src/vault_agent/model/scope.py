"""The part of a vault that a caller may see."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

_SUFFIXES = ("", ".md", ".markdown")


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
        path = _comparable(path)
        if self.folder and not path.startswith(f"{_comparable(self.folder)}/"):
            return False
        return not any(_names(path, _comparable(each)) for each in self.deny)

    def inner(self, path: str) -> str:
        """Return a path of the vault relative to the folder, if it is below it."""
        start = f"{self.folder}/"
        if not self.folder or path.startswith(start):
            return path.removeprefix(start) if self.folder else path
        if not _comparable(path).startswith(_comparable(start)):
            return path
        return path.split("/", start.count("/"))[-1]

    def outer(self, path: str) -> str:
        """Return a path relative to the folder as a path of the vault."""
        return f"{self.folder}/{path}".rstrip("/") if self.folder else path


EVERYTHING = Scope()


def _names(path: str, denied: str) -> bool:
    return path.startswith(f"{denied}/") or any(path == denied + suffix for suffix in _SUFFIXES)


def _comparable(path: str) -> str:
    """Return what `text.names.fold` does, which rooms on this floor may not import."""
    if path.isascii():
        return path.lower()
    path = unicodedata.normalize("NFC", path.replace("\u00a0", " ").replace("\u202f", " "))
    return unicodedata.normalize("NFC", path.lower().replace("ς", "σ"))
