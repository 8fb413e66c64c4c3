"""The list beside the note that is read, and the quiet of what says nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tests.web.browsers import expect

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route


def changing(change: Callable[[Any], None]) -> Callable[[Route], None]:
    """Return a handler that changes the data of a reply."""

    def answer(route: Route) -> None:
        reply = route.fetch()
        body = reply.json()
        change(body["data"])
        route.fulfill(response=reply, json=body)

    return answer


def test_the_opened_note_is_shown_in_the_list(
    visit: Callable[..., Page], note_id: Callable[..., str]
):
    page = visit(f"/notes/{note_id('Note 0050')}")
    expect(page.locator(".rows .row[aria-current=true] h2")).to_have_text("Note 0050")
    expect(page.locator(".rows .row[aria-current=true]")).to_be_in_viewport(ratio=1)
    assert page.locator(".opened").count() == 0
    page.goto(f"{page.url.partition('#')[0]}#/notes/{note_id('Note 0220')}")
    expect(page.locator(".opened .row[aria-current=true] h2")).to_have_text("Note 0220")
    expect(page.locator(".facts time")).to_be_visible()  # its row is not loaded: the note says it


def test_the_name_of_the_file_stands_beside_another_title(
    visit: Callable[..., Page], note_id: Callable[..., str]
):
    frost = note_id("Frost alarm")
    page = visit(f"/notes/{frost}?q=probe+fires")
    row = page.locator(f".row[data-note='{frost}']")
    expect(row.locator(".file")).to_have_text("Frost alarm")
    expect(page.locator(".crumb")).to_contain_text("Frost alarm")
    expect(page.locator(".crumb")).not_to_contain_text("fires")


def test_tags_are_offered_by_their_number(visit: Callable[..., Page]):
    page = visit()
    page.get_by_role("button", name="Tags").click()
    expect(page.get_by_role("menuitemcheckbox").first).to_contain_text("230")
    shown = page.locator("[role=menu] .entry:not(:has(> span:not(.n))) .n").all_inner_texts()
    assert [int(each) for each in shown] == sorted(map(int, shown), reverse=True)


def test_without_types_and_values_nothing_stands_for_them(
    visit: Callable[..., Page], note_id: Callable[..., str]
):
    page = visit()
    frost = note_id("Frost alarm")

    def untyped(data: Any) -> None:
        data["types"] = [{"type": None, "count": 243}]

    def poor(data: Any) -> None:
        badge = (
            '<span class="remote" data-url="https://b.example/{}" data-host="b.example">x</span>'
        )
        badges = f"<p>{'<br>'.join(map(badge.format, range(3)))} and text</p>"
        data["html"] = f"{badges}<h1>{data['title']}</h1>"
        data["properties"] = [
            {"key": "aliases", "values": [], "isList": True},
            {"key": "rating", "values": [{"text": "5", "noteId": None}], "isList": False},
        ]

    page.route("**/stats", changing(untyped))
    page.route(f"**/notes/{frost}/html", changing(poor))
    page.reload()
    page.goto(f"{page.url.partition('#')[0]}#/notes/{frost}")
    expect(page.locator(".props dt")).to_have_text(["rating"])
    expect(page.locator(".remote")).to_have_text("3 pictures not loaded from b.example")
    assert page.locator(".prose p br").count() == 0
    expect(page.locator(".prose h1")).to_be_hidden()  # the title is shown once
    assert page.locator(".row .t, .facts .kind").count() == 0


def test_the_focus_returns_where_it_was(visit: Callable[..., Page]):
    page = visit()
    expect(page.locator(".rows .row").first).to_be_visible()
    page.keyboard.press("j")
    row = page.locator(".rows .row").first
    expect(row).to_be_focused()
    for keys, dialog in (("?", "Keys"), ("Control+k", "")):
        page.keyboard.press(keys)
        expect(page.locator("dialog[open]", has_text=dialog)).to_be_visible()
        page.keyboard.press("Escape")
        expect(row).to_be_focused()


def test_many_notes_have_compact_rows(visit: Callable[..., Page]):
    page = visit("/notes", viewport={"width": 1280, "height": 900})
    expect(page.locator(".scroll[data-rows=compact]")).to_be_visible()
    expect(page.locator(".rows .row").nth(11)).to_be_in_viewport(ratio=1)
    page.locator("#find").fill("frost")
    expect(page.locator(".scroll[data-rows=full]")).to_be_visible()


def test_the_edge_of_a_panel_is_dragged_and_kept(
    visit: Callable[..., Page], note_id: Callable[..., str]
):
    page = visit(f"/notes/{note_id('Frost alarm')}")
    expect(page.locator(".side")).to_be_visible()

    def width(panel: str) -> float:
        return float(page.locator(panel).evaluate("each => each.getBoundingClientRect().width"))

    before = width(".list"), width(".side")
    edge = page.get_by_role("separator", name="Width of the list").bounding_box()
    page.mouse.move(edge["x"] + 3, 400)
    page.mouse.down()
    page.mouse.move(edge["x"] + 63, 400, steps=5)
    page.mouse.up()
    assert width(".list") == before[0] + 60
    page.get_by_role("separator", name="Width of the side panel").focus()
    page.keyboard.press("ArrowLeft")
    assert width(".side") == before[1] + 16
    page.reload()
    expect(page.locator(".side")).to_be_visible()
    assert (width(".list"), width(".side")) == (before[0] + 60, before[1] + 16)


def test_results_say_when_and_how_much_they_are_linked(visit: Callable[..., Page]):
    page = visit()
    page.locator("#find").fill("probes")
    row = page.locator(".rows .row", has_text="Frost alarm fires on two sensors")
    expect(row.locator("time")).to_have_attribute("datetime", "2026-03-21")
    expect(row.locator(".deg")).to_contain_text("connections")


def test_an_operator_is_completed(visit: Callable[..., Page]):
    page = visit()
    page.locator("#find").fill("dew tag:sens")
    options = page.locator("#completions option")
    expect(options.first).to_have_attribute("value", "dew tag:sensors ")
    page.locator("#find").fill("dew tag:sensors ")
    expect(page.get_by_role("button", name="Remove the filter sensors")).to_be_visible()
    page.locator("#find").fill("type:dec")
    expect(options).to_have_attribute("value", "type:decision ")


def test_a_note_about_which_nothing_is_known_has_no_side(
    visit: Callable[..., Page], note_id: Callable[..., str]
):
    page = visit(f"/notes/{note_id('Lonely')}")
    expect(page.locator(".prose")).to_contain_text("links nowhere")
    expect(page.locator(".side section")).to_have_count(0)
    expect(page.locator(".side")).to_be_hidden()
    page.goto(f"{page.url.partition('#')[0]}#/notes/{note_id('Sensor script')}")
    expect(page.locator(".side section").first).to_be_visible()


def test_escape_closes_the_drawer_that_a_button_opened(
    visit: Callable[..., Page], note_id: Callable[..., str]
):
    page = visit(f"/notes/{note_id('Frost alarm')}", viewport={"width": 820, "height": 900})
    page.get_by_role("button", name="Side panel").click()
    expect(page.locator(".side[data-drawer=true]")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".side[data-drawer=true]")).to_have_count(0)


def test_times_are_in_the_language_of_the_page(visit: Callable[..., Page]):
    page = visit()
    german = "() => Object.defineProperty(navigator, 'language', { get: () => 'de-DE' })"
    page.add_init_script(f"({german})()")
    page.reload()
    expect(page.locator(".stats")).to_contain_text("Last indexed")
    assert "vor " not in page.locator(".stats").inner_text()


def test_the_largest_kinds_are_counted(visit: Callable[..., Page]):
    def counted(data: Any) -> None:
        data["types"] = [
            {"type": kind, "count": count}
            for kind, count in (("journal", 1), ("decision", 2), ("module", 3), ("pattern", 6))
        ]

    page = visit()
    page.route("**/stats", changing(counted))
    page.reload()
    expect(page.locator(".stats")).to_contain_text("6 patterns")
    assert "1 journal" not in page.locator(".stats").inner_text()


def test_the_filters_are_one_stop_that_arrows_walk(visit: Callable[..., Page]):
    page = visit()
    chips = page.locator(".chip")
    expect(page.locator(".chips [tabindex='0']")).to_have_count(1)
    chips.first.focus()
    page.keyboard.press("ArrowRight")
    expect(chips.nth(1)).to_be_focused()
    page.keyboard.press("End")
    expect(chips.last).to_be_focused()
    expect(page.locator(".chips [tabindex='0']")).to_have_count(1)
    page.keyboard.press("Tab")
    expect(page.locator(".chips :focus")).to_have_count(0)


def test_results_of_a_search_can_begin_with_the_newest(visit: Callable[..., Page]):
    page = visit()

    def date(data: dict[str, Any]) -> None:
        for day, hit in enumerate(data["results"], start=1):
            hit["metadata"]["updated"] = f"2025-01-{1 + day * 7 % 28:02}"

    page.route("**/search", changing(date))
    page.locator("#find").fill("note")
    times = page.locator(".row time")
    expect(times.first).to_have_attribute("datetime", "2025-01-08")
    page.get_by_role("button", name="Order: Best match").click()
    page.get_by_role("menuitemradio", name="Updated").click()
    expect(times.first).to_have_attribute("datetime", "2025-01-22")
    page.get_by_role("button", name="Order: Updated").click()
    page.get_by_role("menuitemradio", name="Best match").click()
    expect(times.first).to_have_attribute("datetime", "2025-01-08")


def test_a_title_that_is_cut_is_told_in_full(visit: Callable[..., Page]):
    page = visit("/notes?q=joiners")
    expect(page.locator(".row h2")).to_have_attribute("title", re.compile("Emoji .* and joiners"))
