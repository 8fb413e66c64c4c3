"""The part of a vault that a caller may see."""

from __future__ import annotations

from dataclasses import dataclass

from vault_agent.text.names import covers, fold


@dataclass(frozen=True, slots=True)
class Scope:
    """The files in `folders` of a vault except those in `deny`: all that exists for a caller.

    `folders` is () for the whole vault. `deny` has folders, and notes with or without their suffix.
    Both are vault-relative, and compared as names are: without letter case. They alone decide what
    the caller sees. `base_folder` decides how paths are written: what the caller sends and gets is
    relative to it. The toolset of obsidian-vault-mcp sets `chosen_base`, to the folder of a call.
    """

    folders: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    chosen_base: str | None = None

    @property
    def base_folder(self) -> str:
        """The chosen base, or else the only folder of `folders`, or "": the whole vault."""
        if self.chosen_base is not None:
            return self.chosen_base
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

    def to_caller(self, path: str) -> str:
        """Return a path relative to `base_folder`, or the vault's own if it is not below that."""
        if not self.base_folder or not fold(path).startswith(fold(f"{self.base_folder}/")):
            return path
        # The path may spell the folder in another way, but with as many slashes.
        return path.split("/", self.base_folder.count("/") + 1)[-1]

    def in_vault(self, path: str) -> str:
        """Return a path relative to `base_folder` as a path of the vault."""
        return f"{self.base_folder}/{path}".rstrip("/") if self.base_folder else path


EVERYTHING = Scope()
