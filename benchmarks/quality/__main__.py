"""Index every collection through the real server, search it, and print the measures.

    python -m benchmarks quality --eval FOLDER
    python -m benchmarks quality --eval FOLDER --only cranfield --mode lexical
    python -m benchmarks quality --eval FOLDER --mode hybrid --endpoint URL --model NAME
    python -m benchmarks quality --eval FOLDER --rerank URL

Needs the dependency group `bench`. Everything is deterministic: a second run prints the same.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import astuple
from importlib.metadata import version
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from benchmarks.figures import latency, say, table
from benchmarks.quality.baselines import BASELINES
from benchmarks.quality.judged import collections
from benchmarks.quality.measures import LABELS, Measures, mean, measure
from benchmarks.server import Server, embedding

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.quality.judged import Collection

OURS = "vault-agent"
LIMIT = 50


def main() -> None:
    """Parse the command line and print the tables."""
    parser = argparse.ArgumentParser(prog="benchmarks.quality")
    parser.add_argument("--eval", type=Path, required=True, help="the folder of collections")
    parser.add_argument("--only", nargs="*", help="names of collections; default: all")
    parser.add_argument("--mode", default="lexical", help="the server's search mode")
    parser.add_argument("--endpoint", default="", help="an embedding endpoint for other modes")
    parser.add_argument("--model", default="", help="its model")
    parser.add_argument("--rerank", default="", help="the address of a reranker")
    arguments = parser.parse_args()
    rerank = {
        "VAULT_AGENT_RERANK_ENABLED": "true",
        "VAULT_AGENT_RERANK_ENDPOINT": arguments.rerank,
        # How good a model is does not depend on how slow this computer is.
        "VAULT_AGENT_RERANK_TIMEOUT_SECONDS": "60",
    }
    settings = embedding(arguments.endpoint, arguments.model)
    settings |= rerank if arguments.rerank else {}
    chosen = [
        collection
        for collection in collections(arguments.eval)
        if not arguments.only or collection.name in arguments.only
    ]
    scores: dict[str, list[float]] = defaultdict(list)
    for collection in chosen:
        print(f"\n### {collection.name}: {len(collection.notes)} notes, ", end="")
        print(f"{len(collection.queries)} queries\n")
        rows: list[Sequence[str]] = []
        for name, make in BASELINES.items():
            scores[name].append(_judge(name, collection, make(collection), rows))
        score = _through_the_server(collection, arguments.mode, settings, rows)
        scores[OURS].append(score)
        print(table(("system", "queries", *LABELS), *rows), flush=True)
    _summary(scores, [collection.name for collection in chosen])
    print(f"\nPython {sys.version.split()[0]}, ", end="")
    print(", ".join(f"{name} {version(name)}" for name in (OURS, "tantivy", "bm25s")))


def _through_the_server(
    collection: Collection, mode: str, settings: dict[str, str], rows: list[Sequence[str]]
) -> float:
    times: list[float] = []
    with (
        tempfile.TemporaryDirectory() as home,
        Server(collection.vault, Path(home), **settings) as server,
    ):
        server.settle()

        def search(query: str) -> list[str]:
            body = {"query": query[:1000], "limit": LIMIT, "mode": mode}
            started = time.perf_counter()
            results = server.call("POST", "/search", body)["results"]
            times.append(time.perf_counter() - started)
            return [collection.notes[result["path"]].document for result in results]

        score = _judge(OURS, collection, search, rows)
    say(f"a search: {latency(times)}")
    return score


def _judge(
    name: str,
    collection: Collection,
    search: Callable[[str], list[str]],
    rows: list[Sequence[str]],
) -> float:
    by_type: dict[str, list[Measures]] = defaultdict(list)
    for query in collection.queries:
        result = measure(search(query.text), collection.relevance[query.id])
        by_type["all"].append(result)
        if query.type:
            by_type[query.type].append(result)
    for kind, measures in by_type.items():
        values = (f"{value:.3f}" for value in astuple(mean(measures)))
        rows.append((name, f"{kind} ({len(measures)})", *values))
    return mean(by_type["all"]).ndcg10


def _summary(scores: dict[str, list[float]], names: list[str]) -> None:
    """Print nDCG@10 of all systems."""
    rows = [
        (system, *(f"{value:.3f}" for value in (*values, fmean(values))))
        for system, values in scores.items()
    ]
    print(f"\n### nDCG@10\n\n{table(('system', *names, 'mean'), *rows)}")


if __name__ == "__main__":
    main()
