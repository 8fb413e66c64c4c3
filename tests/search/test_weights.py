"""Folders and age count in the order of results as the owner has chosen."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.search.opened import indexed
from tests.support.index_runs import Vault

from vault_agent.config.sections import SearchSettings
from vault_agent.model.search import SearchQuery, Weights
from vault_agent.search.rank import Ranked, weigh
from vault_agent.search.search import search_in
from vault_agent.store.current import Snapshot

NOW = datetime(2026, 5, 20, tzinfo=UTC)
FOLDERS = SearchSettings.model_validate({"folders": "Archive=0.5, Archive/best=2 , .=1"}).weights
RECENT = Weights(half_life=30)


def note(days: int) -> str:
    return f"---\nupdated: {NOW.date() - timedelta(days)}\n---\nfrost on the late beds\n"


@pytest.fixture
async def snapshot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Snapshot]:
    clock = SimpleNamespace(now=lambda _: NOW)
    monkeypatch.setattr("vault_agent.search.search.datetime", clock)
    vault = Vault(tmp_path)
    vault.write("Archive/a.md", note(0))
    vault.write("Archive/best/b.md", note(30))
    vault.write("Archived/c.md", note(900))
    vault.write("d.md", note(60))
    vault.write("other.md", "# Frost\n\nfrost frost late\n")
    for file in vault.root.rglob("*.md"):  # the files are no later than their properties
        os.utime(file, (1_500_000_000, 1_500_000_000))
    async with indexed(vault) as opened:
        yield opened


async def paths(snapshot: Snapshot, weights: Weights, **options: int) -> list[str]:
    query = SearchQuery("late beds", weights=weights, **options)
    found = await search_in(snapshot, query)
    return [hit.path for hit in found.results if hit.path != "other.md"]


@pytest.mark.parametrize(
    ("weights", "order"),
    [
        (Weights(), ["Archive/a.md", "Archive/best/b.md", "Archived/c.md", "d.md"]),
        (FOLDERS, ["Archive/best/b.md", "Archived/c.md", "d.md", "Archive/a.md"]),
        (RECENT, ["Archive/a.md", "Archive/best/b.md", "d.md", "Archived/c.md"]),
        (
            FOLDERS._replace(half_life=30),
            ["Archive/best/b.md", "d.md", "Archive/a.md", "Archived/c.md"],
        ),
    ],
)
async def test_results_are_in_the_order_of_the_weights(
    snapshot: Snapshot, weights: Weights, order: list[str]
):
    assert await paths(snapshot, weights) == order
    pages = [await paths(snapshot, weights, offset=at, limit=1) for at in range(4)]
    assert [path for page in pages for path in page] == order


async def test_an_explanation_has_the_weights(snapshot: Snapshot):
    weights = FOLDERS._replace(half_life=30)
    query = SearchQuery("late beds", weights=weights, explain=True)
    found = {hit.path: hit.explanation or {} for hit in (await search_in(snapshot, query)).results}
    assert found["Archive/best/b.md"]["weights"] == {"folder": 2.0, "recency": 0.75}
    assert found["Archived/c.md"]["weights"] == {"folder": 1.0, "recency": 0.5}
    plain = await search_in(snapshot, SearchQuery("late beds", explain=True))
    assert all("weights" not in (hit.explanation or {}) for hit in plain.results)


@pytest.mark.parametrize("updated", ["2026-02-01T08:00:00Z", "2026-02-01", "2126-01-01"])
def test_a_note_of_today_or_later_loses_nothing(updated: str):
    place = Ranked(1, None, 0.8, {})
    today = datetime(2026, 2, 1, tzinfo=UTC).date()
    assert weigh(place, RECENT, "a.md", updated, today).score == 0.8


@pytest.mark.parametrize("updated", ["", "soon", "1926-01-01"])
def test_the_oldest_note_keeps_half_of_its_evidence(updated: str):
    today = datetime(2026, 2, 1, tzinfo=UTC).date()
    once = weigh(Ranked(1, None, 0.36, {}), RECENT, "a.md", updated, today)
    assert once.score == pytest.approx(0.2)  # 1 - 0.8 = 0.2, and 0.8 * 0.8 = 1 - 0.36


@pytest.mark.parametrize("given", ["Archive", "Archive=", "a=0", "a=-1", "a=5", "a=x", "../a=1"])
def test_a_folder_without_a_weight_is_refused(given: str):
    with pytest.raises(ValueError, match=r"such as Archive=0\.5|relative to it"):
        SearchSettings.model_validate({"folders": given})
