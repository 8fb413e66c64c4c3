"""Attachments: reading PDFs beside the library alone, and searches with their passages.

    python -m benchmarks attachments                      1,000 PDFs of 20 pages, 100,000 chunks
    python -m benchmarks attachments --pdfs 100 --chunks 10000 --notes 1000

The PDFs are of made-up words, 2,400 characters a page. The floor reads each page of each with
PDFium, or with `pdftotext` if it is installed, in one process. Searches are of words by their
frequency, over notes alone, and over notes with text files of 2,000 characters a chunk.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.pdfs import pdf
from benchmarks.run import SETTLE_SECONDS, busyness, machine, percentile, say, seconds
from benchmarks.server import Server, disk_bytes
from benchmarks.vault import Vault, Vocabulary, queries

PAGES = 20
PAGE_CHARACTERS = 2_400
CHUNK_CHARACTERS = 1_800
CHUNKS_IN_A_FILE = 100
SEARCHES = 1_000
_LINE_WORDS = 14

_FLOOR = """
import sys, time
from pathlib import Path
import pypdfium2
started = time.perf_counter()
count = 0
for path in sorted(Path(sys.argv[1]).rglob("*.pdf")):
    document = pypdfium2.PdfDocument(path.read_bytes())
    for page in document:
        text = page.get_textpage()
        count += len(text.get_text_range())
        text.close()
        page.close()
    document.close()
print(time.perf_counter() - started)
"""


class Words:
    """Endless text of made-up words, by their frequency."""

    def __init__(self, seed: int = 3) -> None:
        vocabulary = Vocabulary(1)
        self._words = vocabulary.draw(np.random.default_rng(seed), 2_000_000)
        self._at = 0

    def text(self, characters: int) -> str:
        """Return lines of about so many characters."""
        lines: list[str] = []
        length = 0
        while length < characters:
            if self._at + _LINE_WORDS >= len(self._words):
                self._at = (self._at + 7) % 1_000
            line = " ".join(self._words[self._at : self._at + _LINE_WORDS])
            self._at += _LINE_WORDS
            lines.append(line)
            length += len(line) + 1
        return "\n".join(lines)


def write_pdfs(folder: Path, count: int, words: Words) -> None:
    """Write PDFs of 20 pages."""
    folder.mkdir(parents=True)
    for number in range(count):
        pages = [words.text(PAGE_CHARACTERS) for _ in range(PAGES)]
        (folder / f"paper {number}.pdf").write_bytes(pdf(pages))


def write_texts(folder: Path, chunks: int, words: Words) -> None:
    """Write text files of a hundred chunks."""
    folder.mkdir(parents=True)
    for number in range(chunks // CHUNKS_IN_A_FILE):
        paragraphs = (words.text(CHUNK_CHARACTERS) for _ in range(CHUNKS_IN_A_FILE))
        (folder / f"log {number}.txt").write_text("\n\n".join(paragraphs))


def floor(folder: Path) -> tuple[str, float]:
    """Return the name and the seconds of the least work that gives the text of all PDFs."""
    if program := shutil.which("pdftotext"):
        started = time.perf_counter()
        for path in sorted(folder.rglob("*.pdf")):
            subprocess.run([program, path, "-"], stdout=subprocess.DEVNULL, check=True)
        return "pdftotext", time.perf_counter() - started
    command = [sys.executable, "-c", _FLOOR, str(folder)]
    made = subprocess.run(command, capture_output=True, text=True, check=True)
    return "PDFium alone", float(made.stdout)


def settled(server: Server) -> float:
    """Wait for the first run; return its seconds."""
    started = time.perf_counter()
    if job := server.running_job():
        server.finish(job)
    return time.perf_counter() - started


def measure_pdfs(work: Path, count: int) -> None:
    """Print how long a run over new PDFs takes, and what later runs pay."""
    vault = work / "pdfs"
    write_pdfs(vault / "Papers", count, Words())
    (vault / "Note.md").write_text("# Note\n")
    name, least = floor(vault)
    say(f"{name}: {seconds(least)}")
    home = work / "pdfs-home"
    home.mkdir()
    with Server(vault, home, VAULT_AGENT_INDEX_ATTACHMENTS="pdf") as server:
        first = settled(server)
        chunks = server.call("GET", "/health")["index"]["chunks"]
        time.sleep(SETTLE_SECONDS)
        (vault / "Papers").rename(vault / "Books")
        renamed = server.run("index")
        again = server.run("reindex")
        texts = disk_bytes(server.index_dir)
    print(f"{count:,} PDFs of {PAGES} pages, {chunks:,} chunks; index folder {texts / 1e6:.0f} MB")
    print("| | seconds | times the floor |\n|---|---:|---:|")
    rows = ((name, least), ("first run", first), ("all renamed", renamed), ("reindex", again))
    for what, taken in rows:
        print(f"| {what} | {taken:.1f} | {taken / least:.1f} |")


def measure_searches(work: Path, notes: int, chunks: int) -> None:
    """Print the latency of searches over notes, and over notes with text files."""
    vault = work / "texts"
    plan = Vault(notes)
    plan.write(vault)
    write_texts(vault / "Logs", chunks, Words(5))
    asked = queries(plan.vocabulary, SEARCHES)
    print("\n| searched | chunks | p50 | p95 | index folder | first run |")
    print("|---|---:|---:|---:|---:|---:|")
    for kinds in ("", "text"):
        home = work / f"home-{kinds or 'notes'}"
        home.mkdir()
        with Server(vault, home, VAULT_AGENT_INDEX_ATTACHMENTS=kinds) as server:
            first = settled(server)
            time.sleep(SETTLE_SECONDS)
            held = server.call("GET", "/health")["index"]["chunks"]
            for query in asked[:100]:
                server.search(query)
            taken = [server.search(query) for query in asked]
            p50, p95 = (seconds(percentile(taken, share)) for share in (0.5, 0.95))
            size = f"{disk_bytes(server.index_dir) / 1e6:.0f} MB"
            what = "notes and text files" if kinds else "notes"
            print(f"| {what} | {held:,} | {p50} | {p95} | {size} | {first:.1f} s |", flush=True)


def main() -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pdfs", type=int, default=1_000, help="0: none")
    parser.add_argument("--chunks", type=int, default=100_000, help="of text files; 0: none")
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--work", type=Path, help="folder for temporary vaults and indexes")
    arguments = parser.parse_args()
    print(f"{machine()}; load before the run {busyness():.1f}.\n")
    with tempfile.TemporaryDirectory(dir=arguments.work) as folder:
        if arguments.pdfs:
            measure_pdfs(Path(folder), arguments.pdfs)
        if arguments.chunks:
            measure_searches(Path(folder), arguments.notes, arguments.chunks)


if __name__ == "__main__":
    main()
