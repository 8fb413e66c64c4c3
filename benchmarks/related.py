"""Whether `related` finds links that were taken out of a vault.

    python benchmarks/related.py --vault FOLDER
    python benchmarks/related.py --vault FOLDER --endpoint URL --model MODEL --mode hybrid

Some links are removed from a copy of the vault: every link between two notes, with its words. Then
`related` is asked for one of the two, and the other one should be among its results. Notes that
are still linked are left out of the ranking. Prints recall@10 and MRR of the product, and of its 50
results in the order of each voice alone.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import shutil
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hybrid import MAX_NOTE_BYTES, Silent, embed
from vault_agent.embedding.client import EndpointSettings, HttpEmbedder
from vault_agent.indexing.index import index
from vault_agent.indexing.parse import parser
from vault_agent.indexing.task import IndexTask, fingerprint_of
from vault_agent.model.identifiers import identify
from vault_agent.model.search import Linked, Mode, RelatedQuery
from vault_agent.search.related import related
from vault_agent.store.current import CurrentIndex
from vault_agent.store.database import open_reader
from vault_agent.store.layout import IndexDirectory
from vault_agent.vault.exclude import Exclusions

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vault_agent.model.search import Answer

PAIRS = 150
"""At most, and at most a third of all, so that a graph remains."""
SEED = 1
VOICES = ("words", "meaning", "neighbours", "folder")
_TABLE = """
SELECT source.path, target.path, link.start_byte, link.end_byte
FROM link JOIN note AS source ON source.rowid = link.key >> 20
JOIN note AS target ON target.handle = link.dest
WHERE source.path != target.path ORDER BY link.key
"""
_WIKI_START, _WIKI_END = re.compile(rb"!?\[\[\Z"), re.compile(rb"[^\]\n]*\]\]")
_LINK_START, _LINK_END = re.compile(rb"!?\[[^\[\]\n]*\]\(<?\Z"), re.compile(rb"[^)\n]*\)")


class Link(NamedTuple):
    """A resolved link, and the bytes of its target in its note."""

    source: str
    target: str
    start: int | None
    end: int | None


def whole(text: bytes, link: Link) -> tuple[int, int] | None:
    """Return the bytes of a link with its words, or None if it is written in another way."""
    if link.start is None or link.end is None:
        return None
    before = text[max(0, link.start - 500) : link.start]
    for opening, closing in ((_WIKI_START, _WIKI_END), (_LINK_START, _LINK_END)):
        first, last = opening.search(before), closing.match(text, link.end)
        if first and last:
            return link.start - len(first[0]), last.end()
    return None


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
        if all(whole((vault / each.source).read_bytes(), each) for each in between[pair]):
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
        text = (vault / path).read_bytes()
        spans = {span for link in those if (span := whole(text, link))}
        for start, end in sorted(spans, reverse=True):
            text = text[:start] + text[end:]
        (vault / path).write_bytes(text)


async def run_index(vault: Path, directory: IndexDirectory) -> IndexTask:
    """Index the vault anew with the product's code."""
    exclusions = Exclusions(())
    task = IndexTask(
        root=str(vault),
        directory=str(directory.path),
        vault=identify(str(vault.resolve())),
        exclude=(),
        max_note_bytes=MAX_NOTE_BYTES,
        fingerprint=fingerprint_of(exclusions, MAX_NOTE_BYTES),
        rebuild=True,
        parallel=2,
    )
    handle = parser(str(vault), (), MAX_NOTE_BYTES)

    async def parse(batch):
        return handle(batch)

    await index(task, parse, Silent())
    return task


async def read_links(directory: IndexDirectory) -> list[Link]:
    """Return the resolved links between notes."""
    async with open_reader(directory.database(directory.current())) as connection:
        return [Link(*row) for row in await connection.execute_fetchall(_TABLE)]


async def measure(vault: Path, work: Path, mode: Mode, settings: EndpointSettings | None) -> None:
    """Remove links, ask, and print the table of one vault."""
    copy, directory = work / "vault", IndexDirectory(work / "index")
    shutil.copytree(vault, copy)
    await run_index(copy, directory)
    links = await read_links(directory)
    pairs = choose(copy, links)
    remove(copy, links, pairs)
    task = await run_index(copy, directory)
    still = {frozenset(link[:2]) for link in await read_links(directory)}
    pairs = [pair for pair in pairs if frozenset(pair) not in still]
    number = directory.current()
    if settings:
        async with open_reader(directory.database(number)) as c, HttpEmbedder(settings) as embedder:
            await embed(c, embedder, directory, number, settings)
    current = CurrentIndex(
        directory, vault=task.vault, fingerprint=task.fingerprint, vectors=bool(settings)
    )
    await current.refresh()
    ranks: dict[str, list[int | None]] = defaultdict(list)
    taken = []
    for source, target in pairs:
        query = RelatedQuery(identify(source), mode, 50, explain=True, linked=Linked.EXCLUDE)
        async with current.snapshot() as snapshot:
            started = time.perf_counter()
            answer = await related(snapshot, query, embeddings=bool(settings))
            taken.append(time.perf_counter() - started)
        for name, order in rankings(answer).items():
            ranks[name].append(order.index(target) + 1 if target in order else None)
    await current.close()
    print(f"\n{vault.name}: {len(pairs)} pairs, {len(links):,} links, {mode.value}; ", end="")
    print(f"p50 {sorted(taken)[len(taken) // 2] * 1_000:.1f} ms\n")
    print("| | recall@10 | MRR |\n|---|---|---|")
    for name, places in ranks.items():
        found = [place for place in places if place]
        if not found:
            continue
        recall = sum(place <= 10 for place in found) / len(places)
        print(f"| {name} | {recall:.3f} | {sum(1 / place for place in found) / len(places):.3f} |")


def rankings(answer: Answer) -> dict[str, list[str]]:
    """Return the paths in the order of the product, and of each voice alone."""
    votes = {hit.path: hit.explanation["votes"] for hit in answer.hits if hit.explanation}
    orders = {"related": list(votes)}
    for voice in VOICES:
        heard = [path for path in votes if votes[path].get(voice)]
        orders[f"{voice} alone"] = sorted(heard, key=lambda path: -votes[path][voice])
    return orders


def main() -> None:
    """Parse the command line and measure each vault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vault", type=Path, required=True, action="append", help="a folder")
    parser.add_argument("--mode", type=Mode, default=Mode.LEXICAL)
    parser.add_argument("--endpoint", help="embed the notes with this endpoint")
    parser.add_argument("--model", default="all-minilm")
    arguments = parser.parse_args()
    settings = EndpointSettings(arguments.endpoint, arguments.model) if arguments.endpoint else None
    for vault in arguments.vault:
        with tempfile.TemporaryDirectory() as work:
            asyncio.run(measure(vault, Path(work), arguments.mode, settings))


if __name__ == "__main__":
    main()
