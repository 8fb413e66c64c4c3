"""Notes as HTML: reads a note and what it embeds, resolves their links, and renders them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from vault_agent.errors import NotFound, TooLarge
from vault_agent.markdown import frontmatter, links
from vault_agent.markdown.render import Source, Vault, is_embeddable, render
from vault_agent.markdown.tree import build
from vault_agent.model.identifiers import identify
from vault_agent.model.notes import LinkKind
from vault_agent.model.pages import LinkedFile, PropertyValue, RenderedNote, ShownProperty
from vault_agent.model.warning import Warning
from vault_agent.search.note_file import NoteFile, note_file, read_file
from vault_agent.search.resolve import named_note, resolve_links
from vault_agent.store.index import lists
from vault_agent.store.index import notes as stored_notes
from vault_agent.system.cancelling import in_thread
from vault_agent.system.workers import WorkerCrashed
from vault_agent.text.names import is_note, kind_of, page_of, stem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from vault_agent.markdown.frontmatter import Frontmatter
    from vault_agent.markdown.render import Html
    from vault_agent.markdown.tree import Target, Tree
    from vault_agent.markdown.yaml_values import Scalar
    from vault_agent.store.current import Snapshot
    from vault_agent.store.database import Connection
    from vault_agent.store.index.notes import StoredNote
    from vault_agent.system.workers import TextWorkers
    from vault_agent.vault.root import VaultRoot

MAX_BYTES = 1 << 20
"""The largest note that is rendered, and that is embedded in another."""
MAX_EMBEDDED_BYTES = 2 << 20
"""The most text of embedded notes."""
MAX_EMBEDDED_NOTES = 200
MAX_LINKS = 20_000
"""Links of a page that are resolved. The others are shown as text."""
_FENCES = re.compile("`+")
_MARKUP = re.compile(r"([\\`*_\[\]<>#|!~^$%&=])")


class _Parsed(NamedTuple):
    """A note of a page. The tree of a large note is built by the worker that renders the page."""

    text: str
    size: int
    front: Frontmatter
    links: tuple[Target, ...]
    tree: Tree | None


@dataclass(slots=True)
class _Gathered:
    """The notes of a page by path, and the files that their links lead to."""

    notes: dict[str, _Parsed]
    titles: dict[str, str] = field(default_factory=dict)
    links: dict[tuple[str, str, LinkKind], LinkedFile | None] = field(default_factory=dict)
    embedded_bytes: int = 0


class Look(NamedTuple):
    """How a page is made.

    `embeds` is how deep notes are embedded. `address` returns the address of a file. `text_workers`
    runs the work within its limits.
    """

    embeds: int
    address: Callable[[str], str]
    text_workers: TextWorkers


async def html_of_note(
    snapshot: Snapshot, root: VaultRoot, note_id: str, look: Look
) -> RenderedNote:
    """Return the current file of a note as HTML, or the indexed text of an attachment.

    Raises:
        InvalidRequest: `INVALID_ID`.
        NotFound: `NOTE_NOT_FOUND`, also if the file is missing or unreadable now.
        TooLarge: `NOTE_TOO_LARGE_TO_RENDER`.
    """
    stored = await snapshot.read(named_note, note_id, attachments=True)
    try:
        if is_note(stored.path):
            file = await in_thread(read_file, root, stored.path, MAX_BYTES)
        else:
            file = note_file(await snapshot.read(attachment_markdown, stored), MAX_BYTES)
    except TooLarge as error:
        raise TooLarge(
            "NOTE_TOO_LARGE_TO_RENDER", "The note is larger than 1 MiB.", error.details
        ) from None
    updated = (await snapshot.read(lists.updated_of, [stored.rowid])).get(stored.rowid)
    page = await html_of_text(snapshot, root, file, stored.path, look, stored.title)
    return replace(page, note_id=note_id, updated=updated)


async def html_of_text(  # noqa: PLR0917 - the title is optional
    snapshot: Snapshot,
    root: VaultRoot,
    file: NoteFile,
    path: str,
    look: Look,
    title: str | None = None,
) -> RenderedNote:
    """Return a text that is not saved as HTML, with its links as if it were at `path`."""
    title = title or stem(path)
    try:
        parsed = await _parsed(file, look.text_workers)
        gathered = _Gathered({path: parsed})
        await _gather(snapshot, root, gathered, path, look)
        html = await _rendered(gathered, path, title, look)
    except WorkerCrashed:
        raise TooLarge(
            "NOTE_TOO_LARGE_TO_RENDER",
            "Rendering this note takes more time or memory than one request may use.",
        ) from None
    properties = await _properties(snapshot, parsed.front, path)
    return RenderedNote(
        note_id=None,
        path=path,
        title=title,
        updated=None,
        html=html.html,
        outline=html.outline,
        properties=properties,
        assets=html.assets,
        content_hash=file.hash.hex(),
        warnings=(*file.warnings, *_problem(parsed.front, path)),
    )


async def _parsed(file: NoteFile, text_workers: TextWorkers) -> _Parsed:
    with_tree = text_workers.is_small(file.size)
    return await text_workers.run(file.size, _parse, file.text, file.size, with_tree=with_tree)


def _parse(text: str, size: int, *, with_tree: bool) -> _Parsed:
    front = frontmatter.read(text)
    tree = _tree(text, front)
    links = tuple(dict.fromkeys(tree.links))
    return _Parsed(text, size, front, links, tree if with_tree else None)


def _tree(text: str, front: Frontmatter) -> Tree:
    head = text[: front.end]
    first_line = 1 + head.count("\n") + head.count("\r") - head.count("\r\n")
    return build(text[front.end :], first_line)


async def _rendered(gathered: _Gathered, path: str, title: str, look: Look) -> Html:
    links = {key: value for key, value in gathered.links.items() if value is not None}
    files = {file.path for file in links.values() if file.note_id is None}
    addresses = await in_thread(lambda: {path: look.address(path) for path in files})
    titles = {note_path: gathered.titles.get(note_path, title) for note_path in gathered.notes}
    size = sum(note.size for note in gathered.notes.values())
    return await look.text_workers.run(
        size, _render, gathered.notes, titles, links, addresses, path=path, depth=look.embeds
    )


def _render(
    parsed: dict[str, _Parsed],
    titles: dict[str, str],
    links: dict[tuple[str, str, LinkKind], LinkedFile],
    addresses: dict[str, str],
    *,
    path: str,
    depth: int,
) -> Html:
    trees = {
        note_path: note.tree if note.tree is not None else _tree(note.text, note.front)
        for note_path, note in parsed.items()
    }
    notes = {
        note_path: Source(tree, identify(note_path), titles[note_path])
        for note_path, tree in trees.items()
    }
    return render(trees[path], path, Vault(links, notes, addresses.__getitem__), depth=depth)


async def _gather(
    snapshot: Snapshot, root: VaultRoot, gathered: _Gathered, path: str, look: Look
) -> None:
    """Resolve the links of a note, and read the notes that it embeds, level by level."""
    level = [path]
    for remaining in range(look.embeds, -1, -1):
        wanted = {
            (source, target.target, target.kind)
            for source in level
            for target in gathered.notes[source].links
            if target.kind is not None
        }
        # The index decides where links lead.
        fresh = [link for link in wanted if link not in gathered.links]
        del fresh[max(0, MAX_LINKS - len(gathered.links)) :]
        gathered.links |= await snapshot.read(resolve_links, fresh)
        if not remaining:
            return
        embedded = dict.fromkeys(
            file.path
            for source in level
            for target in gathered.notes[source].links
            if is_embeddable(target) and target.kind is not None
            for file in (gathered.links.get((source, target.target, target.kind)),)
            if file is not None and file.note_id and file.path not in gathered.notes
        )
        level = await _read(snapshot, root, gathered, embedded, look.text_workers)


async def _read(
    snapshot: Snapshot,
    root: VaultRoot,
    gathered: _Gathered,
    paths: Iterable[str],
    text_workers: TextWorkers,
) -> list[str]:
    """Read and parse notes, and return the paths of those that could be read."""
    done = []
    for path in paths:
        if (
            len(gathered.notes) > MAX_EMBEDDED_NOTES
            or gathered.embedded_bytes >= MAX_EMBEDDED_BYTES
        ):
            break
        try:
            file = await in_thread(read_file, root, path, MAX_BYTES)
        except (NotFound, TooLarge):
            continue  # moved or deleted since the last run, or too large: shown as a link
        gathered.embedded_bytes += file.size
        gathered.notes[path] = await _parsed(file, text_workers)
        stored = await snapshot.read(stored_notes.note_by_id, identify(path))
        gathered.titles[path] = stored.title if stored is not None else path
        done.append(path)
    return done


async def _properties(
    snapshot: Snapshot, front: Frontmatter, path: str
) -> tuple[ShownProperty, ...]:
    texts = {
        key: (tuple(frontmatter.named_texts_of(value)), isinstance(value, list))
        for key, value in front.values.items()
    }
    targets = {
        str(text): target
        for values, _ in texts.values()
        for _, text in values
        if (target := links.target_of(text)) is not None
    }
    files = await snapshot.read(
        resolve_links, [(path, target, LinkKind.FRONTMATTER) for target in targets.values()]
    )

    def value_of(names: str, text: Scalar) -> PropertyValue:
        target = targets.get(str(text))
        file = files.get((path, target, LinkKind.FRONTMATTER)) if target is not None else None
        return PropertyValue(f"{names}{text}", file.note_id if file is not None else None)

    return tuple(
        ShownProperty(key, tuple(value_of(*named) for named in values), is_list)
        for key, (values, is_list) in texts.items()
    )


def _problem(front: Frontmatter, path: str) -> tuple[Warning, ...]:
    if front.problem is None:
        return ()
    what = f"The frontmatter was not read, or only in part: {front.problem}."
    details = {"path": path, "reason": front.problem}
    return (Warning("FRONTMATTER_PARSE_FAILED", what, details),)


def attachment_markdown(connection: Connection, stored: StoredNote) -> str:
    """Return Markdown with a link to the file, and its parts. Headings of pages link to the page.

    A PDF is embedded.
    """
    name = stored.path.rpartition("/")[2]
    address = quote(name)
    embedded = "!" if kind_of(stored.path) == "pdf" else ""
    pieces = [f"{embedded}[{_plain(name)}]({address})\n"]
    chunks = stored_notes.chunks_of(connection, stored)
    for heading_path, part in groupby(chunks, key=lambda chunk: chunk.heading_path):
        text = "".join(chunk.text for chunk in part)
        if heading_path:
            page = page_of(stored.path, heading_path)
            label = _plain(heading_path[-1])
            heading = f"[{label}]({address}#page={page})" if page is not None else label
            pieces.append(f"## {heading}\n")
        fence = "`" * max(3, 1 + max(map(len, _FENCES.findall(text)), default=0))
        pieces.append(f"{fence}text\n{text.rstrip()}\n{fence}\n")
    return "\n".join(pieces)


def _plain(text: str) -> str:
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))
