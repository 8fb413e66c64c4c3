"""Registered vaults are opened when they are used, one list of them is all that may be opened."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.support.clocks import PATIENCE
from tests.support.local_model import LocalModel
from tests.support.processes import command_line
from tests.support.registered_vaults import RegisteredVaults, indexed
from tests.support.waiting import eventually_async
from tests.vaults.test_open_vault import processes

from vault_agent.app import App, open_app
from vault_agent.config.project import path_of
from vault_agent.config.rules import index_folder
from vault_agent.config.settings import Config
from vault_agent.config.vault_list import Registered, Role, add_vault, forget_vault, new_uid
from vault_agent.errors import Busy, Conflict, Forbidden, Misconfigured, NotFound
from vault_agent.model.jobs import JobKind, JobState
from vault_agent.model.search import SearchQuery
from vault_agent.store.directory import IndexDirectory, take_over
from vault_agent.system.address import record_vault, recorded_uid
from vault_agent.vaults import vaults as module
from vault_agent.vaults.open_vault import OpenVault
from vault_agent.vaults.runs import Runs


@pytest.fixture
def world(tmp_path: Path) -> RegisteredVaults:
    made = RegisteredVaults(tmp_path)
    made.write(made.default, {"Bread.md": "# Bread\n\nflour\n"})
    return made


async def paths(app: App, name: str, text: str) -> list[str]:
    vault = await app.vaults.open(name)
    await indexed(vault)
    return [hit.path for hit in (await vault.search(SearchQuery(text))).results]


async def test_a_vault_is_opened_at_its_first_use_by_any_of_its_names(world: RegisteredVaults):
    root = world.project("app", {"modules/a.md": "# A\n\nquinces\n"})
    async with world.app() as app:
        assert [each.open for each in await app.vaults.states()] == [True, False]
        (entry,) = app.vaults.registry.entries()
        for name in ("project:app", "app", entry.identity):
            assert await paths(app, name, "quinces") == ["modules/a.md"]
        assert not await paths(app, "default", "quinces")
        assert [each.open for each in await app.vaults.states()] == [True, True]
        assert entry.root == root


async def test_with_several_vaults_off_there_is_only_one(world: RegisteredVaults):
    world.project("app", {"a.md": "quinces"})
    async with world.app(vaults={"enabled": False}) as app:
        with pytest.raises(Misconfigured, match="FEATURE_DISABLED"):
            await app.vaults.open("project:app")


async def test_only_the_list_can_name_a_folder(world: RegisteredVaults):
    unlisted = world.project("app", {"a.md": "quinces"}, register=False)
    async with world.app() as app:
        for name in (str(unlisted), "../app", "project:app", "/etc", ""):
            with pytest.raises(NotFound, match="VAULT_UNKNOWN"):
                await app.vaults.open(name)


async def test_two_vaults_of_one_name_need_an_identity(world: RegisteredVaults):
    first = world.project("app", {"a.md": "quinces"})
    second = world.write(world.folder / "other" / "app", {"b.md": "quinces"})
    add_vault(Registered(second, Role.PROJECT, "app", new_uid()), world.registry)
    async with world.app() as app:
        with pytest.raises(Conflict, match="VAULT_AMBIGUOUS") as refusal:
            await app.vaults.open("project:app")
        identities = refusal.value.details["identities"]
        assert len(identities) == 2
        found = {path for each in identities for path in await paths(app, each, "quinces")}
        assert found == {"a.md", "b.md"}
        names = {each.name for each in await app.vaults.states()}
        assert names == {"default", *identities}
        assert first.is_dir()


async def test_a_project_cannot_pass_for_the_global_vault(world: RegisteredVaults):
    folder = world.project("global", {"a.md": "quinces"})
    world.registered(Role.GLOBAL, "shared", {"b.md": "quinces"})
    async with world.app() as app:
        assert await paths(app, "global", "quinces") == ["b.md"]
        assert await paths(app, "project:global", "quinces") == ["a.md"]
        assert folder.is_dir()


@pytest.mark.fault(
    "Several vaults",
    "another project is in a trusted folder",
    "`VAULT_NOT_TRUSTED`; nothing of it is indexed",
)
async def test_another_project_in_the_same_folder_is_not_opened(world: RegisteredVaults):
    root = world.project("app", {"a.md": "quinces"})
    path_of(root.parent.parent).write_text(f'[vault]\nuid = "{new_uid()}"\n')
    async with world.app() as app:
        with pytest.raises(Forbidden, match="VAULT_NOT_TRUSTED"):
            await app.vaults.open("project:app")
        assert [each.state for each in await app.vaults.states()] == ["ready", "untrusted"]
    assert len(list((world.data / "indexes").iterdir())) == 1  # of the default vault


async def test_the_list_is_read_again_when_it_changes(world: RegisteredVaults):
    async with world.app() as app:
        with pytest.raises(NotFound):
            await paths(app, "project:app", "quinces")
        world.project("app", {"a.md": "quinces"})
        assert await paths(app, "project:app", "quinces") == ["a.md"]
        forget_vault("project:app", world.registry)
        with pytest.raises(NotFound):
            await paths(app, "project:app", "quinces")


@pytest.mark.fault(
    "Several vaults",
    "the list of vaults is damaged",
    "`CONFIG_INVALID` for named vaults; the default one is served",
)
async def test_a_damaged_list_does_not_touch_the_default_vault(world: RegisteredVaults):
    for _ in ("while it runs", "before it starts"):
        async with world.app() as app:
            world.registry.parent.mkdir(exist_ok=True)
            world.registry.write_text("[[")
            with pytest.raises(Misconfigured, match="CONFIG_INVALID"):
                await app.vaults.open("project:app")
            assert (await app.vaults.default.search(SearchQuery("flour"))).results


async def test_a_vault_stays_open_until_the_server_ends(world: RegisteredVaults):
    names = [f"v{number}" for number in range(4)]
    for name in names:
        world.project(name, {"a.md": f"quinces of {name}"})
    body = SearchQuery(query="quinces", vaults=("default", *(f"project:{name}" for name in names)))
    async with world.app() as app:
        for name in names:
            assert await paths(app, f"project:{name}", "quinces") == ["a.md"]
        found = await app.federated.search(body.vaults, SearchQuery("quinces", limit=20))
        assert len(found.results) == 4
        assert not [each for each in found.warnings if each.code == "VAULT_SKIPPED"]
        assert all(state.open for state in await app.vaults.states())


async def test_a_vault_that_left_the_list_is_closed_when_another_is_opened(world: RegisteredVaults):
    for name in ("app", "other"):
        world.project(name, {"a.md": "quinces"})
    async with world.app() as app:
        assert await paths(app, "project:app", "quinces") == ["a.md"]
        forget_vault("project:app", world.registry)
        assert await paths(app, "project:other", "quinces") == ["a.md"]
        (hosted,) = app.vaults._registered.values()
        assert hosted.vault.full_name == "project:other"


async def test_an_open_vault_whose_folder_another_project_took_is_refused(world: RegisteredVaults):
    root = world.project("app", {"a.md": "quinces"})
    async with world.app() as app:
        assert await paths(app, "project:app", "quinces") == ["a.md"]
        path_of(root.parent.parent).write_text(f'[vault]\nuid = "{new_uid()}"\n')
        with pytest.raises(Forbidden, match="VAULT_NOT_TRUSTED"):
            await paths(app, "project:app", "quinces")


async def test_requests_at_once_open_a_vault_once(world: RegisteredVaults):
    world.project("app", {"a.md": "quinces"})
    async with world.app() as app:
        found = await asyncio.gather(*(paths(app, "project:app", "quinces") for _ in range(8)))
        assert found == [["a.md"]] * 8
        vault = await app.vaults.open("project:app")
        assert len(await vault.jobs.list()) == 1


@pytest.mark.fault(
    "Several vaults",
    "another server has the index of one registered vault",
    "409 `INDEX_LOCKED` for that vault; searches over several leave it out with `VAULT_SKIPPED`",
)
async def test_a_locked_index_fails_its_vault_alone(world: RegisteredVaults):
    world.project("app", {"a.md": "quinces"})
    root = world.registered(Role.GLOBAL, "global", {"b.md": "quinces"})
    other = Config(vault={"root": root}, index={"dir": world.data})
    async with open_app(other), world.app() as app:
        with pytest.raises(Busy, match="INDEX_LOCKED"):
            await paths(app, "global", "quinces")
        assert await paths(app, "project:app", "quinces") == ["a.md"]
        found = await app.federated.search(["project:app", "global"], SearchQuery("quinces"))
        assert [hit.path for hit in found.results] == ["a.md"]
        assert found.warnings[0].details == {"vault": "global", "code": "INDEX_LOCKED"}
        assert (await app.vaults.default.search(SearchQuery("flour"))).results
    async with world.app() as app:  # the other server has ended
        assert await paths(app, "global", "quinces") == ["b.md"]


async def test_index_jobs_of_all_vaults_take_turns(
    world: RegisteredVaults, monkeypatch: pytest.MonkeyPatch
):
    for name in ("one", "two"):
        world.project(name, {f"{number}.md": f"note {number}" for number in range(40)})
    at_work: list[int] = [0]
    run_job = Runs.index_all

    async def counted(runs: Runs, *arguments: Any) -> Any:
        at_work.append(at_work[-1] + 1)
        try:
            return await run_job(runs, *arguments)
        finally:
            at_work.append(at_work[-1] - 1)

    monkeypatch.setattr(Runs, "index_all", counted)
    async with world.app() as app:
        names = (None, "project:one", "project:two")
        vaults = [await app.vaults.open(name) for name in names]
        for vault in vaults:
            await indexed(vault)
        for vault in vaults:
            await vault.submit(JobKind.REINDEX)
        for vault in vaults:
            await indexed(vault)
            assert (await vault.jobs.list())[0].state is JobState.SUCCEEDED
    assert at_work.count(1) == 6
    assert max(at_work) == 1


async def test_a_queued_job_can_be_cancelled(world: RegisteredVaults):
    world.project("app", {"a.md": "quinces"})
    async with world.app() as app:
        vault = await app.vaults.open("project:app")
        await indexed(vault)
        async with app.vaults._shared.turn:
            job = await vault.submit(JobKind.REINDEX)
            await asyncio.sleep(0.05)
            assert vault.jobs.running.state is JobState.QUEUED
            assert (await vault.jobs.cancel(job.id)).state is JobState.CANCELLED
        assert await paths(app, "project:app", "quinces") == ["a.md"]


async def is_stale(vault: OpenVault) -> bool:
    """Search, and return whether the vault was found to differ from its index."""
    answer = await vault.search(SearchQuery("quinces"))
    assert [hit.path for hit in answer.results] == ["a.md"]
    return "INDEX_STALE" in [warning.code for warning in answer.warnings]


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes as Linux has them")
async def test_all_vaults_share_one_indexing_process(world: RegisteredVaults):
    before = processes()  # of fixtures of other tests
    roots = {}
    for name in ("one", "two", "three"):
        roots[name] = world.project(name, {"a.md": "quinces"})
    async with world.app() as app:
        for name in ("one", "two", "three"):
            vault = await app.vaults.open(f"project:{name}")
            await indexed(vault)
            (roots[name] / "b.md").write_text("pears")
            await eventually_async(partial(is_stale, vault))  # its process has compared it
        assert len([pid for pid in processes() - before if b"keeper" in command_line(pid)]) == 1


@pytest.mark.fault(
    "Several vaults",
    "a vault was moved",
    "trusted at its new place, it takes its index along; no text is embedded twice",
)
async def test_a_moved_vault_takes_its_index_along_and_pays_for_no_vector_twice(
    world: RegisteredVaults,
):
    root = world.project("app", {"a.md": "# Quinces\n\nsour\n"})
    async with LocalModel() as endpoint:
        embedding = {"enabled": True, "endpoint": endpoint.url, "model": endpoint.model}
        async with world.app(embedding=embedding) as app:
            await paths(app, "project:app", "sour")
            (entry,) = app.vaults.registry.entries()
        sent = [text for texts in endpoint.requests for text in texts]
        assert any("sour" in text for text in sent)
        moved = root.parent.parent.rename(world.folder / "moved")
        new = moved / ".vault-agent" / "vault"
        add_vault(Registered(new, Role.PROJECT, "app", entry.uid), world.registry)
        endpoint.requests.clear()
        async with world.app(embedding=embedding) as app:
            assert await paths(app, "project:app", "sour") == ["a.md"]
            (after,) = app.vaults.registry.entries()
            vault = await app.vaults.open("project:app")
            assert len(await vault.jobs.list()) == 2  # the old one is still there
        again = [text for texts in endpoint.requests for text in texts]
        assert not any(text.count("\n") and "sour" in text for text in again)
    indexes = world.data / "indexes"
    assert not (indexes / entry.identity).exists()
    owner = json.loads((indexes / after.identity / "vault.json").read_bytes())
    assert owner == {"root": str(new), "uid": entry.uid}


def test_an_index_is_taken_over_only_if_its_vault_is_gone(tmp_path: Path):
    here = tmp_path / "here"
    here.mkdir()
    old = IndexDirectory(tmp_path / "indexes" / "old")
    old.create()
    record_vault(old.path, str(here), "u" * 32)
    (old.path / "vectors.db").write_text("vectors")
    new = IndexDirectory(tmp_path / "indexes" / "new")

    def taken(uid: str) -> bool:
        return take_over(new, "0" * 32, lambda index: recorded_uid(index.path) == uid)

    assert not taken("u" * 32)
    here.rmdir()
    assert not taken("v" * 32)
    with old.serving():  # another server still has it
        assert not taken("u" * 32)
    assert not (new.path / "vectors.db").exists()
    assert taken("u" * 32)
    assert (new.path / "vectors.db").read_text() == "vectors"
    assert not old.path.exists()
    new.jobs.touch()
    old.create()
    record_vault(old.path, str(here))
    assert not take_over(new, "0" * 32, lambda index: True)


@pytest.mark.parametrize(
    ("change", "adopted"),
    [
        (lambda moved: (moved / "3.md").write_text("Plums, and much more.\n"), True),
        (lambda moved: [(moved / f"{n}.md").unlink() for n in range(5)], False),
    ],
)
async def test_a_moved_default_vault_takes_its_index_along_if_its_notes_are_there(
    world: RegisteredVaults, change: Callable[[Path], object], adopted: bool
):
    notes = {f"{number}.md": f"# Note {number}\n\nquinces\n" for number in range(10)}
    world.write(world.default, notes)
    old = index_folder(world.default, world.data)
    async with world.app() as app:
        before = await app.vaults.default.health()
    (old / "kept").write_text("what only this index has")
    world.default = world.default.rename(world.folder / "elsewhere")
    change(world.default)
    async with world.app() as app:
        after = await app.vaults.default.health()
        assert after.vault.id != before.vault.id
        assert (await app.vaults.default.search(SearchQuery("quinces"))).results
        assert len(await app.vaults.default.jobs.list()) == (2 if adopted else 1)
    assert old.exists() is not adopted
    assert (index_folder(world.default, world.data) / "kept").exists() is adopted


async def test_a_watched_vault_is_watched_while_it_is_open(world: RegisteredVaults):
    root = world.project("app", {"a.md": "quinces"})
    async with world.app(watch={"enabled": True}) as app:
        vault = await app.vaults.open("project:app")
        await indexed(vault)
        await vault.watch.settled(30)
        (root / "new.md").write_text("pears")
        await eventually_async(
            lambda: vault.search(SearchQuery("pears")), lambda answer: answer.results
        )


async def test_a_server_that_stops_does_not_wait_for_a_vault_that_does_not_open(
    world: RegisteredVaults, monkeypatch: pytest.MonkeyPatch
):
    world.project("app", {"a.md": "quinces"})
    started = asyncio.Event()

    @asynccontextmanager
    async def never(*_: Any, **__: Any) -> AsyncIterator[None]:
        started.set()
        await asyncio.Event().wait()
        yield

    async with asyncio.timeout(PATIENCE):
        async with world.app() as app:
            monkeypatch.setattr(module, "open_vault", never)
            waiting = asyncio.create_task(paths(app, "project:app", "quinces"))
            await started.wait()
        with pytest.raises(Busy, match="SERVER_BUSY"):
            await waiting
