"""Resolves the links of new notes, and links to names that a run has added or removed.

A few links are resolved against the files that they could mean, looked up in the index. Many links
are resolved against all names in one pass, which is faster then. `LinkResolver` has the rules.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING

from vault_agent.markdown.resolve import LinkResolver
from vault_agent.model.identifiers import CHUNK_BITS
from vault_agent.store.index import links as reading_links
from vault_agent.store.index import notes as reading
from vault_agent.store.index import places
from vault_agent.store.index.rows import PARTS, handle_of, name_hash
from vault_agent.store.index.writer import ResolvedLink

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from vault_agent.indexing.task import Report
    from vault_agent.store.database import Connection
    from vault_agent.store.index.links import LinkRow
    from vault_agent.store.index.rows import Row
    from vault_agent.store.index.writer import NoteWriter

MANY_NAMES = 500
"""If more names than this are affected, all links are resolved again."""
NOTES_AT_ONCE = 500
"""New notes whose links are resolved together."""


def resolve_links(
    connection: Connection,
    writer: NoteWriter,
    report: Report,
    *,
    fresh: Sequence[int],
    affected: Collection[str] | None,
) -> None:
    """Resolve the links of the notes `fresh`, and all links to the names `affected`.

    `affected` holds names as `names_of` returns them. None means all links.
    """
    if writer.waiting is not None:
        resolver = _resolver(connection)
        writer.add_links(*_resolved(resolver, writer.waiting))
        report.phase("store", writer.totals.links, writer.totals.links)
        return
    few = affected is not None and len(affected) <= MANY_NAMES
    names = affected if few else None
    everything = None if few else _resolver(connection)
    total = writer.totals.links
    done = 0
    for page in _pages(connection, fresh, names):
        _resolve(writer, everything or _resolver(connection, page), page)
        done += len(page)
        report.phase("store", done, total)
    report.phase("store", total, total)


def _resolved(
    resolver: LinkResolver, waiting: Iterable[tuple[str, Sequence[Row]]]
) -> tuple[list[Row], dict[int, int]]:
    """Return the rows of links with their destinations, and how many attachments a note links."""
    rows: list[Row] = []
    attachments: dict[int, int] = {}
    for source, links in waiting:
        files: set[int] = set()
        for link in links:
            found = resolver.resolve(source, link[_TARGET], link[_KIND])
            dest = None if found.path is None else _handle(found.path)
            rows.append((*link, dest, found.ambiguous))
            if dest is not None and not found.is_note:
                files.add(dest)
        if files:
            attachments[links[0][0] >> CHUNK_BITS] = len(files)
    return rows, attachments


def name_rows(path: str, names: Iterable[str]) -> list[tuple[int, int]]:
    """Return the rows by which links find a file: (hash of a name, handle of the file)."""
    handle = handle_of(path)
    return [(name_hash(name), handle) for name in names]


def _resolve(writer: NoteWriter, resolver: LinkResolver, page: Sequence[LinkRow]) -> None:
    resolved: list[ResolvedLink] = []
    to_attachments: set[int] = set()
    for link in page:
        found = resolver.resolve(link.source, link.target, link.kind)
        dest = _handle(found.path) if found.path is not None else None
        resolved.append(ResolvedLink(link, dest, found.ambiguous))
        if dest is not None and not found.is_note:
            to_attachments.add(link.key)
    changed = writer.resolve(resolved)
    # The previous target of a changed link may have been an attachment too.
    writer.count_attachments(
        {
            link.key >> CHUNK_BITS
            for link in changed
            if link.dest is not None or link.key in to_attachments
        }
    )


_KIND, _TARGET = (PARTS["link"].split(", ").index(name) for name in ("kind", "target"))
_handle = lru_cache(maxsize=1 << 16)(handle_of)


def _pages(
    connection: Connection, fresh: Sequence[int], names: Collection[str] | None
) -> Iterator[list[LinkRow]]:
    """Yield the links to resolve: those of new notes and to affected names, or all."""
    if names is None:
        read = reading_links.every
    else:
        lookups = [name_hash(name) for name in names]
        read = partial(reading_links.to_names, lookups=lookups, limit=reading_links.PAGE)
        for start in range(0, len(fresh), NOTES_AT_ONCE):
            part = fresh[start : start + NOTES_AT_ONCE]
            yield reading_links.of_notes(connection, part)
    after = -1
    while page := read(connection, after=after):
        yield page
        after = page[-1].key


def _resolver(connection: Connection, page: Sequence[LinkRow] | None = None) -> LinkResolver:
    """Return a resolver over all names, or over the names that the links of a page use."""
    if page is None:
        return LinkResolver(reading.names(connection), reading.attachments(connection))
    lookups = {link.lookup for link in page}
    return LinkResolver(*places.files_named(connection, lookups))
