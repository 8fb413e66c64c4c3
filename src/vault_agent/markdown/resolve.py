"""What a link leads to, by Obsidian's rules; pure, over the paths and aliases of a vault.

Of the files that answer to a target

1. the one at exactly that path from the vault's root wins;
2. else the one at that path from the folder of the note that holds the link;
3. else, among those whose path ends in the target, the one with the shortest path, and of equally
   long ones the first by its characters;
4. else the same among the notes that have the target as an alias.

This is what Obsidian 1.13 does, save for step 4: there aliases only complete what one types. A
choice is ambiguous where steps 1 and 2 decided nothing and another candidate lies in as few folders
or fewer. Paths are compared NFC and without case, with or without a note's extension.

A target that begins with `./` or `../` is a path from the note's folder, one that begins with `/` a
path from the root; such a target is looked up nowhere else.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vault_agent.model import LinkKind

if TYPE_CHECKING:
    from collections.abc import Iterable

_EXTENSIONS = (".md", ".markdown")
_BY_ALIAS = frozenset((LinkKind.WIKILINK, LinkKind.EMBED, LinkKind.FRONTMATTER))


@dataclass(frozen=True, slots=True)
class Resolution:
    """Where a link leads: a vault-relative path as on disk, or None where nothing answers."""

    path: str | None = None
    is_note: bool = False
    ambiguous: bool = False


_UNRESOLVED = Resolution()


def fold(text: str) -> str:
    """Return the form in which names and paths are compared: NFC, without case, plain spaces."""
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFC", text.replace("\u00a0", " ").replace("\u202f", " "))
    return unicodedata.normalize("NFC", text.casefold())


def _without_extension(folded: str) -> str:
    """Drop one Markdown extension, where a name is left."""
    if not folded.endswith(_EXTENSIONS):
        return folded
    stem = folded[: folded.rindex(".")]
    return stem if stem and stem[-1] != "/" else folded


def target_key(target: str) -> str:
    """Return the key of a link's target: its last component, folded, without extension.

    When a note or attachment comes, goes or changes its aliases, only links whose key is among its
    `names_of`, before or after, can lead elsewhere than they did.
    """
    return _name(_slashed(fold(target)))


def names_of(path: str, aliases: Iterable[str] = ()) -> set[str]:
    """Return the keys of all the targets that a note or attachment can answer to."""
    return {target_key(path), *map(target_key, aliases)}


def _name(folded: str) -> str:
    name = folded.rpartition("/")[2]
    while (shorter := _without_extension(name)) != name:
        name = shorter
    return name


def _slashed(folded: str) -> str:
    return folded.replace("\\", "/") if "\\" in folded else folded


def _parent(path: str) -> str:
    return path.rpartition("/")[0]


class LinkResolver:
    """Resolves links against one state of a vault; build it once, ask it often."""

    def __init__(
        self,
        notes: Iterable[tuple[str, Iterable[str]]],
        attachments: Iterable[str] = (),
    ) -> None:
        """Take the vault's notes as (path, aliases), and the paths of its other files."""
        self._notes = _Paths()
        self._attachments = _Paths()
        self._aliases: dict[str, list[str]] = {}
        self._chosen: dict[str, Resolution] = {}  # what step 3 found for a target
        for path, aliases in notes:
            self._notes.add(path, _without_extension(fold(path)))
            for alias in aliases:
                self._aliases.setdefault(fold(alias), []).append(path)
        for path in attachments:
            self._attachments.add(path, fold(path))

    def resolve(self, source_path: str, target: str, kind: LinkKind) -> Resolution:
        """Return what a link in the note at `source_path` leads to."""
        if not target:
            return Resolution(source_path, is_note=True)
        folded = _slashed(fold(target.strip()))
        folder = fold(_parent(source_path))
        if folded.startswith(("/", "./", "../")):
            path = _joined("" if folded.startswith("/") else folder, folded)
            return (path and self._at(path, target)) or _UNRESOLVED
        exact = self._at(folded, target)
        if exact is None and folder:
            exact = self._at(f"{folder}/{folded}", target)
        if exact is not None:
            return exact
        chosen = self._chosen.get(folded)
        if chosen is None:
            chosen = self._chosen[folded] = self._by_name(folded)
        if chosen.path is None and kind in _BY_ALIAS and folded in self._aliases:
            return _choice(self._aliases[folded], is_note=True)
        return chosen

    def _at(self, folded: str, target: str) -> Resolution | None:
        """Return the file at a path from the root; of names that differ by case, the one spelt."""
        notes = self._notes.at
        # "[[a.md]]" is the note "a.md", or failing that "a.md.md".
        found = notes.get(_without_extension(folded)) or notes.get(folded)
        if found:
            return _spelt(found, target, is_note=True)
        found = self._attachments.at.get(folded)
        return _spelt(found, target, is_note=False) if found else None

    def _by_name(self, folded: str) -> Resolution:
        notes = self._notes
        found = notes.ending_in(_without_extension(folded)) or notes.ending_in(folded)
        if found:
            return _choice(found, is_note=True)
        found = self._attachments.ending_in(folded)
        return _choice(found, is_note=False) if found else _UNRESOLVED


class _Paths:
    """Paths by their folded form, and by their last component."""

    def __init__(self) -> None:
        self.at: dict[str, list[str]] = {}
        self._named: dict[str, list[tuple[str, str]]] = {}
        self._in_folder: dict[str, dict[str, list[tuple[str, str]]]] = {}

    def add(self, path: str, folded: str) -> None:
        """Register a path under its folded form, which lacks the extension of a note."""
        self.at.setdefault(folded, []).append(path)
        self._named.setdefault(folded.rpartition("/")[2], []).append((folded, path))

    def ending_in(self, target: str) -> list[str]:
        """Return the paths whose last components are those of `target`."""
        parent, _, name = target.rpartition("/")
        candidates = self._named.get(name, [])
        if parent and len(candidates) > 1:
            # A vault may hold an "index" in each of its folders, and links to all of them.
            folders = self._in_folder.get(name)
            if folders is None:
                folders = self._in_folder[name] = {}
                for candidate in candidates:
                    above = _parent(candidate[0]).rpartition("/")[2]
                    folders.setdefault(above, []).append(candidate)
            candidates = folders.get(parent.rpartition("/")[2], [])
        ending = "/" + target
        return [path for folded, path in candidates if folded == target or folded.endswith(ending)]


def _joined(folder: str, relative: str) -> str | None:
    """Return a path relative to a folder as one from the root; None where it leads out of it."""
    parts = folder.split("/") if folder else []
    for part in relative.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def _spelt(paths: list[str], target: str, *, is_note: bool) -> Resolution:
    if len(paths) == 1:
        return Resolution(paths[0], is_note)
    spelling = unicodedata.normalize("NFC", target).lstrip("./")
    spelt = [path for path in paths if _ends_as_spelt(path, spelling)]
    return Resolution(min(spelt or paths), is_note, ambiguous=len(spelt) != 1)


def _ends_as_spelt(path: str, spelling: str) -> bool:
    path = unicodedata.normalize("NFC", path)
    return path.endswith(spelling) or path[: -len("." + path.rpartition(".")[2])].endswith(spelling)


def _choice(paths: list[str], *, is_note: bool) -> Resolution:
    """Choose the shortest path; ambiguous where another lies in as few folders."""
    if len(paths) == 1:
        return Resolution(paths[0], is_note)
    chosen = min(paths, key=lambda path: (len(path), path))
    depth = chosen.count("/")
    rivals = sum(path.count("/") <= depth for path in paths)
    return Resolution(chosen, is_note, ambiguous=rivals > 1)
