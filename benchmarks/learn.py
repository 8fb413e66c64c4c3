"""Let simulated people search and open results, and measure what `search.learn` makes of it.

    python -m benchmarks learn --eval FOLDER
    python -m benchmarks learn --eval FOLDER --only tasks-docs --wrong 0.5 --visits 10

Each judged query is one of somebody's needs. Half of them are taught: the need is searched for some
times, each time in other words (a part of the query's words, in another order), and one of the ten
results is opened. People look at the first results most: at the one of place n with a chance of
1/√n. They open the first one that they look at and that is judged relevant, or, with a chance of
`--wrong`, any one that they look at. Everything goes through the real server, so what is learned
changes what the next person sees.

Then each need is searched for in words that nobody has used yet, with and without what was learned.
"better" and "worse" are queries whose nDCG@10 has risen or fallen. "buried" are queries where a
result with a better grade came below one with a worse grade and was above it before, "unburied"
the other way round. The needs that were not taught show what learning does to all other searches.
Everything is deterministic.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from benchmarks.quality.judged import collections
from benchmarks.quality.measures import measure
from benchmarks.server import Server

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.quality.judged import Collection, Query

SHOWN = 10
LEAST_WORDS = 2
KEPT_WORDS = 0.7
VARIANTS_TRIED = 30
_WORD = re.compile("[\u3041-\u309f]+|[\u30a0-\u30ff]+|[\u4e00-\u9fff]+|[^\\s\u3041-\u9fff]+")
"""A word, also of Japanese, where a word is what is written in one of its scripts."""


@dataclass
class Outcome:
    """The measures of some queries with and without what was learned."""

    before: list[float] = field(default_factory=list)
    after: list[float] = field(default_factory=list)
    first_before: int = 0
    first_after: int = 0
    buried: int = 0
    unburied: int = 0
    moved: int = 0

    def add(self, plain: Sequence[str], now: Sequence[str], grades: dict[str, int]) -> None:
        """Count the results of one query, without and with what was learned."""
        one, other = measure(plain, grades), measure(now, grades)
        self.before.append(one.ndcg10)
        self.after.append(other.ndcg10)
        self.first_before += int(one.success1)
        self.first_after += int(other.success1)
        self.moved += list(plain) != list(now)
        self.buried += swaps(plain, now, grades) > 0
        self.unburied += swaps(now, plain, grades) > 0

    def row(self, name: str) -> str:
        """Return a line of the table."""
        pairs = list(zip(self.before, self.after, strict=True))
        count = len(pairs)
        if not count:
            return f"| {name} | 0 |" + " |" * 8
        better = sum(after > before + 1e-9 for before, after in pairs)
        worse = sum(after < before - 1e-9 for before, after in pairs)
        return (
            f"| {name} | {count} | {fmean(self.before):.3f} | {fmean(self.after):.3f}"
            f" | {self.first_before / count:.3f} | {self.first_after / count:.3f}"
            f" | {better} | {worse} | {self.buried} | {self.unburied} | {self.moved} |"
        )


def swaps(before: Sequence[str], after: Sequence[str], grades: dict[str, int]) -> int:
    """Return how many pairs of the first ten were in the order of their grades, and are not now."""
    places = {document: place for place, document in enumerate(after)}
    first = [each for each in before[:SHOWN] if each in places]
    return sum(
        grades.get(one, 0) > grades.get(other, 0) and places[one] > places[other]
        for place, one in enumerate(first)
        for other in first[place + 1 :]
    )


def main() -> None:
    """Parse the command line and print the table."""
    parser = argparse.ArgumentParser(prog="benchmarks.learn")
    parser.add_argument("--eval", type=Path, required=True, help="the folder of collections")
    parser.add_argument("--only", nargs="*", help="names of collections; default: all")
    parser.add_argument("--visits", type=int, default=4, help="searches for each taught need")
    parser.add_argument("--wrong", type=float, default=0.25, help="the share of wrong openings")
    parser.add_argument("--most", type=int, default=200, help="queries of a collection")
    options = parser.parse_args()
    print(
        "| collection | queries | nDCG@10 | learned | S@1 | learned | better | worse | buried",
        end="",
    )
    print(" | unburied | changed |\n|---|---|---|---|---|---|---|---|---|---|---|")
    for collection in collections(options.eval):
        if not options.only or collection.name in options.only:
            _judge(collection, options)


def _judge(collection: Collection, options: argparse.Namespace) -> None:
    chance = random.Random(collection.name)
    queries = chance.sample(collection.queries, min(options.most, len(collection.queries)))
    taught, others = queries[: len(queries) // 2], queries[len(queries) // 2 :]
    with tempfile.TemporaryDirectory() as home:
        settings = {"VAULT_AGENT_SEARCH_LEARN": "true"}
        with Server(collection.vault, Path(home), **settings) as server:
            if running := server.running_job():
                server.finish(running)
            people = People(server, collection, chance, options.wrong)
            needs = [(query, variants(query, chance, options.visits + 1)) for query in taught]
            needs = [(query, texts) for query, texts in needs if len(texts) > 1]
            held_out = [(query, texts[-1]) for query, texts in needs]
            untaught = [(query, query.text) for query in others]
            plain = [people.search(text) for _, text in (*held_out, *untaught)]
            visits = [(query, text) for query, texts in needs for text in texts[:-1]]
            chance.shuffle(visits)
            opened = [people.visit(query, text) for query, text in visits]
            counts = {"taught": Outcome(), "not taught": Outcome()}
            for place, (query, text) in enumerate((*held_out, *untaught)):
                kind = "taught" if place < len(held_out) else "not taught"
                grades = collection.relevance[query.id]
                counts[kind].add(plain[place], people.search(text), grades)
    for kind, outcome in counts.items():
        print(outcome.row(f"{collection.name}, {kind}"), flush=True)
    right = sum(each is True for each in opened)
    wrong = sum(each is False for each in opened)
    print(f"<!-- {collection.name}: {right} relevant and {wrong} other notes opened -->")


def variants(query: Query, chance: random.Random, count: int) -> list[str]:
    """Return different ways to ask for the same: parts of the words, in any order."""
    words = _WORD.findall(query.text[:1000])
    found: dict[frozenset[str], str] = {}
    for _ in range(VARIANTS_TRIED):
        kept = [word for word in words if chance.random() < KEPT_WORDS]
        if len(kept) < min(LEAST_WORDS, len(words)) or frozenset(kept) in found:
            continue
        chance.shuffle(kept)
        found[frozenset(kept)] = " ".join(kept)
        if len(found) == count:
            break
    return list(found.values())


class People:
    """Those who search."""

    def __init__(
        self, server: Server, collection: Collection, chance: random.Random, wrong: float
    ) -> None:
        self._server = server
        self._collection = collection
        self._chance = chance
        self._wrong = wrong

    def search(self, text: str) -> list[str]:
        """Return the documents of the results."""
        return [document for document, _ in self._found(text)]

    def visit(self, query: Query, text: str) -> bool | None:
        """Search and open a result, or none. Return whether it is relevant."""
        grades = self._collection.relevance[query.id]
        looked_at = [
            each
            for place, each in enumerate(self._found(text)[:SHOWN], 1)
            if self._chance.random() < place**-0.5
        ]
        if self._chance.random() < self._wrong:
            chosen = looked_at
            self._chance.shuffle(chosen)
        else:
            chosen = [each for each in looked_at if grades.get(each[0], 0) > 0]
        if not chosen:
            return None
        document, note_id = chosen[0]
        self._server.call("POST", f"/notes/{note_id}/opened", {})
        return grades.get(document, 0) > 0

    def _found(self, text: str) -> list[tuple[str, str]]:
        body = {"query": text, "limit": SHOWN, "mode": "lexical"}
        found = self._server.call("POST", "/search", body)["results"]
        notes = {each["noteId"]: self._collection.notes[each["path"]].document for each in found}
        return [(document, note_id) for note_id, document in notes.items()]


if __name__ == "__main__":
    main()
