"""The main job, end to end: serve, index, search, read, with the real program."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator

import pytest
from tests.product.conftest import small_vault
from tests.support.program import Program
from tests.support.waiting import eventually

from vault_agent.model.identifiers import identify

BREAD = identify("Bread.md")


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """Return a program that serves an index, for tests that change nothing."""
    with Program(tmp_path_factory.mktemp("read")) as made:
        small_vault(made)
        made.start()
        made.index()
        yield made


@pytest.mark.fault(
    "The index",
    "the vault is not mounted, or suddenly empty",
    "nothing is removed from the index; the run reports it",
)
def test_the_first_start_indexes_and_later_changes_follow(program: Program):
    program.start()
    first = program.finish_first()
    assert (first["state"], first["summary"]["added"]) == ("succeeded", 3)
    program.write("Bread.md", "# Bread\n\nrewritten")  # a note is read from its file
    assert program.call("GET", f"/notes/{BREAD}").data["content"] == "# Bread\n\nrewritten"
    assert "Steam" in program.call("GET", f"/chunks/{BREAD}/1").data["content"]

    program.write("New.md", "# New\n\nA note about quinces.\n")
    assert program.search("quinces").data["results"] == []
    eventually(lambda: program.search("quinces").warnings, lambda codes: "INDEX_STALE" in codes)
    assert program.index()["summary"]["added"] == 1
    reply = program.search("quinces")
    assert (reply.data["results"][0]["path"], reply.warnings) == ("New.md", [])

    job_id = program.submit()
    for _ in range(3):
        while program.call("GET", f"/jobs/{job_id}").data["job"]["state"] != "succeeded":
            time.sleep(0.001)
        reply = program.call("POST", "/index", {})
        assert reply.status == 202, "the next one is accepted at once"
        job_id = reply.data["job"]["id"]
    program.finish(job_id)

    for note in program.vault.rglob("*.md"):
        note.unlink()
    job = program.finish(program.submit())
    assert (job["state"], job["error"]["code"]) == ("failed", "VAULT_EMPTY")
    assert program.search("sourdough").data["results"]


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


@pytest.mark.fault(
    "Queries",
    "two Chinese or Japanese characters; a word in NFD; Cyrillic, Thai, emoji, "
    "hashtags, `snake_case`, `camelCase`, file paths, versions",
    "found",
)
def test_queries_in_many_scripts_and_forms_find_their_notes(read: Program):
    for query, path in (
        ("図書", "日記/東京.md"),
        ("東京", "日記/東京.md"),
        ("loaf", "Bread.md"),
        ("crust", "Bread.md"),
        ("tag:baking", "Bread.md"),
        ('"cool place"', "Bread.md"),
        ("feeding rye", "Starter.md"),
    ):
        data = read.search(query).data
        assert data["results"][0]["path"] == path, query
        assert f'"{query}"' not in json.dumps({**data, "results": []}), query
