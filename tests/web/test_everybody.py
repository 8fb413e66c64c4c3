"""The page is for everybody: by keys alone, with a screen reader, at any width, in any direction."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support.waiting import eventually
from tests.web.browsers import Error, expect

if TYPE_CHECKING:
    from playwright.sync_api import Page

AXE = Path(__file__).parent / "axe" / "axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
WIDTHS = {"wide": (1440, 900), "phone": (390, 844)}


def violations(page: Page, rules: list[str]) -> list[str]:
    """Return what axe-core finds. It is evaluated by the browser's tools, which no policy hinders."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text("utf-8") + "; 0")
    # It takes a dialog for a modal one only once that is painted.
    page.evaluate("() => new Promise((then) => requestAnimationFrame(() => setTimeout(then)))")
    found = page.evaluate(
        "rules => axe.run(document, {runOnly: rules, resultTypes: ['violations']})", rules
    )
    return [
        f"{each['id']}: {each['nodes'][0]['html'][:160]} {each['nodes'][0]['failureSummary'][:160]}"
        for each in found["violations"]
    ]


def states(page: Page, frost: str) -> list[tuple[str, Callable[[], None]]]:
    """Return the states to look at, each with how it is reached."""

    def at(place: str, ready: str) -> Callable[[], None]:
        def go() -> None:
            page.evaluate("hash => location.hash = hash", f"#{place}")
            expect(page.locator(ready).first).to_be_visible()

        return go

    def press(keys: str, ready: str) -> Callable[[], None]:
        def go() -> None:
            page.locator("body").press(keys)
            expect(page.locator(ready).first).to_be_visible()

        return go

    def opened(name: str) -> Callable[[], None]:
        def go() -> None:
            at("/notes", ".count .num")()
            page.locator("body").press("Escape")
            button = page.locator(name if name[0] == "." else f".chip:has-text('{name}')")
            button.first.click()
            expect(page.locator(".menu .entry").first).to_be_visible()

        return go

    def why() -> None:
        expect(page.locator(".row + .why").first).to_be_attached()
        page.locator(".row").first.focus()
        press("w", ".why-card .votes")()

    def tabs() -> None:
        expect(page.locator("link[href$='/files.css']")).to_be_attached()
        page.locator(".prose a", has_text="Sensor script").first.click(modifiers=["Control"])
        expect(page.locator(".tabstrip a")).to_have_count(2)

    def settings_of_the_graph() -> None:
        at("/graph", ".filters")()
        fold = page.locator(".legend button[aria-expanded]")
        if fold.is_visible():
            fold.click()
        page.get_by_role("textbox", name="Only what a search finds").fill("tag:frost")
        expect(page.locator(".filters .mode")).to_have_text("2")
        page.get_by_role("textbox", name="Only what a search finds").blur()

    return [
        ("list", at("/notes", ".row")),
        ("results", at("/notes?q=frost", ".row mark")),
        ("why a result is here", why),
        ("nothing found", at("/notes?q=qqqqqq", ".list .empty")),
        *(
            (f"the menu {name}", opened(name))
            for name in ("Tags", "Folder", "Any date", ".count button")
            if page.viewport_size and page.viewport_size["width"] > 700
        ),
        ("note", at(f"/notes/{frost}", ".back .ref")),
        *([("tabs", tabs)] if page.viewport_size and page.viewport_size["width"] > 720 else []),
        ("palette", press("Control+k", "dialog .option")),
        ("keys", press("Escape", "body")),
        ("jobs", at("/jobs", ".page .card")),
        ("settings", at("/settings", ".page .card")),
        ("graph", at("/graph", ".filters")),
        ("graph as a list", press("l", ".graph-list .entry")),
        ("settings of the graph", settings_of_the_graph),
    ]


def too_wide(page: Page) -> list[str]:
    """Return what can be scrolled sideways."""
    return page.evaluate(  # type: ignore[no-any-return]
        "[document.documentElement, ...document.querySelectorAll('.list, .read, .page, .scroll, .side')]"
        ".filter(e => e.scrollWidth > e.clientWidth + 1 && e.clientWidth).map(e => e.className || e.tagName)"
    )


def show(page: Page, theme: str) -> None:
    """Change the computer's theme, and wait until all colors have followed."""
    page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
    expect(page.locator("html")).to_have_attribute("data-theme", theme)
    settle(page)


def settle(page: Page) -> None:
    """Wait until results are no longer dimmed, a frame is shown and all animations have ended.

    Some never end: the cursor of the editor blinks.
    """
    expect(page.locator(".busy")).to_have_count(0)
    page.evaluate(
        "() => new Promise(requestAnimationFrame).then(() => Promise.allSettled(document.getAnimations()"
        ".filter(each => each.effect?.getComputedTiming().endTime !== Infinity)"
        ".map(each => each.finished))).then(() => null)"
    )


@pytest.mark.parametrize("part", ["lists", "pages"])
@pytest.mark.parametrize("width", WIDTHS)
def test_axe_finds_nothing_and_nothing_scrolls_sideways(
    visit: Callable[..., Page], note_id: Callable[..., str], width: str, part: str
):
    size = dict(zip(("width", "height"), WIDTHS[width], strict=True))
    page = visit("/notes", color_scheme="light", viewport=size, reduced_motion="reduce")
    every = states(page, note_id("Frost alarm"))
    first_page = [name for name, _ in every].index("note")
    found = {}
    for name, reach in every[:first_page] if part == "lists" else every[first_page:]:
        reach()
        settle(page)
        wrong = violations(page, RULES) + too_wide(page)
        show(page, "dark")
        wrong += violations(page, ["color-contrast"])
        show(page, "light")
        if wrong:
            found[name] = wrong
    assert not found, found


@pytest.mark.parametrize("width", [320, 720, 1024])  # and the widths above
def test_nothing_scrolls_sideways(
    visit: Callable[..., Page], note_id: Callable[..., str], width: int
):
    page = visit("/notes", viewport={"width": width, "height": 800})
    for _, reach in states(page, note_id("Frost alarm")):
        reach()
        assert too_wide(page) == []


def boxes(page: Page, *names: str) -> dict[str, tuple[int, int, int, int] | None]:
    """Return where named parts are: x, y, width, height."""
    found = {}
    for name in names:
        box = (
            page.locator(name).first.bounding_box()
            if page.locator(name).first.is_visible()
            else None
        )
        found[name] = box and tuple(round(box[each]) for each in ("x", "y", "width", "height"))
    return found


def test_the_layout_of_each_width(visit: Callable[..., Page], note_id: Callable[..., str]):
    frost = note_id("Frost alarm")
    page = visit(f"/notes/{frost}")
    expect(page.locator(".side").first).to_be_visible()
    wide = boxes(page, ".top", ".list", "article.read", ".side", ".stats", ".thumbs")
    assert wide == {
        ".top": (0, 0, 1440, 52),
        ".list": (0, 52, 392, 820),
        "article.read": (392, 52, 736, 820),
        ".side": (1128, 52, 312, 820),
        ".stats": (0, 872, 1440, 28),
        ".thumbs": None,
    }
    middle = visit(f"/notes/{frost}", viewport={"width": 1024, "height": 768})
    expect(middle.locator("article.read").first).to_be_visible()
    shown = boxes(middle, ".list", "article.read", ".side")
    assert shown == {".list": (0, 52, 348, 688), "article.read": (348, 52, 676, 688), ".side": None}
    middle.get_by_role("button", name="Side panel").click()
    expect(middle.locator(".side")).to_be_visible()
    phone = visit(f"/notes/{frost}", viewport={"width": 390, "height": 844})
    expect(phone.locator("article.read").first).to_be_visible()
    shown = boxes(phone, ".list", "article.read", ".thumbs")
    assert shown[".list"] is None
    assert shown["article.read"][2] == 390
    assert all(
        box["height"] >= 44
        for box in phone.locator(".thumbs a").evaluate_all(
            "all => all.map(e => e.getBoundingClientRect().toJSON())"
        )
    )
    phone.get_by_role("button", name="Back to the list").click()
    expect(phone.locator(".list")).to_be_visible()


def test_targets_are_large_enough(visit: Callable[..., Page], note_id: Callable[..., str]):
    page = visit(f"/notes/{note_id('Frost alarm')}")
    expect(page.locator(".ref").first).to_be_visible()
    small = page.locator("button:visible, .seg a, .stats a, .icon").evaluate_all(
        "all => all.map(e => [e.className || e.textContent, e.getBoundingClientRect()])"
        ".filter(([, b]) => b.width && (b.width < 23.5 || b.height < 23.5)).map(([name]) => name)"
    )
    assert small == []


def test_everything_by_keys_alone(visit: Callable[..., Page]):
    page = visit("/notes")
    expect(page.locator(".row").first).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.locator("a", has_text="Skip to the view")).to_be_focused()
    page.keyboard.press("/")
    page.keyboard.type("frost alarm fires")
    expect(page.locator(".row h2").first).to_contain_text("Frost alarm fires")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".row").first).to_be_focused()
    outline = page.locator(".row").first.evaluate("e => getComputedStyle(e).outlineWidth")
    assert outline == "2px"
    page.keyboard.press("Enter")
    expect(page.locator(".doc header h1")).to_contain_text("Frost alarm fires")
    page.locator(".prose a[data-note]", has_text="Sensor script").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".doc header h1")).to_have_text("Sensor script")
    expect(page.locator("article.read")).to_be_focused()
    page.keyboard.press("Alt+ArrowLeft")
    expect(page.locator(".doc header h1")).to_contain_text("Frost alarm fires")
    page.keyboard.press("Control+k")
    expect(page.locator("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_have_count(0)
    page.locator("article.read").focus()
    page.keyboard.press("Control+g")
    expect(page.locator(".graph > canvas")).to_be_focused()
    page.keyboard.press("l")
    page.locator(".graph-list .entry", has_text="Sensor script").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".preview")).to_contain_text("3 connections")  # all of it is there
    opens = page.locator(".preview").get_by_role("link", name="Open note")

    def opened() -> bool:
        if opens.count():  # it may be drawn anew between the focus and the key
            opens.press("Enter", timeout=2_000)
        return page.locator(".doc header h1").count() == 1

    eventually(opened, retry=(Error,))
    expect(page.locator(".doc header h1")).to_have_text("Sensor script")
    page.keyboard.press("?")
    expect(page.get_by_role("heading", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator(".row:focus")).to_have_count(1)


_LENGTHEN = """all => all.forEach((each) => {
  const texts = document.createTreeWalker(each, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) texts.currentNode.data += "~".repeat(texts.currentNode.length * 0.4);
})"""


def test_longer_words_are_not_cut(visit: Callable[..., Page], note_id: Callable[..., str]):
    page = visit(f"/notes/{note_id('Frost alarm')}")
    expect(page.locator(".back .ref").first).to_be_visible()
    places = page.locator(".seg a, .tabs button, .chip, .primary, .quiet, .side h2, .back h2")
    places.evaluate_all(_LENGTHEN)
    expect(page.locator(".seg a").first).to_contain_text("Notes~~")
    cut = places.evaluate_all(
        "all => all.filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.textContent)"
    )
    assert cut == []


def test_the_page_runs_in_the_other_direction(
    visit: Callable[..., Page], note_id: Callable[..., str]
):
    page = visit("/settings")
    page.add_init_script(
        "document.addEventListener('readystatechange', () => document.documentElement.dir = 'rtl')"
    )
    page.goto(page.url.split("#")[0] + f"#/notes/{note_id('Frost alarm')}")
    page.reload()
    expect(page.locator(".back .ref").first).to_be_visible()
    placed = boxes(page, ".list", ".side")
    assert placed[".list"] == (1440 - 392, 52, 392, 820)
    assert placed[".side"] == (0, 52, 312, 820)


def test_states_are_seen_in_forced_colours(visit: Callable[..., Page]):
    page = visit("/settings", forced_colors="active")
    outline = "each => getComputedStyle(each).outlineStyle"
    chosen = page.get_by_role("radio", name="Normal").first
    assert chosen.evaluate(outline) == "solid"
    assert page.get_by_role("radio", name="Large").evaluate(outline) == "none"
    knob = "each => getComputedStyle(each.querySelector('.switch'), '::after').borderTopStyle"
    assert page.get_by_role("switch").first.evaluate(knob) == "solid"
    page.keyboard.press("Control+k")
    assert page.get_by_role("option").first.evaluate(outline) == "solid"


def test_names_in_other_directions_are_isolated(visit: Callable[..., Page]):
    page = visit("/notes?path=garden")
    arabic = page.locator(".row h2", has_text="صقيع")
    expect(arabic).to_have_css("direction", "rtl")
    english = page.locator(".row h2", has_text="Nobody")
    expect(english).to_have_css("direction", "ltr")


def test_texts_of_every_script_stay_whole(visit: Callable[..., Page], note_id: Callable[..., str]):
    page = visit(f"/notes/{note_id('صقيع')}", viewport={"width": 390, "height": 844})
    expect(page.locator(".prose li").first).to_be_visible()
    outside = page.locator(".prose li").evaluate_all(
        "all => all.map(e => e.closest('.prose').getBoundingClientRect().right - e.getBoundingClientRect().right)"
    )
    assert min(outside) >= 16, "the signs of its items stand inside the text"
    page = visit("/notes?q=👨‍👩‍👧‍👦")
    expect(page.locator(".row mark").first).to_have_text("👨‍👩‍👧‍👦")


def test_nothing_hides_a_menu_and_no_line_of_a_card_covers_another(visit: Callable[..., Page]):
    page = visit("/notes", viewport={"width": 390, "height": 844})
    page.get_by_role("button", name="Tags").click()
    expect(page.locator(".menu .entry").first).to_be_visible()
    # There no mask, clip or scroll of what it stands in reaches it.
    assert page.locator(".menu").evaluate("each => each.matches(':popover-open')")
    page.evaluate("location.hash = '#/settings'")
    expect(page.locator(".page .card").nth(1)).to_be_visible()
    covered = page.locator(".card > .line").evaluate_all(
        """all => all.flatMap(line => [...line.children].flatMap((one, at, parts) => parts.slice(at + 1)
          .filter(other => { const [a, b] = [one, other].map(e => { const r = new Range(); r.selectNodeContents(e); return e.tagName === 'svg' ? e.getBoundingClientRect() : r.getBoundingClientRect(); });
            return a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1; })
          .map(other => line.textContent)))"""
    )
    assert covered == []


def test_larger_text_spacing_loses_nothing(visit: Callable[..., Page], note_id: Callable[..., str]):
    """WCAG 2.2, 1.4.12."""
    page = visit(f"/notes/{note_id('Frost alarm')}", viewport={"width": 1280, "height": 900})
    page.evaluate(
        "() => { const sheet = new CSSStyleSheet(); sheet.replaceSync('* { line-height: 1.5 !important;"
        " letter-spacing: .12em !important; word-spacing: .16em !important; } p { margin-bottom: 2em !important; }');"
        " document.adoptedStyleSheets = [sheet]; }"
    )
    expect(page.locator(".seg a", has_text="Graph")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
