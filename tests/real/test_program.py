"""The whole program with a real model finds paraphrases: the built-in one, or the environment's.

REAL_EMBEDDING_ENDPOINT and REAL_EMBEDDING_MODEL point the tests at, say, an Ollama on this machine.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.program import Program
from tests.support.waiting import eventually

from vault_agent.model.identifiers import identify
from vault_agent.model.modes import BUILT_IN
from vault_agent.models.built_in import MODEL

pytestmark = pytest.mark.real_embedding

NOTES = {
    "Sourdough": "Feed the starter with flour and water the evening before, and let it rise.",
    "Boiler": "The heating engineer replaced the pump. Radiators are warm again.",
    "Lease": "The landlord wants three months' notice before the tenant moves out.",
    "Hike": "We climbed to the ridge, slept in the hut and came down along the stream.",
    "Backup": "Copy the database to the external disk every night and try a restore monthly.",
    "Vet": "The kitten had her second vaccination; the doctor will see her again in May.",
    "Choir": "The altos come in two bars late; practise the last page slowly.",
    "Taxes": "Receipts for the home office go into the blue folder until the return is filed.",
}
PARAPHRASES = {
    "how do I bake bread at home": "Sourdough",
    "central plumbing repair for a cold house": "Boiler",
    "ending a rental contract": "Lease",
    "mountain trip": "Hike",
    "disaster recovery for stored records": "Backup",
    "animal clinic appointment for my cat": "Vet",
    "singing rehearsal": "Choir",
    "income declaration paperwork": "Taxes",
}

EVERYDAY = {
    "Monday": "It was a day for lists: what comes first, and who is at the desk with me.",
    "Tuesday": "A call with the printer because it was out of toner; for now all is by hand.",
    "Wednesday": "A letter for my sister; it was in a drawer at the end of the hall.",
    "Thursday": "It was raining for hours, and a pile of old cables was on the floor.",
    "Friday": "Lunch at the market. A friend was there because it was her day off.",
    "Saturday": "My shelf is at last on the wall, with a level at hand and a pencil for holes.",
    "Sunday": "A long walk for once. It was windy at the pier, and dark at four.",
}
"""What any vault is full of, so that words like "a" and "for" are common, as they are."""

LIKE_THE_BOILER = "# Cellar\n\nThe furnace lost pressure and the whole house is freezing.\n"


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    """Return a program that uses the endpoint, not yet started, its vault empty."""
    with Program(tmp_path) as made:
        made.variables = {
            "VAULT_AGENT_EMBEDDING_ENABLED": "true",
            "VAULT_AGENT_EMBEDDING_ENDPOINT": os.environ.get("REAL_EMBEDDING_ENDPOINT", BUILT_IN),
            "VAULT_AGENT_EMBEDDING_MODEL": os.environ.get("REAL_EMBEDDING_MODEL", MODEL),
        }
        yield made


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
    missed = []
    for query, title in PARAPHRASES.items():
        reply = indexed.search(query)
        assert reply.data["usedMode"] == "hybrid", reply.warnings
        # Among so few notes even a common word is rare.
        if title not in [result["title"] for result in reply.data["results"][:3]]:
            missed.append(query)
    assert len(missed) <= 1, missed


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
