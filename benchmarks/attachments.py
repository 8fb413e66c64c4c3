"""Attachments: reading PDFs beside the library alone.

    python -m benchmarks attachments                      1,000 PDFs of 20 pages
    python -m benchmarks attachments --pdfs 100

The PDFs are of made-up words, 2,400 characters a page. The floor reads each page of each with
PDFium, or with `pdftotext` if it is installed, in one process. `python -m benchmarks search
--attachments N` searches notes together with text files.
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
from tests.support.pdfs import pdf

from benchmarks.figures import machine, say, seconds, table
from benchmarks.server import SETTLE_SECONDS, Server, disk_bytes
from benchmarks.vault import Vocabulary

PAGES = 20
PAGE_CHARACTERS = 2_400
CHUNK_CHARACTERS = 1_800
CHUNKS_IN_A_FILE = 100
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
        self._words = Vocabulary(1).draw(np.random.default_rng(seed), 2_000_000)
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


def write_texts(folder: Path, chunks: int) -> None:
    """Write text files of a hundred chunks."""
    folder.mkdir(parents=True, exist_ok=True)
    words = Words(5)
    for number in range(chunks // CHUNKS_IN_A_FILE):
        paragraphs = (words.text(CHUNK_CHARACTERS) for _ in range(CHUNKS_IN_A_FILE))
        (folder / f"log {number}.txt").write_text("\n\n".join(paragraphs))


def write_pdfs(folder: Path, count: int) -> None:
    """Write PDFs of 20 pages."""
    folder.mkdir(parents=True)
    words = Words()
    for number in range(count):
        pages = [words.text(PAGE_CHARACTERS) for _ in range(PAGES)]
        (folder / f"paper {number}.pdf").write_bytes(pdf(pages))


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


def measure(work: Path, count: int) -> None:
    """Print how long a run over new PDFs takes, and what later runs pay."""
    vault, home = work / "vault", work / "home"
    write_pdfs(vault / "Papers", count)
    (vault / "Note.md").write_text("# Note\n")
    home.mkdir()
    name, least = floor(vault)
    say(f"{name}: {seconds(least)}")
    with Server(vault, home, VAULT_AGENT_INDEX_ATTACHMENTS="pdf") as server:
        first = server.settle()
        chunks = server.call("GET", "/health")["index"]["chunks"]
        time.sleep(SETTLE_SECONDS)
        (vault / "Papers").rename(vault / "Books")
        renamed = server.run("index")
        again = server.run("reindex")
        size = disk_bytes(server.index_dir)
    print(f"{count:,} PDFs of {PAGES} pages, {chunks:,} chunks; index folder {size / 1e6:.0f} MB")
    runs = ((name, least), ("first run", first), ("all renamed", renamed), ("reindex", again))
    rows = [(what, f"{spent:.1f}", f"{spent / least:.1f}") for what, spent in runs]
    print(table(("", "seconds", "times the floor"), *rows))


def main() -> None:
    """Parse the command line and measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pdfs", type=int, default=1_000)
    parser.add_argument("--work", type=Path, help="folder for temporary vaults and indexes")
    options = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory(dir=options.work) as folder:
        measure(Path(folder), options.pdfs)


if __name__ == "__main__":
    main()
