"""Hostile notes through the real program are indexed or cause a warning."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.program import Program

BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{name}: &{name} [{','.join([f'*{before}'] * 9)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
FRONTMATTER = {
    "alias bomb": BOMB,
    "brackets": "a: " + "[" * 60_000,
    "large": "a: " + "x" * 1_000_000,
    "no date": "date: 2024-02-30",
    "twice": "title: one\ntitle: two",
    "tabs": "a:\n\t- b",
    "deep": "a: " + "{b: " * 30_000,
}
BODIES = {
    "BOM": b"\xef\xbb\xbf# Heading\n\nneedle text\n",
    "CRLF": b"# Heading\r\n\r\nneedle text\r\n",
    "stray NUL": b"# Heading\n\nneedle \0 text\n" + b"words " * 200,
    "UTF-16": "# Heading\n\nneedle text\n".encode("utf-16"),
    "without end": b"---\ntitle: never closed\n\nneedle text\n",
    "one line": b"needle " + b"word " * 400_000,
    "headings": b"needle\n" + b"".join(b"# Heading %d\n" % n for n in range(100_000)),
    "nested list": b"needle\n\n" + b"".join(b"  " * n + b"- x\n" for n in range(1_000)),
    "nested quotes": b"needle\n\n" + b">" * 10_000 + b" deep\n",
    "brackets": b"needle " + b"[" * 50_000 + b"](" * 50_000,
    "links": b"needle " + b"[[a|" * 50_000,
    "empty": b"",
}


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    with Program(tmp_path) as made:
        yield made


def test_hostile_notes_are_indexed_or_warned_about(program: Program):
    for name, text in FRONTMATTER.items():
        program.write(f"front/{name}.md", f"---\n{text}\n---\nneedle of {name}\n")
    for name, content in BODIES.items():
        program.write(f"body/{name}.md", content)
    program.write("body/binary.md", b"\0\1" * 4096)
    program.write("body/huge.md", b"x" * (17 << 20))
    program.start()
    job = program.finish_first()
    assert job["state"] == "succeeded"
    assert job["summary"]["added"] == len(FRONTMATTER) + len(BODIES) + 1
    warned = {(warning["code"], warning["details"]["path"]) for warning in job["warnings"]}
    assert {path for code, path in warned if code == "FRONTMATTER_PARSE_FAILED"} >= {
        f"front/{name}.md" for name in FRONTMATTER if name not in ("no date", "twice")
    }
    assert ("FILE_BINARY", "body/binary.md") in warned
    assert ("FILE_TOO_LARGE_FOR_INDEXING", "body/huge.md") in warned
    assert "NOTE_PARSER_CRASHED" not in {code for code, _ in warned}
    found = program.search("needle", limit=50).data["results"]
    expected = {f"front/{name}.md" for name in FRONTMATTER}
    expected |= {f"body/{name}.md" for name in BODIES if name != "empty"}
    assert {result["path"] for result in found} == expected
