"""Details that a person sees each day: tables, code, properties, filters and names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from tests.support.program import Program
from tests.web.browsers import expect
from tests.web.conftest import serve
from tests.web.desk import Desk

if TYPE_CHECKING:
    from playwright.sync_api import Browser

WIDE = (
    "# Wide\n\n| " + " | ".join(f"column {n}" for n in range(40)) + " |\n|" + "---|" * 40 + "\n\n"
    "```diff\n+ added " + "and more " * 40 + "\n- gone\n```\n"
)
TYPED = (
    "---\ntype: decision\ndue: 2026-03-01\ndone: false\nsize:\n  x: 1\n  y: 2\n"
    "links: ['[[Wide]]']\n---\n# Of a kind\n\nSee [[Wide]].\n"
)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Program]:
    """Serve a vault with a wide note and one with properties."""
    notes = {"Wide.md": WIDE, "Of a kind.md": TYPED}
    yield from serve(tmp_path_factory.mktemp("details"), more=3, writable=True, notes=notes)


def test_properties_are_shown_by_their_kind(desk: Desk):
    page = desk.open("/notes/Of a kind")
    shown = page.locator(".side .props dd")
    expect(shown.locator("time")).to_have_text("Mar 1, 2026")
    expect(shown.filter(has_text="x: 1")).to_contain_text("y: 2")
    expect(shown.get_by_role("link", name="Wide")).to_be_visible()


def test_a_note_has_the_sign_of_its_kind_or_none(desk: Desk):
    page = desk.open("/notes/Wide")
    expect(page.locator(".back .ref", has_text="Of a kind")).to_be_visible()
    expect(page.locator(".back .ref svg")).to_have_count(0)
    page.keyboard.press("Control+k")
    page.get_by_role("dialog").get_by_role("combobox").fill("Of a kind")
    option = page.locator(".option", has_text="Of a kind").first
    expect(option.locator("use").first).to_have_attribute("href", "#t-decision")


def test_filters_keep_their_order_while_one_types(desk: Desk):
    page = desk.open("/notes")
    chips = page.locator(".chip:has(.t) > .cut")
    expect(chips.first).to_be_visible()
    before = chips.all_inner_texts()
    page.locator("#find").fill("frost")
    expect(page.locator(".row mark").first).to_be_visible()
    assert chips.all_inner_texts() == before
    assert "0" not in page.locator(".chip .n").all_inner_texts()


def test_the_list_is_fetched_once(desk: Desk):
    page = desk.open("/settings")
    asked: list[str] = []
    page.on("request", lambda request: "/notes?sort=" in request.url and asked.append(request.url))
    page.evaluate("history.replaceState(null, '', '#/notes')")  # nothing hears of it
    page.reload()
    expect(page.locator(".row").first).to_be_visible()
    expect(page.locator(".stats")).to_contain_text("Live")
    assert len(asked) == 1, asked


def test_a_new_note_goes_into_the_folder_in_focus(desk: Desk):
    page = desk.open("/notes/Wide")
    page.keyboard.press("f")
    folder = page.get_by_role("treeitem", name="journal")
    folder.focus()
    page.keyboard.press("Alt+n")
    expect(page.get_by_role("combobox", name="Folder")).to_have_value("journal")


def test_warnings_beyond_the_first_are_counted_and_lead_to_their_notes(desk: Desk):
    page = desk.open("/settings")
    warnings = [
        {"code": "FRONTMATTER_PARSE_FAILED", "message": "It was not read.", "details": {"path": f"N{n}.md"}}
        for n in range(28)
    ]  # fmt: skip

    def warned(route):
        body = route.fetch().json()
        body["data"]["jobs"][0] |= {"warnings": warnings, "warningCount": 28}
        route.fulfill(json=body)

    page.route("**/jobs", warned)
    page.evaluate("location.hash = '#/jobs'")
    page.get_by_text("28 warnings").click()
    log = page.locator(".log li")
    expect(log.last).to_have_text("8 more")
    expect(log.first.get_by_role("link", name="N0.md")).to_have_attribute("href", "#/notes/N0")
