"""A note's body as a tree of blocks and spans, from the events of the parser that indexes it.

What is shown is what is found: comments and wikilinks are located by the same rules as in the
index. They are replaced by letters that no text has before the parser runs, and put back after it.

The fragment of a link names a part of the tree: a section or a block.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from pyromark import Markdown, Options

from vault_agent.markdown import structure
from vault_agent.markdown.document import Document
from vault_agent.markdown.headings import Headings, KnownHeading, anchor_key
from vault_agent.markdown.lines import with_line_ends
from vault_agent.markdown.links import is_elsewhere, place_in_vault, wikilinks
from vault_agent.markdown.sanitise import ID_PREFIX, images_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pyromark.event import Range

    from vault_agent.model.notes import LinkKind

MAX_DEPTH = 60
"""Deeper nesting is shown without its own marks."""

# Characters that Unicode reserves for use inside a program.
_COMMENT = "\ufdd0"
_OPEN, _CLOSE = "\ufdd1", "\ufdd2"  # around the number of a wikilink
ESCAPED = "\ufdd3"  # before a character that was written with a backslash
_OURS = re.compile("[\ufdd0-\ufdd3]")
_TOKEN = re.compile(f"{_OPEN}([0-9]+){_CLOSE}")
_NOT_LINE_END = re.compile(r"[^\n]")
_BLOCK_ID = re.compile(r"(?:^|(?<=\s))\^([A-Za-z0-9-]++)\s*\Z")
_CALLOUT = re.compile(r"\s*\[!([^\[\]\n]{1,100})\]([+-]?)[ \t]*")
_TASK = re.compile(r"\[(.)\](?=[ \t\n]|\Z)[ \t]?", re.DOTALL)

_MARKDOWN = Markdown(
    options=Options.ENABLE_TABLES
    | Options.ENABLE_FOOTNOTES
    | Options.ENABLE_STRIKETHROUGH
    | Options.ENABLE_MATH
)

BLOCKS = frozenset(
    ("paragraph", "heading", "quote", "callout", "code", "list", "item", "table", "rule", "html")
)


class Target(NamedTuple):
    """What a link names: a path in the vault or an address elsewhere, and what to show of it."""

    kind: LinkKind | None  # None for an address elsewhere
    target: str
    fragment: str | None
    text: str | None  # of a wikilink


@dataclass(slots=True, eq=False)
class Node:
    """A block or span. `value` depends on its kind, see `render`."""

    kind: str
    line: int = 0  # of the file, from 1
    value: Any = None
    children: list[Node] = field(default_factory=list)
    block: str | None = None  # the ID after `^`


@dataclass(slots=True)
class Tree:
    """A note's body. `links` has every target that is in the vault."""

    root: Node
    links: list[Target]
    notes: dict[str, Node]  # the footnotes by name


def build(body: str, first_line: int = 1) -> Tree:
    """Return the tree of a body that begins at a line of its file. Never raises; linear."""
    source = body.replace("\0", "\ufffd")
    if "\r" in source:
        source = with_line_ends(source.replace("\r\n", "\n"))
    source = _OURS.sub("\ufffd", source)
    prepared, links = _prepared(source)
    return _Builder(prepared, links, first_line).tree()


def plain(node: Node, *, as_shown: bool = True) -> str:
    """Return the text of a node on one line: as it is shown, or with all parts of wikilinks."""
    pieces: list[str] = []
    waiting = [node]
    while waiting:
        child = waiting.pop()
        if child.kind in ("text", "span", "math"):
            pieces.append(child.value if child.kind != "math" else child.value[0])
        elif child.kind == "wikilink":
            pieces.append(
                shown_of(child.value) if as_shown else " ".join(filter(None, child.value[1:]))
            )
        elif child.kind in ("soft", "break"):
            pieces.append(" ")
        waiting.extend(reversed(child.children))
    return " ".join("".join(pieces).replace(ESCAPED, "").split())


def runs_right_to_left(nodes: Iterable[Node]) -> bool:
    """Whether the first letter of the text is one of a right-to-left script, such as Arabic."""
    waiting = list(nodes)[::-1]
    while waiting:
        node = waiting.pop()
        text = shown_of(node.value) if node.kind == "wikilink" else node.value
        if node.kind in ("text", "wikilink"):
            for character in text:
                direction = unicodedata.bidirectional(character)
                if direction in ("L", "R", "AL"):
                    return direction != "L"
        if node.kind != "code":
            waiting.extend(reversed(node.children))
    return False


def image_target(address: str) -> Target | None:
    """Return the file that the address of an image in HTML names, or None for one elsewhere."""
    if is_elsewhere(address):
        return None
    inside = place_in_vault(address, image=True)
    return None if inside is None else Target(*inside, None)


def shown_of(link: Target) -> str:
    """Return what a wikilink shows: its own text, or the target with its fragment."""
    if link.text:
        return link.text
    fragment = (link.fragment or "").replace("#", " > ").replace("^", "")
    return " > ".join(part for part in (link.target, fragment) if part)


def _prepared(source: str) -> tuple[str, list[tuple[str, Target]]]:
    """Return the body with comments and wikilinks replaced, and the wikilinks as written."""
    if "%%" not in source and "[[" not in source:
        return source, []
    document = Document.of_body(source)
    pieces: list[tuple[int, int, str]] = [
        (start, end, _NOT_LINE_END.sub(_COMMENT, source[start:end]))
        for start, end in document.structure.comments
    ]
    links: list[tuple[str, Target]] = []
    if "[[" in source:
        wiki, spans = wikilinks(source, document.masked)
        for (_, _, kind, target, fragment, text, *_), (start, end) in zip(
            wiki, spans, strict=False
        ):
            pieces.append((start, end, f"{_OPEN}{len(links)}{_CLOSE}"))
            links.append((source[start:end], Target(kind, target, fragment, text)))
    out: list[str] = []
    done = 0
    for start, end, text in sorted(pieces):
        if start >= done:
            out += source[done:start], text
            done = end
    out.append(source[done:])
    return "".join(out), links


class _Builder:
    """Builds a tree of events."""

    def __init__(self, source: str, wikilinks: list[tuple[str, Target]], first_line: int) -> None:
        self._source = source
        self._data = source.encode("utf-8", "replace")
        self._wikilinks = wikilinks
        self._marked = bool(wikilinks) or _COMMENT in source
        self._line, self._seen = first_line, 0
        self._root = Node("document", first_line)
        self._stack = [self._root]
        self._links: list[Target] = []
        self._notes: dict[str, Node] = {}

    def tree(self) -> Tree:
        skipped = 0
        last_end = -1
        # As in structure.py: an event is a string or a dict with one key, and text is frequent.
        events: Iterator[tuple[Any, Range]] = _MARKDOWN.events_with_range(self._source)
        for event, span in events:
            if event.__class__ is str:
                kinds = {"SoftBreak": "soft", "HardBreak": "break", "Rule": "rule"}
                if kind := kinds.get(str(event)):
                    line = self._line_at(span["start"]) if kind == "rule" else 0
                    self._stack[-1].children.append(Node(kind, line))
            elif "Text" in event:
                self._text(event["Text"], span["start"], last_end)
                last_end = span["end"]
            elif "Start" in event:
                if skipped or len(self._stack) > MAX_DEPTH:
                    skipped += 1
                else:
                    self._start(event["Start"], span)
            elif "End" in event:
                if skipped:
                    skipped -= 1
                else:
                    self._end()
            else:
                self._leaf(event)
        while len(self._stack) > 1:
            self._end()
        self._close(self._root)
        return Tree(self._root, self._links, self._notes)

    def _text(self, text: str, start: int, last_end: int) -> None:
        children = self._stack[-1].children
        escaped = start > 0 and self._data[start - 1] == 0x5C and last_end != start
        if escaped and self._stack[-1].kind != "code":
            text = ESCAPED + text
        if children and children[-1].kind == "text":
            children[-1].value.append(text)  # joined once, when the node around it ends
        else:
            children.append(Node("text", 0, [text]))

    def _leaf(self, event: dict[str, Any]) -> None:
        ((kind, value),) = event.items()
        node: Node | None = None
        if kind == "Code":
            node = Node("span", 0, self._restored(value))
        elif kind in ("InlineMath", "DisplayMath"):
            node = Node("math", 0, (self._restored(value), kind == "DisplayMath"))
        elif kind in ("InlineHtml", "Html"):
            node = Node("raw", 0, self._restored(value))
            for address in images_of(node.value):
                if (target := image_target(address)) is not None:
                    self._links.append(target)
        elif kind == "FootnoteReference":
            node = Node("reference", 0, self._restored(value))
        if node is not None:
            self._stack[-1].children.append(node)

    def _start(self, event: Any, span: Range) -> None:
        name: str = event if isinstance(event, str) else next(iter(event))
        value: Any = None if isinstance(event, str) else event[name]
        node = Node(_KINDS.get(name, "group"))
        if node.kind in BLOCKS:
            node.line = self._line_at(span["start"])
        if name == "Heading":
            node.value = int(value["level"][1])
        elif name == "CodeBlock":
            node.value = self._restored(value["Fenced"]) if isinstance(value, dict) else ""
        elif name in ("Table", "List", "FootnoteDefinition"):
            node.value = value
        elif name in ("Link", "Image"):
            node.value = self._destination(value, image=name == "Image")
        self._stack[-1].children.append(node)
        self._stack.append(node)

    def _destination(self, fields: Any, *, image: bool) -> tuple[Target | None, str]:
        destination = self._restored(fields["dest_url"]).strip()
        title = self._restored(fields["title"])
        if fields["link_type"] == "Email":
            destination = f"mailto:{destination}"
        if is_elsewhere(destination):
            return Target(None, destination, None, None), title
        inside = place_in_vault(destination, image=image)
        target = None if inside is None else Target(*inside, None)
        if target is not None:
            self._links.append(target)
        return target, title

    def _end(self) -> None:
        node = self._stack.pop()
        self._close(node)
        if node.kind == "footnote":
            self._stack[-1].children.pop()  # which it is
            self._notes.setdefault(self._restored(node.value), node)
        elif node.kind == "paragraph":
            self._end_paragraph(node)
        elif node.kind == "heading" or (node.kind == "item" and node.children):
            _take_block_id(node)
        if node.kind in ("paragraph", "item", "cell"):
            node.children = lift(node.children, _footnotes(node.children), self._note)
        if node.kind not in ("code", "html", "image"):
            node.children = lift(node.children, _highlights(node.children), _mark)
        if node.kind == "item":
            _make_task(node)
        elif node.kind == "quote":
            _make_callout(node)

    def _note(self, inside: list[Node]) -> Node:
        """Keep a footnote that is written in its place, and return the reference."""
        name = f"\0{len(self._notes)}"  # which no other footnote has
        self._notes[name] = Node("footnote", 0, name, [Node("paragraph", 0, None, inside)])
        return Node("reference", 0, name)

    def _end_paragraph(self, node: Node) -> None:
        """Take the block's ID off. A paragraph of nothing else names the block before it."""
        siblings = self._stack[-1].children
        _take_block_id(node)
        parts = [child for child in node.children if child.kind not in ("soft", "break")]
        if any(child.kind != "text" or child.value.strip() for child in parts):
            return
        siblings.pop()
        if node.block is not None and siblings and siblings[-1].kind in BLOCKS:
            siblings[-1].block = siblings[-1].block or node.block

    def _close(self, node: Node) -> None:
        """Join texts, put wikilinks back as nodes of their own, and drop the signs of comments."""
        for child in node.children:
            if child.kind == "text":
                child.value = "".join(child.value)
        if not self._marked or not node.children:
            return
        children: list[Node] = []
        for child in node.children:
            if child.kind != "text":
                children.append(child)
                continue
            if node.kind == "code":
                child.value = self._restored(child.value)
                children.append(child)
                continue
            pieces = _TOKEN.split(child.value.replace(_COMMENT, ""))
            for place, piece in enumerate(pieces):
                if place % 2:
                    _, target = self._wikilinks[int(piece)]
                    self._links.append(target)
                    children.append(Node("wikilink", 0, target))
                elif piece:
                    children.append(Node("text", 0, piece))
        node.children = children

    def _restored(self, text: str) -> str:
        if not self._marked:
            return text
        text = text.replace(_COMMENT, "")
        return _TOKEN.sub(lambda match: self._wikilinks[int(match[1])][0], text)

    def _line_at(self, start: int) -> int:
        if start > self._seen:
            self._line += self._data.count(b"\n", self._seen, start)
            self._seen = start
        return self._line


_KINDS = {
    **structure.BLOCKS,
    "TableHead": "head",
    "TableRow": "row",
    "TableCell": "cell",
    "Emphasis": "emphasis",
    "Strong": "strong",
    "Strikethrough": "deleted",
    "Link": "link",
    "Image": "image",
}


def _take_block_id(node: Node) -> None:
    """Move the ID at the end of a block's text to the block. Nested lists come after the text."""
    inline = [child for child in node.children if child.kind not in BLOCKS]
    last = inline[-1] if inline else None
    if last is None or last.kind != "text" or "^" not in last.value:
        return
    match = _BLOCK_ID.search(last.value)
    if match is not None:
        last.value = last.value[: match.start()].rstrip()
        node.block = node.block or match[1]


def _first_text(node: Node) -> tuple[Node, Node] | None:
    """Return the first text of a block, and the node that has it."""
    holder = node
    if node.children and node.children[0].kind == "paragraph":
        holder = node.children[0]
    if holder.children and holder.children[0].kind == "text":
        return holder, holder.children[0]
    return None


def _make_task(node: Node) -> None:
    first = _first_text(node)
    match = _TASK.match(first[1].value) if first else None
    if first and match:
        node.value = match[1]
        first[1].value = first[1].value[match.end() :]


def _make_callout(node: Node) -> None:
    """Turn a quote that begins with `[!type]` into a callout: (type, fold, title)."""
    if not node.children or node.children[0].kind != "paragraph":
        return
    first = _first_text(node)
    match = _CALLOUT.match(first[1].value) if first else None
    if not (first and match):
        return
    paragraph, text = first
    text.value = text.value[match.end() :]
    breaks = (place for place, child in enumerate(paragraph.children) if child.kind == "soft")
    end = next(breaks, len(paragraph.children))
    title = [child for child in paragraph.children[:end] if child.kind != "text" or child.value]
    paragraph.children = paragraph.children[end + 1 :]
    if not paragraph.children:
        del node.children[0]
    node.kind = "callout"
    node.value = (match[1].strip().lower(), match[2], title)


_BRACKETS = re.compile(r"\ufdd3.|\^?\[|\]", re.DOTALL)
"""U+FDD3 stands before a character that was written with a backslash."""
_EQUALS = re.compile(r"(?<!=)==(?!=)")


class _Place(NamedTuple):
    child: int
    start: int  # in its text
    end: int


def lift(
    children: list[Node], pairs: list[tuple[_Place, _Place]], wrap: Callable[[list[Node]], Node]
) -> list[Node]:
    """Return the spans with one node for all that is between the places of each pair.

    `wrap` takes what is between them and returns the node. Linear.
    """
    if not pairs:
        return children
    out: list[Node] = []
    at, offset = 0, 0

    def until(child: int, end: int) -> list[Node]:
        """Take the spans up to a place."""
        nonlocal at, offset
        taken: list[Node] = []
        while at < child:
            taken.append(_cut(children[at], offset, None))
            at, offset = at + 1, 0
        if end > offset:
            taken.append(_cut(children[at], offset, end))
            offset = end
        return [span for span in taken if span.kind != "text" or span.value]

    for opening, closing in pairs:
        out += until(opening.child, opening.start)
        offset = opening.end
        out.append(wrap(until(closing.child, closing.start)))
        offset = closing.end
    return out + until(len(children), 0)


def _mark(inside: list[Node]) -> Node:
    return Node("mark", 0, None, inside)


def _highlights(children: Sequence[Node]) -> list[tuple[_Place, _Place]]:
    """Return where the texts between `==` begin and end. Both ends are in the same block."""
    pairs: list[tuple[_Place, _Place]] = []
    opening: _Place | None = None
    for number, child in enumerate(children):
        if child.kind != "text" or "==" not in child.value:
            continue
        for match in _EQUALS.finditer(child.value):
            start, end = match.span()
            before, after = child.value[start - 1 : start], child.value[end : end + 1]
            if before == ESCAPED:
                continue
            if opening is None:
                if not after.isspace() and (after or number + 1 < len(children)):
                    opening = _Place(number, start, end)
            elif not before.isspace():
                pairs.append((opening, _Place(number, start, end)))
                opening = None
    return pairs


def _footnotes(children: Sequence[Node]) -> list[tuple[_Place, _Place]]:
    """Return where footnotes in their place begin and end.

    Brackets may be nested, and a footnote within another one stays as it is written.
    """
    waiting: list[_Place] = []
    footnotes: list[tuple[_Place, _Place]] = []
    for number, child in enumerate(children):
        if child.line:  # a block
            waiting.clear()
        if child.kind != "text":
            continue
        for match in _BRACKETS.finditer(child.value):
            place = _Place(number, match.start(), match.end())
            if match[0] in {"[", "^["}:
                waiting.append(place)
            elif match[0] == "]" and waiting:
                opening = waiting.pop()
                is_note = opening.end - opening.start == len("^[")
                if is_note and (opening.child, opening.end) != place[:2]:  # not empty
                    while footnotes and footnotes[-1][0] > opening:
                        footnotes.pop()
                    footnotes.append((opening, place))
    return footnotes


def _cut(node: Node, start: int, end: int | None) -> Node:
    if node.kind != "text" or (start == 0 and end is None):
        return node
    return type(node)("text", node.line, node.value[start:end])


# --- the parts that a fragment names --------------------------------------------------------------

_MAX_ID = 120
_PAGE = re.compile(r"(?:.*&)?(page=[0-9]{1,7})(?:&.*)?")


def heading_id(text: str) -> str:
    """Return the ID of the element of a heading."""
    return f"{ID_PREFIX}h-{'-'.join(anchor_key(text).split())[:_MAX_ID]}"


def block_id(name: str) -> str:
    """Return the ID of the element of a block."""
    return f"{ID_PREFIX}b-{name.lower()[:_MAX_ID]}"


def name_of(heading: Node) -> str:
    """Return the text by which links name a heading: both parts of its links, and its ID."""
    return f"{plain(heading, as_shown=False)} {heading.block or ''}"


def part(root: Node, fragment: str) -> list[Node] | None:
    """Return the blocks of a section, or one block by its ID."""
    if fragment.startswith("^"):
        return _block(root, fragment[1:].lower())
    blocks = root.children
    places = [place for place, block in enumerate(blocks) if block.kind == "heading"]
    nodes = (blocks[place] for place in places)
    headings = [KnownHeading(node.value, anchor_key(name_of(node))) for node in nodes]
    named = Headings(headings).walk([anchor_key(name) for name in fragment.split("#")])
    if not named:
        return None
    start, level = places[named[-1]], headings[named[-1]].level
    following = (place for place in places if place > start and blocks[place].value <= level)
    return blocks[start : next(following, len(blocks))]


def _block(root: Node, name: str) -> list[Node] | None:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.block is not None and node.block.lower() == name:
            if node.kind == "item":
                return [Node("list", node.line, None, [node])]
            return [node]
        waiting.extend(reversed(node.children))
    return None


def anchor(fragment: str) -> str:
    """Return the ID of the element that a fragment means."""
    last = fragment.rpartition("#")[2].strip()
    return block_id(last[1:]) if last.startswith("^") else heading_id(last)


def place_in_file(fragment: str | None) -> str:
    """Return the fragment of an address that opens a PDF at a page, "" for any other fragment."""
    match = _PAGE.fullmatch(fragment or "")
    return f"#{match[1]}" if match else ""
