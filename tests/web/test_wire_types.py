"""The page's types of replies are those of the models."""

from __future__ import annotations

import json
import re

from tests.web.wire_types import FILE, declarations

from vault_agent.model.lists import ListedNote
from vault_agent.model.values import dump


def test_the_types_of_replies_are_made_from_the_models():
    assert FILE.read_text("utf-8") == declarations(), "run `python -m tests.web.wire_types`"


def test_a_field_that_may_be_left_out_is_declared_so():
    declared = re.search(r"interface ListedNote \{(.*?)\n  \}", declarations(), re.DOTALL)
    assert declared
    fields = dict(re.findall(r"^    (\w+)(\??):", declared[1], re.MULTILINE))
    row = ListedNote(
        note_id="1", path="a.md", title="A", type=None, tags=(), created=None,
        updated="2026-01-02", excerpt="", connections=0,
    )  # fmt: skip
    sent = set(json.loads(dump(row)))
    assert {name for name, mark in fields.items() if not mark} == sent
    assert set(fields) > sent


def test_a_longer_route_is_declared_before_one_that_fits_it_too():
    routes = re.findall(r"Asked extends `([^`]+)` \? (\w+)", declarations())
    asked = {
        "GET /notes/1": "NoteContent",
        "GET /notes/1/html": "RenderedNote",
        "GET /notes": "NoteList",
    }
    for address, data in asked.items():
        fits = (
            each for path, each in routes if re.fullmatch(re.sub(r"\$\{\w+\}", ".*", path), address)
        )
        assert next(fits) == data
