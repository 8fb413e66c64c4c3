"""Plan another text for a heading, with the links of all notes that name it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from vault_agent.errors import Conflict, TooLarge
from vault_agent.markdown import section_edit
from vault_agent.markdown.edit import editable, spliced
from vault_agent.markdown.heading_links import RenamedHeading
from vault_agent.markdown.headings import Headings, KnownHeading
from vault_agent.store.index.relinking import LinkReader
from vault_agent.writing.affected import Known, PathChange
from vault_agent.writing.canvases import RenamedCards, rewritten_canvases
from vault_agent.writing.move import check_links, check_scope, read_file, stale_canvases
from vault_agent.writing.sections import check_hash
from vault_agent.writing.transaction import Edit, Transaction

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vault_agent.markdown.address import Address
    from vault_agent.markdown.edit import Splice, Text
    from vault_agent.markdown.section_edit import SectionEdit
    from vault_agent.model.notes import Link
    from vault_agent.store.current import Snapshot
    from vault_agent.vault.root import VaultRoot
    from vault_agent.writing.costly import Results


@dataclass(frozen=True, slots=True)
class HeadingRequest:
    """Which heading gets which text. See `MoveRequest` for the limits."""

    path: str
    address: Address
    text: str
    expected_hash: str | None  # of the section or of the note
    may_write: Callable[[str], bool]
    may_see: Callable[[str], bool]
    most_notes: int


def plan_heading(
    snapshot: Snapshot, root: VaultRoot, asked: HeadingRequest, results: Results
) -> Transaction:
    """Return the changes that give a heading another text.

    Raises:
        NotReady: if a large note must be parsed first.
        NotFound: `NOTE_NOT_FOUND`, `HEADING_NOT_FOUND`.
        Conflict: `HASH_MISMATCH`, `HEADING_AMBIGUOUS`, `LINK_NOT_EXPRESSIBLE`,
            `ENCODING_NOT_WRITABLE`.
        Forbidden: `LINKS_OUTSIDE_SCOPE`.
        InvalidRequest: `INVALID_REQUEST` if it is not the text of a heading.
        TooLarge: `MOVE_TOO_LARGE`.
        SnapshotOutdated: if the index has a later revision than the snapshot.
    """
    path = asked.path
    check_scope(asked.may_write, path)
    note = read_file(root, path)
    edit, renamed = results.of(partial(_renamed, address=asked.address, heading=asked.text), note)
    check_hash(note, edit, asked.expected_hash)
    if renamed is None:
        return Transaction(path, ())
    with snapshot.unchanged() as connection:
        reader = LinkReader(connection)
        sources = [each for each in reader.notes_with_fragments(path) if each != path]
        notes = {source: read_file(root, source) for source in sources}
        known = Known(reader, PathChange())
        links = _links_to(path, {path: note, **notes}, known, results)
        canvases = rewritten_canvases(root, reader, RenamedCards(path, renamed, known))
    writable = [each for each in canvases if each.splices and asked.may_write(each.path)]
    _check_limits(
        [source for source in notes if renamed.changes(links[source])], len(writable), asked
    )
    own = sorted(
        (*edit.splices, *_splices(path, note, links[path], renamed)), key=lambda each: each.start
    )
    edits = [Edit(path, note, spliced(note, own), links=len(own) - len(edit.splices))]
    for source, content in notes.items():
        if not links[source]:
            continue
        splices = _splices(source, content, links[source], renamed)
        if splices:
            edits.append(Edit(source, content, spliced(content, splices), links=len(splices)))
    edits += [
        Edit(each.path, each.content, spliced(each.content, each.splices), links=len(each.splices))
        for each in writable
    ]
    warnings = stale_canvases(canvases, writable, asked.may_see)
    return Transaction(path, tuple(edits), warnings=tuple(warnings))


def _renamed(
    note: bytes, address: Address, heading: str
) -> tuple[SectionEdit, RenamedHeading | None]:
    """Return the edit of the heading, and the headings before and after, if that changes them."""
    edit, before, after = section_edit.rename_heading(note, address, heading)
    if not edit.splices:
        return edit, None
    at = before.document.lines.character(edit.splices[0].start - before.origin)
    index = sum(section.start <= at for section in before.document.sections) - 1
    return edit, RenamedHeading(_headings(before), _headings(after), index)


def _headings(text: Text) -> Headings:
    """Return the headings of a note without all else of it, because they leave the process."""
    sections = text.document.sections
    return Headings([KnownHeading(each.level, each.key, each.text) for each in sections])


def _links_to(
    path: str, notes: dict[str, bytes], known: Known, results: Results
) -> dict[str, list[Link]]:
    """Return the links of each note that lead to the note at `path`."""
    tasks = [(_links, note) for note in notes.values()]
    parsed = dict(zip(notes, results.all(tasks), strict=True))
    names = known.read_for(parsed)
    return {
        source: [link for link in links if names.before(source, link).path == path]
        for source, links in parsed.items()
    }


def _links(note: bytes) -> Sequence[Link]:
    return editable(note).document.links


def _splices(
    source: str, note: bytes, links: list[Link], renamed: RenamedHeading
) -> tuple[Splice, ...]:
    try:
        return renamed.splices(note, links)
    except Conflict as error:
        details = {"path": source, **error.details}
        raise Conflict(error.code, error.what, details) from None


def _check_limits(sources: list[str], canvases: int, asked: HeadingRequest) -> None:
    """Check that the caller may rewrite the links of all these notes, and that files are few."""
    check_links(sources, asked.may_write, asked.may_see)
    count = len(sources) + canvases
    if count > asked.most_notes:
        raise TooLarge(
            "MOVE_TOO_LARGE",
            f"The heading is named in {count} notes.",
            {"notes": count, "limit": asked.most_notes},
        )
