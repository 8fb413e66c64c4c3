"""Plan another text for a heading, with the links of all notes that name it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vault_agent.errors import Conflict, TooLarge
from vault_agent.markdown import section_edit
from vault_agent.markdown.edit import editable, spliced
from vault_agent.markdown.heading_links import Headings, RenamedHeading
from vault_agent.markdown.parse import parse_note
from vault_agent.markdown.sections import outline
from vault_agent.store.index.relinking import LinkReader
from vault_agent.writing.affected import Known, PathChange
from vault_agent.writing.move import check_links, check_scope, read_file
from vault_agent.writing.sections import check_hash
from vault_agent.writing.transaction import Edit, Transaction

if TYPE_CHECKING:
    from collections.abc import Callable

    from vault_agent.markdown.address import Address
    from vault_agent.markdown.edit import Splice
    from vault_agent.model.notes import Link
    from vault_agent.store.current import Snapshot
    from vault_agent.vault.root import VaultRoot


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


def plan_heading(snapshot: Snapshot, root: VaultRoot, asked: HeadingRequest) -> Transaction:
    """Return the changes that give a heading another text.

    Raises:
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
    edit = section_edit.edit_section(note, asked.address, "renameHeading", asked.text)
    check_hash(note, edit, asked.expected_hash)
    if not edit.splices:
        return Transaction(path, ())
    renamed = _renamed(note, spliced(note, edit.splices), edit.splices)
    with snapshot.unchanged_here() as connection:
        reader = LinkReader(connection)
        sources = [each for each in reader.notes_with_fragments(path) if each != path]
        notes = {source: read_file(root, source) for source in sources}
        links = _links_to(path, {path: note, **notes}, Known(reader, PathChange()))
    _check_limits([source for source in notes if renamed.changes(links[source])], asked)
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
    return Transaction(path, tuple(edits))


def _renamed(note: bytes, after: bytes, splices: tuple[Splice, ...]) -> RenamedHeading:
    """Return the headings before and after, and which of them has changed."""
    text = editable(note)
    at = len(note[text.origin : splices[0].start].decode())
    index = sum(section.start <= at for section in outline(text.text).sections) - 1
    return RenamedHeading(Headings(text.text), Headings(editable(after).text), index)


def _links_to(path: str, notes: dict[str, bytes], known: Known) -> dict[str, list[Link]]:
    """Return the links of each note that lead to the note at `path`."""
    parsed = {}
    for source, note in notes.items():
        text = editable(note)
        parsed[source] = parse_note(text.text, path=source, origin=text.origin).links
    names = known.read_for(parsed)
    return {
        source: [link for link in links if names.before(source, link).path == path]
        for source, links in parsed.items()
    }


def _splices(
    source: str, note: bytes, links: list[Link], renamed: RenamedHeading
) -> tuple[Splice, ...]:
    try:
        return renamed.splices(note, links)
    except Conflict as error:
        details = {"path": source, **error.details}
        raise Conflict(error.code, error.message, details, remedy="") from None


def _check_limits(sources: list[str], asked: HeadingRequest) -> None:
    """Check that the caller may rewrite the links of all these notes, and that they are few."""
    check_links(sources, asked.may_write, asked.may_see)
    if len(sources) > asked.most_notes:
        raise TooLarge(
            "MOVE_TOO_LARGE",
            f"The heading is named in {len(sources)} notes.",
            {"notes": len(sources), "limit": asked.most_notes},
        )
