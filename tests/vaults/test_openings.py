"""Searches learn from what is opened after them, while `search.learn` is on."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.systems import posix
from tests.support.waiting import eventually_async
from tests.vaults import test_writes as test_writing

from vault_agent.app import open_app
from vault_agent.config import Config
from vault_agent.model.identifiers import identify
from vault_agent.model.jobs import JobKind
from vault_agent.model.scope import EVERYTHING, Scope
from vault_agent.model.search import Filters, Learning, Opening, SearchQuery
from vault_agent.model.write_state import Right
from vault_agent.model.writing import Write
from vault_agent.store.openings.record import OpeningStore
from vault_agent.vaults import openings
from vault_agent.vaults.moves import move
from vault_agent.vaults.openings import COUNTED, KEPT, KEPT_DAYS, REMEMBERED_SECONDS, Openings

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from vault_agent.model.search import Hit
    from vault_agent.vaults.open_vault import OpenVault

ME = "owner::cli"
TEXT = "late frost in the garden beds\n"
NAMES = [f"{letter}.md" for letter in "abcdef"]
DAY_MS = 86_400_000


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "vault"
    made.mkdir()
    for name in NAMES:
        (made / name).write_text(TEXT)
    return made


def opened(root: Path, *, learn: bool = True) -> AbstractAsyncContextManager[OpenVault]:
    write = {**test_writing.WRITE, "allow": ["edit", "move", "delete"]}
    journal = {"redact_patterns": [r"ACME-\d+"]}
    return test_writing.opened(root, search={"learn": learn}, write=write, journal=journal)


async def search(
    vault: OpenVault, text: str = "frost garden", *, by: str = ME, scope: Scope = EVERYTHING
) -> list[Hit]:
    query = SearchQuery(
        text,
        limit=20,
        filters=Filters(scope=scope),
        explain=True,
        learning=Learning(by, int(time.time() * 1000)),
    )
    return list((await vault.search(query)).hits)


async def paths(vault: OpenVault, text: str = "frost garden", **options: Any) -> list[str]:
    return [hit.path for hit in await search(vault, text, **options)]


async def open_note(
    vault: OpenVault, path: str, *, by: str = ME, scope: Scope = EVERYTHING
) -> bool:
    return await vault.openings.opened(by, scope, identify(path))


async def teach(vault: OpenVault, path: str, times: int = 3) -> None:
    for _ in range(times):
        await search(vault)
        assert await open_note(vault, path)


async def index(vault: OpenVault) -> None:
    job = vault.jobs.indexing or await vault.submit(JobKind.INDEX)
    async for _ in vault.jobs.watch(job.id):
        pass


def stored(root: Path) -> list[Opening]:
    return [each for file in files(root) for each in OpeningStore(file).read()]


def files(root: Path) -> list[Path]:
    return list(root.parent.glob("data/indexes/*/openings.db"))


async def test_a_note_that_was_opened_comes_first_in_similar_searches(root: Path):
    async with opened(root) as vault:
        assert await paths(vault) == NAMES
        await teach(vault, "e.md")
        assert await paths(vault) == ["e.md", *NAMES[:4], "f.md"]
        first = (await search(vault, "gardens with frosts"))[0]
        assert first.path == "e.md"
        assert first.explanation is not None
        assert first.explanation["learned"] == {"opened": 3, "factor": 1.38, "placeBefore": 5}
        assert await paths(vault, "late beds") == NAMES


async def test_what_was_learned_is_kept_over_restarts_and_rebuilds(root: Path):
    async with opened(root) as vault:
        await teach(vault, "e.md")
    async with opened(root) as vault:
        assert (await paths(vault))[0] == "e.md"


async def test_nothing_is_stored_or_used_while_it_is_off(root: Path):
    async with opened(root, learn=False) as vault:
        await search(vault)
        assert not await open_note(vault, "e.md")
        answer = await vault.search(SearchQuery("frost garden"))
        assert answer.hits
    assert files(root) == []
    async with opened(root) as vault:
        await teach(vault, "e.md")
    before = stored(root)
    async with opened(root, learn=False) as vault:
        plain = await vault.search(SearchQuery("frost garden", explain=True))
        assert [hit.path for hit in plain.hits] == NAMES
        assert all("learned" not in (hit.explanation or {}) for hit in plain.hits)
        assert not await open_note(vault, "e.md")
    assert stored(root) == before


async def test_only_a_note_that_the_search_has_shown_is_learned(root: Path):
    async with opened(root) as vault:
        assert not await open_note(vault, "a.md")  # no search before
        await search(vault)
        assert not await open_note(vault, "other.md")
        assert not await open_note(vault, "a.md", by="agent:other:mcp")
        assert await open_note(vault, "a.md")
        assert not await open_note(vault, "a.md")  # once
    assert [each.path for each in stored(root)] == ["a.md"]


async def test_who_opens_all_results_has_not_chosen(root: Path):
    async with opened(root) as vault:
        await search(vault)
        counted = [await open_note(vault, path) for path in NAMES]
    assert counted == [True] * COUNTED + [False] * (len(NAMES) - COUNTED)
    assert [each.weight for each in stored(root)] == [1, 1 / 2, 1 / 3]


async def test_an_opening_long_after_the_search_is_not_learned(root: Path):
    now = 1_000.0
    async with opened(root) as vault:
        vault.openings = Openings(
            vault.openings._store,
            vault.openings._reading,
            vault.config,
            lambda _: False,
            clock=lambda: now,
        )
        await search(vault)
        now += REMEMBERED_SECONDS + 1
        assert not await open_note(vault, "a.md")
        await search(vault)
        assert await open_note(vault, "a.md")


@pytest.mark.parametrize(
    "text",
    [
        "frost of ACME-17",
        "frost password=xK9mQ2vL8pR4tW7z",
        "frost ghp_0123456789abcdefghijABCDEFGHIJ012345",
    ],
)
async def test_a_search_with_a_secret_teaches_nothing(root: Path, text: str):
    async with opened(root) as vault:
        assert await paths(vault, text)
        assert not await open_note(vault, "a.md")
    assert files(root) == []


async def test_the_words_are_stored_and_not_the_query(root: Path):
    async with opened(root) as vault:
        await search(vault, "the Frost of my gardens -house tag:x OR", scope=EVERYTHING)
        await search(vault, "the Frost of my gardens -house")
        assert await open_note(vault, "a.md")
    assert [each.terms for each in stored(root)] == [{"frost", "garden"}]
    assert b"gardens" not in files(root)[0].read_bytes()


async def test_an_agent_with_a_folder_neither_teaches_nor_is_taught_outside(root: Path):
    scope = Scope("team")
    (root / "team").mkdir()
    for name in NAMES:
        (root / "team" / name).write_text(TEXT)
    inside = [f"team/{name}" for name in NAMES]
    async with opened(root) as vault:
        await search(vault, by="agent:a:mcp", scope=scope)
        assert not await open_note(vault, "e.md", by="agent:a:mcp", scope=scope)
        assert await open_note(vault, "team/e.md", by="agent:a:mcp", scope=scope)
        query = SearchQuery("frost garden", limit=20, learning=Learning(ME, 2**52))
        owner = [hit.path for hit in (await vault.search(query)).hits]
        assert [path for path in owner if path.startswith("team/")] == inside
        assert await open_note(vault, "team/c.md")
        taught = ["team/e.md", *(path for path in inside if path != "team/e.md")]
        assert await paths(vault, by="agent:b:mcp", scope=scope) == taught
        assert (
            await paths(vault, by="agent:c:mcp", scope=Scope("team", ("team/f.md",)))
            == (inside[:-1])
        )


async def test_a_note_that_is_excluded_now_is_forgotten_at_the_first_search(root: Path):
    async with opened(root) as vault:
        await teach(vault, "e.md")
        await teach(vault, "f.md")
    config = Config(
        vault={"root": root, "exclude": ("e.md",)},
        index={"dir": root.parent / "data"},
        search={"learn": True},
    )
    async with open_app(config) as app:
        vault = app.vaults.default
        await index(vault)
        assert (await paths(vault))[0] == "f.md"
    assert {each.path for each in stored(root)} == {"f.md"}


async def test_a_note_that_is_gone_is_forgotten_at_the_next_opening(root: Path):
    async with opened(root) as vault:
        await teach(vault, "e.md")
        (root / "e.md").unlink()
        await index(vault)
        await search(vault)
        assert await open_note(vault, "a.md")
    assert {each.path for each in stored(root)} == {"a.md"}


async def test_a_note_that_is_gone_before_it_is_opened_is_not_stored(root: Path):
    async with opened(root) as vault:
        await search(vault)
        (root / "e.md").unlink()
        await index(vault)
        assert not await open_note(vault, "e.md")
    assert stored(root) == []


async def test_a_note_keeps_what_was_learned_when_it_is_moved(root: Path):
    async with opened(root) as vault:
        await teach(vault, "e.md")
        write = Write(operation="move", right=Right.MOVE)
        await move(
            vault.files, vault.jobs, "e.md", "New/z.md", write, rewrite_links=True, waits=True
        )
        await eventually_async(lambda: _paths_stored(root), lambda now: now == {"New/z.md"})
        query = SearchQuery("frost garden", learning=Learning(ME, 2**52))
        assert (await vault.search(query)).hits[0].path == "New/z.md"


async def _paths_stored(root: Path) -> set[str]:
    return {each.path for each in stored(root)}


async def test_later_pages_are_in_the_order_of_the_first(root: Path):
    async with opened(root) as vault:
        await teach(vault, "e.md")
        learning = Learning(ME, int(time.time() * 1000))
        query = SearchQuery("frost garden", limit=2, learning=learning)
        found = [hit.path for hit in (await vault.search(query)).hits]
        await asyncio.sleep(0.005)
        await teach(vault, "f.md", times=9)
        for offset in (2, 4):
            found += [h.path for h in (await vault.search(replace(query, offset=offset))).hits]
        assert found == ["e.md", *NAMES[:4], "f.md"]
        assert (await paths(vault))[0] == "f.md"


async def test_all_or_older_openings_can_be_forgotten_also_while_it_is_off(root: Path):
    async with opened(root) as vault:
        await teach(vault, "e.md")
        assert await vault.openings.forget(1) == 0
        assert (await paths(vault))[0] == "e.md"
        assert await vault.openings.forget(0) == 3
        assert not await open_note(vault, "a.md")  # the search is forgotten too
        assert await paths(vault) == NAMES
        await teach(vault, "e.md")
    async with opened(root, learn=False) as vault:
        assert await vault.openings.forget(None) == 3
    assert files(root) == []


async def test_the_oldest_openings_go_first(tmp_path: Path):
    store = OpeningStore(tmp_path / "openings.db")
    now = KEPT_DAYS * DAY_MS
    for number in range(6):
        opening = Opening(number * DAY_MS, "", frozenset({"frost"}), f"{number}.md", 1.0)
        store.add(opening, most=3, since=0)
    assert [each.path for each in store.read()] == ["3.md", "4.md", "5.md"]
    opening = Opening(now + 4 * DAY_MS, "", frozenset({"frost"}), "new.md", 1.0)
    store.add(opening, most=KEPT, since=opening.at - now)
    assert [each.path for each in store.read()] == ["4.md", "5.md", "new.md"]


def test_the_searches_that_are_remembered_are_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(openings, "_CLIENTS", 3)
    known = Openings(None, None, Config(), None)  # type: ignore[arg-type]
    for client in range(9):
        for number in range(60):
            query = SearchQuery(f"word{number}", learning=Learning(f"c{client}", 0))
            known.searched(query, ["a.md"])
    sizes = [len(searches) for searches in known._searches.values()]
    assert sizes == [openings._SEARCHES] * 3


@pytest.mark.fault(
    "Queries",
    "the record of what was opened after searches is damaged",
    "set aside; a new one",
)
@posix("modes of POSIX")
async def test_the_record_is_private_and_a_damaged_one_is_replaced(root: Path):
    async with opened(root) as vault:
        await teach(vault, "e.md", times=1)
        file = files(root)[0]
        assert file.stat().st_mode & 0o777 == 0o600
    file.write_bytes(b"damaged" * 999)
    async with opened(root) as vault:
        assert await paths(vault) == NAMES
        await teach(vault, "c.md")
        assert (await paths(vault))[0] == "c.md"
