"""One table of what scalars of frontmatter are: for the index, replies, filters and edits.

The core schema of YAML 1.2 decides (yaml.org/spec/1.2.2, 10.3), and Obsidian's help on properties
for dates: `2024-01-05` and `2024-01-05T10:00:00`. The same table is in
docs/explanation/notes-chunks-and-links.md.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from vault_agent.markdown.frontmatter_edit import read_keys, set_keys
from vault_agent.markdown.parse import parse_note
from vault_agent.markdown.yaml_values import Json
from vault_agent.model.notes import PropertyType

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "notes-chunks-and-links.md"
TEXT, NUMBER, DATE = PropertyType.TEXT, PropertyType.NUMBER, PropertyType.DATE
BOOLEAN, EMPTY = PropertyType.BOOLEAN, PropertyType.EMPTY

TABLE: dict[str, tuple[PropertyType, Json]] = {
    "12": (NUMBER, 12),
    "-1.50": (NUMBER, -1.5),
    "010": (NUMBER, 10),
    "1e3": (NUMBER, 1000.0),
    "0x1F": (NUMBER, 31),
    "0o17": (NUMBER, 15),
    ".5": (NUMBER, 0.5),
    "1_000": (TEXT, "1_000"),
    "1,000": (TEXT, "1,000"),
    ".inf": (TEXT, ".inf"),
    "12:30": (TEXT, "12:30"),
    "true": (BOOLEAN, True),
    "FALSE": (BOOLEAN, False),
    "tRue": (TEXT, "tRue"),
    "yes": (TEXT, "yes"),
    "2024-01-05": (DATE, "2024-01-05"),
    "2024-01-05T10:00": (DATE, "2024-01-05T10:00"),
    "2024-01-05T10:00:30Z": (DATE, "2024-01-05T10:00:30Z"),
    "2024-01-05 10:00": (TEXT, "2024-01-05 10:00"),
    "~": (EMPTY, None),
    "null": (EMPTY, None),
    "Null": (EMPTY, None),
    "nUll": (TEXT, "nUll"),
    "'12'": (TEXT, "12"),
    '"true"': (TEXT, "true"),
    "!!str 12": (TEXT, "12"),
}
"""What is written: the type in the index, and the value in replies."""


@pytest.mark.parametrize("written", TABLE)
def test_the_index_replies_and_edits_agree_on_the_type(written: str):
    kind, value = TABLE[written]
    note = f"---\nkey: {written}\n---\n"
    (found,) = parse_note(note, path="a.md").properties
    read = read_keys(note.encode())["key"]
    assert (found.type, read) == (kind, value)
    assert type(read) is type(value)
    # An edit to the value that is there already changes nothing.
    assert not set_keys(note.encode(), {"key": value})


@pytest.mark.parametrize("written", TABLE)
def test_what_an_edit_writes_has_the_type_that_was_asked_for(written: str):
    kind, value = TABLE[written]
    (splice,) = set_keys(b"---\na: 1\n---\n", {"key": value})
    note = f"---\na: 1\n{splice.text.decode()}---\n"
    found = parse_note(note, path="a.md").properties[1]
    # A time with a zone is written in quotation marks: YAML 1.1 would change it.
    assert found.type == (TEXT if written.endswith("Z") else kind)
    assert read_keys(note.encode())["key"] == value


def test_the_table_is_in_the_documentation():
    rows = PAGE.read_text().splitlines()
    shown = {"1_000", "tRue", "0x1F", "0o17", "2024-01-05", "2024-01-05T10:00", "2024-01-05 10:00"}
    for written in shown:
        kind = TABLE[written][0]
        assert any(f"`{written}`" in row and f"| {kind} |" in row for row in rows), written
