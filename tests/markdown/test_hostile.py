"""Notes made to hurt: the time that each takes grows with its size, and nothing of it is lost."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from vault_agent.markdown.parse import parse_note

if TYPE_CHECKING:
    from collections.abc import Callable

# Each makes a note of a size: four times the size may take little more than four times as long.
MADE: dict[str, Callable[[int], str]] = {
    "brackets": lambda size: "[" * 15_000 * size,
    "images": lambda size: "![" * 25_000 * size,
    "nested images": lambda size: "![" * 1_250 * size + "x" + "](a)" * 1_250 * size,
    "quotes": lambda size: "> " * 2_500 * size + "x",
    "lists": lambda size: "- " * 2_500 * size + "x",
    "indented lists": lambda size: "".join("  " * n + "- a\n" for n in range(500)) * size,
    "headings": lambda size: "# h\n" * 25_000 * size,
    "headings with text": lambda size: "# h\nx\n" * 25_000 * size,
    "headings with accents": lambda size: "# é\n" * 12_500 * size,
    "as many sections as are kept": lambda size: ("# h\n" + "word " * 40 + "\n") * 2_375 * size,
    "sections of many blocks": lambda size: ("# h\n" + "x\n\n" * 900) * 50 * size,
    "one long heading": lambda size: "# " + "x" * 250_000 * size,
    "one line of words": lambda size: "word " * 100_000 * size,
    "one word": lambda size: "x" * 500_000 * size,
    "one line of dots": lambda size: "." * 500_000 * size,
    "accents": lambda size: "e" + "\u0301" * 250_000 * size,
    "open wikilinks": lambda size: "[[a|" * 50_000 * size,
    "wikilinks": lambda size: "[[b]]" * 25_000 * size,
    "wikilinks in brackets": lambda size: "[[[a] b]]" * 10_000 * size,
    "open comments": lambda size: "<!--" * 25_000 * size,
    "comment marks": lambda size: "%% " * 25_000 * size,
    "comment marks in paragraphs": lambda size: "a %%\n\n" * 25_000 * size,
    "comments and fences": lambda size: "%%\n```\n" * 12_500 * size,
    "open tags": lambda size: "<a " * 50_000 * size,
    "hashes": lambda size: "#" * 250_000 * size,
    "tags": lambda size: "#a " * 25_000 * size,
    "different tags": lambda size: " ".join(f"#t{n}" for n in range(20_000 * size)),
    "emphasis": lambda size: "a**b" * 25_000 * size + "_c" * 25_000 * size,
    "backticks": lambda size: "".join("`" * count + " " for count in range(1, 400)) * size,
    "backslashes": lambda size: "\\" * 250_000 * size + "[[x]]",
    "references": lambda size: (
        "".join(f"[r{n}]: x\n" for n in range(5_000 * size)) + "[r1] " * 5_000 * size
    ),
    "open definitions": lambda size: ("[" + "a" * 50 + "\n") * 4_000 * size + "\n[b]: c\n\n[b]",
    "a wide table": lambda size: "|a" * 5_000 + "|\n" + "|-" * 5_000 + "|\n" + "|a|\n" * 500 * size,
    "blank lines": lambda size: "a" + "\n" * 250_000 * size + "b",
    "spaces": lambda size: ("a" + " " * 5_000) * 50 * size,
    "NUL": lambda size: "a\0" * 50_000 * size,
    "lone surrogates": lambda size: "a\ud800" * 50_000 * size,
    "carriage returns": lambda size: "a\r" * 50_000 * size,
    "CRLF": lambda size: "a\r\n\r\n" * 50_000 * size,
    "sentences": lambda size: "a. " * 75_000 * size,
    "code": lambda size: "```\n" + "x = 1\n" * 50_000 * size,
    "quoted blanks": lambda size: ("a\n" + "> " * 3_000) * 25 * size,
    "open boxes": lambda size: "- [ ] " * 25_000 * size,
    "carets": lambda size: "^a " * 50_000 * size,
}


@pytest.mark.parametrize("name", MADE)
def test_takes_its_fair_share_of_time(name):
    """Four times the size may take about four times as long: quadratic work takes sixteen."""
    ratio = 0.0
    for runs in (1, 2, 3, 4):  # what is not linear is so every time; a busy machine is not
        ratio = cost(MADE[name](4), runs) / cost(MADE[name](1), runs)
        if ratio < 8:
            return
    pytest.fail(f"four times the size took {ratio:.1f} times as long")


def cost(text: str, runs: int) -> float:
    """Return the processor time that parsing takes at best."""
    times = []
    for _ in range(runs):
        begin = time.process_time()
        parse_note(text, path="a.md")
        times.append(time.process_time() - begin)
    return min(times) + 0.002  # where both take next to nothing, neither is quadratic


@pytest.mark.parametrize("name", MADE)
def test_the_chunks_are_the_text(name):
    text = MADE[name](1)
    note = parse_note(text, path="a.md")
    clean = text.replace("\0", "\ufffd").replace("\ud800", "\ufffd")
    assert "".join(chunk.text for chunk in note.chunks) == clean


def test_names_without_an_end_are_cut():
    """A heading is kept with every chunk below it: a long one would be kept a thousand times."""
    long = "x" * 100_000
    note = parse_note(
        f"# {long}\n\n[{long}](a.md)\n\n" + "more text\n\n" * 2_000,
        path="a.md",
    )
    kept = [
        note.title,
        *(anchor.name for anchor in note.anchors),
        *(name for chunk in note.chunks for name in chunk.heading_path),
    ]
    kept += [link.text or "" for link in note.links]
    assert len(kept) > 10
    assert max(map(len, kept)) == 500
    assert max(len(anchor.name) for anchor in note.anchors) == 200
