"""Finds broken links in the files of a vault, without an index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vault_agent.markdown.broken import Anchors, Fault, faults, names_folder
from vault_agent.markdown.parse import parse_note, with_keys
from vault_agent.model.graph import MAX_CANDIDATES, Finding
from vault_agent.model.link_resolver import LinkResolver
from vault_agent.model.notes import FileEntry, Link
from vault_agent.model.warning import Warning
from vault_agent.text.names import fold
from vault_agent.vault.paths import folders_of
from vault_agent.vault.read import Skipped, decode, read_bytes
from vault_agent.vault.root import VaultRoot
from vault_agent.vault.scan import scan


@dataclass(frozen=True, slots=True)
class CheckedLinks:
    """The broken links of a vault by path and line, and how much was checked."""

    findings: tuple[Finding, ...]
    notes: tuple[str, ...]  # their paths
    links: int
    warnings: tuple[Warning, ...]  # about notes and folders that could not be read


@dataclass(frozen=True, slots=True)
class _Note:
    path: str
    aliases: tuple[str, ...]
    links: Sequence[Link]
    anchors: Anchors | None  # None if the text was not read


def check_links(root: VaultRoot, max_note_bytes: int, *, typed: bool = False) -> CheckedLinks:
    """Read all notes of a vault and return the links that lead nowhere or are ambiguous.

    The notes are parsed as an indexing run does. With `typed`, links find them by `id` and type
    too. Attachments are known by their names only.
    """
    found = scan(root)
    warnings = list(found.warnings)
    notes = [_read(root, entry, max_note_bytes, warnings, typed=typed) for entry in found.notes]
    known = {note.path: note.anchors for note in notes}
    others = [entry.path for entry in found.attachments]
    resolver = LinkResolver([(note.path, note.aliases) for note in notes], others)
    folders = {fold(folder) for path in (*known, *others) for folder in folders_of(path)}
    findings = (
        Finding(
            note.path,
            link.line,
            link.column,
            fault,
            link.kind,
            link.target,
            link.fragment,
            tuple(resolver.candidates(note.path, link.target, link.kind)[:MAX_CANDIDATES])
            if fault == "ambiguous"
            else (),
        )
        for note in notes
        for link, fault in _broken(note, resolver, known, folders)
    )
    links = sum(len(note.links) for note in notes)
    return CheckedLinks(tuple(sorted(findings)), tuple(known), links, tuple(warnings))


def _read(
    root: VaultRoot,
    entry: FileEntry,
    max_note_bytes: int,
    warnings: list[Warning],
    *,
    typed: bool,
) -> _Note:
    try:
        content = read_bytes(root, entry.path, max_note_bytes)
        if not content.complete:
            return _Note(entry.path, (), (), None)
        text, _ = decode(content.data, entry.path)
    except Skipped as skipped:
        warnings.append(skipped.warning)
        return _Note(entry.path, (), (), None)
    note = parse_note(text, path=entry.path)
    if typed:
        note = with_keys(note, entry.path)
    anchors = Anchors(note.anchors)
    return _Note(entry.path, (*note.aliases, *note.keys), note.links, anchors)


def _broken(
    note: _Note, resolver: LinkResolver, known: dict[str, Anchors | None], folders: set[str]
) -> Iterator[tuple[Link, Fault]]:
    for link in note.links:
        found = resolver.resolve(note.path, link.target, link.kind)
        if found.path is None and names_folder(note.path, link.kind, link.target, folders):
            continue
        anchors = known.get(found.path) if found.path is not None else None
        for fault in faults(link.kind, link.target, link.fragment, found, anchors):
            yield link, fault
