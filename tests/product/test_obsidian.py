"""A large Obsidian vault: every link resolves as in Obsidian."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.index_runs import Vault
from tests.support.obsidian import Expected, ObsidianVault, made_up

from vault_agent.markdown.parse import parse_note
from vault_agent.markdown.resolve import LinkResolver


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
