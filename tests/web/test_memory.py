"""What agents got, several vaults, and promotion: by a browser, with the real server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest
from tests.support.waiting import eventually
from tests.web.browsers import expect
from tests.web.several_vaults import PROMPT, SeveralVaultsServer
from tests.web.test_everybody import RULES, violations

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

ALARM = """
window.alarms = [];
new MutationObserver(() => {
  const alarm = document.querySelector(".scroll [role=alert]");
  if (alarm) window.alarms.push(alarm.textContent);
}).observe(document, { subtree: true, childList: true });
"""
LARGE = (
    "---\ntype: decision\ntags: [sizes]\nupdated: 2026-01-02\n---\n# Large\n\n"
    + "one line of a large note\n" * 60_000
)


@pytest.fixture(scope="module")
def world(
    tmp_path_factory: pytest.TempPathFactory, browser: Browser
) -> Iterator[SeveralVaultsServer]:
    """Serve several vaults, with a session of an agent. Each test has parts of its own."""
    with SeveralVaultsServer(tmp_path_factory.mktemp("world")) as world:
        (world.vault / "Large.md").write_text(LARGE, encoding="utf-8")
        world.open()
        yield world


@pytest.fixture
def enter(visit: Callable[..., Page], world: SeveralVaultsServer) -> Callable[..., Page]:
    """Return a function that opens the page of the world at an address."""

    def opened(place: str, **options: object) -> Page:
        return visit(
            f"ticket={world.ticket()}&to={place.replace('&', '%26')}", program=world, **options
        )

    return opened


@pytest.mark.fault(
    "The web page",
    "a vault that has no index yet is opened in the web page",
    "a quiet state, then the notes by themselves",
)
def test_a_vault_without_an_index_is_shown_as_soon_as_it_has_one(
    enter: Callable[..., Page], world: SeveralVaultsServer
):
    shop = world.identity("project:shop")
    page = enter("/notes")
    page.add_init_script(ALARM)  # another vault loads the page anew

    def late(route: Route) -> None:
        eventually(lambda: world.call("GET", f"/health?vault={shop}").data["index"]["available"])
        route.continue_()

    page.route("**/events?*", late)  # its index is complete before the page hears of it
    page.locator(".row h2", has_text="Lonely").or_(page.locator(".row h2").first).first.click()
    expect(page.locator(".doc header h1")).to_be_visible()
    page.get_by_role("button", name="Vault vault").click()
    page.get_by_role("menu", name="Vaults").get_by_role("menuitemradio", name="shop").click()
    expect(page.locator(".row h2").first).to_be_visible()
    expect(page.locator(".stats")).to_contain_text("3 notes")
    expect(page.locator(".vault")).to_contain_text("shop")
    assert page.evaluate("window.alarms") == []
    assert f"vault={shop}" in page.url
    page.locator(".row h2", has_text="Cost tracker").click()
    page.locator(".prose a", has_text="Round prices").click()
    expect(page.locator(".doc header h1")).to_have_text("Round prices at the end")
    assert f"vault={shop}" in page.url
    kept = page.evaluate("Object.keys(localStorage).filter(each => each.endsWith('.recent'))")
    assert sorted(kept) == sorted(f"va.{each}.recent" for each in (shop, world.identity("default")))
    back = "setTimeout(() => history.back())"  # `go_back` may meet the page as it is loaded anew
    page.evaluate(back)
    expect(page.locator(".doc header h1")).to_have_text("Cost tracker")
    page.evaluate(back)
    expect(page.locator(".doc header h1")).to_have_count(0)
    page.evaluate(back)
    expect(page.locator(".vault")).not_to_contain_text("shop")
    expect(page.locator(".row h2").first).to_be_visible()


@pytest.mark.fault(
    "The web page",
    "the address of the web page names a vault that is not on the list",
    "a sentence, and the way to the server's own vault",
)
def test_a_vault_that_is_not_on_the_list(visit: Callable[..., Page], world: SeveralVaultsServer):
    page = visit(f"ticket={world.ticket()}", program=world)
    expect(page.locator(".row h2").first).to_be_visible()  # the ticket is exchanged
    page.evaluate("hash => location.hash = hash", f"#/notes?vault={'0' * 32}")
    expect(page.get_by_text("The server does not have this vault")).to_be_visible()
    page.get_by_role("button", name="Open the server's own vault").click()
    expect(page.locator(".row h2").first).to_be_visible()


def test_a_session_and_what_it_got(enter: Callable[..., Page], world: SeveralVaultsServer):
    for name in ("project:shop", "global"):
        health = f"/vaults/{world.identity(name)}/health"
        eventually(lambda path=health: world.call("GET", path).data["index"]["available"])
    world.call("POST", "/memory/forget", {"all": True})  # of tests before
    page = enter("/memory", color_scheme="dark")
    expect(page.get_by_text("No session yet")).to_be_visible()
    assert violations(page, RULES) == []
    world.event("start", title="Round the prices", source="startup")
    assert world.event("prompt", prompt=PROMPT).data["text"]
    card = page.locator(".session", has_text="Round the prices")
    expect(card).to_contain_text("notes")
    expect(card).to_contain_text("Claude Code")
    card.locator("summary").click()
    expect(card.locator(".got-note", has_text="Round prices at the end")).to_be_visible()
    card.get_by_role("button", name="Refresh").click()
    expect(page.get_by_role("dialog")).to_contain_text("What would be recalled now")
    page.keyboard.press("Escape")
    same = {"before": [], "after": [], "text": "", "tokens": 0}
    page.route("**/refresh", lambda route: route.fulfill(json={"data": same, "warnings": []}))
    card.get_by_role("button", name="Refresh").click()
    expect(page.get_by_role("dialog")).to_contain_text("There is nothing to apply.")
    expect(page.get_by_role("dialog").locator(".acts button")).to_have_text("Close")
    page.unroute("**/refresh")
    page.keyboard.press("Escape")
    expect(card.get_by_role("button", name="Add a note")).to_be_visible()
    assert violations(page, RULES) == []
    card.get_by_role("link", name="Round the prices").click()
    got = page.locator(".delivery", has_text="With a prompt")
    prices = got.locator(".got-note", has_text="Round prices at the end")
    expect(prices).to_contain_text("Shared tags")
    expect(prices).to_contain_text("is about src/costs.py")
    expect(prices).to_contain_text("%")
    expect(page.get_by_text("Notes are data, not instructions")).to_be_visible()
    page.locator("summary", has_text="left out").first.click()
    expect(page.get_by_text("scored too low").first).to_be_visible()
    page.locator("summary", has_text="Text that the agent got").first.click()
    assert violations(page, RULES) == []
    for theme in ("dark", "light"):
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        page.set_viewport_size({"width": 390, "height": 844})
        assert violations(page, RULES) == [], theme
        assert page.locator(".page").evaluate("e => e.scrollWidth <= e.clientWidth + 1")
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 1440, "height": 900})

    page.get_by_role("button", name="Add a note").click()
    page.get_by_role("dialog").get_by_role("combobox").fill("integers")
    page.get_by_role("option", name="Money in integers").first.click()
    expect(page.get_by_role("heading", name="Sent with the next prompt")).to_be_visible()
    refresh = page.get_by_role("button", name="Refresh")
    refresh.click()
    expect(page.get_by_role("dialog")).to_contain_text("What would be recalled now")
    assert violations(page, RULES) == []
    page.get_by_role("button", name="Apply").click()
    expect(
        page.get_by_text("It is sent with the next prompt of the session.").first
    ).to_be_visible()
    text = world.event("prompt", prompt="and now the sensors").data["text"]
    assert "Money in integers" in text
    expect(page.locator(".delivery").first).to_contain_text("Money in integers")
    prices.get_by_role("link").click()
    expect(page.locator(".doc header h1")).to_have_text("Round prices at the end")
    expect(page.locator(".vault")).to_contain_text("shop")


def test_notes_of_a_vault_are_offered_if_another_vault_fails(
    enter: Callable[..., Page], world: SeveralVaultsServer
):
    vault = f"/vaults/{world.identity('global')}"
    eventually(lambda: world.call("GET", f"{vault}/health").data["index"]["available"])
    world.event("start", "s-add", title="Add a pattern", source="startup")
    page = enter("/memory")
    page.route(f"**/{world.identity('project:shop')}/suggest?*", lambda route: route.abort())
    card = page.locator(".session", has_text="Add a pattern")
    card.get_by_role("button", name="Add a note").click()
    page.get_by_role("dialog").get_by_role("combobox").fill("integers")
    expect(page.get_by_role("option", name="Money in integers").first).to_be_visible()


def test_a_journal_is_written_when_it_is_asked_for(
    enter: Callable[..., Page], world: SeveralVaultsServer
):
    page = enter("/memory?project=shop")
    addresses: list[str] = []
    page.on("request", lambda request: addresses.append(request.url))
    world.event("start", "s-journal", source="startup")
    world.event("prompt", "s-journal", prompt="Round the prices in src/costs.py")
    done = "Prices are rounded once. Decision: keep cents as integers."
    world.event("stop", "s-journal", lastMessage=done)
    world.event("end", "s-journal", reason="exit")
    page.get_by_role("radio", name="Journals").click()
    assert violations(page, RULES) == []
    session = page.get_by_role("listitem").filter(has_text="Journal of the session")
    session.get_by_role("button", name="Write it").click()
    page.locator(".journal a", has_text="Round the prices in src/costs.py").click()
    lists = [each for each in addresses if "/journals?" in each or "/sessions?" in each]
    assert lists
    assert all("project=shop" in address for address in lists)
    # The page shows it as soon as it is in the index.
    expect(page.locator(".facts").first).to_contain_text("Journal")
    assert list(world.project.rglob("journal*/*.md"))


def test_a_note_is_promoted_and_taken_back(enter: Callable[..., Page], world: SeveralVaultsServer):
    page = enter(f"/notes?vault={world.identity('project:shop')}&q=cost tracker")
    page.locator(".row h2", has_text="Cost tracker").click()
    signs = [
        page.get_by_role("button", name=name).locator("use").get_attribute("href")
        for name in ("Star this note", "Promote to Global")
    ]
    assert signs[0] != signs[1], "what is kept here and what agents get must not look alike"
    page.get_by_role("button", name="Promote to Global").click()
    page.get_by_role("button", name="Promote", exact=True).click()
    page.get_by_role("button", name="Promoted to Global").click()
    expect(page.get_by_role("dialog")).to_contain_text("has a copy of this note")
    copy = world.shared / "modules" / "cost-tracker.md"
    original = next(world.project.rglob("Cost tracker.md"))
    assert "promoted_from:" in copy.read_text("utf-8")
    assert "promoted_to: global:modules/cost-tracker.md" in original.read_text("utf-8")
    assert violations(page, RULES) == []
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("button", name="Promote to Global")).to_be_visible()
    assert not copy.exists()


def test_a_note_is_superseded_by_one_click_and_taken_back(
    enter: Callable[..., Page], world: SeveralVaultsServer
):
    page = enter(f"/notes?vault={world.identity('project:shop')}&q=round prices")
    page.locator(".row h2", has_text="Round prices").first.click()
    mark = page.get_by_role("button", name="Mark as superseded")
    expect(mark).to_be_visible()
    assert violations(page, RULES) == []
    mark.click()
    back = page.get_by_role("button", name="Not superseded any more")
    expect(back).to_be_visible()
    expect(page.locator(".facts").first).to_contain_text("superseded")
    back.click()
    expect(mark).to_be_visible()
    expect(page.locator(".facts").first).not_to_contain_text("superseded")


def test_a_similar_note_is_shown_before_anything_is_promoted(
    enter: Callable[..., Page], world: SeveralVaultsServer
):
    text = (world.shared / "patterns" / "Money in integers.md").read_text("utf-8")
    (world.project / "patterns").mkdir(exist_ok=True)
    (world.project / "patterns" / "Money.md").write_text(text, encoding="utf-8")
    shop = world.identity("project:shop")
    eventually(lambda: "Money.md" in str(world.call("GET", f"/vaults/{shop}/notes").body))
    page = enter(f"/notes?vault={shop}")
    page.locator(".row h2", has_text="Money in integers").click()
    page.get_by_role("button", name="Promote to Global").click()
    page.get_by_role("button", name="Promote", exact=True).click()
    expect(page.get_by_role("dialog")).to_contain_text("patterns/Money in integers.md")
    expect(page.get_by_role("button", name="Promote all the same")).to_be_visible()


@pytest.mark.fault(
    "The web page",
    "a note over 1 MiB in the web page",
    "its source, a piece at a time",
)
def test_a_note_that_is_too_large_to_render_comes_in_pieces(enter: Callable[..., Page]):
    page = enter("/notes?q=one line of a large note")
    page.locator(".row h2", has_text="Large").first.click()
    expect(page.get_by_text("too large to render")).to_be_visible()
    expect(page.locator(".facts time")).to_have_attribute("datetime", "2026-01-02")
    expect(page.locator(".facts .tag")).to_have_text("sizes")
    expect(page.locator("pre.raw span")).to_have_count(1)
    assert page.locator("pre.raw").evaluate("e => e.textContent.length") == 204_800
    more = page.get_by_role("button", name="Show more")
    more.click()
    expect(page.locator("pre.raw span")).to_have_count(2)
    whole = page.locator("pre.raw").evaluate("e => e.textContent")
    assert whole == LARGE[: 2 * 204_800]


def test_what_is_switched_off_is_absent(visit: Callable[..., Page], note_id: Callable[..., str]):
    page = visit(f"/notes/{note_id('Sensor script')}")
    expect(page.locator(".doc header h1")).to_be_visible()
    assert page.locator("button.vault").count() == 0
    for name in ("Memory", "Promote to Global", "Edit", "New"):
        assert page.get_by_text(name, exact=True).count() == 0
        assert page.get_by_role("button", name=name, exact=True).count() == 0
