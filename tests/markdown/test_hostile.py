"""Hostile notes: parsing time is linear in their length."""

from __future__ import annotations

import pytest
from tests.support.clocks import assert_linear

from vault_agent.markdown.parse import parse_note


def notes(n: int) -> dict[str, str]:
    """Return hostile notes of `n` parts each."""
    return {
        "brackets": "[" * 15_000 * n,
        "images": "![" * 12_000 * n,
        "nested images": "![" * 1_250 * n + "x" + "](a)" * 1_250 * n,
        "quotes": "> " * 2_500 * n + "x",
        "lists": "- " * 2_500 * n + "x",
        "indented lists": "".join("  " * level + "- a\n" for level in range(500)) * n,
        "headings": "# h\n" * 10_000 * n,
        "as many sections as are kept": ("# h\n" + "word " * 40 + "\n") * 2_375 * n,
        "sections of many blocks": ("# h\n" + "x\n\n" * 900) * 12 * n,
        "one section of many blocks": "# h\n" + "x\n\n" * 10_000 * n,
        "one long heading": "# " + "x" * 250_000 * n,
        "one line of words": "word " * 50_000 * n,
        "one word": "x" * 250_000 * n,
        "accents": "e" + "\u0301" * 125_000 * n,
        "open wikilinks": "[[a|" * 25_000 * n,
        "open comments": "<!--" * 25_000 * n,
        "comment marks": "%% " * 25_000 * n,
        "comments and fences": "%%\n```\n" * 12_500 * n,
        "open tags": "<a " * 25_000 * n,
        "hashes": "#" * 250_000 * n,
        "emphasis": "a**b" * 12_500 * n + "_c" * 12_500 * n,
        "backticks": "".join("`" * count + " " for count in range(1, 400)) * n,
        "backslashes": "\\" * 250_000 * n + "[[x]]",
        "references": "".join(f"[r{i}]: x\n" for i in range(5_000 * n)) + "[r1] " * 5_000 * n,
        "a wide table": "|a" * 1_250 * n + "|\n" + "|-" * 1_250 * n + "|\n" + "|a|\n" * 500,
        "a long table": "|a" * 50 + "|\n" + "|-" * 50 + "|\n" + "|a|\n" * 500 * n,
        "blank lines": "a" + "\n" * 250_000 * n + "b",
        "spaces": ("a" + " " * 1_250 * n) * 200,
        "NUL": "a\0" * 25_000 * n,
        "lone surrogates": "a\ud800" * 25_000 * n,
        "CRLF": "a\r\n\r\n" * 12_500 * n,
        "sentences": "a. " * 40_000 * n,
        "code": "```\n" + "x = 1\n" * 25_000 * n,
        "quoted blanks": ("a\n" + "> " * 3_000) * 25 * n,
        "wikilinks": "[[b]]" * 12_500 * n,
        "wikilinks in brackets": "[[[a] b]]" * 5_000 * n,
        "different tags": " ".join(f"#t{i}" for i in range(10_000 * n)),
        "open definitions": ("[" + "a" * 50 + "\n") * 4_000 * n + "\n[b]: c\n\n[b]",
        "open boxes": "- [ ] " * 12_500 * n,
        "carets": "^a " * 25_000 * n,
    }


@pytest.mark.fault(
    "Note contents",
    "a byte order mark, CRLF, NUL, an empty file, unclosed frontmatter, a gigabyte, "
    "one line of 2 MB, 100,000 headings, 10,000 nested lists or quotes",
    "indexed, or a warning; the time is proportional to the size",
)
@pytest.mark.parametrize("name", notes(1))
def test_parsing_time_is_linear(name):
    assert_linear(lambda n: notes(n)[name], lambda text: parse_note(text, path="a.md"))
    text = notes(1)[name]
    note = parse_note(text, path="a.md")
    clean = text.replace("\0", "\ufffd").replace("\ud800", "\ufffd")
    assert "".join(chunk.text for chunk in note.chunks) == clean


def test_very_long_names_are_cut():
    """Every chunk stores its headings, so a long heading would be stored a thousand times."""
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
