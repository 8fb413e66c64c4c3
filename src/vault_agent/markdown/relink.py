"""Write the target of a link so that it leads to the new place of a file. Pure.

Only the target's bytes change, and their style stays. A bare name stays one while it is unique. A
path from the vault's root, from the note's folder or with a leading `/` stays such a path. So do
the extension and the escapes. If no target of that style leads to the file, other styles are tried.

A new name may change how the text around it is read, so the caller parses the changed note again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
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
_ENCODED_CHARACTER = re.compile(r"%(?=[0-9A-Fa-f]{2})")
_UNSAFE = re.compile(r"[\s<>?\"`|\\\x00-\x1f\x7f\u00a0]")
_UNSAFE_IN_ANGLES = re.compile(r"[<>`|\\\x00-\x1f\x7f]")
_DOUBLED = re.compile(r"(?<=\[)\[|(?<=\])\]|(?<=\{)\{|(?<=\})\}")
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


def respell_link(link: Link, note: bytes, was: Places, now: Places, leads: Leads) -> bytes | None:
    """Return the bytes in place of `link.span` with which the link leads to `now.dest`.

    Return None if nothing that can be written there does, or if the span is not known. `was` is
    where the link stood and led. `note` holds the link and is UTF-8. A link that was the path from
    its note's folder stays one (`leads_by_path`).
    """
    if link.span is None:
        return None
    start, end = link.span
    write = writer(link.kind, note, start, note[start:end].decode())
    second: bytes | None = None
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
            return spelling.encode()
        second = spelling.encode()
    return second


def is_relative_to(target: str, places: Places) -> bool:
    """Whether a target begins with `./` or `../` and is exactly the path from the note's folder.

    `[[./a]]` also finds a note `a` of another folder, if there is none in its own. Such a link is
    no relative path any more.
    """
    target = target.strip().replace("\\", "/")
    if not target.startswith(_EXPLICIT):
        return False
    named, dest = _path_from(places.source, target), fold(places.dest)
    return named is not None and fold(named) in (dest, without_suffix(dest))


def leads_by_path(kind: str, target: str, places: Places) -> bool:
    """Whether a destination of CommonMark is, letter by letter, the path from the note's folder.

    Only then do programs other than Obsidian follow it: they know no search by name.
    """
    if kind not in ADDRESSES or target.startswith("/"):
        return False
    return _path_from(places.source, target) == places.dest


def _path_from(source: str, target: str) -> str | None:
    """Return the path that a target names from its note, None if it leads out of the vault."""
    parts = source.split("/")[:-1]
    for part in target.split("/"):
        if part == "..":
            if not parts:
                return None
            del parts[-1]
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


# --- which target -------------------------------------------------------------------------------


def _targets(link: Link, was: Places, now: Places, leads: Leads) -> Iterator[str]:
    """Yield targets that may lead to the new place, those of the link's own style first."""
    target = link.target.strip().replace("\\", "/")
    relative = _relative(now)
    explicit = relative if relative.startswith("../") else f"./{relative}"
    endings = list(_endings(now.dest))
    own: list[str] = []
    if target.startswith("/"):
        own = [f"/{now.dest}"]
    elif target.startswith(_EXPLICIT):
        own = [explicit]
    else:
        style = _style(target, link.kind, was)
        name = stem(was.dest)
        if fold(target).endswith(fold(f"-{name}")):  # perhaps the type and the name of the note
            yield target[: -len(name)] + stem(now.dest)
        if style == "relative":
            own = [relative, explicit]
        elif style == "name" and leads.is_unique(now.dest):
            own = endings[:1]
        elif style == "ending":
            own = endings[target.count("/") : target.count("/") + 1]
    paths = [*own, now.dest, f"/{now.dest}", explicit, *reversed(endings)]
    if not _names_suffix(target, link.kind, was.dest):
        yield from map(without_suffix, paths)
    yield from paths


def _style(target: str, kind: LinkKind, was: Places) -> str:
    """Return how a target names its file, without a leading `/`, `./` or `../`."""
    named = without_suffix(fold(target))
    relative = without_suffix(fold(_relative(was)))
    if named == relative and kind in ADDRESSES:
        return "relative"
    if "/" not in named:
        return "name"
    if named == without_suffix(fold(was.dest)):
        return "path"
    return "relative" if named == relative else "ending"


def _relative(places: Places) -> str:
    """Return the path of the destination from the folder of the source."""
    folders = places.source.split("/")[:-1]
    parts = places.dest.split("/")
    common = 0
    for ours, theirs in zip(folders, parts[:-1], strict=False):
        if ours != theirs:
            break
        common += 1
    return "/".join([".."] * (len(folders) - common) + parts[common:])


def _endings(path: str) -> Iterator[str]:
    """Yield the name of a file, the name with its folder, and so on to the whole path."""
    parts = path.split("/")
    for start in range(len(parts) - 1, -1, -1):
        yield "/".join(parts[start:])


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


def writer(kind: LinkKind, note: bytes, start: int, old_target: str) -> Callable[[str], str | None]:
    """Return the function that writes a target in place of `old_target`, at `start` in a note.

    It returns None for a target that can't be written there.
    """
    if kind in ADDRESSES:
        return _Destination(old_target, note[:start].rstrip(b" \t").endswith(b"<")).of
    if kind is not LinkKind.FRONTMATTER:
        return _name
    line = note[note.rfind(b"\n", 0, start) + 1 : start].decode("utf-8", "replace")
    match = _FRONTMATTER.search(line)
    opening = (match and match["opening"]) or ""
    yaml = _Yaml((match and match["quote"]) or "", _FLOW.search(line) is not None)
    if opening.endswith(("(", "<")):
        destination = _Destination(old_target, opening.endswith("<"), frontmatter=True)
        return lambda target: yaml.of(destination.of(target))
    return lambda target: yaml.of(_name(target))


def _name(target: str) -> str | None:
    """Return a target as written in a wikilink, or None if no wikilink can name it."""
    if _COMMENT.search(target) or "\n" in target or "\r" in target:
        return None
    return target if target_of_wikilink(f"[[{target}|x]]") == target else None


@dataclass(frozen=True, slots=True)
class _Destination:
    """Writes destinations like one that is there."""

    like: str
    angle: bool
    frontmatter: bool = False

    def of(self, target: str) -> str | None:
        destination = self._in_angles(target) if self.angle else self._bare(target)
        if self.frontmatter:
            destination = re.sub(r"[()]", _encoded, destination)
        return destination if target_of_destination(destination) == target else None

    def _bare(self, target: str) -> str:
        destination = target.replace("%", "%25")
        destination = _UNSAFE.sub(_encoded, _ENTITY.sub("%26", destination).replace("#", "%23"))
        if not _balanced(destination):
            destination = re.sub(r"[()]", _encoded, destination)
        return self._finished(destination)

    def _in_angles(self, target: str) -> str:
        destination = _ENCODED_CHARACTER.sub("%25", target)
        destination = _ENTITY.sub("%26", destination).replace("#", "%23")
        destination = _UNSAFE_IN_ANGLES.sub(_encoded, destination)
        if "%20" in self.like and " " not in self.like:
            destination = destination.replace(" ", "%20")
        return self._finished(destination)

    def _finished(self, destination: str) -> str:
        destination = _DOUBLED.sub(_encoded, destination)
        head, colon, rest = destination.partition(":")
        if colon and "/" not in head:  # not a scheme, as of a web address
            destination = f"{head}%3A{rest}"
        if self.like.isascii() and _ENCODED_LETTER.search(self.like):
            signs = (sign if sign.isascii() else quote(sign) for sign in destination)
            destination = "".join(signs)
        return destination


def _encoded(match: re.Match[str]) -> str:
    return quote(match[0], safe="")


def _balanced(text: str) -> bool:
    depth = 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if depth not in (0, 1):
            return False
    return depth == 0


@dataclass(frozen=True, slots=True)
class _Yaml:
    """Writes text into a scalar of YAML."""

    quote: str
    flow: bool  # whether the scalar may stand in a list of one line

    def of(self, text: str | None) -> str | None:
        return None if text is None else within(text, self.quote, flow=self.flow)
