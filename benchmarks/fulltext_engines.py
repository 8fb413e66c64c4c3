"""Compare SQLite FTS5 with tantivy for full-text search.

Both index the same synthetic notes, prepared in the same way, in one index of notes and one of
chunks. Both run the same searches: any of the terms, the best 100 chunks by BM25. The last row
measures all queries that the product runs for one search. Prints a Markdown table.

    python -m benchmarks.fulltext_engines --notes 30000
"""

from __future__ import annotations

import argparse
import sqlite3
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.vault import Vault, queries

from vault_agent.markdown.parse import parse_note
from vault_agent.model.search import Filters
from vault_agent.ranking.query import compile_query
from vault_agent.store.fulltext.clauses import any_of
from vault_agent.store.fulltext.reader import FulltextReader
from vault_agent.store.fulltext.schema import FulltextNote, to_fulltext
from vault_agent.store.fulltext.writer import FulltextWriter

if TYPE_CHECKING:
    from collections.abc import Callable

TOP = 100
SEARCHES = 300


def main() -> None:
    """Parse the command line, build both indexes and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--notes", type=int, default=30_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        _compare(Path(folder), arguments.notes)


def _compare(folder: Path, count: int) -> None:
    vault = Vault(count)
    size = vault.write(folder / "vault")
    notes = [
        to_fulltext(vault.path(n), parse_note(path.read_text("utf-8"), path=vault.path(n)))
        for n in range(count)
        for path in (folder / "vault" / vault.path(n),)
    ]
    chunks = sum(len(note.chunks) for note in notes)
    print(f"{count:,} notes, {chunks:,} chunks, {size / 1e6:.0f} MB\n")
    print("| engine | build, s | size, MB | p50, ms | p95, ms | p99, ms |")
    print("|---|---|---|---|---|---|")
    compiled = [compile_query(query) for query in queries(vault.vocabulary, SEARCHES)]
    for tokenizer in ("unicode61", "porter"):
        path = folder / f"{tokenizer}.db"
        started = time.perf_counter()
        search = _fts5(path, tokenizer, notes)
        built = time.perf_counter() - started
        asked = [" OR ".join(f'"{word}"' for word in query.weights) for query in compiled]
        _row(f"FTS5, {tokenizer}", built, path.stat().st_size, search, asked)
    started = time.perf_counter()
    reader = _tantivy(folder / "tantivy", notes)
    built = time.perf_counter() - started
    files = sum(p.stat().st_size for p in (folder / "tantivy").rglob("*") if p.is_file())
    shelf = reader._chunks  # noqa: SLF001 - the engine alone, without the product's other queries
    asked = [any_of(shelf.clauses.words("text", query.weights)) for query in compiled]
    _row("tantivy", built, files, lambda query: shelf.top(query, TOP), asked)
    _row(
        "tantivy, all queries of one search",
        built,
        files,
        lambda query: reader.candidates(query, Filters()),
        compiled,
    )


def _row(
    name: str, built: float, size: int, search: Callable[[Any], object], asked: list[Any]
) -> None:
    for query in asked[:20]:
        search(query)
    times = []
    for query in asked:
        started = time.perf_counter()
        search(query)
        times.append((time.perf_counter() - started) * 1_000)
    marks = statistics.quantiles(times, n=100)
    values = " | ".join(f"{marks[at - 1]:.1f}" for at in (50, 95, 99))
    print(f"| {name} | {built:.1f} | {size / 1e6:.0f} | {values} |", flush=True)


def _fts5(path: Path, tokenizer: str, notes: list[FulltextNote]) -> Callable[[str], object]:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = OFF")
    for table in ("note", "chunk"):
        connection.execute(
            f"CREATE VIRTUAL TABLE {table} USING fts5(text, content='', tokenize='{tokenizer}')"
        )
    connection.execute("BEGIN")
    for rowid, note in enumerate(notes, 1):
        texts = [text for text, _, _ in note.chunks]
        body = "\n".join((note.names, *texts))
        connection.execute("INSERT INTO note (rowid, text) VALUES (?, ?)", (rowid, body))
        connection.executemany(
            "INSERT INTO chunk (rowid, text) VALUES (?, ?)",
            [(rowid << 20 | index, text) for index, text in enumerate(texts)],
        )
    connection.commit()

    def search(query: str) -> object:
        return connection.execute(
            "SELECT rowid FROM chunk WHERE chunk MATCH ? ORDER BY bm25(chunk) LIMIT ?",
            (query, TOP),
        ).fetchall()

    return search


def _tantivy(folder: Path, notes: list[FulltextNote]) -> FulltextReader:
    writer = FulltextWriter(folder)
    for rowid, note in enumerate(notes, 1):
        writer.add_note(rowid, note)
    writer.commit()
    return FulltextReader(folder)


if __name__ == "__main__":
    main()
