"""Embeddings, end to end: the real program with an endpoint that fails and recovers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.product.conftest import small_vault
from tests.product.endpoint import Endpoint, running_endpoint
from tests.support import local_model as misbehaviour
from tests.support.program import Program, Reply, is_served
from tests.support.waiting import eventually

from vault_agent.model.identifiers import identify

BREAD = identify("Bread.md")


@pytest.fixture
def endpoint(program: Program) -> Iterator[Endpoint]:
    """Return an endpoint that the program will use."""
    with running_endpoint(program) as running:
        yield running


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Program, Endpoint]]:
    """Return a program that serves an embedded index, and its endpoint.

    Tests leave the notes, the vectors and the endpoint as they are.
    """
    made = Program(tmp_path_factory.mktemp("shared"))
    small_vault(made)
    with running_endpoint(made) as running:
        made.start()
        made.index()
        yield made, running
        made.close()


def hybrid(program: Program, query: str) -> Reply:
    """Search until the endpoint has embedded the query, for which a search waits one second."""
    return eventually(
        lambda: program.search(query), lambda reply: reply.data["usedMode"] == "hybrid"
    )


def test_an_index_run_embeds_every_chunk_and_search_is_hybrid(shared: tuple[Program, Endpoint]):
    program, _ = shared
    job = program.index()
    assert job["summary"]["embedded"] + job["summary"]["reused"] == job["summary"]["chunks"] == 4
    reply = hybrid(program, "sourdough starter")
    assert reply.data["results"][0]["path"] == "Starter.md"
    assert reply.data["results"][0]["reason"] == "hybrid_match"
    assert reply.warnings == []
    health = program.call("GET", "/health").data
    assert health["embeddings"]["share"] == 1
    assert health["embeddings"]["available"]


@pytest.mark.parametrize("mode", ["embedding", "hybrid"])
def test_operators_are_not_embedded(shared: tuple[Program, Endpoint], mode: str):
    program, endpoint = shared
    eventually(
        lambda: program.search(f'"starter {mode}" -crust tag:baking', mode=mode),
        lambda reply: is_served(reply) and reply.data["usedMode"] == mode,
    )
    assert any(text.endswith(f"starter {mode}") for text in endpoint.texts)
    asked = len(endpoint.texts)
    found = program.search("path:日記", mode=mode)
    assert [result["path"] for result in found.data["results"]] == ["日記/東京.md"]
    assert found.data["usedMode"] == "lexical"
    assert len(endpoint.texts) == asked


def test_related_uses_vectors_without_the_endpoint(shared: tuple[Program, Endpoint]):
    program, endpoint = shared
    endpoint.die()
    reply = program.call("POST", "/related", {"id": BREAD})
    endpoint.revive()
    assert reply.data["usedMode"] == "embedding"
    paths = [result["path"] for result in reply.data["results"]]
    assert paths[0] == "Starter.md"
    assert len(paths) == len(set(paths))
    assert "Bread.md" not in paths
    assert reply.warnings == []


@pytest.mark.fault(
    "The embedding endpoint",
    "the endpoint is down during a search",
    "lexical results at once, with a warning",
)
def test_search_is_lexical_while_the_endpoint_is_down(shared: tuple[Program, Endpoint]):
    program, endpoint = shared
    endpoint.die()
    reply = program.search("sourdough")
    assert reply.data["usedMode"] == "lexical"
    assert reply.warnings == ["EMBEDDING_UNAVAILABLE"]
    assert reply.data["results"]
    refused = program.search("sourdough", mode="embedding")
    assert (refused.status, refused.code) == (503, "EMBEDDING_UNAVAILABLE")
    assert program.search("sourdough", mode="lexical").warnings == []
    assert program.search("sourdough again").warnings == ["EMBEDDING_UNAVAILABLE"]
    endpoint.revive()
    eventually(lambda: program.search("sourdough").warnings, lambda codes: not codes)


def test_words_are_searched_before_the_first_vectors_and_warnings_name_the_job(
    program: Program, endpoint: Endpoint
):
    endpoint.always = misbehaviour.slow(600)
    program.start()
    lexical = eventually(lambda: program.search("sourdough", mode="lexical"), is_served)
    assert lexical.data["results"]
    note = lexical.data["results"][0]["noteId"]

    def said() -> list[str]:
        related = program.call("POST", "/related", {"id": note})
        replies = program.search("sourdough"), related, program.call("GET", "/health")
        return [warning["message"] for reply in replies for warning in reply.body["warnings"]]

    assert len(said()) == 3
    assert all(message.endswith("The running job makes them.") for message in said())
    job_id = program.call("GET", "/health").data["runningJob"]
    running = f"/jobs/{job_id}"
    eventually(lambda: program.call("GET", running).data["job"]["phase"], lambda it: it == "embed")
    assert program.call("DELETE", running).data["job"]["state"] == "cancelled"
    assert len(said()) == 3  # the index itself is complete
    assert all("POST /index" in message for message in said())


def test_health_reports_why_semantic_search_is_unavailable(program: Program, endpoint: Endpoint):
    def health() -> tuple[str, bool, list[str]]:
        reply = program.call("GET", "/health")
        return reply.data["status"], reply.data["embeddings"]["available"], reply.warnings

    def settles_at(expected: tuple[str, bool, list[str]]) -> None:
        eventually(health, lambda found: found == expected)

    endpoint.poison["crackle"] = misbehaviour.status(500)
    program.start()
    job = program.index()
    assert job["summary"]["embeddingFailed"] == 1
    assert job["summary"]["embedded"] + job["summary"]["reused"] == 3
    assert [warning["code"] for warning in job["warnings"]] == ["EMBEDDING_FAILED"]
    settles_at(("degraded", True, ["EMBEDDING_INCOMPLETE"]))
    assert hybrid(program, "sourdough").warnings == ["EMBEDDING_INCOMPLETE"]
    endpoint.poison.clear()
    assert program.index()["summary"]["embeddingFailed"] == 0
    settles_at(("ok", True, []))
    program.stop()
    endpoint.die()
    program.start()
    settles_at(("degraded", False, ["EMBEDDING_UNAVAILABLE"]))  # without a search
    endpoint.revive()
    settles_at(("ok", True, []))


@pytest.mark.fault(
    "Jobs",
    "embeddings fail, or the server is killed while it embeds",
    "the index counts as complete, also after a restart",
)
def test_failed_embeddings_are_a_warning_and_fail_only_a_job_that_requires_them(
    program: Program, endpoint: Endpoint
):
    endpoint.die()
    program.start()
    job = program.index()
    assert [warning["code"] for warning in job["warnings"]] == ["EMBEDDING_UNAVAILABLE"]
    summary = job["summary"]
    assert (summary["embedded"], summary["reused"], summary["embeddingFailed"]) == (0, 0, 4)
    reply = program.call("POST", "/related", {"id": BREAD})
    assert reply.data["usedMode"] == "lexical"
    assert reply.warnings == ["EMBEDDING_UNAVAILABLE"]
    program.write("New.md", "# New\n\nQuinces.\n")
    ended = program.run("index", "--require-embeddings")
    assert ended.returncode == 1
    assert "EMBEDDING_UNAVAILABLE" in ended.stderr
    assert program.search("quinces", mode="lexical").data["results"]
    assert "INDEX_INCOMPLETE" not in warnings_of_health(program)
    program.stop()
    program.start()
    assert "INDEX_INCOMPLETE" not in warnings_of_health(program)
    endpoint.revive()
    assert program.run("index", "--require-embeddings").returncode == 0


def test_after_a_kill_while_embedding_the_index_is_complete(program: Program):
    with running_endpoint(program, latency=0.3, at_once=1):
        program.fill(30)
        program.start()
        job_id = program.call("GET", "/jobs").data["jobs"][0]["id"]
        eventually(
            lambda: program.call("GET", f"/jobs/{job_id}").data["job"]["phase"],
            lambda phase: phase == "embed",
        )
        program.kill()
        program.start()
        assert program.call("GET", f"/jobs/{job_id}").data["job"]["state"] == "interrupted"
        codes = warnings_of_health(program)
        assert codes[0].startswith("EMBEDDING_")  # which one depends on timing
        assert "INDEX_INCOMPLETE" not in codes


def warnings_of_health(program: Program) -> list[str]:
    return program.call("GET", "/health").warnings


def test_doctor_shows_whether_a_model_answers_or_a_remedy(program: Program, endpoint: Endpoint):
    assert "test-model answers" in program.run("doctor").stdout
    program.variables["VAULT_AGENT_EMBEDDING_MODEL"] = "absent"
    missing = program.run("doctor")
    assert missing.returncode == 1
    assert "ollama pull absent" in missing.stdout
    endpoint.die()
    gone = program.run("doctor")
    assert gone.returncode == 1
    assert "Nothing answers at" in gone.stdout
