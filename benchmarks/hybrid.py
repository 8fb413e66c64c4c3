"""Retrieval quality of lexical, embedding and hybrid search on judged collections.

    python benchmarks/hybrid.py COLLECTION… --endpoint URL --model MODEL --work FOLDER

A collection is a folder with `vault/`, `queries.jsonl` (`id`, `text` or `query`) and `qrels.tsv`
(query, note's stem or path, relevance; -1 removes a note from the ranking). The product's own code
indexes, embeds and ranks the notes. nDCG@10 is over notes, computed as in trec_eval.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import pickle
import time
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import numpy as np

from vault_agent.embedding.client import EndpointSettings, HttpEmbedder
from vault_agent.embedding.prefixes import document_input, vector_key
from vault_agent.embedding.run import embed_all
from vault_agent.indexing.index import index
from vault_agent.indexing.parse import parser
from vault_agent.indexing.task import IndexTask, fingerprint_of
from vault_agent.model.identifiers import identify
from vault_agent.model.search import Filters, Mode, SearchQuery
from vault_agent.ranking.cosine import Scan, cosines_of, nearest, prominence
from vault_agent.ranking.fuse import fuse
from vault_agent.ranking.query import compile_query
from vault_agent.ranking.rank import Names, attainable, rank, shortlist
from vault_agent.search.search import search
from vault_agent.store.current import CurrentIndex
from vault_agent.store.database import open_reader
from vault_agent.store.fulltext.reader import FulltextReader
from vault_agent.store.index import candidates as reading
from vault_agent.store.index.meta import read_meta
from vault_agent.store.layout import IndexDirectory
from vault_agent.store.readers import Readers
from vault_agent.store.vectors.cache import open_vectors
from vault_agent.store.vectors.matrix import open_matrix
from vault_agent.vault.exclude import Exclusions

MAX_NOTE_BYTES = 1 << 24
DEPTH = 200  # notes of each ranking that are fused


class Evidence(NamedTuple):
    """The lexical and semantic results of one query, by path."""

    kind: str
    lexical: dict[str, float]
    cosines: dict[str, float]
    ceiling: float
    background: float
    prominence: float
    searched: dict[str, list[str]]  # paths that the product's search returns, by mode


class Silent:
    """A listener that ignores the events of a run."""

    def phase(self, *_):
        """Ignore the progress."""

    def warn(self, _):
        """Ignore a warning."""

    def published(self, run=None):
        """Ignore the publication."""


async def rankings(collection: Path, settings: EndpointSettings, work: Path) -> dict[str, Evidence]:
    """Return the evidence for each query, cached in `work`."""
    cache = work / f"{collection.name}.pickle"
    if cache.exists():
        return pickle.loads(cache.read_bytes())
    directory = IndexDirectory(work / collection.name)
    root = collection / "vault"
    exclusions = Exclusions(())
    task = IndexTask(
        root=str(root),
        directory=str(directory.path),
        vault=identify(str(root.resolve())),
        exclude=(),
        max_note_bytes=MAX_NOTE_BYTES,
        fingerprint=fingerprint_of(exclusions, MAX_NOTE_BYTES),
        rebuild=True,  # with the current code; vectors are kept
        parallel=2,
    )
    handle = parser(str(root), (), MAX_NOTE_BYTES)

    async def parse(batch):
        return handle(batch)

    await index(task, parse, Silent())
    number = directory.current()
    queries = [json.loads(line) for line in (collection / "queries.jsonl").open(encoding="utf-8")]
    found = {}
    database = directory.database(number)
    async with open_reader(database) as connection, HttpEmbedder(settings) as e:
        matrix, paths = await embed(connection, e, directory, number, settings)
        meta = await read_meta(connection)
        fulltext = FulltextReader(directory.fulltext(number, meta.revision))
        current = CurrentIndex(
            directory, vault=task.vault, fingerprint=task.fingerprint, vectors=True
        )
        await current.refresh()
        scan = Scan(matrix.vectors, matrix.planes, matrix.alive)
        chunks_by_note: dict[str, list[int]] = defaultdict(list)
        for key in await connection.execute_fetchall("SELECT key FROM chunk"):
            chunks_by_note[paths[key[0] >> 20]].append(key[0])
        for query in queries:
            text = query.get("text") or query["query"]
            lexical, most = lexical_scores(database, fulltext, text)
            vector = await e.embed_query(text)
            rows, cosines = nearest(scan, vector, matrix.signs(vector), 1000)
            keys, cosines = matrix.chunks_of(rows, cosines)
            best = best_of_notes(paths, keys, cosines)
            best = dict(list(best.items())[:DEPTH])
            # The cosines of the lexical results.
            more = [key for path in lexical if path not in best for key in chunks_by_note[path]]
            keys, rows = matrix.find(np.array(more, np.int64))
            cosines = cosines_of(matrix.vectors, rows, vector)
            best |= best_of_notes(paths, keys, cosines)
            background = float(matrix.centre @ vector)
            kind = query.get("type", "")
            stands_out = prominence(scan, vector, max(best.values()), background)
            searched = {mode.value: await by_search(current, e, text, mode) for mode in Mode}
            found[query["id"]] = Evidence(
                kind, lexical, best, most, background, stands_out, searched
            )
        await current.close()
        fulltext.close()
    cache.write_bytes(pickle.dumps(found))
    return found


async def embed(connection, embedder, directory, number, settings):
    """Embed missing chunks, publish, and return the matrix and the notes' paths by rowid."""
    rows = await connection.execute_fetchall(
        "SELECT c.key, n.title, c.heading_path, c.text, n.path FROM chunk c"
        " JOIN note n ON n.rowid = c.key >> 20 ORDER BY c.key"
    )
    prefix = embedder.prefixes.document
    inputs = [document_input(prefix, r[1], json.loads(r[2] or "[]"), r[3]) for r in rows]
    keys = [vector_key(settings.model, text) for text in inputs]
    map_path = directory.generation(number) / "vectors.map"
    async with open_vectors(directory.vectors) as store:
        await store.use(await embedder.prepare())
        plan = await store.plan(np.array([r[0] for r in rows], np.int64), keys)

        async def save(arrived):
            first = await store.save(arrived.keys, np.array(arrived.vectors))
            plan.fill(arrived.keys, first)

        started = time.monotonic()
        missing = [(key, inputs[place]) for key, place in plan.missing]
        await embed_all(
            embedder,
            missing,
            save,
            batch_size=settings.batch_size,
            concurrency=settings.concurrency,
        )
        print(f"  {len(missing)} of {len(rows)} chunks in {time.monotonic() - started:.1f} s")
        await store.publish(plan, map_path)
    matrix = open_matrix(map_path, directory.vectors.with_suffix(""))
    return matrix, {r[0] >> 20: r[4] for r in rows}


async def by_search(current, embedder, text, mode) -> list[str]:
    """Return the paths of the first notes that the product's search finds."""
    async with current.snapshot() as snapshot:
        answer = await search(
            snapshot, SearchQuery(text[:1_000], mode=mode, limit=50), embedder=embedder
        )
    return list(dict.fromkeys(hit.path for hit in answer.hits))


def lexical_scores(database, fulltext, text):
    """Return the lexical scores of notes by path, and the highest possible score."""
    compiled = compile_query(text)
    candidates = fulltext.candidates(compiled, Filters())
    wanted = shortlist(candidates, DEPTH)
    with Readers(database, 1) as readers, readers.lend() as connection:
        notes = reading.notes(connection, wanted.rowids)
        headings = reading.headings(connection, wanted.keys)
    names = {rowid: Names(n.path, n.title, n.metadata.aliases) for rowid, n in notes.items()}
    scores: dict[str, float] = {}
    for ranked in rank(candidates, names, headings, limit=DEPTH):
        scores.setdefault(names[ranked.rowid].path, sum(ranked.votes.values()))
    return scores, attainable(compiled, candidates)


def best_of_notes(paths, keys, cosines) -> dict[str, float]:
    """Return the cosine of each note's nearest chunk."""
    best: dict[str, float] = {}
    for key, cosine in zip(keys.tolist(), cosines.tolist(), strict=True):
        path = paths[key >> 20]
        best[path] = max(cosine, best.get(path, -1.0))
    return best


def judged(collection: Path) -> dict[str, dict[str, int]]:
    """Return the judgements by query: {path or stem: relevance}."""
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for line in (collection / "qrels.tsv").open(encoding="utf-8"):
        query, note, relevance = line.rstrip("\n").split("\t")[:3]
        found[query][note] = int(relevance)
    return {q: rel for q, rel in found.items() if any(value > 0 for value in rel.values())}


def ndcg(relevance: dict[str, int], ranked: list[str]) -> float:
    """Return nDCG@10 with linear gain."""
    names = [path if path in relevance else Path(path).stem for path in ranked]
    gains = [max(relevance.get(n, 0), 0) for n in names if relevance.get(n, 0) >= 0][:10]
    ideal = sorted((value for value in relevance.values() if value > 0), reverse=True)[:10]
    return _dcg(gains) / _dcg(ideal)


def _dcg(gains: list[int]) -> float:
    return sum(gain / math.log2(place + 2) for place, gain in enumerate(gains))


def order(scores: dict[str, float] | list[str]) -> list[str]:
    if isinstance(scores, list):
        return scores
    return sorted(scores, key=lambda path: (-scores[path], path))


def reciprocal_rank(evidence: Evidence, k: int = 60) -> dict[str, float]:
    """Fuse by ranks: G. Cormack, C. Clarke, S. Büttcher, SIGIR 2009."""
    scores: dict[str, float] = defaultdict(float)
    for side in (evidence.lexical, evidence.cosines):
        for place, path in enumerate(order(side)[:100], 1):
            scores[path] += 1 / (k + place)
    return scores


def convex(evidence: Evidence, weight: float) -> dict[str, float]:
    """Fuse min-max normalised scores with a fixed weight."""
    sides = [
        (1 - weight, dict.fromkeys(order(evidence.lexical)[:100])),
        (weight, dict.fromkeys(order(evidence.cosines)[:100])),
    ]
    scores: dict[str, float] = defaultdict(float)
    for (share, paths), side in zip(sides, (evidence.lexical, evidence.cosines), strict=True):
        values = [side[path] for path in paths]
        span = (max(values) - min(values) if values else 0) or 1.0
        for path in paths:
            scores[path] += share * (side[path] - min(values)) / span
    return scores


def shipped(evidence: Evidence) -> dict[str, float]:
    """Fuse as the product does."""
    fused = fuse(
        evidence.lexical,
        evidence.cosines,
        ceiling=evidence.ceiling,
        background=evidence.background,
        prominence=evidence.prominence,
    )
    return {path: each.score for path, each in fused.items()}


SYSTEMS = {
    "lexical": lambda e: e.lexical,
    "embedding": lambda e: e.cosines,
    "reciprocal rank, k=60": reciprocal_rank,
    "convex, 0.5": lambda e: convex(e, 0.5),
    "convex, 0.3": lambda e: convex(e, 0.3),
    "hybrid as shipped": shipped,
    **{f"search --mode {mode}": lambda e, mode=mode: e.searched[mode] for mode in Mode},
}


def main() -> None:
    """Parse the command line, measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("collections", type=Path, nargs="+")
    parser.add_argument("--endpoint", default="http://127.0.0.1:11434/v1/embeddings")
    parser.add_argument("--model", default="all-minilm")
    parser.add_argument("--work", type=Path, required=True, help="folder for indexes; kept")
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    settings = EndpointSettings(arguments.endpoint, arguments.model, query_timeout=30.0)
    for collection in arguments.collections:
        evidence = asyncio.run(rankings(collection, settings, arguments.work))
        judgements = judged(collection)
        kinds = sorted({evidence[query].kind for query in judgements} - {""})
        print(f"{collection.name}: {len(judgements)} queries; nDCG@10 {' '.join(['all', *kinds])}")
        for name, system in SYSTEMS.items():
            gained: dict[str, list[float]] = defaultdict(list)
            for query, relevance in judgements.items():
                value = ndcg(relevance, order(system(evidence[query])))
                for kind in {"all", evidence[query].kind}:
                    gained[kind].append(value)
            figures = " ".join(f"{np.mean(gained[kind]):.4f}" for kind in ("all", *kinds))
            print(f"  {name:24}{figures}", flush=True)


if __name__ == "__main__":
    main()
