"""The main job, end to end: serve, index, search, read, with the real program."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

import pytest
from tests.product.conftest import small_vault
from tests.support.program import Program
from tests.support.waiting import eventually

from vault_agent.model.identifiers import identify

if TYPE_CHECKING:
    from collections.abc import Iterator

BREAD = identify("Bread.md")


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """Return a program that serves an index, for tests that change nothing."""
    made = Program(tmp_path_factory.mktemp("read"))
    small_vault(made)
    made.start()
    made.index()
    yield made
    made.close()


@pytest.fixture
def indexed(program: Program) -> Program:
    """Return a program that serves an index."""
    program.start()
    running = program.call("GET", "/health").data["runningJob"]
    assert running
    assert program.finish(running)["state"] == "succeeded"
    return program


def test_the_first_start_builds_an_index_by_itself(indexed: Program):
    [job] = indexed.call("GET", "/jobs").data["jobs"]
    assert job["state"] == "succeeded"
    assert job["summary"]["added"] == 3
    assert indexed.search("sourdough").status == 200


@pytest.mark.skipif(sys.platform != "linux", reason="names that are not UTF-8")
def test_a_vault_folder_whose_name_is_not_unicode_is_served(program: Program):
    strange = program.vault.with_name(os.fsdecode(b"not-\xff-utf8"))
    program.vault.rename(strange)
    program.vault.symlink_to(strange)  # as typed it is valid Unicode; its target is not
    program.start()
    program.index()
    assert program.search("sourdough").data["results"]
    assert program.call("GET", f"/notes/{BREAD}").status == 200
    program.write("New.md", "# New\n\nsourdough again\n")
    assert program.index()["summary"]["added"] == 1


def test_before_the_first_index_search_names_the_running_job(program: Program):
    program.fill(1500)
    program.start()
    reply = program.search("sourdough")
    assert (reply.status, reply.code) == (409, "INDEX_NOT_FOUND")
    job_id = reply.body["error"]["details"]["jobId"]
    assert program.call("GET", "/health").data["status"] == "degraded"
    assert program.finish(job_id)["state"] == "succeeded"
    assert program.search("sourdough").data["results"]


def test_search_ranks_results_and_does_not_echo_the_query(read: Program):
    data = read.search("sourdough starter").data
    assert data["usedMode"] == "lexical"
    assert data["requestedMode"] is None
    first = data["results"][0]
    assert first["path"] == "Starter.md"
    assert first["reason"] == "lexical_match"
    assert 0 < first["score"] <= 1
    assert "sourdough starter" not in json.dumps({**data, "results": []})


@pytest.mark.fault(
    "Queries",
    "two Chinese or Japanese characters; a word in NFD; Cyrillic, Thai, emoji, "
    "hashtags, `snake_case`, `camelCase`, file paths, versions",
    "found",
)
@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("図書", "日記/東京.md"),
        ("東京", "日記/東京.md"),
        ("loaf", "Bread.md"),
        ("crust", "Bread.md"),
        ("tag:baking", "Bread.md"),
        ('"cool place"', "Bread.md"),
        ("feeding rye", "Starter.md"),
    ],
)
def test_queries_in_many_scripts_and_forms_find_their_notes(read: Program, query: str, path: str):
    assert read.search(query).data["results"][0]["path"] == path


def test_notes_chunks_and_attachments_are_fetched_by_id(read: Program):
    note = read.call("GET", f"/notes/{BREAD}").data
    assert note["content"].startswith("---\naliases: [Loaf]")
    assert [link["path"] for link in note["links"]] == ["Starter.md"]
    chunk = read.call("GET", f"/chunks/{BREAD}/1").data
    assert chunk["content"].startswith("## Crust")
    assert chunk["headingPath"] == ["Bread", "Crust"]
    assert read.call("GET", "/attachments/jar.png").data["size"] == 260


def test_a_note_is_read_from_its_file_and_a_chunk_from_the_index(indexed: Program):
    indexed.write("Bread.md", "# Bread\n\nrewritten")
    assert indexed.call("GET", f"/notes/{BREAD}").data["content"] == "# Bread\n\nrewritten"
    assert "Steam" in indexed.call("GET", f"/chunks/{BREAD}/1").data["content"]


def test_related_uses_text_and_links_and_excludes_its_input(read: Program):
    results = read.call("POST", "/related", {"id": BREAD}).data["results"]
    assert results[0]["path"] == "Starter.md"
    assert all(result["noteId"] != BREAD for result in results)


def test_changes_are_reported_as_stale_and_indexed(indexed: Program):
    indexed.write("New.md", "# New\n\nA note about quinces.\n")
    assert indexed.search("quinces").data["results"] == []
    eventually(lambda: indexed.search("quinces").warnings, lambda codes: "INDEX_STALE" in codes)
    assert indexed.index()["summary"]["added"] == 1
    reply = indexed.search("quinces")
    assert reply.data["results"][0]["path"] == "New.md"
    assert reply.warnings == []


def test_the_main_job_works_by_command_line(read: Program):
    found = read.run("search", "sourdough", "--json")
    assert found.returncode == 0
    assert json.loads(found.stdout)["data"]["results"][0]["path"] == "Starter.md"
    assert "Starter.md" in read.run("search", "sourdough").stdout
    assert read.run("get", "note", BREAD).stdout.startswith("---")
    assert read.run("get", "chunk", f"{BREAD}:1").stdout.startswith("## Crust")
    assert read.run("related", BREAD).returncode == 0
    assert read.run("index").returncode == 0
    assert read.run("get", "note", "0" * 32).returncode == 4
    assert "succeeded" in read.run("jobs").stdout


def test_a_cancelled_job_keeps_the_last_index(indexed: Program):
    indexed.fill(1500)
    job_id = indexed.submit("reindex")
    cancelled = indexed.call("DELETE", f"/jobs/{job_id}").data["job"]
    assert cancelled["state"] == "cancelled"
    reply = indexed.search("sourdough")
    assert reply.data["results"]
    assert "INDEX_INCOMPLETE" in reply.warnings
    assert indexed.index()["summary"]["added"] == 1500
    assert indexed.search("sourdough").warnings == []


def test_a_second_job_is_refused_while_one_runs(indexed: Program):
    indexed.fill(1500)
    first = indexed.submit("reindex")
    reply = indexed.call("POST", "/index", {})
    assert (reply.status, reply.code) == (409, "INDEX_BUSY")
    assert reply.body["error"]["details"]["jobId"] == first
    assert indexed.run("index").returncode == 5


def test_a_new_job_can_be_submitted_as_soon_as_one_has_ended(indexed: Program):
    job_id = indexed.submit()
    for _ in range(10):
        while indexed.call("GET", f"/jobs/{job_id}").data["job"]["state"] != "succeeded":
            pass
        job_id = indexed.submit()  # which is accepted


@pytest.mark.fault(
    "The index",
    "the vault is not mounted, or suddenly empty",
    "nothing is removed from the index; the run reports it",
)
def test_a_suddenly_empty_vault_keeps_its_index(indexed: Program):
    for note in indexed.vault.rglob("*.md"):
        note.unlink()
    job = indexed.finish(indexed.submit())
    assert (job["state"], job["error"]["code"]) == ("failed", "VAULT_EMPTY")
    assert indexed.search("sourdough").data["results"]
