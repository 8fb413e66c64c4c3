"""An index that has followed changes ranks as a new one does."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from tests.search.opened import opened
from tests.support.index_runs import Vault

from vault_agent.model.search import SearchQuery
from vault_agent.search.search import search_in
from vault_agent.store.fulltext.writer import documents_in
from vault_agent.store.index.meta import read_meta

WORDS = [f"word{number}" for number in range(80)]
QUERIES = [*WORDS[:30], *(" ".join(WORDS[place : place + 3]) for place in range(0, 60, 3))]
NOTES = 120


def write(vault: Vault, number: int, version: int) -> None:
    chance = random.Random(f"{number} {version}")
    text = " ".join(chance.choices(WORDS, k=chance.randrange(10, 60)))
    vault.write(f"{number % 5}/{number}.md", f"# Note {number}\n\n{text}\n")


async def results(vault: Vault) -> dict[str, list[tuple[str, int | None, float]]]:
    async with opened(vault) as snapshot:
        return {
            query: [
                (hit.path, hit.chunk_index, hit.score)
                for hit in (await search_in(snapshot, SearchQuery(query, limit=20))).results
            ]
            for query in QUERIES
        }


def deleted(vault: Vault) -> int:
    with vault.reader() as connection:
        meta = read_meta(connection)
    return sum(count for _, count in documents_in(vault.directory.fulltext(meta.generation)))


@pytest.fixture
async def vault(tmp_path: Path) -> Vault:
    made = Vault(tmp_path)
    for number in range(NOTES):
        write(made, number, 0)
    await made.index()
    return made


async def test_a_whole_run_over_many_changes_ranks_as_a_new_index(vault: Vault):
    for version in range(1, 4):
        for number in range(0, NOTES, 3):
            write(vault, number, version)
        (vault.root / f"1/{1 + 15 * version}.md").unlink()
        summary = await vault.index()
        assert (summary.changed, summary.removed) == (NOTES // 3, 1)
        followed, held = await results(vault), await vault.dump()
        await vault.index(rebuild=True)
        assert followed == await results(vault)
        assert held == await vault.dump()


async def test_a_run_of_paths_reads_only_them_and_the_next_whole_run_cleans_up(vault: Vault):
    paths = []
    for number in range(NOTES // 4):
        write(vault, number, 1)
        paths.append(f"{number % 5}/{number}.md")
    await vault.run(paths=tuple(paths))
    assert ("parse", len(paths), len(paths)) in vault.heard.phases
    assert deleted(vault) == 2 * len(paths)

    await vault.index()
    assert deleted(vault) == 0
    assert vault.heard.publications == 0


async def test_a_file_that_cannot_be_read_again_leaves_the_text_as_it_is(vault: Vault):
    for number in range(0, NOTES, 3):
        write(vault, number, 1)
    vault.unreadable.add("2/7.md")
    summary = await vault.index()
    assert summary.changed == NOTES // 3
    assert deleted(vault) > 0
    assert "Note 7" in str(await vault.dump())
