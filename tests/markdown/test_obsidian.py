"""A large Obsidian vault: every link resolves as in Obsidian."""

from __future__ import annotations

import pytest
from tests.support.obsidian import Expected, ObsidianVault, made_up

from vault_agent.markdown.parse import parse_note
from vault_agent.model.link_resolver import LinkResolver


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
