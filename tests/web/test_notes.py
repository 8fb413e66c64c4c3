"""The Notes view: search, filters, list, reading, palette and history."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest
from tests.support.program import Program
from tests.web.browsers import expect, held
from tests.web.conftest import serve
from tests.web.vault import PICTURE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Request, Route

FROST = "Frost alarm fires on two sensors"


def titles(page: Page) -> list[str]:
    return page.locator(".rows .row h2").all_inner_texts()


def test_search_as_one_types(visit: Callable[..., Page]):
    page = visit()
    expect(page.locator(".count span").first).to_contain_text("243 notes")
    page.keyboard.press("/")
    page.keyboard.type("dew point")
    expect(page.locator(".row h2").first).to_have_text(FROST)
    expect(page.locator(".row p mark").first).to_be_visible()
    expect(page).to_have_url(re.compile(r"q=dew\+point"))
    page.keyboard.press("Escape")
    expect(page.locator(".count span").first).to_contain_text("243 notes")


@pytest.mark.fault(
    "The web page",
    "Enter while composing Chinese, Japanese or Korean",
    "belongs to the input method",
)
def test_enter_while_composing_is_no_command(visit: Callable[..., Page]):
    page = visit()
    page.locator("#find").focus()
    client = page.context.new_cdp_session(page)
    client.send("Input.imeSetComposition", {"text": "しも", "selectionStart": 2, "selectionEnd": 2})
    page.wait_for_timeout(150)
    assert "q=" not in page.url
    page.evaluate(
        "document.getElementById('find').dispatchEvent(new KeyboardEvent('keydown',"
        " {key: 'Enter', keyCode: 229, isComposing: true, bubbles: true}))"
    )
    assert "/notes/" not in page.url
    client.send("Input.insertText", {"text": "霜"})
    expect(page.locator(".row h2").first).to_contain_text("庭の霜")


def test_why_a_result_is_where_it_is(visit: Callable[..., Page]):
    page = visit()
    bodies: list[dict[str, object]] = []
    page.on(
        "request",
        lambda each: bodies.append(each.post_data_json) if each.url.endswith("/search") else None,
    )
    page.evaluate("location.hash = '#/notes?q=two sensors&tag=frost'")
    expect(page.locator(".count span").first).to_contain_text("results")
    before = boxes_of(page)
    why = page.get_by_role("button", name=f"Why? {FROST}")
    page.locator(".row", has_text=FROST).first.hover()
    why.click()
    card = page.get_by_role("group", name=f"Why? {FROST}")
    expect(card).to_contain_text("Place 1 of the results")
    expect(card).to_contain_text("In the title: two, sensors")
    expect(card).to_contain_text("In an alias: two, sensors")
    expect(card.locator("dt").first).to_have_text("The note is named exactly so")
    expect(card.locator(".why-card")).to_be_focused()
    assert boxes_of(page) == before, "nothing else moves"
    explained = [body for body in bodies if body["explain"]]
    assert explained == [{**bodies[0], "explain": True}], "the same search"
    page.keyboard.press("Escape")
    expect(why).to_be_focused()
    expect(card).to_have_count(0)
    page.keyboard.press("ArrowDown")
    expect(page.locator(".row").nth(1)).to_be_focused()
    page.keyboard.press("w")
    expect(page.locator(".why-card .num").first).to_contain_text("Place 2")
    assert sum(bool(body["explain"]) for body in bodies) == 1, "one reply explains all results"
    sheets = page.evaluate("[...document.styleSheets].map(({ href }) => href)")
    assert len(sheets) == len(set(sheets)), "each row has a button, and all of them one sheet"
    page.locator("#find").click()
    expect(page.locator(".why-card")).to_have_count(0)


def boxes_of(page: Page) -> object:
    return page.locator(".row").evaluate_all(
        "rows => rows.map(each => [each.dataset.note, each.getBoundingClientRect().toJSON()])"
    )


def test_what_changed_the_order_is_said(visit: Callable[..., Page]):
    """Also a factor that the page does not know yet."""

    def answer(route: Route) -> None:
        reply = route.fetch()
        body = reply.json()
        for hit in body["data"]["results"]:
            hit["explanation"] = {
                "votes": {"meaning": 0.75, "words": 0.25},
                "weights": {"folder": 1, "recency": 0.8, "<b>new</b>": 1.5},
                "reranked": {"relevance": 0.931, "placeBefore": 4},
                "later": {"times": 3},
                "dated": "frontmatter",  # of every result
            }
        route.fulfill(json=body)

    page = visit()
    page.route("**/search", answer)
    page.evaluate("location.hash = '#/notes?q=frost'")
    expect(page.locator(".row + .why").first).to_be_attached()
    page.locator(".row").first.focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    card = page.locator(".why-card")
    expect(card.locator("dt")).to_have_text(["Meaning of the search", "Words of the search"])
    expect(card.locator("dd")).to_have_text(["75 %", "25 %"])
    expect(card.locator("ul").last.locator("li")).to_have_text(
        [
            "Its age: counts 0.8 times",
            "<b>new</b>: counts 1.5 times",
            "The reranker gave it a relevance of 0.931. It was at place 4 before.",
            "later: times 3",
        ]
    )


def test_words_become_chips_and_text_again(visit: Callable[..., Page]):
    page = visit()
    page.locator("#find").fill("tag:alerting type:decision ")
    chip = page.locator(".chip[data-on=true]")
    expect(chip).to_have_text("alerting")
    expect(page.locator(".row h2")).to_have_text([FROST])
    expect(page.locator(".chip[aria-pressed=true]")).to_contain_text("Decisions")
    page.locator("#find").press("Home")
    page.locator("#find").press("Backspace")
    expect(page.locator("#find")).to_have_value("tag:alerting")
    page.go_back()
    expect(page.locator(".chip[data-on=true]")).to_have_count(1)


def test_filters_by_menu(visit: Callable[..., Page]):
    page = visit()
    page.get_by_role("button", name="Folder").click()
    page.get_by_role("menuitemcheckbox", name="garden 5").click()
    expect(page.locator(".count span").first).to_contain_text("5 notes")
    page.get_by_role("button", name="Remove the filter garden").click()
    page.get_by_role("button", name="More filters").click()
    page.get_by_role("menuitemcheckbox", name="Without links").click()
    expect(page.locator(".row h2", has_text="Nobody links here")).to_be_visible()
    page.get_by_role("button", name="Updated").click()
    page.get_by_role("menuitemradio", name="Title").click()
    expect(page.locator(".row h2").nth(1)).to_have_text("Nobody links here")
    assert titles(page) == sorted(titles(page), key=str.casefold)


def test_the_list_holds_what_is_near(visit: Callable[..., Page]):
    page = visit()
    expect(page.locator(".rows li").first).to_have_attribute("aria-setsize", "243")
    page.locator(".scroll").evaluate("each => each.scrollTop = each.scrollHeight")
    expect(page.locator("[aria-posinset='243'] h2")).to_be_visible()
    assert page.locator("body *").count() < 1_500


def test_reading(visit: Callable[..., Page], note_id: Callable[..., str]):
    page = visit(f"/notes/{note_id('Frost alarm')}")
    expect(page.locator(".doc header h1")).to_have_text(FROST)
    expect(page.locator(".facts")).to_contain_text("Decision")
    assert page.locator(".prose > h1:visible").count() == 0, "the title is shown once"
    expect(page.locator(".prose math")).to_be_visible()
    expect(page.locator(".prose .code-keyword", has_text="def")).to_have_count(1)
    expect(page.locator(".remote")).to_contain_text("not loaded from tracker.example")
    expect(page.locator(".embed")).to_contain_text("silent probe")
    expect(page.locator("a.unresolved", has_text="Dew point sensor")).to_be_visible()
    assert "hidden" not in page.locator(".prose").inner_text()
    fold = page.get_by_role("button", name="A note on batteries")
    expect(fold).to_have_attribute("aria-expanded", "false")
    fold.click()
    expect(page.get_by_text("Forty seconds between reports")).to_be_visible()


def test_headings_and_queries_fold(visit: Callable[..., Page], note_id: Callable[..., str]):
    page = visit(f"/notes/{note_id('Median of three')}")
    below = page.get_by_text("Below the second")
    first = page.locator(".prose h2", has_text="First").get_by_role("button", name="Show or hide")
    first.focus()
    page.keyboard.press("Enter")
    expect(first).to_have_attribute("aria-expanded", "false")
    expect(page.get_by_text("Below the first")).to_be_hidden()
    expect(page.get_by_text("Deeper")).to_be_hidden()
    expect(below).to_be_visible()
    page.locator(".toc a", has_text="Deep").click()  # what is sought opens what hides it
    expect(page.get_by_text("Deeper")).to_be_visible()
    query = page.locator("details", has_text="Dataview query")
    expect(query.locator("pre")).to_be_hidden()
    query.locator("summary").click()
    expect(query.locator("pre")).to_contain_text("LIST FROM")


@pytest.fixture
def pictured(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Program]:
    """Serve a vault whose owner wants pictures of other servers."""
    folder = tmp_path_factory.mktemp("pictured")
    yield from serve(folder, more=3, VAULT_AGENT_WEB_REMOTE_PICTURES="true")


def test_pictures_of_other_servers_load_where_the_owner_wants_it(
    visit: Callable[..., Page], note_id: Callable[..., str], pictured: Program
):
    asked: list[Request] = []

    def answer(route: Route) -> None:
        asked.append(route.request)
        route.fulfill(body=PICTURE, content_type="image/png")

    page = visit("/notes", program=pictured)
    page.route("https://tracker.example/**", answer)
    page.evaluate("hash => location.hash = hash", f"#/notes/{note_id('Frost alarm', pictured)}")
    picture = page.locator(".prose img[alt=remote]")
    picture.scroll_into_view_if_needed()
    expect(picture).to_have_js_property("naturalWidth", 1)
    assert [each.headers.get("referer") for each in asked] == [None]


def test_links_outline_and_history(visit: Callable[..., Page], note_id: Callable[..., str]):
    page = visit(f"/notes/{note_id('Frost alarm')}")
    expect(page.locator(".prose math")).to_be_visible()  # nothing above moves any more
    page.locator(".toc a", has_text="Follow-up").click()
    page.wait_for_function("() => document.querySelector('.read').scrollTop > 100")
    expect(page.locator(".toc a[aria-current]")).to_have_text("Follow-up")
    page.locator(".prose a", has_text="First cold week").evaluate("each => each.click()")
    expect(page.locator(".doc header h1")).to_have_text("First cold week")
    assert "at=" in page.url
    page.go_back()
    expect(page.locator(".doc header h1")).to_have_text(FROST)
    expect(page.locator(".toc a[aria-current]")).to_have_text("Follow-up")


def test_the_chosen_heading_stays_current(visit: Callable[..., Page], note_id: Callable[..., str]):
    """It cannot reach the top, and the height changes after the click, as backlinks and formulas do."""
    page = visit(f"/notes/{note_id('Frost alarm')}")
    expect(page.locator(".prose math")).to_be_visible()
    # Below the text stands nothing: the end of the note is the end of the page.
    page.locator(".back").evaluate("each => each.style.display = 'none'")
    current = page.locator(".toc a[aria-current]")
    page.locator(".toc a", has_text="Follow-up").click()
    expect(current).to_have_text("Follow-up")
    page.locator(".prose > *").first.evaluate("each => each.style.paddingBlockEnd = '300px'")
    page.wait_for_timeout(300)
    expect(current).to_have_text("Follow-up")
    assert page.locator("#n-h-follow-up").evaluate("each => each.getBoundingClientRect().top") < 900
    page.locator(".toc a", has_text="Decision").click()
    page.wait_for_timeout(300)
    expect(current).to_have_text("Decision")
    scroller = page.locator(".read")
    scroller.hover()
    page.mouse.wheel(0, -9_000)
    expect(current).not_to_have_text("Decision")
    page.mouse.wheel(0, 9_000)
    # The last heading is current at the end, however short its section is.
    expect(current).to_have_text("Follow-up")


def test_a_long_note_shows_its_beginning_first(
    visit: Callable[..., Page], note_id: Callable[..., str]
):
    page = visit()
    frost, week = (f"#/notes/{note_id(name)}" for name in ("Frost alarm", "First cold week"))

    def lengthen(route: Route) -> None:
        headers = {
            name: value for name, value in route.request.headers.items() if "match" not in name
        }
        reply = route.fetch(headers=headers)
        body = reply.json()
        body["data"]["html"] = "<p>Dew on the glass.</p>" * 4_000
        route.fulfill(response=reply, json=body)

    page.route(f"**{frost[1:]}/html", lengthen)
    page.evaluate("""() => { window.seen = []; new MutationObserver(() => {
        const prose = document.querySelector(".prose.beginning");
        if (prose) seen.push(1);
    }).observe(document, { subtree: true, attributes: true }); }""")
    page.evaluate("hash => location.hash = hash", frost)
    whole = page.locator(".prose:not(.beginning) > :nth-child(4000)")
    whole.wait_for(state="attached")
    assert page.evaluate("seen.length") > 0
    scroller = page.locator(".read")
    scroller.evaluate("each => each.scrollTop = 40_000")
    page.wait_for_function("() => history.state?.scroll === 40_000")
    page.evaluate("hash => location.hash = hash", week)
    expect(page.locator(".doc header h1")).to_have_text("First cold week")
    page.evaluate("seen.length = 0")
    page.go_back()
    whole.wait_for(state="attached")
    page.wait_for_function("() => document.querySelector('.read').scrollTop === 40_000")
    assert page.evaluate("seen.length") == 0  # what is above has to have its height


def test_backlinks_and_mentions(visit: Callable[..., Page], note_id: Callable[..., str]):
    page = visit(f"/notes/{note_id('Frost alarm')}")
    tab = page.get_by_role("tab", name=re.compile("Linked"))
    expect(tab).to_contain_text("7")
    expect(page.locator(".ref").first.locator("b").first).to_be_visible()
    page.get_by_role("tab", name=re.compile("Unlinked")).click()
    expect(page.locator(".ref", has_text="Rewired the bench probes")).to_be_visible()


def test_a_preview_comes_on_hover_and_by_key_and_stays_once_pinned(
    visit: Callable[..., Page], note_id: Callable[..., str]
):
    page = visit(f"/notes/{note_id('Frost alarm')}")
    link = page.locator(".prose a", has_text="Sensor script").first
    expect(page.locator(".back")).to_be_visible()  # the last part of the page: nothing moves now
    link.hover()
    expect(page.locator(".hovercard")).to_contain_text("Reads three probes")
    page.keyboard.press("Escape")
    expect(page.locator(".hovercard")).to_have_count(0)
    page.mouse.move(0, 0)
    link.focus()
    page.keyboard.press("Space")
    page.get_by_role("button", name="Keep this preview open").click()
    page.wait_for_timeout(500)  # a preview that is not pinned is gone after .22 s
    expect(page.locator(".hovercard")).to_be_visible()
    page.get_by_role("button", name="Keep this preview open").click()
    page.locator(".ref").first.hover()
    expect(page.locator(".hovercard")).to_be_visible()


def test_palette(visit: Callable[..., Page]):
    page = visit()
    page.keyboard.press("Control+k")
    field = page.get_by_role("dialog").get_by_role("combobox")
    field.fill("median")
    expect(page.get_by_role("option").first).to_contain_text("Median of three")
    page.keyboard.press("Enter")
    expect(page.locator(".doc header h1")).to_have_text("Median of three")
    page.keyboard.press("Control+p")
    page.get_by_role("dialog").get_by_role("combobox").fill(">settings")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Settings")).to_be_visible()
    page.keyboard.press("Control+o")
    expect(page.get_by_role("option").first).to_contain_text("Median of three")
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_have_count(0)


def test_what_is_typed_while_the_palette_is_loaded_goes_into_it(visit: Callable[..., Page]):
    page = visit()
    before = page.url
    with held(page, "**/palette.js"):
        page.keyboard.press("Control+k")
        page.keyboard.type("juMx")  # "j" alone opens the next note
        page.keyboard.press("Backspace")
        page.keyboard.type("p ?")
        page.wait_for_function("() => true")
        page.keyboard.press("Backspace")
        page.keyboard.press("Backspace")
        assert page.url == before
    expect(page.get_by_role("dialog").get_by_role("combobox")).to_have_value("juMp")
    expect(page.get_by_role("dialog").get_by_role("combobox")).to_be_focused()


def test_enter_runs_the_first_result_as_soon_as_it_is_there(visit: Callable[..., Page]):
    page = visit()
    with held(page, "**/suggest?*"):
        page.keyboard.press("Control+k")
        page.keyboard.type("median of")
        page.keyboard.press("Enter")
    expect(page.locator(".doc header h1")).to_have_text("Median of three")
    expect(page.locator("dialog")).to_have_count(0)


def test_a_palette_that_cannot_be_loaded_asks_for_a_new_page(visit: Callable[..., Page]):
    page = visit()
    page.route("**/palette.js", lambda route: route.abort())
    page.keyboard.press("Control+k")
    again = page.get_by_role("button", name="Reload")
    again.focus()
    page.keyboard.press("Escape")
    expect(again).to_have_count(0)
    page.keyboard.press("Control+k")
    again.focus()
    page.unroute("**/palette.js")
    with page.expect_navigation():  # a module that failed is loaded by a new page only
        page.keyboard.press("Enter")
    page.wait_for_selector(".vault bdi:not(:empty)")
    expect(again).to_have_count(0)
    page.keyboard.press("Control+k")
    expect(page.get_by_role("dialog").get_by_role("combobox")).to_be_visible()


def test_theme_size_and_language_are_kept(visit: Callable[..., Page]):
    page = visit("/settings")
    page.get_by_role("radio", name="Dark").click()
    page.get_by_role("radio", name="Large").click()
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.locator("html")).to_have_attribute("data-size", "large")


def test_line_breaks_are_kept_as_in_obsidian_or_joined(
    visit: Callable[..., Page], note_id: Callable[..., str]
):
    page = visit(f"/notes/{note_id(FROST)}")
    first = page.locator(".prose p", has_text="A single probe").locator("br.soft").first
    assert first.evaluate("each => getComputedStyle(each).display") != "none"
    page.evaluate("location.hash = '#/settings'")
    page.get_by_role("radio", name="Joined").click()
    page.go_back()
    assert first.evaluate("each => getComputedStyle(each).display") == "none"


def test_an_index_that_cannot_be_used_is_rebuilt_from_the_page(visit: Callable[..., Page]):
    page = visit("/jobs")
    refused = {"error": {"code": "INDEX_INCOMPATIBLE", "message": "It cannot be used."}}
    page.route("**/notes?*", lambda route: route.fulfill(status=409, json=refused))
    page.route("**/reindex", lambda route: route.fulfill(status=503, json=refused))
    page.evaluate("location.hash = '#/notes?sort=title'")
    with page.expect_request("**/reindex"):
        page.get_by_role("button", name="Rebuild the index").click()
    expect(page.locator(".toast")).to_contain_text("It cannot be used.")


@pytest.mark.fault(
    "The web page",
    "a note changes or is deleted while it is read",
    "shown anew, or *This note is gone*",
)
def test_a_change_on_disk_is_shown(
    visit: Callable[..., Page], own_site: Program, note_id: Callable[..., str]
):
    page = visit(f"/notes/{note_id('Sensor script', own_site)}", program=own_site)
    expect(page.locator(".prose")).to_contain_text("Reads three probes")
    expect(page.locator(".stats")).to_contain_text("Live")
    own_site.write("modules/Sensor script.md", "# Sensor script\n\nWritten by somebody else.\n")
    expect(page.locator(".prose")).to_contain_text("Written by somebody else")
    (own_site.vault / "modules" / "Sensor script.md").unlink()
    expect(page.get_by_text("This note is gone")).to_be_visible()
    for name in ("Side panel", "Copy a link to this note"):
        expect(page.get_by_role("button", name=name)).to_have_count(0)


@pytest.mark.fault(
    "The web page",
    "the server stops and starts under an open page; another vault at its address",
    "*Reconnecting*, then *Live*; the page says so and sends nothing more",
)
def test_faults_end_when_the_server_is_back(
    visit: Callable[..., Page], own_site: Program, note_id: Callable[..., str]
):
    page = visit("/jobs", program=own_site, expected=("ERR_", "net::", "Failed to fetch"))
    expect(page.locator(".stats")).to_contain_text("Live")
    expect(page.get_by_role("heading", name="Jobs")).to_be_visible()
    page.evaluate("id => location.hash = `#/notes/${id}`", note_id("Sensor script", own_site))
    expect(page.locator(".prose")).to_contain_text("Reads three probes")
    port = own_site.endpoint.rpartition(":")[2]
    own_site.stop()
    expect(page.locator(".stats")).to_contain_text("Reconnecting")
    expect(page.locator(".prose")).to_contain_text("Reads three probes")
    fault = page.get_by_role("alert")
    for view in ("notes", "jobs"):
        page.evaluate("view => { location.hash = `#/${view}`; }", view)
    expect(fault).to_contain_text("The page goes on trying")
    page.keyboard.press("?")  # its module is not there
    expect(fault).to_have_count(2)
    expect(fault.last).to_contain_text("The page goes on trying")
    expect(fault.last.get_by_role("button")).to_have_count(0)
    own_site.start("--port", port)
    expect(page.locator(".stats")).to_contain_text("Live")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    expect(fault).to_have_count(0)
    page.keyboard.press("Escape")
    expect(page.get_by_role("heading", name="Jobs")).to_be_visible()


def test_a_newer_version_is_said_and_covers_nothing(
    visit: Callable[..., Page], note_id: Callable[..., str]
):
    page = visit(f"/notes/{note_id('Frost alarm')}", viewport={"width": 390, "height": 844})
    expect(page.locator(".prose")).to_be_visible()
    page.evaluate("document.documentElement.dataset.version = '0.0.0'")
    page.evaluate("location.hash = '#/settings'")  # which asks for the state of the server
    banner = page.get_by_text("The server has a newer version of this page.")
    expect(banner).to_be_visible()
    page.go_back()
    page.get_by_role("button", name="Back to the list").click()
    expect(page.locator(".row h2").first).to_be_visible()
    page.locator("#find").click()
    page.get_by_role("button", name="Tags").click()
    expect(banner).to_be_visible()
    below = page.locator(".banner").bounding_box()
    view = page.locator(".notes").bounding_box()
    bar = page.locator(".stats").bounding_box()
    assert below["y"] + below["height"] <= view["y"]
    assert view["y"] + view["height"] <= bar["y"] + 1


def test_another_vault_at_the_same_address(visit: Callable[..., Page], own_site: Program):
    page = visit(program=own_site)
    page.route(
        "**/notes?*tasks=open*",
        lambda route: route.fulfill(status=200, headers={"X-Vault-Id": "0" * 32}, json={}),
    )
    page.get_by_role("button", name="More filters").click()
    page.get_by_role("menuitemcheckbox", name="Open tasks").click()
    expect(page.get_by_text("The server serves another vault now")).to_be_visible()


def test_a_slow_server_holds_up_nothing(visit: Callable[..., Page]):
    page = visit()
    expect(page.locator(".row").first).to_be_visible()
    page.route("**/search", lambda route: route.abort("timedout"))
    page.locator("#find").fill("dew")
    expect(page.get_by_role("alert")).to_be_visible()
    page.unroute("**/search")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".row h2").first).to_have_text(FROST)


def test_the_first_view_takes_little(visit: Callable[..., Page]):
    page = visit()
    expect(page.locator(".row").first).to_be_visible()
    entries = page.evaluate(
        "performance.getEntriesByType('resource').filter(e => e.name.includes('/ui/'))"
        ".map(e => [e.name, e.encodedBodySize])"
    )
    assert len(entries) <= 34
    assert sum(size for _, size in entries) < 70_000
    assert page.evaluate("window.shifts") < 0.02


def test_a_part_that_is_not_loaded_yet_has_a_place(visit: Callable[..., Page]):
    page = visit()
    with held(page, "**/graph.js"):
        page.evaluate("() => { location.hash = '/graph'; location.reload(); }")
        expect(page.locator(".doc.ghost")).to_be_visible()
    expect(page.locator(".doc.ghost")).to_have_count(0)
