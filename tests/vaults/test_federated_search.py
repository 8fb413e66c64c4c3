"""Searches over several vaults: each by itself, merged by score, equal notes once."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from tests.support.local_model import LocalModel
from tests.support.registered_vaults import KeptVaults, RegisteredVaults, indexed, wait_for_queries

from vault_agent.api import search
from vault_agent.api.caller import OWNER, CallContext, Caller, CallerKind
from vault_agent.api.operation import perform
from vault_agent.app import App
from vault_agent.config.vault_list import Role
from vault_agent.errors import IndexUnavailable, NotFound, VaultAgentError
from vault_agent.model.identifiers import identify
from vault_agent.model.modes import Linked, Mode
from vault_agent.model.search import (
    UNWEIGHTED,
    Filters,
    Hit,
    RelatedQuery,
    SearchQuery,
    Weights,
)
from vault_agent.vaults.federated_search import left_out

NOTES = Path(__file__).parent.parent.parent / "fixtures" / "vault"
QUERIES = (
    "sourdough starter",
    "frost",
    "how do I keep a starter alive in winter",
    "telescope mirror",
    '"late frost" -greenhouse',
    "tag:garden soil",
    "path:Bakery flour",
    "Welcome",
    "starterr",
    "the garden",
)
HALVES = ["one", "two"]


def notes() -> dict[str, str]:
    return {
        path.relative_to(NOTES).as_posix(): path.read_text("utf-8") for path in NOTES.rglob("*.md")
    }


def split(every: dict[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    ordered = sorted(every, key=identify)
    return (
        {path: every[path] for path in ordered[: len(ordered) // 3]},
        {path: every[path] for path in ordered[len(ordered) // 3 :]},
    )


async def ready(app: App, *names: str) -> None:
    for name in names:
        vault = await app.vaults.open(name)
        await indexed(vault)


def shown(hits: tuple[Hit, ...]) -> list[tuple[str, int | None, str]]:
    return [(hit.path, hit.chunk_index, hit.snippet) for hit in hits]


@pytest.fixture
def world(tmp_path: Path) -> RegisteredVaults:
    return RegisteredVaults(tmp_path)


def halves(world: RegisteredVaults) -> dict[str, str]:
    """Register two vaults with a part of the notes each, and all notes as the default vault."""
    every = notes()
    world.write(world.default, every)
    for name, part in zip(HALVES, split(every), strict=True):
        world.registered(Role.OTHER, name, part)
    return every


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> KeptVaults:
    def fill(vaults: RegisteredVaults) -> tuple[str, ...]:
        halves(vaults)
        return HALVES

    return KeptVaults(tmp_path_factory.mktemp("several"), fill)


@pytest.fixture
def halved(kept: KeptVaults) -> RegisteredVaults:
    """Return two vaults with a part of the notes each, and all notes as the default vault."""
    return kept.restored()


async def test_results_are_merged_by_score(halved: RegisteredVaults):
    async with halved.app() as app:
        await ready(app, *HALVES)
        for text, weights in product(
            ("frost", "the garden"), (UNWEIGHTED, Weights({"Garden": 0.5}, 30))
        ):
            query = SearchQuery(text, limit=20, weights=weights)
            expected = []
            for name in HALVES:
                vault = await app.vaults.open(name)
                hits = (await vault.search(query)).results
                expected += [(hit.score, name, hit.path, hit.chunk_index) for hit in hits]
            found = (await app.federated.search(HALVES, query)).results
            assert found, text
            merged = [(hit.score, hit.vault, hit.path, hit.chunk_index) for hit in found]
            assert merged == sorted(expected, key=lambda each: -each[0])[:20], text


async def test_a_vault_with_all_words_comes_before_one_with_some(world: RegisteredVaults):
    world.registered(Role.OTHER, "one", {"a.md": "quinces", "other.md": "walnuts"})
    world.registered(Role.OTHER, "two", {"b.md": "quinces ripen late in a garden", "c.md": "late"})
    async with world.app() as app:
        await ready(app, *HALVES)
        found = await app.federated.search(HALVES, SearchQuery("quinces ripen late"))
        assert [hit.path for hit in found.results][:2] == ["b.md", "a.md"]
        alone = await app.federated.search(["one"], SearchQuery("quinces ripen late"))
        assert found.results[1].score < alone.results[0].score


async def test_filters_hold_in_each_vault(halved: RegisteredVaults):
    many = tuple(f"*{letter}*" for letter in "aeio")
    async with halved.app() as app:
        await ready(app, *HALVES)
        for filters in (
            Filters(paths=("Garden",)),
            Filters(paths=many),
            Filters(tags=("garden",)),
            Filters(paths=("Bakery", "Kitchen"), after="2000-01-01"),
        ):
            for text in ("water soil flour", "the"):
                query = SearchQuery(text, limit=200, filters=filters)
                whole = await app.vaults.default.search(query)
                parts = await app.federated.search(HALVES, query)
                of_parts = {hit.path for hit in parts.results}
                assert of_parts == {hit.path for hit in whole.results}, (filters, text)


async def test_all_words_match_as_in_the_whole(halved: RegisteredVaults):
    async with halved.app() as app:
        await ready(app, *HALVES)
        query = SearchQuery("frost garden", match="all", limit=20)
        whole = await app.vaults.default.search(query)
        parts = await app.federated.search(HALVES, query)
        assert {hit.path for hit in parts.results} == {hit.path for hit in whole.results}
        assert whole.results


async def test_vaults_are_searched_by_meaning_too(
    world: RegisteredVaults, monkeypatch: pytest.MonkeyPatch
):
    wait_for_queries(monkeypatch)
    halves(world)  # the kept indexes have no vectors
    async with LocalModel() as endpoint:
        embedding = {"enabled": True, "endpoint": endpoint.url, "model": endpoint.model}
        async with world.app(embedding=embedding) as app:
            await ready(app, *HALVES)
            for mode in (Mode.EMBEDDING, Mode.HYBRID):
                query = SearchQuery(f"frost on the beds {mode}", mode=mode, limit=10)
                found = await app.federated.search(HALVES, query)
                assert found.used_mode is mode
                assert {hit.vault for hit in found.results} == set(HALVES)
                assert endpoint.requests.count([query.query]) == 1  # one vector for all vaults


async def test_a_word_of_one_vault_is_not_unknown(world: RegisteredVaults):
    world.registered(Role.OTHER, "one", {"a.md": "quinces ripen"})
    world.registered(Role.OTHER, "two", {"b.md": "walnuts ripen"})
    async with world.app() as app:
        await ready(app, *HALVES)
        found = await app.federated.search(HALVES, SearchQuery("quinces zzxqy"))
        assert [each.position for each in found.unknown] == [2]


async def test_pages_follow_each_other(halved: RegisteredVaults):
    async with halved.app() as app:
        await ready(app, *HALVES)
        query = SearchQuery("the garden", limit=4)
        first = await app.federated.search(HALVES, query)
        second = await app.federated.search(
            HALVES, replace(query, offset=4, revision=first.revision)
        )
        both = await app.federated.search(HALVES, replace(query, limit=8))
        assert first.has_more
        assert shown(first.results + second.results) == shown(both.results)


async def test_related_notes_are_of_all_vaults(world: RegisteredVaults):
    world.project("app", {"modules/parser.md": "# Parser\n\ntokens grammar syntax tree lexer\n"})
    world.registered(
        Role.GLOBAL,
        "global",
        {
            "patterns/lexer.md": "# Lexer pattern\n\ntokens grammar syntax lexer\n",
            "patterns/tea.md": "# Tea\n\nleaves water\n",
            # The same row number as the note that is asked for.
            "a.md": "# Trees\n\nsyntax tree grammar\n",
        },
    )
    async with world.app() as app:
        names = ["project:app", "global"]
        await ready(app, *names)
        asked = RelatedQuery(identify("modules/parser.md"), limit=5)
        found = await app.federated.related(names, asked, home=app.vaults.default)
        similar = {("global", "patterns/lexer.md"), ("global", "a.md")}
        assert {(hit.vault, hit.path) for hit in found.results[:2]} == similar
        assert all(hit.path != "modules/parser.md" for hit in found.results)
        only = replace(asked, linked=Linked.ONLY)
        assert not (await app.federated.related(names, only, home=app.vaults.default)).results


async def test_a_note_in_two_vaults_comes_once_with_the_projects_first(world: RegisteredVaults):
    text = "# Retry\n\nexponential backoff with jitter\n"
    world.project(
        "app",
        {
            "notes/same.md": text,
            "notes/id.md": "---\nid: note-1\n---\n# Backoff one\n\nbackoff\n",
            "notes/promoted.md": "---\npromoted_to: global:patterns/p.md\n---\n# B\n\nbackoff",
        },
    )
    world.registered(
        Role.GLOBAL,
        "global",
        {
            "notes/copy.md": text,
            "notes/other.md": "---\nid: note-1\n---\n# Backoff two\n\nbackoff and more\n",
            "patterns/p.md": "# Backoff pattern\n\nbackoff is a pattern\n",
            "notes/own.md": "# Own\n\nbackoff elsewhere\n",
        },
    )
    async with world.app() as app:
        names = ["global", "project:app"]
        await ready(app, *names)
        found = await app.federated.search(names, SearchQuery("backoff", limit=20))
        also = {
            hit.path: [(each.vault, each.note_id) for each in hit.also] for hit in found.results
        }
        assert also == {
            "notes/same.md": [("global", identify("notes/copy.md"))],
            "notes/id.md": [("global", identify("notes/other.md"))],
            "notes/promoted.md": [("global", identify("patterns/p.md"))],
            "notes/own.md": [],
        }


async def test_equal_notes_of_one_vault_all_stay(world: RegisteredVaults):
    world.project("app", {"a.md": "# Same\n\nquinces\n", "b.md": "# Same\n\nquinces\n"})
    world.registered(Role.GLOBAL, "global", {"c.md": "# Quince\n\nquinces grow\n"})
    async with world.app() as app:
        names = ["project:app", "global"]
        await ready(app, *names)
        found = await app.federated.search(names, SearchQuery("quinces"))
        assert {hit.path for hit in found.results} == {"a.md", "b.md", "c.md"}


async def test_a_vault_that_fails_is_left_out(world: RegisteredVaults):
    gone = world.project("gone", {"a.md": "quinces"})
    world.project("app", {"b.md": "quinces"})
    async with world.app() as app:
        await ready(app, "project:app")
        gone.rename(gone.with_name("elsewhere"))
        found = await app.federated.search(["project:gone", "project:app"], SearchQuery("quinces"))
        assert [hit.path for hit in found.results] == ["b.md"]
        (warning,) = [each for each in found.warnings if each.code == "VAULT_SKIPPED"]
        assert warning.details == {"vault": "project:gone", "code": "VAULT_NOT_FOUND"}
        with pytest.raises(VaultAgentError, match="VAULT_NOT_FOUND"):
            await app.federated.search(["project:gone"], SearchQuery("quinces"))
        with pytest.raises(NotFound, match="VAULT_UNKNOWN"):
            await app.federated.search(["project:app", "nothing"], SearchQuery("quinces"))


def test_a_vault_that_is_left_out_names_the_job_that_builds_its_index():
    error = IndexUnavailable("INDEX_NOT_FOUND", "It is being built.", {"jobId": "0123"})
    warning = left_out("slow", error)
    assert warning.details["vault"] == "slow"
    assert warning.details["jobId"] == "0123"


async def test_no_word_is_unknown_while_a_vault_is_left_out(world: RegisteredVaults):
    gone = world.project("gone", {"a.md": "damsons"})
    world.project("app", {"b.md": "quinces"})
    async with world.app() as app:
        await ready(app, "project:app")
        damsons = SearchQuery("damsons")
        alone = await app.federated.search(["project:app"], damsons)
        assert [unknown.position for unknown in alone.unknown] == [1]
        gone.rename(gone.with_name("elsewhere"))
        both = await app.federated.search(["project:gone", "project:app"], damsons)
        assert "VAULT_SKIPPED" in [warning.code for warning in both.warnings]
        assert both.unknown == ()


async def test_an_agent_knows_one_vault(world: RegisteredVaults):
    world.project("app", {"a.md": "quinces"})
    async with world.app() as app:
        await ready(app, "project:app")
        agent = Caller(CallerKind.NAMED_AGENT, "helper")
        body = SearchQuery(query="quinces", vaults=("project:app",))
        with pytest.raises(NotFound, match="VAULT_UNKNOWN"):
            await perform(search.search, CallContext(app, app.vaults.default, agent), body)
        found = await perform(search.search, CallContext(app, app.vaults.default, OWNER), body)
        assert [each.path for each in found.reply.data.results] == ["a.md"]


async def test_words_of_nearly_all_notes_are_no_content(world: RegisteredVaults):
    """The path of each file has the name of the project's package."""
    for number in range(5):
        text = f"# Part {number}\n\nsrc/vault_agent/part{number}.py, a folder of quinces\n"
        world.write(world.default, {f"{number}.md": text if number else f"{text}\nwalnut\n"})
    async with world.app() as app:
        await indexed(app.vaults.default)
        asked = SearchQuery("vault agent quinces walnut", Mode.LEXICAL, coverage=True)
        answer = await app.vaults.default.search(asked)
    contents = {
        hit.path: answer.coverage.notes[hit.vault, hit.note_id].content for hit in answer.results
    }
    assert contents["0.md"] == 1
    assert contents["1.md"] == 0
