"""Index every collection through the real server, search it, and print the measures.

    python -m benchmarks quality --eval FOLDER
    python -m benchmarks quality --eval FOLDER --only cranfield --mode lexical
    python -m benchmarks quality --eval FOLDER --mode hybrid --endpoint URL --model NAME
    python -m benchmarks quality --eval FOLDER --rerank URL

The server gives at most 50 results, so its recall@100 is a lower bound. Needs the dependency group
`bench`. Everything is deterministic: a second run prints the same.
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

from benchmarks.quality.baselines import BASELINES
from benchmarks.quality.judged import collections
from benchmarks.quality.measures import LABELS, Measures, mean, measure
from benchmarks.server import Server

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.quality.judged import Collection

OURS = "vault-agent"
LIMIT = 50
GAIN = 1.05


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
    embedding = {
        "VAULT_AGENT_EMBEDDING_ENABLED": "true",
        "VAULT_AGENT_EMBEDDING_ENDPOINT": arguments.endpoint,
        "VAULT_AGENT_EMBEDDING_MODEL": arguments.model,
    }
    rerank = {
        "VAULT_AGENT_RERANK_ENABLED": "true",
        "VAULT_AGENT_RERANK_ENDPOINT": arguments.rerank,
        # How good a model is does not depend on how slow this computer is.
        "VAULT_AGENT_RERANK_TIMEOUT_SECONDS": "60",
    }
    settings = (embedding if arguments.model else {}) | (rerank if arguments.rerank else {})
    chosen = [
        each
        for each in collections(arguments.eval)
        if not arguments.only or each.name in arguments.only
    ]
    scores: dict[str, list[float]] = defaultdict(list)
    for collection in chosen:
        print(f"\n### {collection.name}: {len(collection.notes)} notes, ", end="")
        print(f"{len(collection.queries)} queries\n")
        print(f"| system | queries | {' | '.join(LABELS)} |")
        print(f"|---|---|{'---|' * len(LABELS)}")
        for name, make in BASELINES.items():
            scores[name].append(_judge(name, collection, make(collection)))
        scores[OURS].append(_through_the_server(collection, arguments.mode, settings))
    _summary(scores, [each.name for each in chosen])
    print(f"\nPython {sys.version.split()[0]}, ", end="")
    print(", ".join(f"{name} {version(name)}" for name in (OURS, "tantivy", "bm25s")))


def _through_the_server(collection: Collection, mode: str, settings: dict[str, str]) -> float:
    taken: list[float] = []
    with (
        tempfile.TemporaryDirectory() as home,
        Server(collection.vault, Path(home), **settings) as server,
    ):
        running = server.running_job()
        if running:
            server.finish(running)

        def search(query: str) -> list[str]:
            body = {"query": query[:1000], "limit": LIMIT, "mode": mode}
            started = time.perf_counter()
            results = server.call("POST", "/search", body)["results"]
            taken.append(time.perf_counter() - started)
            return [collection.notes[result["path"]].document for result in results]

        score = _judge(OURS, collection, search)
    middle, late = (sorted(taken)[int(share * len(taken))] * 1_000 for share in (0.5, 0.95))
    print(f"\nA search takes {middle:.0f} ms (p50), {late:.0f} ms (p95).")
    return score


def _judge(name: str, collection: Collection, search: Callable[[str], list[str]]) -> float:
    by_type: dict[str, list[Measures]] = defaultdict(list)
    for query in collection.queries:
        result = measure(search(query.text), collection.relevance[query.id])
        by_type["all"].append(result)
        if query.type:
            by_type[query.type].append(result)
    for kind, measures in by_type.items():
        values = " | ".join(f"{value:.3f}" for value in astuple(mean(measures)))
        print(f"| {name} | {kind} ({len(measures)}) | {values} |", flush=True)
    return mean(by_type["all"]).ndcg10


def _summary(scores: dict[str, list[float]], names: list[str]) -> None:
    """Print nDCG@10 of all, and whether the goals are met: the best each time, and by 5 %."""
    print(f"\n### nDCG@10\n\n| system | {' | '.join(names)} | mean |")
    print(f"|---|{'---|' * len(names)}---|")
    for system, values in scores.items():
        cells = " | ".join(f"{value:.3f}" for value in values)
        print(f"| {system} | {cells} | {fmean(values):.3f} |")
    others = {system: values for system, values in scores.items() if system != OURS}
    best = max(fmean(values) for values in others.values())
    first = all(
        ours >= max(values)
        for ours, values in zip(scores[OURS], zip(*others.values(), strict=True), strict=True)
    )
    ratio = fmean(scores[OURS]) / best
    print(f"\nAt or above every baseline on every collection: {'yes' if first else 'no'}. ", end="")
    print(f"Mean against the best single baseline: {ratio:.3f} (goal {GAIN}).")


if __name__ == "__main__":
    main()
