"""A reranker, end to end: the real program, its settings and its command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.product.endpoint import Endpoint
from tests.support.local_model import status
from tests.support.program import Program
from tests.support.waiting import eventually


@contextmanager
def reranked(program: Program) -> Iterator[Endpoint]:
    """Run a reranker that prefers long texts, and configure the program's next server to use it."""
    with Endpoint(cancels=True) as endpoint:
        endpoint.relevance = lambda _query, text: len(text)
        program.variables = {
            "VAULT_AGENT_RERANK_ENABLED": "true",
            "VAULT_AGENT_RERANK_ENDPOINT": endpoint.rerank_url,
            "VAULT_AGENT_RERANK_TIMEOUT_SECONDS": "60",
        }
        yield endpoint


def paths(reply: dict) -> list[str]:
    return [result["path"] for result in reply["results"]]


def test_a_search_is_reranked_and_goes_on_without(program: Program):
    for name in ("one", "two", "three"):
        (program.vault / f"{name}.md").write_text(f"quinces {name}\n")
    with reranked(program):
        program.start()
        program.index()
        reply = program.search("quinces")
        assert paths(reply.data) == ["three.md", "one.md", "two.md"]
        assert reply.warnings == []
        assert program.search("quinces", limit=2).data["hasMore"] is True
        shown = program.run("search", "quinces", "--explain")
        assert "reranked: relevance 20.0, placeBefore" in shown.stdout
    reply = program.search("quinces two")
    assert paths(reply.data)[0] == "two.md"
    assert reply.warnings == ["RERANK_UNAVAILABLE"]


def test_pages_of_a_search_that_began_without_the_reranker_go_on_without(program: Program):
    for number in range(8):
        (program.vault / f"n{number}.md").write_text(f"quinces{' more' * number}\n")
    with reranked(program) as endpoint:
        endpoint.always = status(500)
        program.start()
        program.index()
        first = program.search("quinces", limit=4)
        assert first.warnings == ["RERANK_UNAVAILABLE"]
        endpoint.always = None
        eventually(lambda: program.search("quinces", limit=4).warnings == [])
        second = program.search("quinces", limit=4, cursor=first.data["nextCursor"])
        assert len({*paths(first.data), *paths(second.data)}) == 8
