"""Resolve links by Obsidian's rules. Pure, over the paths and aliases of a vault.

A target names a file with its extension, or a note without it. `[[a.b]]` is the file "a.b" if the
vault has one, and otherwise the note "a.b.md". The steps are, until one finds a file:

1. The file at exactly this path from the vault's root.
2. The file at this path from the folder of the note with the link.
3. The files whose path ends in the target, first only those below that folder. The shortest path
   wins, and of equally long ones the first by its characters.
4. The same among the notes that have the target as an alias.
5. In vaults of projects and the global vault: the same among the notes that have the target as
   frontmatter `id`, then among those whose type and name it is: `[[module-parser]]` is
   `modules/parser.md`.

Obsidian 1.13 does the same except for steps 4 and 5: it uses aliases only to complete input. A
result is ambiguous if it comes from step 3, 4 or 5 and another candidate has as few folders or
fewer. Paths are compared like all names (`names.fold`).

A target that begins with `/` is a path from the root only. A target that begins with `./` or `../`
is a path from the note's folder, and `..` never leads out of the vault. If there is no such file,
step 3 applies.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from vault_agent.model.notes import LinkKind
from vault_agent.text.names import ID_MARK, NOTE_SUFFIXES, TYPE_MARK, fold, is_note, unmarked

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_MAX_RESULTS = 1 << 17  # kept at once
_BY_ALIAS = frozenset((LinkKind.WIKILINK, LinkKind.EMBED, LinkKind.FRONTMATTER))

_Candidate: TypeAlias = tuple[str, str]  # a path folded and reversed, and the path itself


@dataclass(frozen=True, slots=True)
class Resolution:
    """The result of a link: a vault-relative path as on disk, or None if there is no such file."""

    path: str | None = None
    is_note: bool = False
    ambiguous: bool = False


_UNRESOLVED = Resolution()


def target_key(target: str) -> str:
    """Return the key of a link's target: its last component, folded, without extension.

    If a file is added or removed, or its aliases change, only links whose key is in its old or new
    `names_of` can change their result.
    """
    return _name(_slashed(fold(target.strip())))


def names_of(path: str, aliases: Iterable[str] = ()) -> set[str]:
    """Return the keys of all targets that can lead to a note or attachment."""
    return {_name(_slashed(fold(unmarked(name)))) for name in (path, *aliases)}


def _name(folded: str) -> str:
    name = folded.rpartition("/")[2]
    while name.endswith(NOTE_SUFFIXES) and (shorter := name[: name.rindex(".")]):
        name = shorter
    return name


def _slashed(folded: str) -> str:
    return folded.replace("\\", "/") if "\\" in folded else folded


def _parent(path: str) -> str:
    return path.rpartition("/")[0]


class LinkResolver:
    """Resolves links against one state of a vault. Build it once for many links."""

    def __init__(
        self,
        notes: Iterable[tuple[str, Iterable[str]]],
        attachments: Iterable[str] = (),
    ) -> None:
        """Take the vault's notes as (path, aliases), and the paths of its other files."""
        self._files = _Files()
        self._aliases: dict[str, list[str]] = {}
        self._chosen: dict[str, Resolution] = {}  # by alias
        self._results: dict[tuple[str, str, bool], Resolution] = {}
        for path, aliases in notes:
            self._files.add(path)
            for alias in aliases:
                # Keys stay marked, so that no alias is mistaken for one.
                self._aliases.setdefault(fold(alias), []).append(path)
        for path in attachments:
            self._files.add(path)

    def resolve(self, source_path: str, target: str, kind: str) -> Resolution:
        """Return the result of a link in the note at `source_path`; `kind` is a `LinkKind`."""
        if not target:
            return Resolution(source_path, is_note=True)
        # Equal links in one folder have one result, and a folder has many of them.
        link = _parent(source_path), target, kind in _BY_ALIAS
        resolved = self._results.get(link)
        if resolved is None:
            if len(self._results) == _MAX_RESULTS:
                self._results.clear()
            resolved = self._results[link] = self._find(*link)
        return resolved

    def _find(self, folder: str, target: str, by_alias: bool) -> Resolution:
        folded = _slashed(fold(target.strip()))
        if folded.rpartition("/")[2] in ("", ".", ".."):
            return _UNRESOLVED
        folder = fold(folder)
        files = self._files
        path, beside = _asked(folded, folder)
        rooted = folded.startswith("/")
        for name in _file_names(path):
            matches = files.at(name, beside, target)
            if matches is None and not rooted:
                matches = files.ending_in(name, folder)
            if matches is not None:
                return matches
        return self._by_alias(folded) if by_alias else _UNRESOLVED

    def candidates(self, source_path: str, target: str, kind: LinkKind) -> list[str]:
        """Return the files that an ambiguous link can mean, the chosen one first.

        Return at most one for any other link.
        """
        chosen = self.resolve(source_path, target, kind)
        if chosen.path is None or not chosen.ambiguous:
            return [chosen.path] if chosen.path is not None else []
        rivals = self._files.by_path[fold(chosen.path)]
        if len(rivals) == 1:
            folder = fold(_parent(source_path))
            path, _ = _asked(_slashed(fold(target.strip())), folder)
            endings = (self._files.paths_ending_in(name, folder) for name in _file_names(path))
            rivals = next((paths for paths in endings if chosen.path in paths), [])
        if not rivals:
            rivals = self._named(_slashed(fold(target.strip())))
        depth = chosen.path.count("/")
        others = {path for path in rivals if path.count("/") <= depth} - {chosen.path}
        return [chosen.path, *sorted(others, key=_length_and_name)]

    def _by_alias(self, folded: str) -> Resolution:
        """Return the best of the notes with an alias or key. The choice is cached."""
        choice = self._chosen.get(folded)
        if choice is None:
            named = self._named(folded)
            if not named:
                return _UNRESOLVED
            choice = self._chosen[folded] = _choice(named)
        return choice

    def _named(self, folded: str) -> list[str]:
        """Return the notes with an alias, or else with an `id`, or else of a type and name."""
        ways = (self._aliases.get(mark + folded) for mark in ("", ID_MARK, TYPE_MARK))
        return next((matches for matches in ways if matches), [])


def _asked(folded: str, folder: str) -> tuple[str, str]:
    """Return the path that a folded target asks for, and the folder beside which it may lie."""
    if folded.startswith("/"):
        return joined("", folded), ""
    if folded.startswith(("./", "../")):
        return joined(folder, folded), ""
    return folded, folder


def _file_names(target: str) -> Iterator[str]:
    """Yield the file names that a target can mean, in order of precedence."""
    has_dot = "." in target.rpartition("/")[2]
    if has_dot:
        yield target
    for suffix in NOTE_SUFFIXES:
        yield target + suffix
    if not has_dot:
        yield target


class _Files:
    """The paths of a vault by folded path, by last component, and by ending.

    A vault may have an "index" in every folder, and links to all of them. So no lookup goes through
    all files of one name for each link.
    """

    def __init__(self) -> None:
        self.by_path: dict[str, list[str]] = {}  # folded, so several may differ by letter case
        self._named: dict[str, list[_Candidate]] = {}
        self._sorted: set[str] = set()
        self._below: dict[str, dict[str, Resolution]] = {}
        self._exact: dict[tuple[str, str], Resolution] = {}

    def add(self, path: str) -> None:
        """Register a file. Only before the first lookup."""
        folded = fold(path)
        self.by_path.setdefault(folded, []).append(path)
        name = folded.rpartition("/")[2]
        self._named.setdefault(name, []).append((folded[::-1], path))

    def at(self, name: str, folder: str, target: str) -> Resolution | None:
        """Return the file at a path from the root, or else from the folder.

        If several names differ by case only, return the one with the target's spelling.
        """
        path = name if name in self.by_path else f"{folder}/{name}" if folder else name
        paths = self.by_path.get(path)
        if paths is None:
            return None
        if len(paths) == 1:
            return _resolution(paths[0])
        choice = self._exact.get((path, target))
        if choice is None:
            choice = self._exact[path, target] = _choice_by_spelling(paths, target)
        return choice

    def ending_in(self, name: str, folder: str) -> Resolution | None:
        """Return the best of the files whose path ends in `name`, for a note in `folder`."""
        choices = self._below.get(name)
        if choices is None:
            choices = self._below[name] = _best_below(self._candidates(name))
        return choices.get(folder) or choices.get("")

    def paths_ending_in(self, name: str, folder: str) -> list[str]:
        """Return all files among which `ending_in` chooses."""
        paths = [path for _, path in self._candidates(name)]
        below = [path for path in paths if folder and fold(path).startswith(f"{folder}/")]
        return below or paths

    def _candidates(self, name: str) -> list[_Candidate]:
        last = name.rpartition("/")[2]
        files = self._named.get(last, [])
        if last == name or not files:
            return files
        if last not in self._sorted:
            files.sort()
            self._sorted.add(last)
        # In Obsidian "[[b/c]]" also finds "ab/c": links still work if a folder gets a prefix.
        return _beginning_with(f"{name[::-1]}/", files) or _beginning_with(name[::-1], files)


def _beginning_with(start: str, files: list[_Candidate]) -> list[_Candidate]:
    return files[bisect_left(files, (start, "")) : bisect_left(files, (start + "\U0010ffff", ""))]


def _best_below(candidates: list[_Candidate]) -> dict[str, Resolution]:
    """Return the best candidate below each folder. The key "" is the whole vault."""
    if len(candidates) == 1:
        return {"": _resolution(candidates[0][1])}
    below: dict[str, list[str]] = {}
    for backwards, path in candidates:
        folder = backwards[::-1]
        while folder:
            folder = _parent(folder)
            below.setdefault(folder, []).append(path)
    return {folder: _choice(paths) for folder, paths in below.items()}


def joined(folder: str, relative: str) -> str:
    """Return a path relative to a folder as a path from the root. ".." stops at the root."""
    parts = folder.split("/") if folder else []
    for part in relative.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def _choice_by_spelling(paths: list[str], target: str) -> Resolution:
    """Choose the path with the exact spelling of the target. Ambiguous unless there is just one."""
    spelling = unicodedata.normalize("NFC", target).lstrip("./")
    exact = [path for path in paths if _ends_with_spelling(path, spelling)]
    return _resolution(min(exact or paths), ambiguous=len(exact) != 1)


def _ends_with_spelling(path: str, spelling: str) -> bool:
    path = unicodedata.normalize("NFC", path)
    return path.endswith(spelling) or path[: -len("." + path.rpartition(".")[2])].endswith(spelling)


def _choice(paths: list[str]) -> Resolution:
    """Choose the shortest path. Ambiguous if another path has as few folders."""
    chosen = min(paths, key=_length_and_name)
    depth = chosen.count("/")
    rivals = sum(path.count("/") <= depth for path in paths)
    return _resolution(chosen, ambiguous=rivals > 1)


def _length_and_name(path: str) -> tuple[int, str, str]:
    """Return the sort key of a path. Its length is in UTF-16 units of NFC, as in Obsidian."""
    if path.isascii():
        return len(path), path, path
    normal = unicodedata.normalize("NFC", path)
    return len(normal.encode("utf-16-le")) // 2, normal, path


def _resolution(path: str, *, ambiguous: bool = False) -> Resolution:
    return Resolution(path, is_note(path), ambiguous)
