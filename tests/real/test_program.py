"""The whole program with a real model finds paraphrases."""

from __future__ import annotations

import re

import pytest
from tests.real.notes import EVERYDAY, NOTES, PARAPHRASES
from tests.support.program import Program
from tests.support.waiting import eventually

from vault_agent.model.identifiers import identify

pytestmark = pytest.mark.real_embedding

LIKE_THE_BOILER = "# Cellar\n\nThe furnace lost pressure and the whole house is freezing.\n"


@pytest.fixture
def indexed(program: Program) -> Program:
    """Return a running program with the notes indexed and embedded."""
    for title, text in (NOTES | EVERYDAY).items():
        program.write(f"{title}.md", f"# {title}\n\n{text}\n")
    program.start()
    summary = program.index()["summary"]
    assert summary["embedded"] + summary["reused"] == summary["chunks"]
    eventually(  # includes loading the model
        lambda: program.call("GET", "/health").data["embeddings"]["available"]
    )
    return program


def test_a_paraphrase_is_found(indexed: Program):
    for query, title in PARAPHRASES.items():
        reply = indexed.search(query, mode="embedding")
        assert reply.data["usedMode"] == "embedding", reply.warnings
        assert reply.data["results"][0]["title"] == title, query


def test_hybrid_search_finds_paraphrases(indexed: Program):
    for query, title in PARAPHRASES.items():
        reply = indexed.search(query)
        assert reply.data["usedMode"] == "hybrid", reply.warnings
        # Among so few notes even a common word is rare.
        assert title in [result["title"] for result in reply.data["results"][:3]], query


def test_lexical_search_does_not_find_the_paraphrases(indexed: Program):
    answered = 0
    for query, title in PARAPHRASES.items():
        found = indexed.search(query, mode="lexical").data["results"]
        answered += bool(found) and found[0]["title"] == title
    assert answered < len(PARAPHRASES) / 2


def test_a_name_is_found_lexically(indexed: Program):
    indexed.write("Parts.md", "# Parts\n\nSpare valve XR-4471-B for the garden tap.\n")
    indexed.index()
    assert indexed.search("XR-4471-B").data["results"][0]["title"] == "Parts"


def test_related_uses_vectors(indexed: Program):
    indexed.write("Cellar.md", LIKE_THE_BOILER)
    indexed.index()
    reply = indexed.call("POST", "/related", {"id": identify("Cellar.md")})
    assert reply.data["usedMode"] == "embedding"
    first = reply.data["results"][0]
    assert (first["title"], first["reason"]) == ("Boiler", "related_embedding")


def test_the_check_reports_the_model(indexed: Program):
    ended = indexed.run("embedding", "check")
    assert ended.returncode == 0, ended.stderr
    assert re.search(r"works: \d+ dimensions, \d+ ms a query", ended.stdout)
