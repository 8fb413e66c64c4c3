"""The place in a note is kept: a hit opens at the hit, and editing begins and ends where one reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from tests.support.program import Program
from tests.web.browsers import expect, held
from tests.web.conftest import serve
from tests.web.desk import Desk
from tests.web.vault import PICTURE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

LONG = "# Long\n\n" + "\n".join(
    f"## Section {number}\n\nThe text of part {number} goes on and on.\n" for number in range(120)
)


TOMATOES = (
    LONG.replace("# Long", "# A note to find the way to it")
    .replace("part 80 goes on", "part 80 has tomatoes to show")
    .replace("part 100 goes on", "part 100 has more tomatoes")
)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Program]:
    """Serve a vault with a long note that may be written."""
    notes = {"Long.md": LONG, "Tomatoes.md": TOMATOES}
    folder = tmp_path_factory.mktemp("places")
    yield from serve(folder, more=3, writable=True, notes=notes)


def in_view(page: Page, text: str) -> None:
    expect(page.locator(".prose > *", has_text=text).first).to_be_in_viewport()


def at_top(page: Page, text: str) -> None:
    """Scroll the reader so that a heading is at its top, as one who has pressed a key: till then the page stays."""
    page.keyboard.press("Shift")
    page.locator(".prose h2", has_text=text).first.evaluate("each => each.scrollIntoView()")


def marked(page: Page) -> list[str]:
    """Return the marked words, the one that was gone to last."""
    return page.evaluate(
        "['hits', 'hit'].flatMap((name) => [...(CSS.highlights.get(name) ?? [])].map(String))"
    )


def test_a_hit_opens_at_the_hit_and_leads_to_the_next(desk: Desk):
    page = desk.open("/notes?q=how+to+show+tomatoes")
    page.locator(".row", has_text="A note to find").click()
    in_view(page, "part 80 has tomatoes")
    counts = page.locator(".hits")
    words = marked(page)
    assert "tomatoes" in words
    assert "to" not in words, words
    expect(counts).to_contain_text(f"of {len(words)}")
    page.keyboard.press("n")
    if "show" in words:  # beside the tomatoes
        page.keyboard.press("n")
    in_view(page, "part 100 has more tomatoes")
    expect(counts).to_contain_text(f"{len(words)} of {len(words)}")
    page.keyboard.press("p")
    page.keyboard.press("p")
    in_view(page, "part 80 has tomatoes")
    page.reload()
    in_view(page, "part 80 has tomatoes")
    page.locator("#find").fill("")
    expect(counts).to_have_count(0)
    assert not marked(page)


def test_editing_begins_and_ends_where_one_reads(desk: Desk):
    page = desk.open(f"/notes/{desk.id_of('Long')}")
    at_top(page, "Section 80")
    page.keyboard.press("e")
    text = page.locator(".field-md .cm-content")
    expect(text).to_be_focused()
    expect(text.locator(".cm-line", has_text="Section 80")).to_be_in_viewport()
    text.locator(".cm-line", has_text="Section 80").click()
    page.keyboard.press("End")
    page.keyboard.insert_text(" changed")
    page.keyboard.press("Control+Shift+Enter")
    in_view(page, "Section 80 changed")
    desk.until("Long.md", "## Section 80 changed\n")
    at_top(page, "Section 40")
    place = (
        "each => each.getBoundingClientRect().x + parseFloat(getComputedStyle(each).paddingLeft)"
    )
    before = page.locator(".prose p").first.evaluate(place)
    page.keyboard.press("e")
    expect(text).to_be_focused()
    assert text.locator(".cm-line").first.evaluate(place) == before
    page.get_by_role("button", name="Done").click()
    in_view(page, "Section 40")
    line = page.evaluate("history.state.top")
    page.keyboard.press("e")
    expect(text).to_be_focused()
    page.get_by_role("button", name="Done").click()
    in_view(page, "Section 40")
    assert abs(page.evaluate("history.state.top") - line) < 1, "each round would move it on"


def test_a_task_is_ticked_while_reading(desk: Desk):
    text = "# Tasks\n\n- [ ] one\n- [x] two\n  - [ ] inner\n\n![[Ticked too]]\n"
    desk.program.write("Ticked too.md", "- [ ] elsewhere\n")
    desk.note("Ticked.md", text)
    page = desk.open(f"/notes/{desk.id_of('Ticked')}")
    boxes = page.locator(".prose .task input")
    expect(boxes).to_have_count(4)
    expect(boxes.nth(3)).to_be_disabled()  # of another note
    boxes.nth(2).click()
    desk.until("Ticked.md", "  - [x] inner")
    expect(boxes.nth(2)).to_be_checked()
    boxes.nth(1).focus()
    page.keyboard.press("Space")
    desk.until("Ticked.md", "- [ ] two")
    expect(boxes.nth(1)).not_to_be_checked()
    expect(boxes.nth(1)).to_be_focused()
    assert (
        desk.read("Ticked.md").decode().startswith("# Tasks\n\n- [ ] one\n- [ ] two\n  - [x] inner")
    )
    with held(page, "**/write/tasks/set"):
        boxes.nth(0).click()
        desk.program.write("Ticked.md", "# Tasks\n\n- [ ] zero\n- [ ] one\n")
    expect(page.locator(".toast")).to_contain_text("changed")
    expect(page.locator(".prose .task")).to_have_count(2)
    assert desk.read("Ticked.md").decode() == "# Tasks\n\n- [ ] zero\n- [ ] one\n"


def test_what_stands_in_a_note_leads_on(desk: Desk):
    desk.program.vault.joinpath("Dot.png").write_bytes(PICTURE)
    desk.note(
        "Leading.md",
        "---\nsource: https://example.org/x\n---\n# Leading\n\n> [!info] Of **bold** words\n> Text.\n\n"
        "A #frost/ground tag, [[Lonely]] and [[Lonely|again]].[^1]\n\n![[Dot.png]]\n\n[^1]: Said below.\n",
    )
    page = desk.open(f"/notes/{desk.id_of('Leading')}")
    prose = page.locator(".prose")
    expect(prose.locator(".footnote-ref a")).to_have_attribute("title", "Said below.")
    expect(prose.locator(".callout-title > span")).to_have_text("Of bold words")
    expect(page.locator(".side a", has_text="example.org")).to_have_attribute(
        "rel", "noopener noreferrer"
    )
    page.get_by_role("tab", name="Outgoing").click()
    expect(page.locator(".back .ref")).to_have_text("Nobody links heregarden/Lonely.md")
    prose.get_by_role("button", name="Show Dot.png large").click()
    expect(page.get_by_role("dialog", name="Dot.png")).to_be_visible()
    page.keyboard.press("Escape")
    prose.locator("a.tag", has_text="#frost/ground").click()
    expect(page.get_by_role("button", name="Remove the filter frost/ground")).to_be_visible()


def test_marks_follow_the_search_and_leave_words_of_the_page_alone(desk: Desk):
    desk.note("Marked.md", "# Marked\n\nQuinces and medlars.\n\n```tasks\nnot done\n```\n")
    page = desk.open(f"/notes/{desk.id_of('Marked')}?q=quinces+tasks")
    page.wait_for_function("() => CSS.highlights.get('hits')?.size > 0")
    assert {each.lower() for each in marked(page)} == {"quinces"}
    page.locator("#find").fill("medlars")
    page.wait_for_function("() => [...CSS.highlights.get('hits')].map(String).join() === 'medlars'")
    page.locator("#find").fill("")
    page.wait_for_function("() => !CSS.highlights.get('hits').size")


def test_properties_that_cannot_be_read_are_said_while_reading(desk: Desk):
    desk.note("Broken.md", "---\ntags: [a\n---\n# Broken head\n\nText.\n")
    page = desk.open(f"/notes/{desk.id_of('Broken')}")
    expect(page.get_by_text("The properties of this note cannot be read")).to_be_visible()
