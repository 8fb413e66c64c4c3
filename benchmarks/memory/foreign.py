"""Measure how often nothing is recalled for prompts about other things, and what that costs.

    python -m benchmarks memory.foreign FOLDER [--prompts FILE …] [--sizes 30,100,300,1000]

FOLDER has collections with judged queries (see `benchmarks/quality/judged.py`). Of each, vaults of
several sizes are made of notes chosen at random. Asked are, by POST /memory without files:

- foreign prompts: questions of each other collection of the same script, and lines of the files
- generic prompts of coding sessions, in English and Japanese
- own prompts: questions that a note of the vault answers, if they have words enough to be a signal

Foreign and own ones are asked as they are, and again within a chatty sentence. Printed are how
often nothing is recalled for foreign and generic prompts, recall@5 of the own ones by POST /search,
and what of that is lost where nothing is recalled. Means are over vaults, of each over sources.

The server runs in this process. All requests go through HTTP.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.memory.followups import _call, _index
from benchmarks.quality.judged import collections
from vault_agent.app import open_app
from vault_agent.config.settings import Config
from vault_agent.server.log import EventLog, Level
from vault_agent.server.serve import Listening, listening

if TYPE_CHECKING:
    from benchmarks.quality.judged import Collection

FOREIGN = 15
"""Prompts of each source."""
OWN = 40
"""Questions of each vault."""
CHATTY = "I'd like you to take a look at this when you have a moment: {}. Tell me if it is hard."
GENERIC = """
fix the failing test
update the docs
continue
run the tests again
please fix the lint errors and push this
why does the test still fail on the build server
clean up the code and commit
add a unit test for this function
rename the variable everywhere
make the build green again, then open a pull request
bump the version and write the changelog
merge main into this branch and resolve the conflicts
the last change broke the build, please revert it
remove the dead code and the unused imports
this is too slow, use async instead of threads
失敗しているテストを修正して
ドキュメントを更新してください
続けて
もう一度テストを実行して
変更をコミットしてプッシュして
なぜまだテストが失敗するのか調べて
この関数に単体テストを追加して
メインブランチをマージして競合を解決して
最後の変更でビルドが壊れたので戻して
未使用のインポートを削除して
""".strip().splitlines()


class Row(NamedTuple):
    """One vault: how often nothing is recalled, and what is found of the own prompts and lost."""

    foreign: float
    chatty: float  # foreign ones in a chatty sentence
    generic: float
    recall: float
    lost: float
    lost_chatty: float

    def line(self, name: str, notes: int | str) -> str:
        """Return a row of the table."""
        shares = " | ".join(f"{each:.0%}" for each in self[:3])
        return f"| {name} | {notes} | {shares} | {' | '.join(f'{each:.3f}' for each in self[3:])} |"


def main() -> None:
    """Parse the command line and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--prompts", type=Path, nargs="*", default=[], help="one prompt a line")
    parser.add_argument("--sizes", default="30,100,300,1000")
    parser.add_argument("--only", help="names of collections to make vaults of, with commas")
    arguments = parser.parse_args()
    every = collections(arguments.folder)
    lines = {each.stem: each.read_text("utf-8").splitlines() for each in arguments.prompts}
    wanted = arguments.only.split(",") if arguments.only else [each.name for each in every]
    rows = []
    print("| vault | notes | foreign | chatty | generic | recall@5 | lost | lost, chatty |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for collection in (each for each in every if each.name in wanted):
        sources = {
            each.name: [query.text for query in each.queries]
            for each in every
            if each is not collection and each.unspaced == collection.unspaced
        }
        sources |= {} if collection.unspaced else lines
        for size in _sizes(arguments.sizes, len(collection.notes)):
            row = asyncio.run(_measure(collection, size, sources))
            rows.append(row)
            print(row.line(collection.name, size), flush=True)
    print(Row(*(mean(each[place] for each in rows) for place in range(6))).line("mean", ""))


def _sizes(given: str, notes: int) -> list[int]:
    """Return the sizes up to that of the collection, and that in place of one over it."""
    sizes = sorted(map(int, given.split(",")))
    larger = [size for size in sizes if size > notes]
    return [size for size in sizes if size <= notes] + ([notes] if larger else [])


async def _measure(collection: Collection, size: int, sources: dict[str, list[str]]) -> Row:
    chosen = random.Random(f"{collection.name} {size}")
    paths = sorted(chosen.sample(sorted(collection.notes), size))
    documents = {collection.notes[path].document: path for path in paths}
    own = []
    for query in collection.queries:
        grades = collection.relevance[query.id]
        if wanted := {documents[d] for d, g in grades.items() if g > 0 and d in documents}:
            own.append((query.text, wanted))
    own = chosen.sample(own, min(OWN, len(own)))
    with tempfile.TemporaryDirectory() as folder:
        vault = Path(folder) / "vault"
        for path in paths:
            (vault / path).parent.mkdir(parents=True, exist_ok=True)
            (vault / path).write_bytes((collection.vault / path).read_bytes())
        config = Config(
            vault={"root": vault},
            index={"dir": Path(folder) / "index"},
            memory={"enabled": True},
        )
        log = EventLog(Level.ERROR, sys.stderr)
        async with listening(config, open_app=open_app, log=log, port=0) as server:
            await _index(server)
            refused: dict[str, list[bool]] = defaultdict(list)
            chatty: dict[str, list[bool]] = defaultdict(list)
            for name, prompts in sources.items():
                for prompt in chosen.sample(prompts, min(FOREIGN, len(prompts))):
                    refused[name].append(await _nothing(server, prompt))
                    chatty[name].append(await _nothing(server, CHATTY.format(prompt)))
            generic = [await _nothing(server, prompt) for prompt in GENERIC]
            recall, lost, lost_chatty = [], [], []
            for text, wanted in own:
                if not (await _call(server, "/memory", {"prompt": text}))["signals"]["prompt"]:
                    continue
                body = {"query": text[:1_000], "mode": "lexical", "limit": 20}
                hits = (await _call(server, "/search", body))["results"]
                best = list(dict.fromkeys(hit["path"] for hit in hits))[:5]
                recall.append(len(wanted & set(best)) / min(len(wanted), 5))
                lost.append(recall[-1] * await _nothing(server, text))
                lost_chatty.append(recall[-1] * await _nothing(server, CHATTY.format(text)))
    return Row(
        *(mean(map(mean, refused.values())), mean(map(mean, chatty.values())), mean(generic)),
        *(mean(recall), mean(lost), mean(lost_chatty)),
    )


async def _nothing(server: Listening, prompt: str) -> bool:
    return not (await _call(server, "/memory", {"prompt": prompt}))["notes"]


if __name__ == "__main__":
    main()
