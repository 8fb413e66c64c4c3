"""Where the links of a vault lead, by the documented rules, without code of the product.

`Resolver` follows them by brute force. With it, tests decide whether each link leads to the same
file after a move. The links themselves are read as the product reads them:
tests/markdown/test_obsidian.py holds that to the links which were written.
"""

from __future__ import annotations

import posixpath
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from vault_agent.markdown.parse import parse_note
from vault_agent.model.notes import Link, LinkKind, ParsedNote

_BY_PATH = (LinkKind.MARKDOWN, LinkKind.IMAGE)


def around(text: str, links: Iterable[Link]) -> str:
    """Return a text without the targets of its links."""
    pieces, done = [], 0
    for start, end in sorted({link.span for link in links if link.span is not None}):
        pieces.append(text[done:start])
        done = max(done, end)
    pieces.append(text[done:])
    return "\0".join(pieces)


def _stem(folded: str) -> str:
    name = posixpath.basename(folded)
    while name.endswith((".md", ".markdown")) and name.rpartition(".")[0]:
        name = name.rpartition(".")[0]
    return name


@lru_cache(maxsize=1 << 17)
def _fold(text: str) -> str:
    text = unicodedata.normalize("NFC", text.replace("\u00a0", " ").replace("\u202f", " "))
    return unicodedata.normalize("NFC", text.lower().replace("ς", "σ"))


class Resolver:
    """Where links lead in a vault, by the documented rules."""

    def __init__(self, files: Iterable[str], names: Mapping[str, Iterable[str]]) -> None:
        """Take all files, and the aliases of notes by path."""
        self._by_name: dict[str, list[tuple[str, str]]] = {}
        self._aliases: dict[str, list[str]] = {}
        for path in files:
            folded = _fold(path)
            self._by_name.setdefault(posixpath.basename(folded), []).append((folded, path))
        for path, found in names.items():
            for name in found:
                self._aliases.setdefault(_fold(name), []).append(path)
        self._known: dict[tuple[str, str, bool], str | None] = {}
        self._stems: dict[str, str] = {}

    def reuse(self, before: Resolver, touched: Iterable[str]) -> None:
        """Take over what links led to before, except those with the name of a touched file.

        Every rule compares the last part of a target with the names of files, or all of it with
        aliases, so no other link can lead elsewhere.
        """
        names = {_stem(_fold(path)) for path in touched}
        self._known = {
            key: path for key, path in before._known.items() if before.stem_of(key[1]) not in names
        }
        self._stems = before._stems

    def stem_of(self, target: str) -> str:
        """Return the last part of a target, without the extension of a note."""
        found = self._stems.get(target)
        if found is None:
            found = self._stems[target] = _stem(_fold(target.strip()).replace("\\", "/"))
        return found

    def resolve(self, source: str, target: str, *, by_alias: bool = True) -> str | None:
        """Return the file that a link of a note leads to, or None."""
        if not target:
            return source
        key = posixpath.dirname(source), target, by_alias
        if key not in self._known:
            self._known[key] = self._resolve(*key)
        return self._known[key]

    def _resolve(self, folder: str, written: str, by_alias: bool) -> str | None:
        target = _fold(written.strip()).replace("\\", "/")
        folder = _fold(folder)
        rooted, relative = target.startswith("/"), target.startswith(("./", "../"))
        path = (
            posixpath.normpath("/" + (f"{folder}/{target}" if relative else target)).lstrip("/")
            if rooted or relative
            else target
        )
        if posixpath.basename(target) in ("", ".", ".."):
            return None
        dotted = "." in posixpath.basename(path)
        for name in [path] * dotted + [path + ".md", path + ".markdown"] + [path] * (not dotted):
            files = self._by_name.get(posixpath.basename(name), [])
            places = [name] + ([f"{folder}/{name}"] if folder and not (rooted or relative) else [])
            for place in places:
                exact = [path for folded, path in files if folded == place]
                if exact:
                    return self._spelled(exact, written)
            if rooted:
                continue
            ends = [(folded, each) for folded, each in files if f"/{folded}".endswith(f"/{name}")]
            ends = ends or [(folded, each) for folded, each in files if folded.endswith(name)]
            below = [each for folded, each in ends if folder and folded.startswith(folder + "/")]
            if ends:
                return min(below or [each for _, each in ends], key=_order)
        rivals = self._aliases.get(target, []) if by_alias else []
        return min(rivals, key=_order, default=None)

    @staticmethod
    def _spelled(paths: list[str], written: str) -> str:
        wanted = unicodedata.normalize("NFC", written).lstrip("./")
        same = [p for p in paths if p.endswith(wanted) or p.rpartition(".")[0].endswith(wanted)]
        return min(same or paths)


def _order(path: str) -> tuple[int, str, str]:
    normal = unicodedata.normalize("NFC", path)
    return sum(1 + (each > "\uffff") for each in normal), normal, path


class Vault:
    """The links of all notes of a vault, and where they lead. Other files have no text."""

    def __init__(
        self, files: Mapping[str, str], known: dict[str, ParsedNote] | None = None
    ) -> None:
        """Take all files. `known` keeps what was read of texts already."""
        self.files = files
        self.known = {} if known is None else known
        self.notes = [path for path in files if path.lower().endswith((".md", ".markdown"))]
        for path in self.notes:
            if files[path] not in self.known:
                self.known[files[path]] = parse_note(files[path], path=path)
        self.resolver = Resolver(files, {path: self.aliases(path) for path in self.notes})

    def links(self, path: str) -> Sequence[Link]:
        """Return the links of a note."""
        return self.known[self.files[path]].links

    def aliases(self, path: str) -> Sequence[str]:
        """Return the aliases of a note; a file that is none has none."""
        text = self.files[path]
        return self.known[text].aliases if text in self.known else ()

    def target(self, path: str, link: Link) -> str | None:
        """Return the file that a link of a note leads to, or None."""
        return self.resolver.resolve(path, link.target, by_alias=link.kind not in _BY_PATH)

    def moved(self, moved: Mapping[str, str], texts: Mapping[str, str]) -> Vault:
        """Return the vault after a move: new paths, and then the texts of changed notes."""
        files = {moved.get(path, path): text for path, text in self.files.items()}
        after = Vault({**files, **texts}, self.known)
        touched = {*moved, *moved.values()}
        after.resolver.reuse(
            self.resolver, (*touched, *(name for path in moved for name in self.aliases(path)))
        )
        return after


class Compared(NamedTuple):
    """What a move has done to the links of a vault."""

    links: int = 0
    rewritten: int = 0
    wrong: tuple[tuple[str, Link | None, str | None, str | None], ...] = ()
    """Note, link, the file that it should lead to, and the file that it leads to."""
    outside: tuple[str, ...] = ()
    """Notes in which something else than targets of links has changed."""


def _leads_by_path(source: str, link: Link, dest: str | None) -> bool:
    """Whether a Markdown link is the path of its file from the note's folder, for any program."""
    if link.kind not in _BY_PATH or link.target.startswith("/"):
        return False
    return posixpath.normpath(posixpath.join(posixpath.dirname(source), link.target)) == dest


def compare(before: Vault, after: Vault, moved: Mapping[str, str]) -> Compared:
    """Return which links lead elsewhere after a move."""
    count = rewritten = 0
    wrong, outside = [], []
    for path in before.notes:
        there = moved.get(path, path)
        old, new = before.files[path], after.files[there]
        was, now = before.links(path), after.links(there)
        if old != new and around(old, was) != around(new, now):
            outside.append(path)
        if len(was) != len(now):
            wrong.append((path, None, str(len(was)), str(len(now))))
            continue
        for one, other in zip(was, now, strict=True):
            count += 1
            rewritten += one.target != other.target
            dest = before.target(path, one)
            wanted = moved.get(dest, dest) if dest is not None else None
            target = after.target(there, other)
            if target != wanted and (wanted is not None or one.target != other.target):
                wrong.append((path, other, wanted, target))
            elif wanted is not None and _leads_by_path(path, one, dest) > _leads_by_path(
                there, other, wanted
            ):
                wrong.append((path, other, wanted, "by the name only"))
    return Compared(count, rewritten, tuple(wrong), tuple(outside))
