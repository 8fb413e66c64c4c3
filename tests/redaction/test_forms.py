"""Secrets in the forms of vendors, settings, commands and messages are removed, and no others."""

from __future__ import annotations

import json
import re

import pytest
from tests.support.secret_forms import (
    CONTEXTS,
    FORMS,
    HIDDEN,
    VENDORS,
    Planted,
    harmless,
    made,
)

from vault_agent.text.redaction import redact

SEEDS = range(5)


def left(planted: Planted, text: str) -> list[str]:
    """Return the secrets of which a text still has twelve characters, or all."""
    return [
        each
        for each in planted.secrets
        if each in text or any(each[at : at + 12] in text for at in range(len(each) - 11))
    ]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_secret_in_a_documented_form_is_removed(seed: int):
    for form in FORMS:
        planted = made(form, seed)
        done = redact(planted.text)
        assert left(planted, done.text) == [], done.text
        assert done.places, form.template


def test_there_are_enough_forms():
    assert len(VENDORS) > 150
    assert len(CONTEXTS) > 100
    assert len(HIDDEN) > 10
    assert len({each.template for each in FORMS}) == len(FORMS)


def test_a_secret_inside_other_text_is_removed_too():
    for form in (*VENDORS, *CONTEXTS):
        planted = made(form, 7)
        shown = json.dumps({"output": f"first line\n{planted.text}\nlast line"})
        quoted = json.dumps({"content": [{"text": shown}]})
        for text in (f"I ran it.\n\n{planted.text}\n\nIt works.", shown, quoted):
            done = redact(text).text
            assert left(planted, done) == [], done
            assert done.endswith(text[-4:]), form.template


def test_colours_and_marks_of_text_hide_no_token():
    for form in VENDORS:
        planted = made(form, 7)
        token = max(planted.secrets, key=len)
        middle = len(token) // 2
        found = f"\x1b[01;31m\x1b[K{token[:middle]}\x1b[m\x1b[K{token[middle:]}"
        shown = json.dumps(f"\x1b[31m{planted.text}\x1b[0m")
        for text in (
            f"\x1b[31m{planted.text}\x1b[0m",
            json.dumps(shown),
            planted.text.replace(token, found),  # as `grep --color` shows a match
            planted.text.replace("_", "\\_"),
            f"“{planted.text}”",
        ):
            seen = re.sub(r"\x1b\[[\d;]*[mK]|\\", "", redact(text).text)
            assert left(planted, seen) == [], seen


def test_lines_that_end_as_on_windows_hide_no_secret():
    for form in CONTEXTS:
        planted = made(form, 7)
        text = f"first\r\n{planted.text.replace(chr(10), chr(13) + chr(10))}\r\nlast\r\n"
        assert left(planted, redact(text).text) == [], form.template


def test_of_harmless_texts_none_is_changed():
    changed = [text for text in harmless(10_000) if redact(text).text != text]
    assert changed == []


def test_of_harmless_texts_in_one_piece_nothing_is_changed():
    text = "\n".join(harmless(3_000, seed=1))
    assert redact(text).text == text
