"""A note's tree as HTML. Pure: what links lead to, and the notes that are embedded, are given.

The HTML is cleaned once, at the end. Everything that comes from a note is escaped before that.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from vault_agent.markdown.sanitise import ID_PREFIX, REMOTE_SCHEMES, Raw, clean
from vault_agent.markdown.tags import tag_spans
from vault_agent.markdown.tree import (
    ESCAPED,
    Node,
    Target,
    anchor,
    block_id,
    heading_id,
    image_target,
    name_of,
    part,
    place_in_file,
    plain,
    runs_right_to_left,
    shown_of,
)
from vault_agent.model.notes import LinkKind
from vault_agent.model.pages import Asset, LinkedFile, OutlineEntry

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from vault_agent.markdown.tree import Node, Tree

MAX_EMBEDS = 200
MAX_EMBEDDED_CHARACTERS = 8 << 20  # HTML of embedded notes; those beyond it are links
MAX_OUTLINE = 10_000  # headings, as many as the index keeps of a note
MAX_MATH_CHARACTERS = 5_000
_KINDS = {
    **dict.fromkeys(("png", "jpg", "jpeg", "gif", "webp", "avif", "svg"), "image"),
    **dict.fromkeys(("mp3", "ogg", "oga", "wav", "m4a"), "audio"),
    **dict.fromkeys(("mp4", "webm"), "video"),
}
_ELEMENTS = {"emphasis": "em", "strong": "strong", "deleted": "del", "mark": "mark"}
"""Kinds of nodes that are one element around what is in them."""
# In Markdown a soft break is a space, in Obsidian a line's end: the stylesheet decides.
_FIXED = {"soft": '<br class="soft">\n', "break": "<br>\n"}
_SIZE = re.compile(r"([0-9]{1,5})(?:x([0-9]{1,5}))?")
_LANGUAGE = re.compile(r"[A-Za-z0-9_+#.-]{1,40}")


class Source(NamedTuple):
    """A note that is shown: its tree and the title above it where it is embedded."""

    tree: Tree
    note_id: str | None
    title: str


class Html(NamedTuple):
    """The HTML of a note, its headings, and the files that it shows."""

    html: str
    outline: tuple[OutlineEntry, ...]
    assets: tuple[Asset, ...]


@dataclass(slots=True)
class Vault:
    """What the renderer knows of the vault.

    `links` has the file of each link: by the note's path, the target, and whether aliases count.
    `notes` has the notes that may be embedded. `address` returns the address of a file.
    """

    links: Mapping[tuple[str, str, LinkKind], LinkedFile]
    notes: Mapping[str, Source]
    address: Callable[[str], str]


@dataclass(slots=True)
class _Shared:
    """What all embedded notes of a page share."""

    vault: Vault
    depth: int  # how deep notes are embedded
    embeds: int = 0
    embedded: int = 0  # characters of HTML
    opened: Counter[str] = field(default_factory=Counter)  # elements of the notes' own HTML
    outline: list[OutlineEntry] = field(default_factory=list)
    assets: dict[str, Asset] = field(default_factory=dict)


def render(tree: Tree, path: str, vault: Vault, *, depth: int) -> Html:
    """Return the HTML of the note at `path`, with embedded notes up to a depth."""
    shared = _Shared(vault, depth)
    html = _Page(shared, tree, ((path, None),)).whole()
    return Html(clean(html), tuple(shared.outline), tuple(shared.assets.values()))


def is_embeddable(target: Target) -> bool:
    """Whether the target of an embed may be a note. Files are known by their names."""
    return target.kind is LinkKind.EMBED and kind_of(target.target) == "file"


def kind_of(path: str) -> str:
    """Return what a file is by its name: image, audio, video or file."""
    return _KINDS.get(path.rpartition(".")[2].lower(), "file")


class _Page:
    """Writes one note, or a part of it.

    `ancestry` has the notes around it and itself, each with the fragment that is shown of it.
    """

    def __init__(
        self, shared: _Shared, tree: Tree, ancestry: tuple[tuple[str, str | None], ...]
    ) -> None:
        self._shared = shared
        self._tree = tree
        self._shown = ancestry
        self._path = ancestry[-1][0]
        self._embedded = len(ancestry) > 1
        self._mark = f"e{shared.embeds}-" if self._embedded else ""
        self._ids: dict[str, int] = {}
        self._notes: dict[str, int] = {}  # the numbers of footnotes
        self._note_names: list[str] = []  # in the order of their numbers
        self._own_html = Raw(self._raw_link, self._raw_image, shared.opened)
        self._linked = 0  # how many links are open

    def whole(self) -> str:
        """Return the HTML of the whole note."""
        return self._blocks(self._tree.root.children) + self._footnotes()

    def part(self, fragment: str) -> str | None:
        """Return the HTML of a section or a block, or None if the note has none of this name."""
        blocks = part(self._tree.root, fragment)
        return None if blocks is None else self._blocks(blocks) + self._footnotes()

    # --- blocks ---------------------------------------------------------------------------------

    def _blocks(self, nodes: Sequence[Node]) -> str:
        out = []
        for node in nodes:
            if node.kind in _ELEMENTS:
                name = _ELEMENTS[node.kind]
                out.append(f"<{name}>{self._inline(node.children)}</{name}>")
            else:
                out.append(_FIXED.get(node.kind) or getattr(self, f"_{node.kind}")(node))
        return "".join(out)

    _inline = _blocks

    def _group(self, node: Node) -> str:
        return self._blocks(node.children)

    def _attributes(self, node: Node, more: str = "") -> str:
        line = "" if self._embedded or not node.line else f' data-line="{node.line}"'
        name = "" if node.block is None else f' id="{self._id(block_id(node.block))}"'
        return f"{more}{line}{name}"

    def _id(self, wanted: str) -> str:
        """Return an ID that no other element of the page has."""
        name = f"{ID_PREFIX}{self._mark}{wanted.removeprefix(ID_PREFIX)}"
        count = self._ids[name] = self._ids.get(name, 0) + 1
        return name if count == 1 else f"{name}--{count}"

    def _paragraph(self, node: Node) -> str:
        inner = self._inline(node.children)
        if "<div" in inner:  # an embedded note is a block, which a paragraph cannot have
            start = self._attributes(node, ' class="paragraph"')
            return f"<div{start}>{inner}</div>\n"
        start = self._attributes(node, ' dir="auto"')
        return f"<p{start}>{inner}</p>\n"

    def _heading(self, node: Node) -> str:
        text = plain(node)
        name = self._id(heading_id(name_of(node)))
        if not self._embedded and len(self._shared.outline) < MAX_OUTLINE:
            self._shared.outline.append(OutlineEntry(node.value, text, name, node.line))
        line = "" if self._embedded else f' data-line="{node.line}"'
        inner = self._inline(node.children)
        block = "" if node.block is None else f'<span id="{self._id(block_id(node.block))}"></span>'
        return f'<h{node.value} id="{name}" dir="auto"{line}>{inner}{block}</h{node.value}>\n'

    def _quote(self, node: Node) -> str:
        inner = self._blocks(node.children)
        return f"<blockquote{self._attributes(node, _direction(node))}>{inner}</blockquote>\n"

    def _callout(self, node: Node) -> str:
        kind, fold, title = node.value
        title_html = self._inline(title).strip() or escape(kind.replace("-", " ").capitalize())
        folded = {"+": ' data-fold="open"', "-": ' data-fold="closed"'}.get(fold, "")
        turned = ' dir="rtl"' if runs_right_to_left([*title, node]) else ""
        start = f' class="callout" data-callout="{escape(kind)}"{folded}{turned}'
        content = self._blocks(node.children)
        inner = f'<div class="callout-content">{content}</div>' if content else ""
        return (
            f"<div{self._attributes(node, start)}>"
            f'<div class="callout-title" dir="auto">{title_html}</div>{inner}</div>\n'
        )

    def _code(self, node: Node) -> str:
        match = _LANGUAGE.match(node.value or "")
        language = match[0] if match else ""
        named = f' class="language-{escape(language)}"' if language else ""
        text = escape("".join(child.value for child in node.children if child.kind == "text"))
        start = f' class="code" data-language="{escape(language)}"'
        return f"<div{self._attributes(node, start)}><pre><code{named}>{text}</code></pre></div>\n"

    def _list(self, node: Node) -> str:
        inner = self._blocks(node.children)
        if node.value is None:
            return f"<ul{self._attributes(node)}>\n{inner}</ul>\n"
        more = "" if node.value == 1 else f' start="{node.value}"'
        return f"<ol{self._attributes(node, more)}>\n{inner}</ol>\n"

    def _item(self, node: Node) -> str:
        inner = self._blocks(node.children)
        turned = _direction(node) or ' dir="auto"'
        if node.value is None:
            return f"<li{self._attributes(node, turned)}>{inner}</li>\n"
        checked = "" if node.value.isspace() else " checked"
        more = f' class="task"{turned} data-task="{escape(node.value)}"'
        box = f'<input type="checkbox" disabled{checked}>'
        if inner.startswith("<p"):
            end = inner.index(">") + 1
            inner = f"{inner[:end]}{box} {inner[end:]}"
        else:
            inner = f"{box} {inner}"
        return f"<li{self._attributes(node, more)}>{inner}</li>\n"

    def _table(self, node: Node) -> str:
        aligned = [f' align="{side.lower()}"' if side != "None" else "" for side in node.value]
        rows = []
        for row in node.children:
            name = "th" if row.kind == "head" else "td"
            cells = "".join(
                f'<{name}{aligned[place] if place < len(aligned) else ""} dir="auto">'
                f"{self._inline(cell.children)}</{name}>"
                for place, cell in enumerate(row.children)
            )
            rows.append(f"<tr>{cells}</tr>\n")
        head, body = rows[:1], rows[1:]
        inner = f"<thead>\n{''.join(head)}</thead>\n"
        if body:
            inner += f"<tbody>\n{''.join(body)}</tbody>\n"
        return f"<table{self._attributes(node, _direction(node))}>\n{inner}</table>\n"

    def _rule(self, node: Node) -> str:
        return f"<hr{self._attributes(node)}>\n"

    def _html(self, node: Node) -> str:
        return self._own_html.prepare("".join(child.value for child in node.children), whole=True)

    def _footnotes(self) -> str:
        """Return the footnotes that were referred to, in the order of their numbers."""
        items: list[str] = []
        for number, name in enumerate(self._note_names, 1):  # grows: a footnote may name another
            note = self._tree.notes.get(name)
            inner = self._blocks(note.children) if note is not None else ""
            back = f' <a class="footnote-back" href="#{self._note_id("fnref", number)}">↩</a>'
            inner = f"{inner[:-5]}{back}</p>\n" if inner.endswith("</p>\n") else inner + back
            turned = "" if note is None else _direction(note)
            items.append(f'<li id="{self._note_id("fn", number)}"{turned}>{inner}</li>\n')
        if not items:
            return ""
        return f'<section class="footnotes"><ol>\n{"".join(items)}</ol></section>\n'

    def _note_id(self, what: str, number: int) -> str:
        return f"{ID_PREFIX}{self._mark}{what}-{number}"

    # --- spans ----------------------------------------------------------------------------------

    def _text(self, node: Node) -> str:
        return text_html(node.value, linked=self._linked > 0)

    def _raw(self, node: Node) -> str:
        return self._own_html.prepare(node.value, whole=False)

    def _span(self, node: Node) -> str:
        return f"<code>{escape(node.value)}</code>"

    def _math(self, node: Node) -> str:
        text, display = node.value
        if len(text) > MAX_MATH_CHARACTERS:
            return f"<code>{escape(text)}</code>"
        is_display = "true" if display else "false"
        return f'<span class="math" data-display="{is_display}">{escape(text)}</span>'

    def _reference(self, node: Node) -> str:
        if node.value not in self._tree.notes:
            return f"[^{escape(node.value)}]"
        is_repeated = node.value in self._notes
        if not is_repeated:
            self._note_names.append(node.value)
        number = self._notes.setdefault(node.value, len(self._notes) + 1)
        name = "" if is_repeated else f' id="{self._note_id("fnref", number)}"'
        to = self._note_id("fn", number)
        return f'<sup class="footnote-ref"><a href="#{to}"{name}>{number}</a></sup>'

    def _link(self, node: Node) -> str:
        target, title = node.value
        self._linked += 1
        inner = self._inline(node.children)
        self._linked -= 1
        if target is None:
            return f'<span class="unlinked">{inner}</span>'
        if target.kind is None:
            return self._external(target.target, inner, title)
        return self._internal(target, inner, title)

    def _image(self, node: Node) -> str:
        target, title = node.value
        alt, size = _sized(plain(node))
        if target is None:
            return escape(alt)
        if target.kind is None:
            return _remote(target.target, alt)
        return self._file(target, alt or title, size)

    def _wikilink(self, node: Node) -> str:
        target: Target = node.value
        if self._linked:
            return escape(shown_of(target))
        if target.kind is not LinkKind.EMBED:
            return self._internal(target, escape(shown_of(target)))
        if target.target and kind_of(target.target) != "file":
            alt, size = _sized(target.text or "")
            return self._file(target, alt, size)
        return self._embed(target)

    # --- links and files ------------------------------------------------------------------------

    def _find(self, target: Target) -> LinkedFile | None:
        kind = target.kind or LinkKind.MARKDOWN
        return self._shared.vault.links.get((self._path, target.target, kind))

    def _external(self, address: str, inner: str, title: str = "") -> str:
        scheme = address.partition(":")[0].lower()
        if address.startswith("//"):
            address, scheme = f"https:{address}", "https"
        if scheme == "mailto":
            return f'<a class="external" href="{escape(address)}">{inner}</a>'
        if scheme not in REMOTE_SCHEMES:
            return f'<span class="unlinked">{inner}</span>'
        start = external_link(address)
        return f"{start[:-1]}{_titled(title)}>{inner}</a>"

    def _internal(self, target: Target, inner: str, title: str = "") -> str:
        file = self._find(target)
        if file is None:
            missing = escape(target.target)
            return f'<a class="unresolved" data-target="{missing}"{_titled(title)}>{inner}</a>'
        path = escape(file.path)
        if file.note_id is None:
            url = escape(self._asset(file.path, "file") + place_in_file(target.fragment))
            return f"{file_link(url, path)}{_titled(title)}>{inner}</a>"
        place = ""
        if target.fragment:
            place = f' data-anchor="{escape(anchor(target.fragment))}"'
        return (
            f'<a class="internal" href="#/notes/{file.note_id}" data-note="{file.note_id}"'
            f' data-path="{path}"{place}{_titled(title)}>{inner}</a>'
        )

    def _file(self, target: Target, alt: str, size: str) -> str:
        """Return an image, sound or video, or a card for another file."""
        file = self._find(target)
        if file is None:
            label = escape(alt or target.target)
            return f'<span class="missing" data-target="{escape(target.target)}">{label}</span>'
        if file.note_id is not None:
            return self._internal(target, escape(alt or file.title or target.target))
        kind = kind_of(file.path)
        url, path = escape(self._asset(file.path, kind)), escape(file.path)
        if kind == "image":
            label = escape(alt or file.path.rpartition("/")[2])
            return (
                f'<img class="image" src="{url}" alt="{label}"{size} loading="lazy"'
                f' data-path="{path}">'
            )
        if kind in ("audio", "video"):
            return (
                f'<{kind} class="{kind}" src="{url}" controls preload="none"{size}'
                f' data-path="{path}"></{kind}>'
            )
        name = escape(alt or file.path.rpartition("/")[2])
        url += place_in_file(target.fragment)
        return f"{file_link(url, path, target.fragment or '')}>{name}</a>"

    def _asset(self, path: str, kind: str) -> str:
        asset = self._shared.assets.get(path)
        if asset is None:
            url = self._shared.vault.address(path)
            asset = self._shared.assets[path] = Asset(path, url, kind)
        return asset.url

    def _embed(self, target: Target) -> str:
        """Return an embedded note. A circle, too deep a note or one too many is a link."""
        file = self._find(target)
        if file is None or file.note_id is None:
            is_missing = file is None and bool(target.target)
            return self._file(target, shown_of(target) if is_missing else target.text or "", "")
        shared = self._shared
        source = shared.vault.notes.get(file.path)
        place = file.path, target.fragment
        if (
            source is None
            or place in self._shown
            or len(self._shown) > shared.depth
            or shared.embeds >= MAX_EMBEDS
            or shared.embedded >= MAX_EMBEDDED_CHARACTERS
        ):
            return self._internal(target, escape(shown_of(target)))
        shared.embeds += 1
        page = _Page(shared, source.tree, (*self._shown, place))
        inner = page.whole() if target.fragment is None else page.part(target.fragment)
        if inner is None:
            return self._internal(target, escape(shown_of(target)))
        shared.embedded += len(inner)
        title = self._internal(target, escape(shown_of(target._replace(target=source.title))))
        return (
            f'<div class="embed" data-note="{file.note_id}" data-path="{escape(file.path)}">'
            f'<div class="embed-title">{title}</div><div class="embed-content">{inner}</div></div>'
        )

    # --- HTML of the note itself ------------------------------------------------------------------

    def _raw_link(self, attributes: Mapping[str, str]) -> str:
        address = attributes.get("href", "").strip()
        scheme = address.partition(":")[0].lower()
        if scheme in REMOTE_SCHEMES and "//" in address:
            return external_link(address)
        return f'<a href="{escape(address)}">' if scheme == "mailto" else "<a>"

    def _raw_image(self, attributes: Mapping[str, str]) -> str:
        source, alt = attributes.get("src", "").strip(), attributes.get("alt", "")
        target = image_target(source)
        if target is None:
            return _remote(source, alt)
        size = "".join(
            f' {name}="{escape(attributes[name])}"'
            for name in ("width", "height")
            if name in attributes
        )
        return self._file(target, alt, size)


def _direction(node: Node) -> str:
    """Return the direction of a block with blocks in it, if it is not the usual one.

    A browser leaves the text of blocks that have a direction of their own out of `dir="auto"`.
    """
    return ' dir="rtl"' if runs_right_to_left(node.children) else ""


def _sized(text: str) -> tuple[str, str]:
    """Split `alt|300x200` into the text and attributes of the size."""
    alt, bar, size = text.rpartition("|")
    match = _SIZE.fullmatch((size if bar else text).strip())
    if match is None:
        return text, ""
    height = f' height="{match[2]}"' if match[2] else ""
    return alt, f' width="{match[1]}"{height}'


def _remote(address: str, alt: str) -> str:
    """Return the place of a picture of another server, which is never asked for it."""
    if address.startswith("//"):
        address = f"https:{address}"
    host = host_of(address) if address.partition(":")[0].lower() in REMOTE_SCHEMES else ""
    safe_address = address if host else ""
    return (
        f'<span class="remote" data-url="{escape(safe_address)}" data-host="{escape(host)}">'
        f"{escape(alt)}</span>"
    )


def _titled(title: str) -> str:
    return f' title="{escape(title.replace(ESCAPED, ""))}"' if title else ""


_BARE = re.compile(r"(?:https?://|(?<![\w./])www\.)[^\s<\ufdd3]++", re.IGNORECASE)
_PUNCTUATION = "?!.,:*_~'\";"
_ROUNDS = 5


def text_html(text: str, *, linked: bool) -> str:
    """Return plain text as HTML with its tags and bare addresses; `linked` if it is in a link."""
    if linked or ("#" not in text and "://" not in text and "www." not in text.lower()):
        return escape(text.replace(ESCAPED, ""))
    places = [
        (start, end, _tag(text[start:end]))
        for _, start, end in tag_spans(text.replace(ESCAPED, "\\"))
    ]
    for match in _BARE.finditer(text):
        address = _trimmed(match[0])
        places.append((match.start(), match.start() + len(address), _bare(address)))
    out: list[str] = []
    done = 0
    for start, end, html in sorted(places):
        if start >= done:
            out += escape(text[done:start].replace(ESCAPED, "")), html
            done = end
    out.append(escape(text[done:].replace(ESCAPED, "")))
    return "".join(out)


def external_link(address: str) -> str:
    """Return the opening tag of a link to another server."""
    host = escape(host_of(address))
    return f'<a class="external" href="{escape(address)}" target="_blank" data-host="{host}">'


def file_link(url: str, path: str, embedded: str | None = None) -> str:
    """Return the opening tag of a link to a file, without its end. Address and path are escaped.

    `embedded` is the fragment of an embed. The page may show an embedded PDF in a frame.
    """
    end = f' target="_blank" data-path="{path}"'
    if embedded is None or not path.lower().endswith(".pdf"):
        return f'<a class="file" href="{url}"{end}'
    return f'<a class="file pdf" href="{url}"{end} data-fragment="{escape(embedded)}"'


def host_of(address: str) -> str:
    """Return the host of a web address without user info and port, or "" for others."""
    match = re.match(
        r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?//(?:[^/?#]*@)?([^/?#@:\[\]]*|\[[^\]]*\])", address
    )
    return match[1].lower() if match else ""


def _tag(tag: str) -> str:
    name = escape(tag[1:])
    return f'<span class="tag" data-tag="{name}">#{name}</span>'


def _bare(address: str) -> str:
    whole = address if "://" in address else f"http://{address}"
    return f"{external_link(whole)}{escape(address)}</a>"


def _trimmed(address: str) -> str:
    """Return a bare address without the punctuation that follows it (GFM)."""
    for _ in range(_ROUNDS):
        shorter = address.rstrip(_PUNCTUATION)
        spare = shorter.count(")") - shorter.count("(")
        closing = len(shorter) - len(shorter.rstrip(")"))
        shorter = shorter[: len(shorter) - max(0, min(spare, closing))]
        if shorter == address:
            break
        address = shorter
    return address
