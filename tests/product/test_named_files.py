"""Attachments that commands find by their names."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.product.written import Written

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Written]:
    """Return a program that serves a vault with two files of one name."""
    made = Written(tmp_path_factory.mktemp("files"), "move,delete")
    made.write("Links.md", "![[a/p.png]] ![[only.png]]\n")
    for path in ("a/p.png", "b/c/p.png", "d/only.png"):
        made.write(path, "")
    with made.indexed() as program:
        yield program


def test_a_name_of_two_attachments_is_ambiguous(served: Written):
    ended = served.run("backlinks", "p.png")
    assert ended.returncode == 4
    assert "NOTE_AMBIGUOUS: 2 attachments have this name. Give its path." in ended.stderr
    assert "  a/p.png\n  b/c/p.png\n" in ended.stderr
    error = json.loads(served.run("backlinks", "p.png", "--json").stdout)["error"]
    assert [each["path"] for each in error["details"]["notes"]] == ["a/p.png", "b/c/p.png"]


@pytest.mark.parametrize("name", ["only.png", "a/p.png", "d/only.png"])
def test_backlinks_of_an_attachment_by_its_path_or_the_end_of_it(served: Written, name: str):
    assert "Links.md" in served.done("backlinks", name)


def test_backlinks_of_no_file(served: Written):
    assert "NOTE_NOT_FOUND" in served.run("backlinks", "none.png").stderr
