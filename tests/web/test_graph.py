"""The graph, jobs, sessions, and one stream of events for all tabs."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest
from tests.support.program import Program
from tests.support.waiting import eventually
from tests.web.browsers import expect, tab_to
from tests.web.watched import Watch

if TYPE_CHECKING:
    from playwright.sync_api import Browser, FloatRect, Page, Route

KEY = "a-key-of-the-browser-tests-0123456789"


BESIDE: FloatRect = {"x": 320, "y": 60, "width": 900, "height": 660}
"""What no panel covers."""


def picture(page: Page, other_than: bytes = b"") -> bytes:
    """Return the picture of the graph, once it differs from another one and stays as it is."""
    taken = [other_than]

    def next_one() -> bytes:
        taken.append(page.screenshot(clip=BESIDE))
        return taken[-1]

    return eventually(next_one, lambda now: now not in (other_than, b"") and now == taken[-2])


def test_the_whole_graph(visit: Callable[..., Page]):
    page = visit("/graph")
    expect(page.locator(".types")).to_contain_text("Decisions")
    expect(page.locator(".graph > canvas")).to_have_attribute(
        "aria-label", "Graph of 239 notes. Press L to see a list."
    )
    before = picture(page)
    page.locator(".zoom").get_by_role("button", name="Zoom in").click()
    nearer = picture(page, other_than=before)
    page.mouse.move(700, 450)
    page.mouse.down()
    page.mouse.move(760, 500, steps=4)
    page.mouse.up()
    moved = picture(page, other_than=nearer)
    page.keyboard.press("0")
    page.mouse.move(5, 5)
    whole = picture(page, other_than=moved)
    page.get_by_role("button", name="Modules").first.click()
    picture(page, other_than=whole)


def test_find_and_open_a_note(visit: Callable[..., Page]):
    page = visit("/graph")
    page.locator("#find").fill("sensor script")
    expect(page.locator(".filters .mode")).to_have_text("1 found")
    page.locator("#find").press("Enter")
    expect(page.locator(".preview")).to_contain_text("Reads three probes")
    page.locator(".preview .near button", has_text="Frost alarm fires").click()
    expect(page.locator(".preview h2.name")).to_contain_text("Frost alarm fires")
    # The excerpt of lists, at most 160 characters without markup.
    expect(page.locator(".preview .what")).to_have_text(
        re.compile(r"^A single probe [^*]{60,145}…$")
    )
    page.get_by_role("button", name="Focus here").click()
    expect(page.locator(".graph > canvas")).to_have_attribute(
        "aria-label", "Graph of 8 notes. Press L to see a list."
    )
    page.get_by_role("button", name="Pin here").click()
    expect(page.get_by_role("button", name="Unpin")).to_be_visible()
    page.locator(".preview").get_by_role("link", name="Open note").click()
    expect(page.locator(".doc header h1")).to_contain_text("Frost alarm fires")


def test_dates_and_notes_without_links(visit: Callable[..., Page]):
    page = visit("/graph")
    label = page.locator(".graph > canvas")
    expect(page.get_by_text("4 notes without links are hidden.")).to_be_visible()
    page.get_by_role("switch", name="Notes without links").click()
    expect(label).to_have_attribute("aria-label", "Graph of 243 notes. Press L to see a list.")
    page.get_by_label("First day").fill("2026-03-01")
    expect(label).not_to_have_attribute("aria-label", "Graph of 243 notes. Press L to see a list.")


def test_a_search_filters_the_graph(visit: Callable[..., Page]):
    page = visit("/graph")
    label = page.locator(".graph > canvas")
    query = page.get_by_role("textbox", name="Only what a search finds")
    for text, notes in (
        ("tag:frost", 2),
        ('path:garden "初霜"', 1),
        ("sensor scr", 1),  # a part of a word, in a title
        ("beds fires", 1),  # in the text, where they are not together
        ("qqqqqq", 0),
    ):
        query.fill(text)
        expect(label).to_have_attribute(
            "aria-label",
            f"Graph of {notes} note{'' if notes == 1 else 's'}. Press L to see a list.",
        )
    page.reload()
    expect(query).to_have_value("qqqqqq")
    query.fill("")
    expect(label).to_have_attribute("aria-label", "Graph of 239 notes. Press L to see a list.")


@pytest.mark.fault(
    "The web page",
    "a graph that is empty, cut, with impossible links or positions",
    "drawn, or a sentence",
)
@pytest.mark.parametrize("reply", ["nothing", "one", "cut", "strange"])
def test_strange_replies_are_no_frozen_tab(visit: Callable[..., Page], reply: str):
    page = visit("/notes", expected=("ERR_", "JSON"))

    def answer(route: Route) -> None:
        columns = {
            "id": [],
            "title": [],
            "folder": [],
            "type": [],
            "tags": [],
            "day": [],
            "in": [],
            "out": [],
            "community": [],
        }
        counts = {"notes": 0, "edges": 0, "orphans": 0, "unresolved": 0}
        data = {
            "revision": "r",
            "directed": True,
            "nodes": columns,
            "folders": [],
            "types": [],
            "tags": [],
            "edges": [],
            "weights": [],
            "truncated": False,
            "counts": counts,
        }
        if reply in ("one", "strange"):
            columns.update(
                id=["0" * 32],
                title=["One"],
                folder=[None],
                type=[None],
                tags=[[]],
                day=[None],
                out=[0],
                community=[None],
                **{"in": [0]},
            )
        if reply == "strange":
            data.update(edges=[0, 7, -1, 0, 0, 0], weights=[1, 1, 1])
        body = '{"data": {"revision": "r", "nodes"' if reply == "cut" else None
        route.fulfill(body=body) if body else route.fulfill(json={"data": data, "warnings": []})

    page.route("**/graph?*", answer)
    page.route(
        "**/graph/layout",
        lambda route: route.fulfill(body=struct.pack("<4sIQff", b"VAL1", 1, 0, float("nan"), 0)),
    )
    page.keyboard.press("Control+g")
    if reply == "cut":
        expect(page.get_by_role("alert")).to_be_visible()
    else:
        expect(page.locator(".filters")).to_be_visible()
        shown = "0 notes" if reply == "nothing" else "1 note"  # without links, as nearly all
        expect(page.locator(".graph > canvas")).to_have_attribute(
            "aria-label", f"Graph of {shown}. Press L to see a list."
        )
        expect(page.locator(".zoom")).to_be_visible(visible=reply != "nothing")


@pytest.fixture
def busy(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Program]:
    """Serve a vault whose next job does not end by itself: the embedding endpoint is too slow."""
    from tests.product.endpoint import running_endpoint
    from tests.support.program import Program

    program = Program(tmp_path_factory.mktemp("busy"))
    with running_endpoint(program) as endpoint:
        program.variables |= {"VAULT_AGENT_WEB_ENABLED": "true"}
        program.write("Bread.md", "# Bread\n\nFlour and water.\n")
        program.start()
        program.index()
        endpoint.latency = 60.0
        program.write("Cake.md", "# Cake\n\nFlour and sugar.\n")
        yield program
        program.close()


def test_a_job_is_started_and_cancelled_by_keys_alone(visit: Callable[..., Page], busy: Program):
    page = visit("/notes", program=busy)
    page.keyboard.press("Control+k")
    page.keyboard.type("show the jobs")
    expect(page.get_by_role("option", name="Show the jobs")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="History")).to_be_visible()
    tab_to(page, page.get_by_role("button", name="Rebuild the index"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("progressbar", name="Read notes")).to_be_visible()
    # Also while the endpoint does not answer.
    expect(page.get_by_role("progressbar", name="Embed")).to_be_visible()
    expect(page.get_by_role("button", name="Index changes")).to_be_disabled()
    expect(page.get_by_role("button", name="Rebuild the index")).to_be_focused()
    tab_to(page, page.get_by_role("button", name="Cancel", exact=True))
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_contain_text("The last complete index still serves.")
    tab_to(page, page.get_by_role("button", name="Cancel the job"))
    page.keyboard.press("Enter")
    expect(page.locator(".card .line").first).to_contain_text("Cancelled")
    expect(page.get_by_role("button", name="Index changes")).to_be_enabled()
    job = busy.call("GET", "/jobs").data["jobs"][0]
    assert (job["kind"], job["state"]) == ("reindex", "cancelled")
    assert busy.call("GET", "/resolve?name=Bread").data["notes"]


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Program]:
    """Serve a vault whose server has a key."""
    from tests.support.program import Program

    with Program(tmp_path_factory.mktemp("locked")) as program:
        program.variables = {"VAULT_AGENT_WEB_ENABLED": "true", "VAULT_AGENT_SERVER_API_KEY": KEY}
        program.write("Bread.md", "# Bread\n\nFlour and water.\n")
        program.start()
        program.run("--api-key", KEY, "index")
        yield program


def test_a_ticket_opens_a_session_that_stays(browser: Browser, locked: Program):
    watch = Watch(browser, locked.endpoint, expected=("401",))
    page = watch.page
    page.goto(f"{locked.endpoint}/ui/")
    expect(page.get_by_text("vault-agent ui")).to_be_visible()
    printed = locked.run("--api-key", KEY, "ui", "--print").stdout.split()
    page.goto("about:blank")
    page.goto(next(each for each in printed if each.startswith("http")))
    expect(page.locator(".row h2")).to_have_text(["Bread"])
    assert "ticket" not in page.url
    page.reload()
    expect(page.locator(".row h2")).to_have_text(["Bread"])
    assert page.context.cookies() == []
    page.evaluate("location.hash = '#/settings'")
    page.get_by_role("button", name="Sign out everywhere").click()
    expect(page.get_by_text("vault-agent ui")).to_be_visible()
    watch.page.evaluate("0")
    watch.close()


@pytest.mark.fault(
    "The web page",
    "eight tabs",
    "one stream of events",
)
def test_eight_tabs_have_one_stream(browser: Browser, site: Program):
    watch = Watch(browser, site.endpoint)
    streams: list[str] = []
    watch.context.on(
        "request", lambda request: request.url.endswith("/events") and streams.append(request.url)
    )
    pages = [watch.page, *(watch.context.new_page() for _ in range(7))]
    for page in pages:
        page.goto(f"{site.endpoint}/ui/")
    for page in pages:
        expect(page.locator(".stats")).to_contain_text("Live")
    assert len(streams) == 1
    pages[0].close()
    expect(pages[1].locator(".stats")).to_contain_text("Live")
    watch.page = pages[1]
    watch.close()


def test_names_lie_over_no_other_name_and_over_no_node(visit: Callable[..., Page]):
    page = visit()
    wrong = page.evaluate("""async () => {
      const base = document.querySelector("script[type=module]").src;
      const { placeLabels } = await import(new URL("workers/labels.js", base));
      const { drawnRadius, expect } = await import(new URL("workers/picture.js", base));
      const count = 60;
      expect(count);
      const of = (make) => [...Array(count).keys()].map(make);
      const scene = {
        x: Float32Array.from(of((at) => 260 + 170 * Math.cos(at * 2.4) * Math.sqrt(at / count))),
        y: Float32Array.from(of((at) => 260 + 170 * Math.sin(at * 2.4) * Math.sqrt(at / count))),
        degree: Uint32Array.from(of((at) => count - at)),
        mask: new Uint8Array(count).fill(1),
        bright: null,
        group: Int32Array.from(of((at) => at % 3)),
        ranked: Uint32Array.from(of((at) => at)),
        titles: of((at) => `A title of note ${at}`),
        names: of((at) => ({ group: at, name: `Cluster ${at}`, size: 20 })).slice(0, 3),
        clusters: true,
      };
      const to = new OffscreenCanvas(9, 9).getContext("2d");
      const view = { k: 1.2, x: -40, y: -40 };
      const within = [0, 0, 560, 560];
      const near = new Set([1, 2, 3, 40]);
      const discs = of((at) => {
        const r = drawnRadius(scene.degree[at], view.k);
        const [x, y] = [scene.x[at] * view.k + view.x, scene.y[at] * view.k + view.y];
        return r < 3.2 ? [] : [[x - r, y - r, x + r, y + r]];
      }).flat();
      const over = (a, b) => b[0] < a[2] && a[0] < b[2] && b[1] < a[3] && a[1] < b[3];
      const wrong = [];
      for (const focus of [null, { chosen: 0, near }]) {
        const names = placeLabels(to, scene, view, within, { sans: "sans-serif" }, focus);
        if (names.length < 4) wrong.push(`${names.length} names`);
        names.forEach(({ text, box }, at) => {
          if (names.some((other, each) => each > at && over(box, other.box))) wrong.push(`name: ${text}`);
          if (at >= 9 && discs.filter((disc) => over(box, disc)).length > 0) wrong.push(`node: ${text}`);
          if (box[0] < within[0] || box[2] > within[2]) wrong.push(`cut: ${text}`);
          const group = text.includes("Cluster") ? Number(text.match(/\\d/)[0]) : -1;
          const near = of((at) => at).filter((at) => scene.group[at] === group).some((at) =>
            Math.hypot(scene.x[at] * view.k + view.x - (box[0] + box[2]) / 2, scene.y[at] * view.k + view.y - box[3]) < 90);
          if (group >= 0 && !near) wrong.push(`far from its notes: ${text}`);
        });
      }
      return wrong;
    }""")
    assert wrong == []


def test_a_local_graph_says_what_it_leaves_out(
    visit: Callable[..., Page], note_id: Callable[..., str]
):
    def cut(route: Route) -> None:
        body = route.fetch().json()
        body["data"]["truncated"] = True
        body["data"]["nodes"][0] |= {"in": 2900, "out": 23}
        route.fulfill(json=body)

    page = visit("/settings")
    page.route("**/graph?depth=*", cut)
    page.evaluate("hash => location.hash = hash", f"#/notes/{note_id('Frost alarm')}")
    side = page.locator(".side")
    expect(side).to_contain_text(re.compile(r"The nearest \d+ of 2,923 connections"))
    expect(side.get_by_role("radio", name="2 steps away")).to_be_disabled()
    page.unroute("**/graph?depth=*")
    page.evaluate("hash => location.hash = hash", f"#/notes/{note_id('Sensor script')}")
    side.get_by_role("radio", name="2 steps away").click()
    expect(side.get_by_role("radio", name="2 steps away")).to_be_checked()
    assert "connections" not in side.locator("section").first.inner_text()


def test_a_large_local_graph_is_a_part_of_the_whole_one(visit: Callable[..., Page]):
    page = visit()
    moved = page.evaluate("""async () => {
      const base = document.querySelector("script[type=module]").src;
      const { layOutLocal } = await import(new URL("workers/settle.js", base));
      return [20, 1600].map((count) => {
        const of = (make) => [...Array(count).keys()].map(make);
        const scene = {
          x: Float32Array.from(of((at) => at)),
          y: Float32Array.from(of((at) => at % 7)),
          degree: new Uint32Array(count).fill(1),
          mask: new Uint8Array(count).fill(1),
          edges: Uint32Array.from(of((at) => [0, at]).slice(1).flat()),
        };
        layOutLocal(scene, 0);
        return of((at) => at).filter((at) => scene.x[at] !== at).length;
      });
    }""")
    assert moved[0] > 15
    assert moved[1] == 0, "some in a layout of their own would lie across the others"


def test_a_line_between_nodes_crosses_neither(visit: Callable[..., Page]):
    page = visit()
    points = page.evaluate("""async () => {
      const base = document.querySelector("script[type=module]").src;
      const { between } = await import(new URL("workers/picture.js", base));
      const points = [];
      const to = { moveTo: (...at) => points.push(at), lineTo: (...at) => points.push(at) };
      between(to, [0, 0, 5], [30, 40, 10]);
      between(to, [0, 0, 5], [6, 8, 10]);
      return points;
    }""")
    assert points == [[3, 4], [24, 32]], "nothing between nodes that lie over each other"


@pytest.fixture
def meant(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Program]:
    """Serve a vault of one note that is embedded."""
    from tests.product.endpoint import running_endpoint
    from tests.support.program import Program

    program = Program(tmp_path_factory.mktemp("meant"))
    with running_endpoint(program):
        program.variables |= {"VAULT_AGENT_WEB_ENABLED": "true"}
        program.write("Bread.md", "# Bread\n\nFlour and water.\n")
        program.start()
        program.index()
        yield program
        program.close()


def test_what_no_note_has_is_answered_by_the_nearest_in_meaning(
    visit: Callable[..., Page], meant: Program
):
    page = visit("/notes?q=zxqv", program=meant)
    expect(page.locator(".count [role=status]")).to_have_text("No note has it; nearest in meaning:")
    expect(page.locator(".list")).to_contain_text("Bread")
