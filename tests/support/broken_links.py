"""Finds broken links in the files of a vault, without an index."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from vault_agent.markdown.broken import Anchors, Fault, faults, names_folder
from vault_agent.markdown.parse import parse_note
from vault_agent.model.graph import MAX_CANDIDATES, Finding
from vault_agent.model.link_resolver import LinkResolver
from vault_agent.text.names import fold
from vault_agent.vault.paths import Exclusions, folders_of
from vault_agent.vault.read import decode
from vault_agent.vault.root import VaultRoot
from vault_agent.vault.scan import scan


def broken_links(folder: Path) -> Iterator[Finding]:
    """Yield the links of a folder's notes that lead nowhere or are ambiguous.

    The notes are parsed as an indexing run does. Attachments are known by their names only.
    """
    with VaultRoot.open(str(folder), Exclusions(())) as root:
        files = scan(root)
    notes = {}
    for entry in files.notes:
        text, _ = decode((folder / entry.path).read_bytes(), entry.path)
        notes[entry.path] = parse_note(text, path=entry.path)
    others = [entry.path for entry in files.attachments]
    resolver = LinkResolver([(path, note.aliases) for path, note in notes.items()], others)
    folders = {fold(name) for path in (*notes, *others) for name in folders_of(path)}
    for path, note in notes.items():
        for link in note.links:
            target = resolver.resolve(path, link.target, link.kind)
            if target.path is None and names_folder(path, link.kind, link.target, folders):
                continue
            anchors = Anchors(notes[target.path].anchors) if target.path in notes else None
            candidates = resolver.candidates(path, link.target, link.kind)[:MAX_CANDIDATES]
            for fault in faults(link.kind, link.target, link.fragment, target, anchors):
                yield Finding(
                    *(path, link.line, link.column, fault, link.kind, link.target, link.fragment),
                    tuple(candidates) if fault is Fault.AMBIGUOUS else (),
                )
