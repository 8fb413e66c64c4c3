"""The range of each link contains it as written."""

from __future__ import annotations

import html
import re
from pathlib import Path
from urllib.parse import unquote

import pytest
from tests.markdown.test_hostile import notes

from vault_agent.markdown.parse import parse_note
from vault_agent.model.notes import LinkKind
from vault_agent.vault.read import decode

VAULT = Path(__file__).parents[2] / "fixtures" / "vault"
DECODED = (LinkKind.MARKDOWN, LinkKind.IMAGE)

WRITTEN = """---
up: "[[Ünder|x]]"
links:
  - '![[Bild.png]]'
  - "[é](Ordner/Note%20eins.md#teil)"
  - folder/plain.md
---
# Überschrift [[Ziel#Teil|Anzeige]] 日本

ä [[ Mit Raum ]] ![[bild.png|300]] [ö *x*]( <my note.md#a> "Titel") ![é](p%20q.png 'x')
| [[a\\|b]] | [[[1] c [2]]] |

- [ ] 日本 task [[in task]]
> - [x] done 🗓
  1. [-] third

[ref][Lab El] [lab el] [other]: [esc](a\\_b&amp;c.md) <https://u:p@Host.example:80/path?q=1#f>
[web](https://a.b/c_d?e) `[[not]]` [self](#part) [broken][none]

[lab  el]: <ref target.md#x>
    'title'
"""


def read_back(data: bytes) -> int:
    """Compare every place of a note with its text and return the number of places."""
    text, _ = decode(data, "a.md")
    note = parse_note(text, path="a.md")
    count = 0
    for link in note.links:
        if link.span is None:
            continue
        written = text[slice(*link.span)]
        if link.kind in DECODED or link.target != written:
            written = html.unescape(re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", written))
            written = unquote(written).replace("\0", "\ufffd")
        assert written == link.target
        count += 1
        if link.place is not None and link.chunk is not None:
            chunk = note.chunks[link.chunk].text
            if link.place[1] <= len(chunk):  # a border of chunks may cut it
                assert re.fullmatch(r"!?\[.*[\])]", chunk[slice(*link.place)], re.DOTALL)
    return count


@pytest.mark.parametrize("path", sorted(VAULT.rglob("*.md")), ids=lambda path: path.name)
def test_places_in_every_fixture_match_their_text(path):
    read_back(path.read_bytes())


@pytest.mark.parametrize("name", [name for name in notes(1) if name != "NUL"])
def test_places_in_hostile_notes_match_their_text(name):
    read_back(notes(1)[name][:20_000].encode("utf-8", "replace"))


@pytest.mark.parametrize("before", [b"", b"\xef\xbb\xbf"], ids=["plain", "byte order mark"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
def test_places_of_every_link_style_match_their_text(before, line_end):
    data = before + WRITTEN.replace("\n", line_end).encode()
    note = parse_note(decode(data, "a.md")[0], path="a.md")
    assert [link.target for link in note.links if link.span is None] == []
    assert len(note.links) == 16
    assert len(note.tasks) == 3
    assert [link.url for link in note.external_links] == [
        "https://Host.example:80/path",
        "https://a.b/c_d",
    ]
    assert read_back(data) == 16


def test_a_target_that_yaml_escapes_has_no_place():
    note = parse_note('---\nup: "[[\\u0041]]"\n---\n', path="a.md")
    assert [(link.target, link.span) for link in note.links] == [("A", None)]


def test_a_link_has_its_column_and_chunk():
    note = parse_note("# One\nä [[x]]\n# Two\n[y](z.md) <https://a.b>\n", path="a.md")
    assert [(link.line, link.column, link.chunk) for link in note.links] == [(2, 3, 0), (4, 1, 1)]
    assert [link.place for link in note.links] == [(8, 13), (6, 15)]
    assert [(link.line, link.column) for link in note.external_links] == [(4, 11)]


def test_credentials_in_a_url_are_not_kept():
    note = parse_note("[x](https://user:pw@Example.org/p?token=1#t) <ftp://h/f>", path="a.md")
    assert [link.url for link in note.external_links] == ["https://Example.org/p", "ftp://h/f"]
    assert note.links == ()
