"""Whether `related` finds links that were taken out of a vault.

    python -m benchmarks related FOLDER…
    python -m benchmarks related FOLDER… --mode hybrid --endpoint URL --model NAME

Some links are removed from a copy of the vault: every link between two notes, with its words. Then
`related` is asked for one of the two, and the other one should be among its results. Notes that
are still linked are left out of the ranking. Prints recall@10 and MRR of the product, and of each
of its signals alone.
"""

from __future__ import annotations

import argparse
import random
import re
import shutil
import sqlite3
import tempfile
import time
from collections import defaultdict
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.figures import percentile, seconds, table
from benchmarks.server import SEED, Server, embedding
from vault_agent.model.identifiers import identify

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

PAIRS = 400
"""At most, and at most a third of all, so that a graph remains."""
SIGNALS = ("words", "meaning", "neighbours", "folder")
_TABLE = """
SELECT source.path, target.path, link.line, link.col
FROM link JOIN note AS source ON source.rowid = link.key >> 20
JOIN note AS target ON target.handle = link.dest
WHERE source.path != target.path ORDER BY link.key
"""
_WRITTEN = re.compile(r"!?\[\[[^\]\n]*\]\]|!?\[[^\[\]\n]*\]\([^)\n]*\)")


class Link(NamedTuple):
    """A resolved link, and the place in its note of its first character, from 1."""

    source: str
    target: str
    line: int
    column: int


def whole(text: str, link: Link) -> tuple[int, int] | None:
    """Return the range of a link with its words, or None if it is written in another way."""
    lines = text.split("\n")[: link.line - 1]
    match = _WRITTEN.match(text, sum(map(len, lines)) + len(lines) + link.column - 1)
    return match.span() if match else None


def choose(vault: Path, links: list[Link]) -> list[tuple[str, str]]:
    """Return pairs of notes whose links can all be removed, each source once."""
    between: dict[frozenset[str], list[Link]] = defaultdict(list)
    by_source: dict[str, list[str]] = defaultdict(list)
    for link in links:
        between[frozenset(link[:2])].append(link)
        by_source[link.source].append(link.target)
    shuffled = random.Random(SEED)
    pairs: dict[frozenset[str], tuple[str, str]] = {}
    for source in shuffled.sample(sorted(by_source), len(by_source)):
        target = shuffled.choice(sorted(set(by_source[source])))
        pair = frozenset((source, target))
        if pair in pairs:
            continue
        if all(whole((vault / link.source).read_bytes().decode(), link) for link in between[pair]):
            pairs[pair] = (source, target)
        if len(pairs) == min(PAIRS, len(between) // 3):
            break
    return list(pairs.values())


def remove(vault: Path, links: list[Link], pairs: Iterable[tuple[str, str]]) -> None:
    """Take the links between the pairs out of the files."""
    cut: dict[str, list[Link]] = defaultdict(list)
    chosen = {frozenset(pair) for pair in pairs}
    for link in links:
        if frozenset(link[:2]) in chosen:
            cut[link.source].append(link)
    for path, those in cut.items():
        text = (vault / path).read_bytes().decode()
        spans = {span for link in those if (span := whole(text, link))}
        for start, end in sorted(spans, reverse=True):
            text = text[:start] + text[end:]
        (vault / path).write_bytes(text.encode())


def read_links(server: Server) -> list[Link]:
    """Wait for the first index of a server, and return its resolved links between notes."""
    server.settle()
    [database] = server.index_dir.glob("indexes/*/generation-*/index.db")
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        return [Link(*row) for row in connection.execute(_TABLE)]


def without_links(vault: Path, work: Path) -> tuple[Path, list[tuple[str, str]]]:
    """Return a copy of the vault, and pairs of notes whose links are not in it any more."""
    copy, before = work / "vault", work / "before"
    before.mkdir()
    shutil.copytree(vault, copy)
    with Server(copy, before) as server:
        links = read_links(server)
    pairs = choose(copy, links)
    remove(copy, links, pairs)
    return copy, pairs


def measure(name: str, server: Server, pairs: list[tuple[str, str]], mode: str) -> None:
    """Ask for one note of each pair, and print the table of one vault."""
    links = read_links(server)
    still = {frozenset(link[:2]) for link in links}
    pairs = [pair for pair in pairs if frozenset(pair) not in still]
    ranks: dict[str, list[int | None]] = defaultdict(list)
    times = []
    for source, target in pairs:
        body = {"id": identify(source), "mode": mode, "limit": 50}
        started = time.perf_counter()
        results = server.call("POST", "/related", {**body, "linked": "exclude", "explain": True})[
            "results"
        ]
        times.append(time.perf_counter() - started)
        for signal, order in rankings(results).items():
            ranks[signal].append(order.index(target) + 1 if target in order else None)
    print(f"\n{name}: {len(pairs)} pairs, {len(links):,} links, {mode}; ", end="")
    print(f"p50 {seconds(percentile(times, 0.5))}\n")
    rows = []
    for signal, places in ranks.items():
        hits = [place for place in places if place]
        recall = sum(place <= 10 for place in hits) / len(places)
        mrr = sum(1 / place for place in hits) / len(places)
        rows.append((signal, f"{recall:.3f}", f"{mrr:.3f}"))
    print(table(("", "recall@10", "MRR"), *rows))


def rankings(results: list[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Return the paths in the order of the product, and of each signal alone."""
    votes = {result["path"]: result["explanation"]["votes"] for result in results}
    orders = {"related": list(votes)}
    for signal in SIGNALS:
        heard = [path for path in votes if votes[path].get(signal)]
        orders[f"{signal} alone"] = sorted(heard, key=lambda path: -votes[path][signal])
    return orders


def main() -> None:
    """Parse the command line and measure each vault."""
    parser = argparse.ArgumentParser(prog="benchmarks.related", description=__doc__)
    parser.add_argument("vaults", type=Path, nargs="+", metavar="FOLDER")
    parser.add_argument("--mode", default="lexical")
    parser.add_argument("--endpoint", default="", help="an embedding endpoint for other modes")
    parser.add_argument("--model", default="", help="its model")
    arguments = parser.parse_args()
    settings = embedding(arguments.endpoint, arguments.model)
    for vault in arguments.vaults:
        with tempfile.TemporaryDirectory() as folder:
            work, after = Path(folder), Path(folder, "after")
            after.mkdir()
            copy, pairs = without_links(vault, work)
            with Server(copy, after, **settings) as server:
                measure(vault.name, server, pairs, arguments.mode)


if __name__ == "__main__":
    main()
