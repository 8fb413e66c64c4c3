"""The links of a vault, read and resolved without code of the product.

marko finds code, HTML and Markdown links, PyYAML the frontmatter, and regular expressions the
wikilinks. `Resolver` follows the documented rules by brute force. With this, a benchmark and tests
decide whether each link leads to the same file after a move.
"""

from __future__ import annotations

import html
import posixpath
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import NamedTuple
from urllib.parse import unquote
from zlib import crc32

import marko
import yaml
from marko import block, inline
from marko.ext.gfm import elements as gfm

_FRONTMATTER = re.compile(
    r"\ufeff?---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE
)
_WIKILINK = re.compile(r"(!?)\[\[((?:[^\[\]\n]|\[(?!\[)|\](?!\]))+)\]\]")
_INLINE = re.compile(
    r"\]\(\s*(?:<([^<>\n]*)>|([^\s]*))(?:\s+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?\s*\)\Z", re.DOTALL
)
_REFERENCE = re.compile(r"\[([^\[\]]+)\](?:\[\])?\Z")
_DEFINITION = re.compile(
    r"^[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)*\[((?:\\.|[^\[\]])+)\]:"
    r"[ \t]*\n?[ \t>]*(?:<([^<>\n]*)>|(\S+))",
    re.MULTILINE,
)
_COMMENT = re.compile(r"%%.*?(?:%%|\Z)|<!--.*?(?:-->|\Z)", re.DOTALL)
_ITEM = re.compile(r"(?:[-*+][ ]{1,4}|#{1,6} )[^\s>`~<#*+\d-]")
"""A line at the margin that begins a block, whatever is above it, unless that is HTML or code."""
_ENDLESS = re.compile(
    r"[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)*(?:```|~~~|<(?:script|pre|style|textarea|[!?]))",
    re.IGNORECASE,
)
"""A line that begins a block which an empty line does not end."""
_HTML = re.compile(r"[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)*<")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:(?=\S)|//")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")


class Found(NamedTuple):
    """A link: its target decoded, and the range of the target in the text."""

    kind: str  # wikilink, markdown, frontmatter
    target: str
    fragment: str
    start: int
    end: int


def links(text: str) -> list[Found]:
    """Return the links of a note in order, each range once."""
    head = _FRONTMATTER.match(text)
    end = head.end() if head else 0
    found = list(_frontmatter(text, head)) if head else []
    body = text[end:]
    found += [link._replace(start=link.start + end, end=link.end + end) for link in _body(body)]
    return sorted(set(found), key=lambda link: (link.start, link.kind))


def around(text: str, found: Iterable[Found]) -> str:
    """Return a text without the targets of its links."""
    pieces, done = [], 0
    for start, end in sorted({(link.start, link.end) for link in found}):
        pieces.append(text[done:start])
        done = max(done, end)
    pieces.append(text[done:])
    return "\0".join(pieces)


def aliases(text: str) -> list[str]:
    """Return the aliases in a note's frontmatter."""
    head = _FRONTMATTER.match(text)
    if not head:
        return []
    try:
        values = yaml.load(head[1], Loader=yaml.BaseLoader)
    except yaml.YAMLError:
        return []
    names: list[str] = []
    for key, value in values.items() if isinstance(values, dict) else ():
        if str(key).lower() in ("aliases", "alias"):
            names += value.split(",") if isinstance(value, str) else _texts(value)
    return [" ".join(name.split()) for name in names if name.strip()]


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)


def _frontmatter(text: str, head: re.Match[str]) -> Iterator[Found]:
    try:
        root = yaml.compose(head[1], Loader=yaml.BaseLoader)
    except yaml.YAMLError:
        return
    if not isinstance(root, yaml.MappingNode):
        return
    for key, value in root.value:
        own = isinstance(key, yaml.ScalarNode) and key.value.lower() == "links"
        for node in _scalars(value):
            start = head.start(1) + node.start_mark.index
            raw = text[start : head.start(1) + node.end_mark.index]
            whole = re.fullmatch(r"\s*!?\[\[((?:(?!\[\[|\]\][^\]]).)+)\]\]\s*", node.value)
            if whole:
                at = raw.find("[[") + 2
                part = re.split(r"[|#]|\]\]", raw[at:])[0]
                fragment = whole[1].partition("|")[0].partition("#")[2].strip()
            elif own and not re.match(r"!?\[", node.value) and not _SCHEME.match(node.value):
                at = len(raw) - len(raw.lstrip("'\""))
                part = re.split(r"[|#]", raw.strip("'\""))[0]
                fragment = node.value.partition("|")[0].partition("#")[2]
            elif own and (link := re.search(r"\]\(<?([^()<>#]*)", raw)):
                at, part, fragment = link.start(1), link[1], ""
                if _SCHEME.match(part):
                    continue
                yield Found("markdown", _decoded(part), "", start + at, start + at + len(part))
                continue
            else:
                continue
            at += len(part) - len(part.lstrip())
            part = part.strip()
            quote = text[start]
            name = part.replace("''", "'") if quote == "'" else part
            name = name.replace('\\"', '"').replace("\\\\", "\\") if quote == '"' else name
            yield Found("frontmatter", name, fragment, start + at, start + at + len(part))


def _scalars(node: yaml.Node) -> Iterator[yaml.ScalarNode]:
    if isinstance(node, yaml.ScalarNode):
        yield node
    elif isinstance(node, yaml.SequenceNode):
        for each in node.value:
            yield from _scalars(each)
    elif isinstance(node, yaml.MappingNode):
        for _, each in node.value:
            yield from _scalars(each)


def _body(text: str) -> list[Found]:
    opaque: list[tuple[int, int]] = []
    markdown: list[tuple[tuple[int, int], str]] = []
    for start, piece in pieces(text):
        closed, linked = _parsed(piece)
        opaque += [(start + one, start + other) for one, other in closed]
        markdown += [((start + one, start + other), dest) for (one, other), dest in linked]
    free = _masked(text, opaque)
    written = _masked(free, [span for span, _ in markdown])  # a destination may contain "%%"
    comments = [match.span() for match in _COMMENT.finditer(written)]
    free = _masked(free, comments)
    found, taken = [], []
    for match in _WIKILINK.finditer(free):
        at = match.start()
        slashes = len(free[:at]) - len(free[:at].rstrip("\\"))
        if slashes % 2 and match[1] == "":
            continue
        inner, start = text[match.start(2) : match.end(2)], match.start(2)
        name = re.split(r"[|#]", inner)[0]
        if inner.startswith("[") and name.count("[") > name.count("]"):
            start, inner = start + 1, inner[1:]  # a link in brackets
        target = inner.partition("|")[0]
        target = target[:-1] if target.endswith("\\") and "|" in inner else target
        name, _, fragment = target.partition("#")
        if not name.strip() and not fragment.strip():
            continue
        start += len(name) - len(name.lstrip())
        name = name.strip()
        taken.append(match.span())
        found.append(Found("wikilink", name, fragment.strip(), start, start + len(name)))
    definitions = {}
    for match in _DEFINITION.finditer(text):
        definitions.setdefault(
            _label(match[1]), match.span(2) if match[2] is not None else match.span(3)
        )
    for (start, end), destination in markdown:
        if _SCHEME.match(destination) or any(a <= start < b for a, b in (*taken, *comments)):
            continue
        whole = text[start:end]
        match = _INLINE.search(whole)
        if match and whole.endswith(")"):
            span = match.span(1) if match[1] is not None else match.span(2)
            span = span[0] + start, span[1] + start
        else:
            label = _REFERENCE.search(whole)
            span = definitions.get(_label(label[1]) if label else "", (-1, -1))
            if span == (-1, -1):
                continue
        raw = text[slice(*span)]
        hash_mark = re.search(r"(?<!&)#", raw)
        raw_path = raw[: hash_mark.start()] if hash_mark else raw
        path, _, fragment = destination.partition("#")
        if not path:
            continue
        found.append(
            Found("markdown", _decoded(path), _decoded(fragment), span[0], span[0] + len(raw_path))
        )
    return found


def pieces(text: str, every: int = 24) -> Iterator[tuple[int, str]]:
    """Yield parts of a note that can be parsed by themselves, with where they start.

    marko takes 12 s for a list of 3,000 items at once, and a move changes a few of them. One of
    `every` lines that may begin a part begins one: by its text, so that other parts stay the same.
    """
    start = at = 0
    html = False
    if not _DEFINITION.search(text):  # these hold for the whole note
        for line in text.splitlines(keepends=True):
            if _ENDLESS.match(line):
                break
            html = bool(line.strip()) and (html or bool(_HTML.match(line)))
            may_begin = at > start and not html and _ITEM.match(line)
            if may_begin and crc32(line.encode("utf-8", "surrogateescape")) % every == 0:
                yield start, text[start:at]
                start = at
            at += len(line)
    yield start, text[start:]


@cache
def _parsed(text: str) -> tuple[list[tuple[int, int]], list[tuple[tuple[int, int], str]]]:
    """Return the ranges that contain no links, and the Markdown links."""
    opaque: list[tuple[int, int]] = []
    markdown: list[tuple[tuple[int, int], str]] = []
    _walk(marko.Markdown(extensions=["gfm", "footnote"]).parse(text), opaque, markdown)
    return opaque, markdown


def _walk(parent, opaque, markdown) -> None:
    for element in parent.children:
        span = getattr(element, "source_span", None)
        match element:
            case (
                block.FencedCode()
                | block.CodeBlock()
                | block.HTMLBlock()
                | inline.CodeSpan()
                | inline.InlineHTML()
            ):
                opaque.append(span)
                continue
            case inline.Image():
                markdown.append((span, html.unescape(element.dest)))
            case inline.AutoLink() | gfm.Url():
                continue
            case inline.Link():
                markdown.append((span, html.unescape(element.dest)))
        if isinstance(getattr(element, "children", None), list):
            _walk(element, opaque, markdown)


def _masked(text: str, ranges: Iterable[tuple[int, int]]) -> str:
    pieces, done = [], 0
    for start, end in sorted(ranges):
        if end > done:
            pieces += text[done:start], "\0" * (end - max(start, done))
            done = end
    pieces.append(text[done:])
    return "".join(pieces)


def _label(text: str) -> str:
    return " ".join(text.split()).casefold()


def _decoded(text: str) -> str:
    try:
        return unquote(_ESCAPE.sub(r"\1", text), errors="strict")
    except UnicodeDecodeError:
        return text


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

    def resolve(self, source: str, link: Found) -> str | None:
        """Return the file that a link of a note leads to, or None."""
        if not link.target:
            return source
        key = posixpath.dirname(source), link.target, link.kind != "markdown"
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


class Read(NamedTuple):
    """What is read of a note."""

    links: list[Found]
    aliases: list[str]


class Vault:
    """The links of all notes of a vault, and where they lead.

    Files that are not notes have no text. Texts are bytes that were decoded with `surrogateescape`.
    """

    def __init__(self, files: Mapping[str, str], known: dict[str, Read] | None = None) -> None:
        """Take all files. `known` keeps what was read of texts already."""
        self.files = files
        self.known = {} if known is None else known
        notes = [path for path in files if path.lower().endswith((".md", ".markdown"))]
        self.notes = notes
        for path in notes:
            if files[path] not in self.known:
                self.known[files[path]] = Read(links(files[path]), aliases(files[path]))
        self.resolver = Resolver(files, {path: self.known[files[path]].aliases for path in notes})

    def links(self, path: str) -> list[Found]:
        """Return the links of a note."""
        return self.known[self.files[path]].links

    def moved(self, moved: Mapping[str, str], texts: Mapping[str, str]) -> Vault:
        """Return the vault after a move: new paths, and then the texts of changed notes."""
        files = {moved.get(path, path): text for path, text in self.files.items()}
        after = Vault({**files, **texts}, self.known)
        touched = {*moved, *moved.values()}
        after.resolver.reuse(
            self.resolver,
            (*touched, *(name for path in moved for name in self.aliases(path))),
        )
        return after

    def aliases(self, path: str) -> list[str]:
        """Return the aliases of a note."""
        text = self.files[path]
        return self.known[text].aliases if text in self.known else []


class Compared(NamedTuple):
    """What a move has done to the links of a vault."""

    links: int = 0
    rewritten: int = 0
    wrong: tuple[tuple[str, Found, str | None, str | None], ...] = ()
    """Note, link, the file that it should lead to, and the file that it leads to."""
    outside: tuple[str, ...] = ()
    """Notes in which something else than targets of links has changed."""


def _leads_by_path(source: str, link: Found, dest: str | None) -> bool:
    """Whether a Markdown link is the path of its file from the note's folder, for any program."""
    if link.kind != "markdown" or link.target.startswith("/"):
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
        if old is not new and old != new:
            if around(old, was) != around(new, now):
                outside.append(path)
            if len(was) != len(now):
                wrong.append((path, Found("", "", "", len(was), len(now)), None, None))
                continue
        for one, other in zip(was, now, strict=True):
            count += 1
            rewritten += one.target != other.target
            dest = before.resolver.resolve(path, one)
            wanted = moved.get(dest, dest) if dest is not None else None
            found = after.resolver.resolve(there, other)
            if found != wanted and (wanted is not None or one.target != other.target):
                wrong.append((path, other, wanted, found))
            elif wanted is not None and _leads_by_path(path, one, dest) > _leads_by_path(
                there, other, wanted
            ):
                wrong.append((path, other, wanted, "by the name only"))
    return Compared(count, rewritten, tuple(wrong), tuple(outside))
