"""Diagrams: drawn if the owner wants it, in a sandboxed frame that nothing comes out of but a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest
from tests.support.program import Program
from tests.web.browsers import expect
from tests.web.conftest import serve
from tests.web.test_everybody import RULES, settle, violations

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

KINDS = {
    "Flowchart": "flowchart LR\n  A[Sensor] --> B{Frost?}\n  style B fill:#ffffff\n",
    "Sequence diagram: Morning": "---\ntitle: Morning\n---\nsequenceDiagram\n  A->>B: Wake up\n",
    "Flowchart: 霜の記録": "flowchart TD\n  accTitle: 霜の記録\n  甲[開始] -->|次へ| 乙[警報]\n",
    "Mind map": "mindmap\n  root((Frost))\n    Tools\n",
}
"""By the text that stands for the picture."""

HOSTILE = """%%{init: {"securityLevel": "loose", "htmlLabels": true, "maxTextSize": 999999}}%%
flowchart LR
  A["<img src='https://evil.example/a.png' onerror='hit=1'><script>top.hit=2</script>"] --> B
  B["<a href='javascript:parent.hit=3'>x</a><iframe src='https://evil.example/'></iframe>"]
  C["<meta http-equiv='refresh' content='0;url=https://evil.example/'>"] --> A
  click A "javascript:parent.hit=4" "x"
  click B call hit()
  style A fill:url(https://evil.example/b.svg#x)
"""
EMPTY = "\n" * 9000
BLANK = f"flowchart TD\n  A-->B{EMPTY}title{EMPTY}"
"""What a search for a title over the ends of lines would take minutes for."""
FAULTS = {
    "flowchart TD\n  A --> B[unclosed\n": "line 2 cannot be read",
    "nonsense\n": "its first line names no known kind",
    "architecture-beta\n  service a(database)[A]\n": "the page has no architecture diagrams",
    "flowchart TD\n" + "".join(f"  a{n}-->b{n}\n" for n in range(501)): "too large",
    "packet-beta\n  0-9999999999: 'endless'\n": "takes too long",
    "pie\n" + '  "much" : 1\n' * 80_000: "too large",
}
"""What is said of sources without a picture."""


def note(blocks: dict[str, str] | list[str]) -> str:
    sources = blocks.values() if isinstance(blocks, dict) else blocks
    return "# Note\n\n" + "\n\n".join(f"```mermaid\n{source}```" for source in sources) + "\n"


@pytest.fixture(scope="module")
def drawing(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Program]:
    """Serve notes with diagrams, which are to be drawn."""
    servers = serve(tmp_path_factory.mktemp("drawing"), more=0, VAULT_AGENT_WEB_DIAGRAMS="true")
    program = next(servers)
    program.write("Kinds.md", note(KINDS))
    program.write("Hostile.md", note([HOSTILE, *FAULTS, KINDS["Flowchart"]]))
    program.write("Blank.md", note([BLANK]))
    program.finish(program.submit())
    yield program
    for _ in servers:
        pass


def text_in(picture: Locator) -> str:
    """Return the source of a picture, which the page keeps in no other place."""
    address = picture.evaluate("each => each.src")
    read = "address => window.pictures.get(address)"
    return str(picture.page.wait_for_function(read, arg=address).json_value())


KEEP = """
(() => {
  window.pictures = new Map();
  window.held = new Set();
  const { createObjectURL, revokeObjectURL } = URL;
  URL.createObjectURL = (blob) => {
    const address = createObjectURL.call(URL, blob);
    window.held.add(address);
    blob.text().then((text) => window.pictures.set(address, text));
    return address;
  };
  URL.revokeObjectURL = (address) => {
    window.held.delete(address);
    revokeObjectURL.call(URL, address);
  };
})();
"""


def test_no_diagram_is_drawn_while_the_setting_is_off(
    visit: Callable[..., Page], note_id: Callable[..., str]
):
    page = visit("/notes")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.evaluate("place => location.hash = place", f"#/notes/{note_id('Median of three')}")
    page.get_by_text("A diagram of Mermaid").click()
    expect(page.locator(".prose").get_by_text("A[Sensor]")).to_be_visible()
    assert page.locator("iframe, .prose img").count() == 0
    assert not [url for url in asked if "diagram" in url or "drawing" in url]


def test_diagrams_are_drawn_in_the_colours_of_the_page(
    visit: Callable[..., Page], drawing: Program, note_id: Callable[..., str]
):
    page = visit("/notes", program=drawing, color_scheme="light")
    page.evaluate(KEEP)
    assert page.locator("iframe").count() == 0, "nothing is loaded before it is needed"
    page.evaluate("place => location.hash = place", f"#/notes/{note_id('Kinds', drawing)}")
    pictures = page.locator(".diagram img")
    expect(pictures).to_have_count(len(KINDS))
    assert pictures.evaluate_all("all => all.map(each => each.alt)") == list(KINDS)
    for picture in pictures.all():
        assert picture.evaluate("each => each.complete && each.naturalWidth") > 50
    light = text_in(pictures.first)
    assert "Sensor" in light
    assert "警報" in text_in(pictures.nth(2))
    assert page.locator("iframe.drawing").count() == 1
    source = page.locator(".diagram summary").first
    expect(source).to_have_text("Source")
    source.click()
    expect(page.locator(".prose").get_by_text("A[Sensor]")).to_be_visible()
    settle(page)
    assert not violations(page, RULES)
    before = pictures.first.get_attribute("src")
    page.emulate_media(color_scheme="dark")
    expect(pictures.first).not_to_have_attribute("src", before or "")
    dark = text_in(pictures.first)
    assert dark != light
    assert "fill: rgb(24, 25, 28) !important" in dark, "on white, the light text cannot be read"
    page.evaluate("location.hash = '#/notes'")
    expect(pictures).to_have_count(0)
    assert page.evaluate("window.held.size") == 0, "no picture outlives its place"


@pytest.mark.fault(
    "The web page",
    "a diagram with scripts, links and pictures of elsewhere, of a megabyte, or without an end",
    "its frame can reach nothing; the source is shown, with the reason",
)
def test_a_hostile_diagram_does_nothing(
    visit: Callable[..., Page], drawing: Program, note_id: Callable[..., str]
):
    handler = (
        "Executing inline event handler violates"  # of an image: the policy of the frame holds
    )
    page = visit(f"/notes/{note_id('Hostile', drawing)}", program=drawing, expected=(handler,))
    figures = page.locator(".diagram")
    for figure, reason in zip(figures.all()[1:], FAULTS.values(), strict=False):
        figure.scroll_into_view_if_needed()
        expect(figure.locator("summary")).to_contain_text(reason)
        assert figure.locator("img").count() == 0
    figures.last.scroll_into_view_if_needed()
    expect(figures.last.locator("img"), "a new frame goes on").to_be_visible()
    expect(figures.first.locator("img, details[open]").first).to_be_attached()
    assert page.evaluate("typeof hit") == "undefined"


def test_a_source_of_empty_lines_does_not_stop_the_page(
    visit: Callable[..., Page], drawing: Program, note_id: Callable[..., str]
):
    page = visit(f"/notes/{note_id('Blank', drawing)}", program=drawing)
    expect(page.locator(".diagram img")).to_have_attribute("alt", "Flowchart")


def test_a_frame_that_does_not_load_is_tried_again(
    visit: Callable[..., Page], drawing: Program, note_id: Callable[..., str]
):
    page = visit("/notes", program=drawing, expected=("ERR_FAILED",))
    page.evaluate(  # nobody waits for a frame for twenty seconds
        "() => { window.before = setTimeout;"
        " window.setTimeout = (run, ms) => before(run, ms === 20_000 ? 200 : ms); }"
    )
    page.route("**/diagrams.html", lambda route: route.abort())
    place = f"#/notes/{note_id('Blank', drawing)}"
    page.evaluate("place => location.hash = place", place)
    expect(page.locator(".diagram summary")).to_have_text("The drawing could not be loaded")
    page.unroute("**/diagrams.html")
    page.evaluate("() => { window.setTimeout = before; }")
    page.evaluate("location.hash = '#/notes'")
    expect(page.locator(".diagram")).to_have_count(0)
    page.evaluate("place => location.hash = place", place)
    expect(page.locator(".diagram img")).to_be_visible()


def test_the_frame_can_reach_nothing(
    visit: Callable[..., Page], drawing: Program, note_id: Callable[..., str]
):
    """Not even a script that got into it: neither the page nor its data, nor another computer."""
    stopped = ("Content Security Policy", "sandboxed", "connect-src", "script-src", "img-src")
    page = visit(f"/notes/{note_id('Kinds', drawing)}", program=drawing, expected=stopped)
    expect(page.locator(".diagram img")).to_have_count(len(KINDS))
    frame = next(each for each in page.frames if each.url.endswith("/diagrams.html"))
    tried = """async () => {
      const refused = async (run) => { try { return (await run()) ?? "done"; } catch { return "refused"; } };
      return Promise.all([
        () => parent.document.title,
        () => localStorage.length,
        () => fetch(new URL("../../notes", location.href)),
        () => new Promise((done, fail) => {
          const script = document.createElement("script");
          script.textContent = "globalThis.ran = true";
          document.body.append(script);
          setTimeout(() => (globalThis.ran ? done() : fail()), 50);
        }),
        () => new Promise((done, fail) => {
          const image = Object.assign(new Image(), { onload: done, onerror: fail });
          image.src = "https://evil.example/c.png";
        }),
        () => open("https://evil.example/") ?? Promise.reject(),
      ].map(refused));
    }"""
    assert frame.evaluate(tried) == ["refused"] * 6
    for sender in (page.main_frame, frame):  # the first is not heard, nor an answer to nothing
        sender.evaluate(
            "for (let id = 0; id < 30; id += 1)"
            " parent.postMessage({id, ready: true, svg: '<svg/>', kind: 'x', title: 'x'}, '*')"
        )
    frame.evaluate("location.href = '/ui/'")
    page.wait_for_timeout(300)
    alts = page.locator(".diagram img").evaluate_all("all => all.map(each => each.alt)")
    assert alts == list(KINDS)
