"""Every operation that takes a note's text needs processor time that grows linearly with it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import date

import pytest
from tests.markdown.rendering import html_of
from tests.support.clocks import assert_linear

from vault_agent.errors import VaultAgentError
from vault_agent.markdown.address import PartAddress
from vault_agent.markdown.document import Document
from vault_agent.markdown.edit import append, overwrite, prepend
from vault_agent.markdown.frontmatter_edit import set_keys
from vault_agent.markdown.parse import parse_note
from vault_agent.markdown.replace import replace
from vault_agent.markdown.section_edit import edit_section
from vault_agent.markdown.tag_edit import edit_tags
from vault_agent.markdown.task_edit import Status, TaskAddress, set_status

UNITS = (
    "==a== *b* ", "\\* ", "^[a] ", "[^1] ", "^[", "![[", "[", "*a_ ", "<a ", "**a **", "![[a]] ",
    "[a](b) ", "%% ", "> ", "- a\n", "# b\n", "a ^b\n\n", "|a|b|\n|-|-|\n", "#tag ", "~~a~~ ",
    "<div>\n\n", "<details>", "<b title={}><p>", "<b title={}>\n\n", "<b><div>", "<dd><li>",
    "<ul><dd><li>", "<table><b>", "> [!note] ", "## b\n### b\n",
    "- [ ] a 📅 2026-01-01\n", "a: b\n", "[[a|", "$a$ ",
    "# b\n[[#b]] [[#c]]\n", "# b\n[[#x{}#b]] [a](#y{})\n",
    "[[a", "`a", "<!--", "<img src='", "</a>", "http://a))) ", "http://a....", "https://x?y&z;",
    "x\n=\n", "- a ^b\n", "%%\n# x ^b\n", "```\n# x\n", "\r\n",
    " 📅 2025-01-01", "[due:: ", "[id:: a] ", "⛔ a, b", "\u00a0", "k{}:\n", "- é\n", "a, ", "? ",
)  # fmt: skip
"""Hostile pieces of text. `{}` is the number of the repetition."""

WITNESSES = (
    "^[",
    "![[a]] ",
    "> ",
    "<b title={}><p>",
    "<ul><dd><li>",
    "# b\n[[#x{}#b]] [a](#y{})\n",
    "[[a",
    "http://a))) ",
    "https://x?y&z;",
    "x\n=\n",
    "- a ^b\n",
    "[due:: ",
    "\u00a0",
    "k{}:\n",
    "- é\n",
)
"""One of each kind for the short run. The long tests have all."""
OTHERS = [pytest.param(unit, marks=pytest.mark.long) for unit in UNITS if unit not in WITNESSES]

CHARACTERS = 3_000
TODAY = date(2026, 1, 2)


def repeated(unit: str, times: int) -> str:
    """Return a text of about `times` times `CHARACTERS` that repeats a unit."""
    return "".join(unit.replace("{}", str(i)) for i in range(CHARACTERS // len(unit) * times))


def refusable(work: Callable[[str], object]) -> Callable[[str], None]:
    """Return the operation without its refusals: a hostile note may have no such part."""

    def run(text: str) -> None:
        with suppress(VaultAgentError):
            work(text)

    return run


OPERATIONS = {
    "outline": lambda text: (Document(text).sections, Document(text).blocks),
    "tasks": lambda text: Document(text).tasks,
    "headings": lambda text: Document(text).headings.find(("a", "b")),
    "tags": lambda text: edit_tags(text.encode(), ["x"], ["b"], "both"),
    "section": lambda text: edit_section(
        text.encode(), PartAddress(("b",)), "append", "x", create_if_missing=True
    ),
    "heading": lambda text: edit_section(
        f"# a\n{text}".encode(), PartAddress(("a",)), "renameHeading", "c"
    ),
    "block": lambda text: edit_section(text.encode(), PartAddress(block_id="b"), "append", "x"),
    "properties": lambda text: set_keys(
        f"---\n{text}\n---\nbody\n".encode(), {"a": 1, "k": ["b"]}, ["b"]
    ),
    "properties in a long line": lambda text: set_keys(
        f"---\na: {text!r}\n---\n".encode(), {"a": 1}
    ),
    "append": lambda text: append(text.encode(), "x", blank_line=True),
    "prepend": lambda text: prepend(text.encode(), "x", blank_line=True),
    "overwrite": lambda text: overwrite(text.encode(), f"x\n{text[1:]}"),
    "replace": lambda text: replace(text.encode(), "a", "b", expected_count=None),
    "regex": lambda text: replace(
        text.encode(), "([ab])", r"\1\1", regex=True, whole_word=True, expected_count=None
    ),
    "task": lambda text: set_status(
        f"- [ ] {text}\n\n- [ ] do it\n".encode(), TaskAddress(0, text="do it"), Status.DONE, TODAY
    ),
    "parsing": lambda text: parse_note(text, path="a.md"),
}


@pytest.mark.parametrize("unit", [*WITNESSES, *OTHERS])
def test_rendering_takes_linear_time(unit: str):
    assert_linear(lambda times: repeated(unit, times), html_of)


@pytest.mark.long
@pytest.mark.parametrize(("unit", "size"), [("==a== *b* ", 16), ("^[a] ", 8), ("\\*", 32)])
def test_rendering_a_large_hostile_note_takes_linear_time(unit: str, size: int):
    assert_linear(lambda times: repeated(unit, size * times), html_of)


@pytest.mark.parametrize("name", OPERATIONS)
def test_reading_and_editing_take_linear_time(name: str):
    for unit in WITNESSES:
        assert_takes_linear_time(name, unit, times=1)


@pytest.mark.long
@pytest.mark.parametrize("name", OPERATIONS)
def test_reading_and_editing_longer_notes_take_linear_time(name: str):
    for unit in UNITS:
        assert_takes_linear_time(name, unit, times=4)


def assert_takes_linear_time(name: str, unit: str, *, times: int) -> None:
    try:
        assert_linear(lambda parts: repeated(unit, times * parts), refusable(OPERATIONS[name]))
    except AssertionError as error:
        error.add_note(repr(unit))
        raise


def test_the_html_of_a_hostile_note_grows_linearly():
    for unit in UNITS:
        small, large = (repeated(unit, times) for times in (1, 4))
        assert len(html_of(large).html) < 5 * len(html_of(small).html) + len(large), unit


def test_embedding_one_large_note_many_times_gives_a_page_of_bounded_size():
    page = html_of("![[Big]]\n\n" * 200, Big="# A heading\n\n" * 20_000)
    assert len(page.html) < 30 << 20
    assert 'class="internal"' in page.html  # the notes that are not shown are links


def test_unclosed_elements_beyond_the_limit_are_shown_as_text():
    html = html_of("<b><i>" * 50).html
    assert html.count("&lt;b&gt;") == html.count("&lt;i&gt;") == 20


def test_elements_that_end_do_not_count_towards_the_limit():
    listed = "<ul><li>a<li>b</ul> <dl><dt>c<dd>d</dl> <p>e <b>f</b> <details>g</details>\n\n"
    assert "&lt;" not in html_of(listed * 100).html
