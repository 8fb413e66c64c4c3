"""A note's text, and what is in it. Made once for an operation; each part is found at first use.

Offsets are characters of the whole text, except those of `structure`, `masked` and `body_links`,
which are of the body.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from hashlib import sha256
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from vault_agent.markdown import frontmatter, links, tags
from vault_agent.markdown.chunk import MAX_CHUNKS, chunk_body
from vault_agent.markdown.frontmatter import Bounds
from vault_agent.markdown.headings import Headings, KnownHeading, anchor_key, key_of
from vault_agent.markdown.lines import Lines, with_line_ends
from vault_agent.markdown.shown import shown_text
from vault_agent.markdown.structure import scan
from vault_agent.markdown.tasks import task_lines
from vault_agent.text.lines import LINE_END

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vault_agent.markdown.frontmatter import Frontmatter
    from vault_agent.markdown.links import BodyLinks
    from vault_agent.markdown.structure import BodyPart, Structure
    from vault_agent.markdown.tasks import TaskLine
    from vault_agent.model.notes import Chunk, ExternalLink, Link


class Section(NamedTuple):
    """A heading and what belongs to it. Lines count from 1.

    `id` has the index of the heading and the first eight digits of the SHA-256 of its lines.
    """

    id: str
    level: int
    text: str
    key: str  # by which links name it
    path: tuple[str, ...]  # the headings above it, and itself
    start: int
    content: int  # after the heading's own lines
    own_end: int  # before its first subsection
    end: int  # before the next heading of its level or above
    line: int
    end_line: int  # the last line of the section


class Block(NamedTuple):
    """A block with an ID. It consists of whole lines.

    `text_end` is where its text ends: before the ID behind it, or before lines of the ID alone.
    """

    id: str  # without `^`
    kind: str
    start: int
    text_end: int
    end: int
    line: int
    end_line: int


class Tag(NamedTuple):
    """A tag in the body, without the `#` with which its range starts."""

    name: str
    start: int
    end: int


class Document:
    """A note's text without its byte order mark. Nothing in it raises; all is linear."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._whole = with_line_ends(text)
        self.lines = Lines(self._whole)

    @classmethod
    def of_body(cls, text: str) -> Document:
        """Return the document of a text that is all body, even if it starts with `---`."""
        document = cls(text)
        document.bounds = Bounds(0)
        return document

    @cached_property
    def bounds(self) -> Bounds:
        """Where the frontmatter is."""
        return frontmatter.bounds(self.text)

    @cached_property
    def front(self) -> Frontmatter:
        """The values before the body."""
        return frontmatter.read(self.text, self.bounds)

    @property
    def body(self) -> int:
        """Where the body starts."""
        return self.bounds.end

    @cached_property
    def source(self) -> str:
        """The body, whose lines end in LF or CR LF."""
        return self._whole[self.body :]

    @cached_property
    def structure(self) -> Structure:
        """The parts of the body that a CommonMark parser finds."""
        return scan(self.source)

    @cached_property
    def masked(self) -> str:
        """The body with code, HTML and comments masked."""
        return links.mask(self.source, self.structure.opaque)

    @cached_property
    def sections(self) -> list[Section]:
        """The headings, each with what belongs to it."""
        text, headings = self.text, self.structure.headings
        starts = [*(self.body + heading.start for heading in headings), len(text)]
        ends = _ends([heading.level for heading in headings])
        sections: list[Section] = []
        above: list[tuple[int, str]] = []
        for index, heading in enumerate(headings):
            above = [*((level, name) for level, name in above if level < heading.level)]
            above.append((heading.level, heading.text))
            start, end = starts[index], starts[ends[index]]
            last = start + len(self.source[heading.start : heading.end].rstrip())
            match = LINE_END.search(text, last)
            content = match.end() if match else len(text)
            digits = sha256(text[start:last].encode("utf-8", "replace")).hexdigest()[:8]
            sections.append(
                Section(
                    f"h:{index}:{digits}",
                    heading.level,
                    heading.text,
                    key_of(self.source, heading),
                    tuple(name for _, name in above),
                    start,
                    content,
                    max(content, starts[index + 1]),
                    max(content, end),
                    self.lines.line(start),
                    self.lines.line(max(start, end - 1)),
                )
            )
        return sections

    @cached_property
    def headings(self) -> Headings:
        """The headings, to find those that a name means."""
        return Headings(
            [KnownHeading(section.level, section.key, section.text) for section in self.sections]
        )

    @cached_property
    def blocks(self) -> list[Block]:
        """The blocks that have an ID."""
        body, line = self.body, self.lines.line
        return [
            Block(
                *(name, kind, body + start, body + text_end, body + end),
                *(line(body + start), line(body + max(start, end - 1))),
            )
            for name, kind, start, text_end, end in _find_blocks(
                self.source, self.masked, scan(self.source, parts=True).parts
            )
        ]

    @cached_property
    def tasks(self) -> list[TaskLine]:
        """The list items with a check box."""
        return list(task_lines(self.source, self.masked, self.lines, self.body))

    @cached_property
    def tags(self) -> list[Tag]:
        """The `#tags` of the body."""
        if tags.TAG.search(self.masked) is None:
            return []
        # A "#" in a wikilink or a destination starts a fragment.
        destinations = ((link.tail, link.end) for link in self.structure.links)
        ranges = sorted([*self.body_links.ranges, *destinations])
        return [
            Tag(name, self.body + start, self.body + end)
            for name, start, end in tags.tag_spans(links.mask(self.masked, ranges))
        ]

    @cached_property
    def body_links(self) -> BodyLinks:
        """The links of the body as they are written."""
        return links.body_links(self.source, self.masked, self.structure)

    @cached_property
    def chunks(self) -> tuple[Chunk, ...]:
        """The body in pieces for the index."""
        body = self.text[self.body :]
        return chunk_body(body, self.source, self.structure, self.lines, self.body)

    @cached_property
    def shown(self) -> tuple[str, tuple[str, ...]]:
        """The body as a reader sees it, and the names behind it: see `shown_text`."""
        return shown_text(self.source, self.masked, self.structure, self.body_links)

    @cached_property
    def links(self) -> list[Link]:
        """The first links to other files, first those of the frontmatter."""
        of_front = [*links.frontmatter_links(self.front, self.text)]
        return of_front + links.placed(
            self.body_links.links, self.lines, self.body, self._chunk_ends
        )

    @cached_property
    def web_links(self) -> list[ExternalLink]:
        """The first links to web addresses."""
        return links.placed_addresses(self.body_links.external, self.lines, self.body)

    @cached_property
    def _chunk_ends(self) -> list[int]:
        return list(accumulate(len(chunk.text) for chunk in self.chunks[:MAX_CHUNKS]))

    def chunk_at(self, offset: int) -> int | None:
        """Return the index of the chunk with an offset of the body, or None if it is not kept."""
        index = bisect_right(self._chunk_ends, offset)
        return index if index < len(self._chunk_ends) else None

    def blocks_named(self, name: str) -> list[Block]:
        """Return the blocks with an ID, which may begin with `^`. Letter case does not matter."""
        key = anchor_key(name.removeprefix("^"))
        return [block for block in self.blocks if anchor_key(block.id) == key]


_INDEXED = ("front", "structure", "chunks", "body_links", "links", "web_links", "tags", "shown")


def find_indexed(documents: Sequence[Document]) -> None:
    """Find the parts that the index takes: one part of all documents before the next.

    Document by document takes a fifth more processor time, because the code and the tables of a
    part do not stay in the processor's caches then.
    """
    for part in _INDEXED:
        for document in documents:
            getattr(document, part)


def section_hash(text: str, part: Section | Block) -> str:
    """Return the SHA-256 of the bytes of a section or block, in hex."""
    return sha256(text[part.start : part.end].encode("utf-8", "replace")).hexdigest()


def _ends(levels: Sequence[int]) -> list[int]:
    """Return for each section the index of the heading before which it ends."""
    ends = [len(levels)] * len(levels)
    open_sections: list[int] = []
    for index, level in enumerate(levels):
        while open_sections and levels[open_sections[-1]] >= level:
            ends[open_sections.pop()] = index
        open_sections.append(index)
    return ends


# --- blocks with an ID ----------------------------------------------------------------------------

BLOCK_ID = re.compile(r"\^(?<!\S\^)([A-Za-z0-9-]++)[ \t]*+\r?$", re.MULTILINE)
"""The ID of a block, in a text with code, HTML and comments masked."""


def _find_blocks(
    source: str, masked: str, parts: list[BodyPart]
) -> Iterator[tuple[str, str, int, int, int]]:
    """Yield the blocks with an ID, in the order of these, as the first five fields of a `Block`.

    Offsets are those of the body.

    `masked` is `source` with code, HTML and comments masked, and `parts` are its parts. Lines end
    in LF or CR LF.
    """
    if "^" not in masked:
        return
    starts = [part.start for part in parts]
    content_ends: dict[int, int] = {}

    def content_end(index: int) -> int:
        if index not in content_ends:
            part = parts[index]
            content_ends[index] = part.start + len(source[part.start : part.end].rstrip())
        return content_ends[index]

    for match in BLOCK_ID.finditer(masked):
        at, name = match.start(), match[1]
        line_start, next_line = source.rfind("\n", 0, at) + 1, _next_line(source, at)
        index = _innermost(parts, bisect_right(starts, at) - 1, at)
        if index is None:
            yield name, "paragraph", line_start, at, next_line
            continue
        part = parts[index]
        alone = part.start == at and content_end(index) == match.end(1)
        if alone and part.previous is not None and parts[part.previous].kind != "heading":
            before = parts[part.previous]
            start = source.rfind("\n", 0, before.start) + 1
            text_end = _next_line(source, content_end(part.previous) - 1)
            yield name, before.kind, start, text_end, next_line
            continue
        parent = part.parent if part.kind == "paragraph" else None
        if parent is not None and parts[parent].kind == "item":
            index, part = parent, parts[parent]
        start = source.rfind("\n", 0, part.start) + 1
        end = max(next_line, _next_line(source, content_end(index) - 1))
        text_end = end
        if part.kind == "paragraph":
            text_end = max(start, line_start, line_start + len(source[line_start:at].rstrip()))
            if text_end == line_start > start:  # the ID is alone on the last line
                text_end -= 2 if source[text_end - 2] == "\r" else 1
        yield name, part.kind, start, text_end, end


def _innermost(parts: list[BodyPart], index: int, at: int) -> int | None:
    """Return the innermost block around an offset; `index` is the last that starts before it."""
    parent: int | None = index if index >= 0 else None
    while parent is not None and not parts[parent].start <= at < parts[parent].end:
        parent = parts[parent].parent
    return parent


def _next_line(source: str, at: int) -> int:
    return source.find("\n", at) + 1 or len(source)
