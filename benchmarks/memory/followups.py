"""Measure what is recalled for follow-ups: commits as journals, later commits as tasks.

    python -m benchmarks memory.followups --repository FOLDER [--since DATE] [--blame LAST]
    python -m benchmarks memory.followups --made COMMITS
    … [--queries N]

For each commit that follows up an earlier one, the vault holds the journals of the commits before
it and no others, and the server's day is that of the commit. Three requests to POST /memory are
made: with its subject as the prompt and its files, with the subject only, and with the files only;
and one to POST /search, by words alone. Printed are recall@5 and @10, and the mean reciprocal rank,
of what is recalled (with the least relevance) and of all candidates by score (without it); and
of the plain formula: 0.4 of BM25 as a share of the best one, 0.4 of the rarest file in common, 0.2
of recency. Equal scores are ordered by path in both.

The server runs in this process, so that its day can be set. All requests go through HTTP.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import urllib.request
from collections import Counter
from math import log
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.memory.history import DIGITS, made_history, read_history, with_blame
from vault_agent.app import open_app
from vault_agent.config.settings import Config
from vault_agent.model.jobs import JobKind
from vault_agent.server.log import EventLog, Level
from vault_agent.server.serve import Listening, listening
from vault_agent.text.terms import is_unit, terms

if TYPE_CHECKING:
    from benchmarks.memory.history import Commit

KINDS = ("prompt and files", "prompt", "files")
LEAST_EARLIER = 50
"""Commits before the first one that is asked for."""


class Sums:
    """The measures of one way to ask."""

    def __init__(self) -> None:
        self.at5: list[float] = []
        self.at10: list[float] = []
        self.reciprocal: list[float] = []
        self.shown: list[int] = []

    def add(self, found: list[str], followed: frozenset[str], shown: int = 0) -> None:
        """Add one list of commits, by the digits in names of journals, the best first."""
        wanted = {each[:DIGITS] for each in followed}
        self.at5.append(len(wanted & set(found[:5])) / len(wanted))
        self.at10.append(len(wanted & set(found[:10])) / len(wanted))
        places = [place for place, each in enumerate(found, 1) if each in wanted]
        self.reciprocal.append(1 / places[0] if places else 0.0)
        self.shown.append(shown)

    def row(self, name: str) -> str:
        """Return a row of the table."""
        values = (statistics.mean(each) for each in (self.at5, self.at10, self.reciprocal))
        return f"| {name} | {' | '.join(f'{each:.3f}' for each in values)} |"


def main() -> None:
    """Parse the command line and print tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--repository", type=Path)
    source.add_argument("--made", type=int)
    parser.add_argument("--since")
    parser.add_argument("--blame", type=int, metavar="LAST", help="commits whose lines are blamed")
    parser.add_argument("--queries", type=int, default=10_000, help="the last so many follow-ups")
    arguments = parser.parse_args()
    if arguments.made is not None:
        commits = made_history(arguments.made)
    else:
        commits = read_history(arguments.repository, since=arguments.since)
        if arguments.blame:
            commits = with_blame(arguments.repository, commits, last=arguments.blame)
    asked = [n for n, each in enumerate(commits) if each.follows and n >= LEAST_EARLIER]
    if not asked:
        raise SystemExit("No commit names one that it follows up. Give --blame, or --made.")
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_measure(Path(folder), commits, asked[-arguments.queries :]))


async def _measure(folder: Path, commits: list[Commit], asked: list[int]) -> None:
    vault = folder / "vault"
    vault.mkdir()
    config = Config(
        vault={"root": vault}, index={"dir": folder / "index"}, memory={"enabled": True}
    )
    log = EventLog(Level.ERROR, sys.stderr)
    async with listening(config, open_app=open_app, log=log, port=0) as server:
        recalled = {kind: Sums() for kind in KINDS}
        ranked = {kind: Sums() for kind in KINDS}
        words = Sums()
        plain, formula = Plain(), {kind: Sums() for kind in KINDS}
        written = 0
        for number in asked:
            commit = commits[number]
            for each in commits[written:number]:
                path = vault / each.path
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(each.note, "utf-8")
                plain.add(each)
            written = number
            await _index(server)
            server.app.memory.today = commit.at.date
            bodies: dict[str, dict[str, Any]] = {
                "prompt and files": {"prompt": commit.subject, "files": commit.files[:20]},
                "prompt": {"prompt": commit.subject},
                "files": {"files": commit.files[:20]},
            }
            for kind, body in bodies.items():
                limits = {"maxNotes": 20, "maxTokens": 2000, "explain": True}
                found = await _call(server, "/memory", {**body, **limits})
                passed = found["notes"] + [
                    each for each in found["leftOut"] if each["leftOut"] != "relevance"
                ]
                every = found["notes"] + found["leftOut"]
                recalled[kind].add(_ids(passed), commit.follows, len(passed))
                ranked[kind].add(_ids(every), commit.follows)
                best = plain.best(commit, prompt="prompt" in body, files="files" in body)
                formula[kind].add(best, commit.follows)
            query = {"query": commit.subject[:1000], "mode": "lexical", "limit": 50}
            hits = (await _call(server, "/search", query))["results"]
            words.add(list(dict.fromkeys(map(_digits, hits))), commit.follows)
        print(f"{len(asked)} follow-ups among {written:,} earlier commits\n")
        print("| asked by | recall@5 | recall@10 | MRR |\n|---|---:|---:|---:|")
        for kind in KINDS:
            print(ranked[kind].row(f"{kind}, all candidates"))
            print(recalled[kind].row(f"{kind}, with the relevance floor"))
            print(formula[kind].row(f"{kind}, the plain formula"))
        print(words.row("words alone (`POST /search`)"))


async def _index(server: Listening) -> None:
    vault = server.app.vaults.default
    while (job := vault.jobs.running) is not None:
        async for _ in vault.jobs.watch(job.id):
            pass
    job = await vault.submit(JobKind.INDEX)
    async for last in vault.jobs.watch(job.id):
        job = last
    if job.state != "succeeded":
        raise SystemExit(f"index: {job.error}")


def _ids(notes: list[dict[str, Any]]) -> list[str]:
    ordered = sorted(notes, key=lambda each: -each["score"])
    return [_digits(each) for each in ordered]


def _digits(note: dict[str, Any]) -> str:
    return Path(note["path"]).stem[-DIGITS:]


class Plain:
    """The plain formula over the commits so far."""

    def __init__(self) -> None:
        self._commits: list[Commit] = []
        self._texts: list[Counter[str]] = []
        self._with_term: Counter[str] = Counter()
        self._with_file: Counter[str] = Counter()

    def add(self, commit: Commit) -> None:
        """Add the next commit."""
        words = terms(f"{commit.subject} {commit.subject} {commit.body or commit.subject}")
        text = Counter(each for each in words if not is_unit(each))
        self._commits.append(commit)
        self._texts.append(text)
        self._with_term.update(text.keys())
        self._with_file.update(set(commit.files))

    def best(self, task: Commit, *, prompt: bool, files: bool) -> list[str]:
        """Return the best 20 commits for a later one, by the digits in names of journals."""
        count = len(self._commits)
        asked = {each for each in terms(task.subject) if not is_unit(each)} if prompt else set()
        named = set(task.files[:20]) if files else set()
        mean = sum(text.total() for text in self._texts) / count
        words = [self._bm25(asked, text, mean) for text in self._texts]
        best = max(words) or 1.0
        weights = 0.4 * prompt, 0.4 * files, 0.2
        found = []
        for commit, matched in zip(self._commits, words, strict=True):
            common = named.intersection(commit.files)
            rarest = max((self._rarity(self._with_file[each]) for each in common), default=0.0)
            if not (matched or rarest):
                continue
            age = max((task.at.date() - commit.at.date()).days, 0)
            parts = matched / best, min(rarest / log(1 + count), 1.0), 2 ** (-age / 14)
            score = sum(w * part for w, part in zip(weights, parts, strict=True))
            found.append((-score, commit.path, commit.id[:DIGITS]))
        return [each for _, _, each in sorted(found)[:20]]

    def _bm25(self, asked: set[str], text: Counter[str], mean: float) -> float:
        length = 1.2 * (0.25 + 0.75 * text.total() / mean)
        return sum(
            self._rarity(self._with_term[term]) * text[term] * 2.2 / (text[term] + length)
            for term in asked & text.keys()
        )

    def _rarity(self, having: int) -> float:
        return log(1 + (len(self._commits) - having + 0.5) / (having + 0.5))


async def _call(server: Listening, path: str, body: dict[str, Any]) -> Any:
    return await asyncio.to_thread(_post, f"http://127.0.0.1:{server.port}{path}", body)


def _post(url: str, body: dict[str, Any]) -> Any:
    data = json.dumps(body).encode()
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(url, data=data, headers=headers, method="POST")
    with urllib.request.urlopen(request, timeout=60) as reply:
        return json.loads(reply.read())["data"]


if __name__ == "__main__":
    main()
