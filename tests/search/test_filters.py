"""Filters by properties, by parts of paths and by file names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.search.opened import indexed
from tests.support.index_runs import Vault

from vault_agent.api.requests import parse
from vault_agent.errors import InvalidRequest
from vault_agent.model.search import Filters, SearchQuery
from vault_agent.search.search import search_in
from vault_agent.store.current import Snapshot

pytestmark = pytest.mark.asyncio(loop_scope="module")  # that of `snapshot`

NOTES = {
    "ADR/one.md": (
        "---\nstatus: Accepted\nowner: '[[People/Ada Lane]]'\nrank: 1\nkeep: true\n---\ntea\n"
    ),
    "ADR/two.md": "---\nstatus: [draft, in review]\nmeta:\n  kind: adr\n---\ntea\n",
    "日記 2025/東京.md": "tea\n",
    "日記 2025/Reading Journal.md": "tea\n",
    "Journal/may.md": "tea\n",
}


async def found(snapshot: Snapshot, query: str, filters: Filters | None = None) -> list[str]:
    asked = SearchQuery(query, limit=50, filters=filters or Filters())
    return sorted(hit.path.rpartition("/")[2] for hit in (await search_in(snapshot, asked)).results)


@pytest.mark.parametrize(
    ("query", "paths"),
    [
        ('tea ["status":accepted]', ["one.md"]),
        ('["STATUS":Accepted]', ["one.md"]),
        ('tea ["status":"in  review"]', ["two.md"]),
        ('tea ["status":draft]', ["two.md"]),
        ('tea ["meta.kind":adr]', ["two.md"]),
        ('tea ["owner":Ada Lane]', ["one.md"]),
        ('tea ["status":accepted] ["rank":1] ["keep":true]', ["one.md"]),
        ('tea ["status":accepted] ["rank":2]', []),
        ('tea path:ADR -["status":draft]', ["one.md"]),
        ("tea path:日記", ["Reading Journal.md", "東京.md"]),
        ("tea path:Journal", ["may.md"]),  # a folder of this name comes first
        ("tea path:journ", ["Reading Journal.md", "may.md"]),
        ('tea path:"reading j"', ["Reading Journal.md"]),
        ("tea -path:日記 -path:ADR", ["may.md"]),
        ("tea file:journal", ["Reading Journal.md"]),
        ("tea file:o*.md", ["one.md"]),
        ('tea file:"reading journal.md"', ["Reading Journal.md"]),
        ("tea file:ADR", []),
        ("tea -file:o", ["may.md", "東京.md"]),
        ("file:one", ["one.md"]),
    ],
)
async def test_an_operator_filters(snapshot: Snapshot, query: str, paths: list[str]):
    assert await found(snapshot, query) == paths


async def test_filters_of_the_body_need_every_property(snapshot: Snapshot):
    body = b'{"query": "tea", "filters": {"properties": {"status": "accepted", "rank": 1}}}'
    filters = parse(SearchQuery, body).filters
    assert await found(snapshot, "tea", filters) == ["one.md"]
    body = b'{"query": "tea", "filters": {"properties": {"keep": true, "rank": "2"}}}'
    assert await found(snapshot, "tea", parse(SearchQuery, body).filters) == []


@pytest.mark.parametrize("properties", ["[]", '{"": "x"}', '{"a": null}', '{"a": ["x"]}', '"a"'])
async def test_malformed_properties_are_refused(properties: str):
    with pytest.raises(InvalidRequest) as refused:
        parse(SearchQuery, b'{"query": "a", "filters": {"properties": %s}}' % properties.encode())
    assert refused.value.code == "INVALID_REQUEST"


async def test_several_values_of_one_property_mean_any(snapshot: Snapshot):
    filters = Filters(properties=(("status", "draft"), ("Status", "accepted")))
    assert await found(snapshot, "tea", filters) == ["one.md", "two.md"]


async def test_too_many_patterns_of_names_are_refused(snapshot: Snapshot):
    for operator in ("file", "path"):
        with pytest.raises(InvalidRequest):
            await found(snapshot, " ".join(f"{operator}:n{n}" for n in range(11)))


async def test_an_unknown_folder_is_named_in_a_warning(snapshot: Snapshot):
    asked = SearchQuery("tea", filters=Filters(paths=("journals", "ADR")))
    (warning,) = (await search_in(snapshot, asked)).warnings
    assert warning.code == "FOLDER_NOT_FOUND"
    assert warning.details["suggestions"] == ["Journal"]
    for path in ("ADR", "adr/one", "ADR/one.md", "*.txt", "/"):
        asked = SearchQuery("tea", filters=Filters(paths=(path,)))
        assert (await search_in(snapshot, asked)).warnings == ()


@pytest.mark.parametrize(
    ("fields", "queries"),
    [
        ((), set()),
        (("author",), {"lane"}),
        (("Meta", "author"), {"lane", "haiku"}),
        (("*",), {"lane", "haiku", "plover"}),
    ],
)
async def test_frontmatter_is_searched_on_request(
    tmp_path: Path, fields: tuple[str, ...], queries: set[str]
):
    vault = Vault(tmp_path, fields=fields)
    vault.write("n.md", "---\nAuthor: Ada Lane\nmeta: {form: [haiku]}\nbird: plover\n---\ntext\n")
    async with indexed(vault) as snapshot:
        assert {q for q in ("lane", "haiku", "plover") if await found(snapshot, q)} == queries
        for hit in (await search_in(snapshot, SearchQuery("lane haiku plover"))).results:
            assert not any(word in repr(hit) for word in ("Lane", "haiku", "plover"))


async def test_other_frontmatter_fields_need_another_index(tmp_path: Path):
    before = Vault(tmp_path)
    after = Vault.__new__(Vault)
    after.__dict__ = {**before.__dict__, "fields": ("author",)}
    assert before.spec().fingerprint != after.spec().fingerprint


async def test_a_note_is_dated_by_its_frontmatter_else_its_name_else_its_file(tmp_path: Path):
    vault = Vault(tmp_path)
    dates = {
        "2021-03-01 own.md": ("---\ndate: 2024-05-01\n---\ntea\n", "2024-05-01", "frontmatter"),
        "Journal/2022-07-09.md": ("tea\n", "2022-07-09", "name"),
        "Journal/202207101230 tea.md": ("tea\n", "2022-07-10", "name"),
        "2022-02-30 no day.md": ("---\ndate: soon\n---\ntea\n", "2020-09-13", "file"),
        "plain 12022-07-091.md": ("tea\n", "2020-09-13", "file"),
    }
    for path, (text, _, _) in dates.items():
        os.utime(vault.write(path, text), (1_600_000_000, 1_600_000_000))
    async with indexed(vault) as opened:
        for path, (_, day, by) in dates.items():
            filters = Filters(after=day, before=day)
            asked = SearchQuery("tea", limit=9, explain=True, filters=filters)
            done = await search_in(opened, asked)
            assert done.warnings == ()
            assert (path, by) in {(hit.path, hit.explanation["dated"]) for hit in done.results}
            assert len(done.results) == (2 if by == "file" else 1)


async def test_a_note_dated_by_its_file_follows_the_file_without_a_change(tmp_path: Path):
    vault = Vault(tmp_path)
    file = vault.write("plain.md", "tea\n")
    for seconds, day in ((1_600_000_000, "2020-09-13"), (1_700_000_000, "2023-11-14")):
        os.utime(file, (seconds, seconds))
        async with indexed(vault) as opened:
            filters = Filters(after=day, before=day)
            answer = await search_in(opened, SearchQuery("tea", limit=5, filters=filters))
            assert len(answer.results) == 1


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("tea zxqv", ["zxqv"]),
        ("zxqv flurble", ["zxqv", "flurble"]),
        ("tee", ["tee"]),  # similar words are searched
        ("tea -zxqv", []),
        ("tea tag:zxqv", []),
        ("teas TEA", []),
        ("zxqv-tea", []),
        ("!!! zxqv", ["zxqv"]),
    ],
)
async def test_words_of_no_note_are_told(snapshot: Snapshot, query: str, words: list[str]):
    answer = await search_in(snapshot, SearchQuery(query, limit=5))
    assert [query.split()[each.position - 1] for each in answer.unknown] == words
