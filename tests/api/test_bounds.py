"""Replies with lists have a size limit that no vault content can exceed."""

from __future__ import annotations

import json

import pytest
from tests.server.conftest import FakeEngine, hit, run

from vault_agent.api import search, vaults
from vault_agent.api.caller import OWNER, CallContext
from vault_agent.api.operation import encode, perform
from vault_agent.api.replies import (
    MAX_CHARACTERS,
    MAX_ENTRIES,
    MAX_WARNING_BYTES,
    REPLY_BYTES,
    shown_job,
    shown_warnings,
)
from vault_agent.api.requests import NoParams
from vault_agent.config.settings import Config
from vault_agent.model.jobs import Job, JobKind, JobState
from vault_agent.model.reading import Metadata
from vault_agent.model.search import RelatedQuery, SearchQuery
from vault_agent.model.values import dump
from vault_agent.model.warning import Warning

ID = "0123456789abcdef0123456789abcdef"
HOSTILE = {
    "30,000 tags": hit(metadata=Metadata(tags=tuple(f"tag-{n}" for n in range(30_000)))),
    "one tag of a megabyte": hit(metadata=Metadata(tags=("t" * 1_000_000,))),
    "a title of a megabyte": hit(title="T" * 1_000_000),
    "a title of control characters": hit(title="\x01" * 300_000),
    "headings of a megabyte": hit(heading="H" * 500_000, heading_path=("H" * 500_000,) * 6),
    "dates of a megabyte": hit(metadata=Metadata(date="2" * 1_000_000)),
    "a path of 4,096 bytes": hit(path="\x01" * 4_096),
    "a path and all the rest": hit(
        path="\x01" * 4_096,
        title="\x01" * 100_000,
        heading_path=("\x01" * 100_000,) * 6,
        metadata=Metadata(tags=("\x01" * 1_000,) * 1_000, aliases=("\x01" * 1_000,) * 1_000),
    ),
}


async def answer(operation, call, sent):
    return encode(operation, await perform(operation, call, sent))


def called(engine: FakeEngine) -> CallContext:
    return CallContext(None, engine, OWNER)


@pytest.mark.parametrize("name", HOSTILE)
async def test_search_replies_stay_below_the_size_limit(name: str):
    engine = FakeEngine(Config())
    engine.results = (HOSTILE[name],) * 50
    sent = SearchQuery(query="a", limit=50)
    _, body = await answer(search.search, called(engine), sent)
    assert len(body) <= REPLY_BYTES
    shown = json.loads(body)
    results = shown["data"]["results"]
    assert 1 <= len(results) <= 50
    if len(results) < 50:
        warning = shown["warnings"][-1]
        assert warning["code"] == "REPLY_TRUNCATED"
        assert warning["details"]["omitted"] == 50 - len(results)


async def test_one_result_that_is_too_large_hides_no_other():
    engine = FakeEngine(Config())
    engine.results = (hit(path="\x01" * 750_000), hit(), hit())
    _, body = await answer(search.search, called(engine), SearchQuery(query="a"))
    reply = json.loads(body)
    assert len(reply["data"]["results"]) == 2
    assert reply["warnings"][-1]["details"]["omitted"] == 1


async def test_the_best_result_is_kept_with_its_long_names_cut():
    engine = FakeEngine(Config())
    engine.results = (HOSTILE["30,000 tags"], hit())
    found, body = await answer(search.related, called(engine), RelatedQuery(id=ID))
    first, second = json.loads(body)["data"]["results"]
    assert len(first["metadata"]["tags"]) == MAX_ENTRIES
    assert second["metadata"]["tags"] == ["lamp"]
    assert found.warnings[-1].details == {"omitted": 0, "shortened": 1}
    engine.results = (HOSTILE["a title of a megabyte"],)
    found, body = await answer(search.related, called(engine), RelatedQuery(id=ID))
    assert len(found.data.results[0].title) == MAX_CHARACTERS


async def test_a_reply_loses_nothing_below_the_size_limit_and_names_first_above_it():
    engine = FakeEngine(Config())
    engine.results = (hit(title="T" * 3_000),) * 50
    found, _ = await answer(search.search, called(engine), SearchQuery(query="a", limit=50))
    assert found.warnings == ()
    assert {len(each.title) for each in found.data.results} == {3_000}
    longest = REPLY_BYTES // 50 - len(dump(hit(title="")))
    engine.results = (hit(title="T" * longest),) * 50
    found, _ = await answer(search.search, called(engine), SearchQuery(query="a", limit=50))
    assert found.warnings[0].details == {"omitted": 0, "shortened": 50}


async def test_the_size_limit_applies_over_http():
    async with run() as server:
        server.engine.results = (HOSTILE["30,000 tags"],) * 10
        async with server.request("POST", "/search", json={"query": "a"}) as reply:
            body = await reply.read()
        assert reply.status == 200
        assert len(body) <= REPLY_BYTES


def troubled(number: int) -> Job:
    """Return a job with the greatest number and length of warnings."""
    warnings = tuple(
        Warning("FILE_UNREADABLE", "\x01" * 10_000, {"path": "\x02" * 4_096, "size": n})
        for n in range(100)
    )
    error = Warning("INTERNAL_ERROR", "e" * 100_000, {"x": ["y" * 100_000]})
    return Job(
        f"job{number}", JobKind.INDEX, JobState.FAILED, "2026-01-01T00:00:00Z",
        warnings=warnings, warning_count=5_000, error=error,
    )  # fmt: skip


def test_a_job_with_many_huge_warnings_gets_a_small_reply():
    data = shown_job(troubled(0))
    assert len(dump(data)) <= REPLY_BYTES
    assert len(data.warnings) == 101
    assert data.warnings[0].code == "FILE_UNREADABLE"
    assert data.warnings[-1].details == {"omitted": 4_900}
    assert data.error.code == "INTERNAL_ERROR"


def test_a_long_path_in_a_warning_is_cut_at_its_end():
    (shown,) = shown_warnings([Warning("W", "w", {"path": "folder/" * 600, "size": 3})])
    assert shown.details["path"].startswith("folder/folder/")
    assert shown.details["size"] == 3
    assert len(dump(shown)) <= MAX_WARNING_BYTES


async def test_a_cut_list_of_jobs_keeps_the_newest_and_counts_the_omitted():
    engine = FakeEngine(Config())
    for number in range(100):
        engine.jobs.all[f"job{number}"] = troubled(number)
    found, body = await answer(vaults.jobs, called(engine), NoParams())
    assert len(body) <= REPLY_BYTES
    shown = found.data.jobs
    assert shown[0].id == "job99"
    assert found.warnings[-1].details["omitted"] == 100 - len(shown)


@pytest.mark.fault(
    "Writing",
    "a warning names more places than fit",
    "message and count stay, fewer places",
)
def test_a_warning_with_many_places_keeps_what_it_says():
    places = [{"path": "folder/" * 10 + f"{number}.md", "line": 1} for number in range(50)]
    warning = Warning("LINKS_BROKEN", "50 links lead nowhere.", {"count": 50, "links": places})
    (shown,) = shown_warnings([warning])
    assert shown.message == "50 links lead nowhere."
    assert shown.details["count"] == 50
    assert shown.details["links"] == places[: len(shown.details["links"])]
    assert 5 < len(shown.details["links"]) < 50
    assert len(dump(shown)) <= MAX_WARNING_BYTES
