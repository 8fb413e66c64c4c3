"""Notes made to hurt: each takes at most half a second more than its size's fair share."""

from __future__ import annotations

import time

import pytest

from vault_agent.markdown.parse import parse_note

FAIR_CHARS_A_SECOND = 4e6  # on a slow, busy machine
NOTES = {
    "brackets": "[" * 60_000,
    "images": "![" * 100_000,
    "nested images": "![" * 5_000 + "x" + "](a)" * 5_000,
    "quotes": "> " * 10_000 + "x",
    "lists": "- " * 10_000 + "x",
    "indented lists": "".join("  " * level + "- a\n" for level in range(1_000)),
    "headings": "# h\n" * 100_000,
    "headings with text": "# h\nx\n" * 100_000,
    "headings with accents": "# é\n" * 50_000,
    "as many sections as are kept": ("# h\n" + "word " * 40 + "\n") * 9_500,
    "sections of many blocks": ("# h\n" + "x\n\n" * 900) * 200,
    "one long heading": "# " + "x" * 1_000_000,
    "one line of words": "word " * 400_000,
    "one word": "x" * 2_000_000,
    "one line of dots": "." * 2_000_000,
    "accents": "e" + "\u0301" * 1_000_000,
    "open wikilinks": "[[a|" * 200_000,
    "open comments": "<!--" * 100_000,
    "comment marks": "%% " * 100_000,
    "comment marks in paragraphs": "a %%\n\n" * 100_000,
    "comments and fences": "%%\n```\n" * 50_000,
    "open tags": "<a " * 200_000,
    "hashes": "#" * 1_000_000,
    "tags": "#a " * 100_000,
    "emphasis": "a**b" * 100_000 + "_c" * 100_000,
    "backticks": "".join("`" * count + " " for count in range(1, 800)),
    "backslashes": "\\" * 1_000_000 + "[[x]]",
    "references": "".join(f"[r{n}]: x\n" for n in range(20_000)) + "[r1] " * 20_000,
    "a wide table": "|a" * 5_000 + "|\n" + "|-" * 5_000 + "|\n" + "|a|\n" * 2_000,
    "blank lines": "a" + "\n" * 1_000_000 + "b",
    "spaces": ("a" + " " * 5_000) * 200,
    "NUL": "a\0" * 200_000,
    "lone surrogates": "a\ud800" * 200_000,
    "carriage returns": "a\r" * 200_000,
    "CRLF": "a\r\n\r\n" * 200_000,
    "sentences": "a. " * 300_000,
    "code": "```\n" + "x = 1\n" * 200_000,
    "quoted blanks": ("a\n" + "> " * 3_000) * 100,
}


@pytest.mark.parametrize("name", NOTES)
def test_takes_its_fair_share_of_time(name):
    text = NOTES[name]
    allowed = 0.5 + len(text) / FAIR_CHARS_A_SECOND
    for _ in range(3):  # what takes too long takes it every time; a busy machine does not
        begin = time.process_time()
        note = parse_note(text, path="a.md")
        if time.process_time() - begin < allowed:
            break
    else:
        pytest.fail(f"took more than {allowed:.2f} s of processor time, three times")
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
