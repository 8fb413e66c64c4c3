"""What is easily had today: three engines with their usual settings, over whole notes.

Collections without spaces between words are cut into pairs of characters for all of them, which is
the best that each can do there.
"""

from __future__ import annotations

import re
import sqlite3
from itertools import pairwise
from typing import TYPE_CHECKING

import tantivy

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.quality.judged import Collection

DEPTH = 50
_RUN = re.compile(r"\w+")


def fts5(collection: Collection) -> Callable[[str], list[str]]:
    """SQLite FTS5: porter stemming, bm25 with the title weighed twice, any of the words."""
    cut = _cut(collection)
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE note USING fts5(title, body, tokenize='porter')")
    documents = [note.document for note in collection.notes.values()]
    connection.executemany(
        "INSERT INTO note (rowid, title, body) VALUES (?, ?, ?)",
        [(n, cut(note.title), cut(note.body)) for n, note in enumerate(collection.notes.values())],
    )

    def search(query: str) -> list[str]:
        words = " OR ".join(f'"{word}"' for word in _RUN.findall(cut(query)))
        if not words:
            return []
        rows = connection.execute(
            "SELECT rowid FROM note WHERE note MATCH ? ORDER BY bm25(note, 2, 1), rowid LIMIT ?",
            (words, DEPTH),
        )
        return [documents[rowid] for (rowid,) in rows]

    return search


def bm25s_stemmed(collection: Collection) -> Callable[[str], list[str]]:
    """Lucene's BM25 in bm25s: Snowball stems, its list of English stop words."""
    import bm25s  # only `make bench` installs these two
    import Stemmer

    cut = _cut(collection)
    stemmer = Stemmer.Stemmer("english")
    documents = [note.document for note in collection.notes.values()]

    def tokens(texts: list[str]) -> list[list[str]]:
        return bm25s.tokenize(
            texts,
            stopwords="en",
            stemmer=stemmer,
            token_pattern=r"(?u)\b\w\w+\b",
            return_ids=False,
            show_progress=False,
        )

    retriever = bm25s.BM25()
    retriever.index(
        tokens([cut(note.body) for note in collection.notes.values()]), show_progress=False
    )

    def search(query: str) -> list[str]:
        [words] = tokens([cut(query)])
        depth = min(DEPTH, len(documents))
        numbers, scores = retriever.retrieve([words], k=depth, show_progress=False)
        return [documents[n] for n, score in zip(numbers[0], scores[0], strict=True) if score > 0]

    return search


def tantivy_en_stem(collection: Collection) -> Callable[[str], list[str]]:
    """Tantivy with its own English analyzer; title and body as fields of their own."""
    cut = _cut(collection)
    builder = tantivy.SchemaBuilder()
    builder.add_integer_field("number", stored=True)
    builder.add_text_field("title", tokenizer_name="en_stem")
    builder.add_text_field("body", tokenizer_name="en_stem")
    index = tantivy.Index(builder.build())
    writer = index.writer(num_threads=1)
    documents = [note.document for note in collection.notes.values()]
    for number, note in enumerate(collection.notes.values()):
        writer.add_document(
            tantivy.Document(number=number, title=cut(note.title), body=cut(note.body))
        )
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def search(query: str) -> list[str]:
        words = " ".join(_RUN.findall(cut(query)))
        parsed, _ = index.parse_query_lenient(words.lower(), ["title", "body"])
        hits = searcher.search(parsed, DEPTH).hits
        return [documents[searcher.doc(address)["number"][0]] for _, address in hits]

    return search


BASELINES = {
    "FTS5, porter": fts5,
    "bm25s, stemmed, stop words": bm25s_stemmed,
    "tantivy, en_stem": tantivy_en_stem,
}


def _cut(collection: Collection) -> Callable[[str], str]:
    if not collection.unspaced:
        return str

    def pairs(text: str) -> str:
        return " ".join(
            first + second for run in _RUN.findall(text) for first, second in pairwise(run + " ")
        )

    return pairs
