"""An agent's folders are a vault: same root and paths, and an index of only what it sees."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.support.local_model import LocalModel
from tests.support.registered_vaults import RegisteredVaults, indexed, wait_for_queries
from tests.support.waiting import eventually_async

from vault_agent.api import note_writes, search
from vault_agent.api.caller import CallContext, Caller, CallerKind
from vault_agent.api.operation import perform
from vault_agent.app import App
from vault_agent.errors import VaultAgentError
from vault_agent.model.identifiers import identify
from vault_agent.model.modes import Mode
from vault_agent.model.scope import Scope
from vault_agent.model.search import SearchQuery
from vault_agent.model.writing import Right
from vault_agent.store.index import notes as stored_notes
from vault_agent.vault.read import Skipped, read_bytes
from vault_agent.vaults.open_vault import OpenVault

DESK = Scope(("desk",), ("desk/private", "desk/Diary"))
NOTES = {
    "desk/One.md": "lantern [[Two]] [[Far]]\n",
    "desk/Two.md": "harbour\n",
    "desk/Diary.md": "lantern of the diary\n",
    "desk/private/Key.md": "lantern of the key [[One]]\n",
    "desktop/Other.md": "lantern\n",
    "Far.md": "lantern far [[One]]\n",
}
WRITES = {"write": {"enabled": True, "folders": (".",), "quiet_seconds": 0}}
UNWATCHED = {"watch": {"enabled": False}}


@pytest.fixture
def world(tmp_path: Path) -> RegisteredVaults:
    made = RegisteredVaults(tmp_path)
    made.write(made.default, NOTES)
    return made


async def vault_of(app: App, scope: Scope = DESK) -> OpenVault:
    """Return the vault of the agent `ada`, with a complete index."""
    return await indexed(await app.vaults.seen_by("ada", scope))


async def paths(vault: OpenVault) -> list[str]:
    return sorted(
        path
        for path, _ in await vault.reader.read(lambda snapshot: snapshot.read(stored_notes.names))
    )


async def found(vault: OpenVault, query: str, **more: Any) -> list[str]:
    return sorted(hit.path for hit in (await vault.search(SearchQuery(query, **more))).results)


async def finds(vault: OpenVault, query: str, *expected: str) -> None:
    """Wait until a search finds these notes and no others: an index may follow a moment later."""
    await eventually_async(lambda: found(vault, query), lambda hits: hits == list(expected))


def caller(scope: Scope = DESK) -> Caller:
    return Caller(CallerKind.NAMED_AGENT, "ada", scope, rights=frozenset(Right))


async def test_its_index_has_only_what_it_sees_under_the_same_paths_and_ids(
    world: RegisteredVaults,
):
    async with world.app(**UNWATCHED) as app:
        vault = await vault_of(app)
        assert await paths(vault) == ["desk/One.md", "desk/Two.md"]
        assert await found(vault, "lantern") == ["desk/One.md"]
        (hit,) = (await vault.search(SearchQuery("lantern"))).results
        assert hit.note_id == identify("desk/One.md")
        whole = await found(app.vaults.default, "lantern")
        assert set(whole) == NOTES.keys() - {"desk/Two.md"}


async def test_its_reads_open_no_file_outside_its_sight(world: RegisteredVaults):
    (world.default / "desk" / "link.md").symlink_to(world.default / "Far.md")
    async with world.app(**UNWATCHED) as app:
        vault = await vault_of(app)
        for path in ("Far.md", "desk/Diary.md", "desk/private/Key.md", "desk/link.md"):
            with vault.open_root() as root, pytest.raises(Skipped):
                read_bytes(root, path, 1_000)


async def test_a_write_of_an_agent_is_in_both_indexes_and_one_log(world: RegisteredVaults):
    async with world.app(**UNWATCHED, **WRITES) as app:
        vault = await vault_of(app)
        call = CallContext(app, vault, caller())
        sent = note_writes.WriteNoteBody(path="desk/New.md", content="zeppelin\n")
        await perform(note_writes.write_note, call, sent)
        await finds(vault, "zeppelin", "desk/New.md")
        await finds(app.vaults.default, "zeppelin", "desk/New.md")
        (entry,) = await app.vaults.default.writer.logged_writes()
        assert entry.agent == "ada"
        assert vault.write_access is app.vaults.default.write_access
        for path in ("Far2.md", "desk/private/New.md"):
            sent = note_writes.WriteNoteBody(path=path, content="zeppelin\n")
            with pytest.raises(VaultAgentError):
                await perform(note_writes.write_note, call, sent)
            assert not (world.default / path).exists()


async def test_its_index_follows_what_others_change(world: RegisteredVaults):
    async with world.app(watch={"enabled": True}) as app:
        owner = app.vaults.default
        vault = await vault_of(app)
        await owner.watch.settled(60)
        (world.default / "desk" / "Three.md").write_text("meteor\n")
        (world.default / "Near.md").write_text("meteor\n")
        await eventually_async(lambda: found(owner, "meteor"), lambda hits: len(hits) == 2)
        await finds(vault, "meteor", "desk/Three.md")
        (world.default / "desk" / "Two.md").rename(world.default / "Two.md")
        await eventually_async(lambda: found(owner, "harbour"), lambda hits: hits == ["Two.md"])
        await finds(vault, "harbour")


async def test_its_last_note_may_go(world: RegisteredVaults):
    async with world.app(**UNWATCHED) as app:
        vault = await vault_of(app)
        for name in ("One.md", "Two.md"):
            (world.default / "desk" / name).unlink()
        await indexed_again(app.vaults.default)
        await finds(vault, "lantern")


async def indexed_again(vault: OpenVault) -> None:
    await vault.runs.index_changes()


async def test_no_text_is_sent_for_it(world: RegisteredVaults, monkeypatch: pytest.MonkeyPatch):
    wait_for_queries(monkeypatch)
    async with LocalModel() as model:
        embedding = {"enabled": True, "endpoint": model.url, "model": model.model}
        async with world.app(embedding=embedding, **UNWATCHED) as app:
            sent = len(model.texts)
            vault = await vault_of(app)
            answer = await vault.search(SearchQuery("lantern", Mode.EMBEDDING))
            assert answer.results[0].path == "desk/One.md"
            assert all(hit.path in ("desk/One.md", "desk/Two.md") for hit in answer.results)
            assert {text.removeprefix("search_query: ") for text in model.texts[sent:]} <= {
                "lantern"
            }


async def test_another_folder_is_seen_after_a_change_of_its_settings(world: RegisteredVaults):
    async with world.app(**UNWATCHED) as app:
        await vault_of(app)
    async with world.app(**UNWATCHED) as app:
        vault = await vault_of(app, Scope(("desktop",)))
        assert await paths(vault) == ["desktop/Other.md"]


async def test_its_index_is_removed_with_the_agent(world: RegisteredVaults):
    agents = {"ada": {"folder": "desk"}}
    async with world.app(agents=agents, **UNWATCHED) as app:
        vault = await vault_of(app)
        folder = vault.index_folder
        assert folder.is_relative_to(app.vaults.default.index_folder)
    async with world.app(agents=agents, **UNWATCHED):
        assert folder.is_dir()
    async with world.app(**UNWATCHED):
        assert not folder.exists()


async def test_jobs_of_the_owner_stay_the_owners(world: RegisteredVaults):
    async with world.app(**UNWATCHED) as app:
        before = await app.vaults.default.jobs.list()
        await vault_of(app)
        assert await app.vaults.default.jobs.list() == before
        assert [state.name for state in await app.vaults.states()] == ["default"]


async def test_one_that_sees_everything_is_served_by_the_owners_index(world: RegisteredVaults):
    async with world.app(**UNWATCHED) as app:
        assert await app.vaults.seen_by("ada", Scope()) is app.vaults.default
        call = CallContext(app, app.vaults.default, caller(Scope()))
        reply = await perform(search.search, call, SearchQuery("far"))
        assert reply.data.results
