"""A large Obsidian vault: every link resolves as in Obsidian."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.support.index_runs import Vault
from tests.support.obsidian import Expected, ObsidianVault, made_up
from tests.support.program import Program

from vault_agent.markdown.parse import parse_note
from vault_agent.markdown.resolve import LinkResolver
from vault_agent.model.identifiers import identify

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def resolved(vault: ObsidianVault) -> dict[str, list[Expected]]:
    """Return the links of each note as the product reads and resolves them."""
    parsed = {path: parse_note(vault.files[path], path=path) for path in vault.notes}
    resolver = LinkResolver(
        ((path, note.aliases) for path, note in parsed.items()),
        vault.files.keys() - parsed.keys(),
    )
    return {
        path: [
            Expected(
                link.kind.value,
                link.fragment,
                resolver.resolve(path, link.target, link.kind).path,
            )
            for link in note.links
        ]
        for path, note in parsed.items()
    }


@pytest.mark.parametrize("seed", range(3))
def test_links_in_many_languages_resolve_as_in_obsidian(seed: int):
    vault = made_up(notes=300, links_a_note=9, seed=seed)
    assert resolved(vault) == vault.links


async def test_links_resolve_the_same_after_many_small_changes(tmp_path: Path):
    made = made_up(notes=150, links_a_note=5, seed=3)
    vault = Vault(tmp_path)
    paths = list(made.files)
    late, passing = paths[::10], paths[5::10]
    for path in paths:
        if path not in late:
            vault.write(path, made.files[path])
    await vault.index()
    for path in late:
        vault.write(path, made.files[path])
        for gone in passing[:1]:
            (vault.root / gone).unlink()
        await vault.index()
        for gone in passing[:1]:
            vault.write(gone, made.files[gone])
        passing = passing[1:]
    await vault.index()
    held = await vault.dump()
    for path, expected in made.links.items():
        links = [Expected(link.kind.value, link.fragment, link.path) for link in held[path][3]]
        assert links == expected, path


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Program]:
    """Return a program whose vault has no files yet."""
    made = Program(tmp_path)
    yield made
    made.close()


def answered(program: Program, path: str) -> tuple[list[Expected], list[Expected]]:
    """Return a note's links and attachments from the server."""
    note = program.call("GET", f"/notes/{identify(path)}").data
    links, attachments = (
        [Expected(link["kind"], link["fragment"], link["path"]) for link in note[name]]
        for name in ("links", "attachments")
    )
    return links, attachments


@pytest.mark.long
def test_the_program_indexes_6000_notes_and_50000_links(empty: Program):
    vault = made_up(notes=6000, links_a_note=9)
    expected = [link for links in vault.links.values() for link in links]
    assert len(vault.notes) >= 6000
    assert sum(link.kind in ("wikilink", "embed") for link in expected) >= 50_000
    for path, text in vault.files.items():
        empty.write(path, text)
    empty.start()
    job = empty.finish(empty.call("GET", "/health").data["runningJob"])
    assert (job["state"], job["warnings"]) == ("succeeded", [])
    assert job["summary"]["links"] == len(expected)
    assert job["summary"]["unresolvedLinks"] == sum(link.path is None for link in expected)
    for path, written in vault.links.items():
        links = [link for link in written if link.path is None or link.path.endswith(".md")]
        attachments = [link for link in written if link not in links]
        assert answered(empty, path) == (links, attachments), path


@pytest.mark.long
def test_every_note_of_the_large_vault_is_found_by_name(empty: Program):
    vault = made_up(notes=600, links_a_note=3)
    for path, text in vault.files.items():
        empty.write(path, text)
    empty.start()
    empty.finish(empty.call("GET", "/health").data["runningJob"])
    for path in vault.notes:
        name = path.rpartition("/")[2].removesuffix(".md")
        results = empty.search(name).data["results"]
        assert name in {result["path"].rpartition("/")[2].removesuffix(".md") for result in results}
