"""Collections with judged queries: a vault, its queries, and which notes answer them.

A collection is a folder with `vault/` (Markdown), `queries.jsonl` (`id`, `text` or `query`, and
perhaps `type`) and `qrels.tsv` (query, document, relevance). A document is a note's path, or its
file's stem; -1 means that a note is taken out of the ranking.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_FRONTMATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_TITLE = re.compile(r"^title:[ ]*[\"']?(.*?)[\"']?[ ]*$", re.MULTILINE)
_HEADING = re.compile(r"^# (.+)$", re.MULTILINE)
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\u0e00-\u0e7f]")


@dataclass(frozen=True)
class Query:
    """What somebody looked for."""

    id: str
    text: str
    type: str


@dataclass(frozen=True)
class Note:
    """A note as the baselines see it: without frontmatter, but for its title."""

    document: str
    title: str
    body: str


@dataclass(frozen=True)
class Collection:
    """One folder, read."""

    name: str
    vault: Path
    queries: list[Query]
    relevance: dict[str, dict[str, int]]
    notes: dict[str, Note]  # by path

    @property
    def unspaced(self) -> bool:
        """Whether words have no spaces between them, so that baselines need pairs."""
        sample = "".join(note.body[:500] for note in list(self.notes.values())[:50])
        return len(_CJK.findall(sample)) > len(sample) / 4


def collections(folder: Path) -> list[Collection]:
    """Read every collection in a folder."""
    found = sorted(path.parent for path in folder.glob("*/qrels.tsv"))
    if not found:
        raise SystemExit(f"{folder} has no collections: a collection holds qrels.tsv")
    return [_read(path) for path in found]


def _read(folder: Path) -> Collection:
    relevance: dict[str, dict[str, int]] = defaultdict(dict)
    for line in (folder / "qrels.tsv").read_text("utf-8").splitlines():
        query, document, grade = line.split("\t")[:3]
        relevance[query][document] = int(grade)
    answered = {query for query, grades in relevance.items() if max(grades.values()) > 0}
    lines = (folder / "queries.jsonl").read_text("utf-8").splitlines()
    queries = [
        Query(row["id"], row.get("text") or row["query"], row.get("type", ""))
        for row in map(json.loads, lines)
        if row["id"] in answered
    ]
    by_path = any(d.endswith(".md") for grades in relevance.values() for d in grades)
    notes = {}
    for path in sorted((folder / "vault").rglob("*.md")):
        relative = path.relative_to(folder / "vault").as_posix()
        notes[relative] = _note(relative if by_path else path.stem, path)
    return Collection(folder.name, folder / "vault", queries, dict(relevance), notes)


def _note(document: str, path: Path) -> Note:
    text = path.read_text("utf-8")
    frontmatter = _FRONTMATTER.match(text)
    body = text[frontmatter.end() :] if frontmatter else text
    title = _TITLE.search(frontmatter[0]) if frontmatter else None
    heading = title or _HEADING.search(body)
    return Note(document, heading[1] if heading else path.stem, body)
