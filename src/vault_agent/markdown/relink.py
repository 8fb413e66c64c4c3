"""Write the target of a link so that it leads to the new place of a file. Pure.

Only the target's bytes change, and their style stays. A bare name stays one while it is unique. A
path from the vault's root, from the note's folder or with a leading `/` stays such a path. So do
the extension and the escapes. If no target of that style leads to the file, other styles are tried.

A new name may change how the text around it is read, so the caller parses the changed note again.
"""

from __future__ import annotations

import posixpath
import re
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol
from urllib.parse import quote

from vault_agent.markdown.links import target_of_destination, target_of_wikilink
from vault_agent.markdown.yaml_values import within
from vault_agent.model.notes import LinkKind
from vault_agent.text.names import fold, is_note, stem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from vault_agent.model.link_resolver import Resolution
    from vault_agent.model.notes import Link

ADDRESSES = frozenset((LinkKind.MARKDOWN, LinkKind.IMAGE))
"""Links whose target is a destination of CommonMark."""

_EXPLICIT = ("./", "../")
# What stands before a target in frontmatter, on its line.
_FRONTMATTER = re.compile(
    r"(?P<quote>[\"']?)[ \t]*+!?(?P<opening>\[\[|\[[^\[\]\n]*+\]\(<?)?[ \t]*+\Z"
)
_COMMENT = re.compile(r"`|%%|<!--")
_ENTITY = re.compile(r"&(?=#?\w+;)")
_ENCODED_LETTER = re.compile(r"%[89A-Fa-f][0-9A-Fa-f]")
_UNSAFE = re.compile(r"[\s<>?\"`|\\\x00-\x1f\x7f\u00a0]")
_UNSAFE_IN_ANGLES = re.compile(r"[<>`|\\\x00-\x1f\x7f]")
_DOUBLED = re.compile(r"(?<=\[)\[|(?<=\])\]|(?<=\{)\{|(?<=\})\}")
_BALANCED = re.compile(r"(?:[^()]|\([^()]*\))*+\Z")
_FLOW = re.compile(r"[,\[\]{}]")


class Places(NamedTuple):
    """The note that contains a link and the file that it leads to, as vault-relative paths."""

    source: str
    dest: str


class Leads(Protocol):
    """Where links lead after the change."""

    def resolve(self, source_path: str, target: str, kind: str) -> Resolution:
        """Return the result of a link in the note at `source_path`."""
        ...

    def is_unique(self, path: str) -> bool:
        """Whether no other file has the name of this one."""
        ...


def respell_link(link: Link, text: str, was: Places, now: Places, leads: Leads) -> str | None:
    """Return what to write in place of `link.span` with which the link leads to `now.dest`.

    Return None if nothing that can be written there does, or if the span is not known. `was` is
    where the link stood and led. `text` holds the link. A link that was the path from
    its note's folder stays one (`leads_by_path`).
    """
    if link.span is None:
        return None
    start, end = link.span
    write = _writer(link.kind, text, start, text[start:end])
    second: str | None = None
    by_path = leads_by_path(link.kind, link.target, was)
    for target in dict.fromkeys(_targets(link, was, now, leads)):
        if by_path and not leads_by_path(link.kind, target, now):
            continue
        resolution = leads.resolve(now.source, target, link.kind)
        if resolution.path != now.dest or (resolution.ambiguous and second is not None):
            continue
        spelling = write(target)
        if spelling is None:
            continue
        if not resolution.ambiguous:
            return spelling
        second = spelling
    return second


def is_relative_to(target: str, places: Places) -> bool:
    """Whether a target begins with `./` or `../` and is exactly the path from the note's folder.

    `[[./a]]` also finds a note `a` of another folder, if there is none in its own. Such a link is
    no relative path any more.
    """
    target = target.strip().replace("\\", "/")
    if not target.startswith(_EXPLICIT):
        return False
    dest = fold(places.dest)
    return fold(_path_from(places.source, target)) in (dest, without_suffix(dest))


def leads_by_path(kind: str, target: str, places: Places) -> bool:
    """Whether a destination of CommonMark is, letter by letter, the path from the note's folder.

    Only then do programs other than Obsidian follow it: they know no search by name.
    """
    if kind not in ADDRESSES or target.startswith("/"):
        return False
    return _path_from(places.source, target) == places.dest


def _path_from(source: str, target: str) -> str:
    """Return the path that a target names from its note. It begins with `..` outside the vault."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(source), target))


# --- which target -------------------------------------------------------------------------------


def _targets(link: Link, was: Places, now: Places, leads: Leads) -> Iterator[str]:
    """Yield targets that may lead to the new place, those of the link's own style first."""
    target = link.target.strip().replace("\\", "/")
    relative = _relative(now)
    explicit = relative if relative.startswith("../") else f"./{relative}"
    file = posixpath.basename(now.dest)
    own: list[str] = []
    if target.startswith("/"):
        own = [f"/{now.dest}"]
    elif target.startswith(_EXPLICIT):
        own = [explicit]
    else:
        named, name = without_suffix(fold(target)), stem(was.dest)
        if fold(target).endswith(fold(f"-{name}")):  # perhaps the type and the name of the note
            yield target[: -len(name)] + stem(now.dest)
        is_relative = named == without_suffix(fold(_relative(was)))
        is_path = "/" in named and named != without_suffix(fold(was.dest))
        if is_relative and (link.kind in ADDRESSES or is_path):
            own = [relative, explicit]
        elif "/" not in named and leads.is_unique(now.dest):
            own = [file]
    paths = [*own, now.dest, f"/{now.dest}", explicit, file]
    if not _names_suffix(target, link.kind, was.dest):
        yield from map(without_suffix, paths)
    yield from paths


def _relative(places: Places) -> str:
    """Return the path of the destination from the folder of the source."""
    return posixpath.relpath(f"/{places.dest}", f"/{posixpath.dirname(places.source)}")


def without_suffix(path: str) -> str:
    """Return a path without the extension of notes."""
    return path[: path.rindex(".")] if is_note(path) else path


def _names_suffix(target: str, kind: LinkKind, dest: str) -> bool:
    """Whether a target names its file with the extension. Only notes may be named without."""
    if not is_note(dest):
        return True
    name, file = fold(target.rpartition("/")[2]), fold(dest.rpartition("/")[2])
    if name in (file, without_suffix(file)):
        return name == file
    return kind in ADDRESSES  # an alias


# --- how it is written --------------------------------------------------------------------------


def _writer(kind: LinkKind, text: str, start: int, old_target: str) -> Callable[[str], str | None]:
    """Return the function that writes a target in place of `old_target`, at `start` in a text.

    It returns None for a target that can't be written there.
    """
    if kind in ADDRESSES:
        angle = text[:start].rstrip(" \t").endswith("<")
        return partial(_destination, like=old_target, angle=angle)
    if kind is not LinkKind.FRONTMATTER:
        return _name
    line = text[text.rfind("\n", 0, start) + 1 : start]
    match = _FRONTMATTER.search(line)
    opening = (match and match["opening"]) or ""
    quote_mark = (match and match["quote"]) or ""
    flow = _FLOW.search(line) is not None
    write = _name
    if opening.endswith(("(", "<")):
        angle = opening.endswith("<")
        write = partial(_destination, like=old_target, angle=angle, frontmatter=True)

    def in_yaml(target: str) -> str | None:
        spelling = write(target)
        return None if spelling is None else within(spelling, quote_mark, flow=flow)

    return in_yaml


def _name(target: str) -> str | None:
    """Return a target as written in a wikilink, or None if no wikilink can name it."""
    if _COMMENT.search(target) or "\n" in target or "\r" in target:
        return None
    return target if target_of_wikilink(f"[[{target}|x]]") == target else None


def _destination(target: str, like: str, *, angle: bool, frontmatter: bool = False) -> str | None:
    """Return a target as a destination of CommonMark, written like another one, or None."""
    destination = _ENTITY.sub("%26", target.replace("%", "%25")).replace("#", "%23")
    destination = (_UNSAFE_IN_ANGLES if angle else _UNSAFE).sub(_encoded, destination)
    if frontmatter or not (angle or _BALANCED.match(destination)):
        destination = re.sub(r"[()]", _encoded, destination)
    destination = _DOUBLED.sub(_encoded, destination)
    head, colon, rest = destination.partition(":")
    if colon and "/" not in head:  # not a scheme, as of a web address
        destination = f"{head}%3A{rest}"
    if like.isascii() and _ENCODED_LETTER.search(like):
        destination = "".join(sign if sign.isascii() else quote(sign) for sign in destination)
    return destination if target_of_destination(destination) == target else None


def _encoded(match: re.Match[str]) -> str:
    return quote(match[0], safe="")
