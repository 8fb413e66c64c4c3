"""Measure the web page in the machine's own Chromium, without a GPU.

    python -m benchmarks web                       1,284, 9,746 and 38,000 notes
    python -m benchmarks web --sizes 1284          one size, a minute
    python -m benchmarks web --times 2 --keys 10   few repetitions, for a first look

For each size it serves a generated vault, opens the page, searches, opens notes and draws the graph.
Each figure is printed as soon as it is known, and all of them as a Markdown table at the end. Times
are wall-clock times as a person would feel them, so the machine must be idle; the load is printed
with them. The first view is what is loaded until 0.4 s after its list is shown: the page's own files,
compressed, and the replies about the vault. The stream of events is not in it. A search has 60 ms to
wait after the last key: that is not counted. Each part ends after `--seconds`, with the repetitions it
has made.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
import urllib.error
import urllib.request
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.web.browsers import find_browser

from benchmarks.figures import machine, percentile, say, table
from benchmarks.server import Server
from benchmarks.vault import Vault

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from playwright.sync_api import Browser, Page

SIZES = (1_284, 9_746, 38_000)
WAIT_MS = 60
PATIENCE = 180  # seconds for the positions of the graph
LONG_KB = 10

_OBSERVE = """
window.seen = {};
new MutationObserver((_, self) => {
  if (document.querySelector(".row h2")) { seen.usable = performance.now(); self.disconnect(); }
}).observe(document, { subtree: true, childList: true });
"""

# Each sets something off and resolves with the milliseconds until the end of the frame that shows
# it, or with null if nothing came of it within three seconds.
_UNTIL_PAINTED = """
const frame = () => new Promise((done) => requestAnimationFrame(done));
const painted = () => new Promise((done) => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = done;
  port2.postMessage(0);
});
const until = async (is, most = 3000) => {
  const end = performance.now() + most;
  do { if (performance.now() > end) return false; await frame(); } while (!is());
  await painted();
  return true;
};
"""
_SEARCH = (
    """async ([text, asset]) => {"""
    + _UNTIL_PAINTED
    + """
  const { results } = await import(asset + "/app/state/results.js");
  const field = document.getElementById("find");
  const before = results.peek();
  field.value = text;
  const began = performance.now();
  field.dispatchEvent(new InputEvent("input", { bubbles: true }));
  return await until(() => results.peek() !== before) ? performance.now() - began : null;
}"""
)
_OPEN = (
    """async ([id, asset]) => {"""
    + _UNTIL_PAINTED
    + """
  const { note } = await import(asset + "/app/state/note.js");
  const began = performance.now();
  location.hash = `#/notes/${id}`;
  const shown = () => note.peek()?.id === id && document.querySelector(".prose")?.childElementCount
    && document.querySelector("article.read")?.getAttribute("aria-busy") === "false";
  return await until(shown) ? performance.now() - began : null;
}"""
)
_GRAPH = (
    """async () => {"""
    + _UNTIL_PAINTED
    + """
  const began = performance.now();
  location.hash = "#/graph";
  const drawn = () => Number(document.querySelector(".graph canvas")?.dataset.drawn) > 0;
  return await until(drawn, 30000) ? performance.now() - began : null;
}"""
)
_SIZES = (
    "[...performance.getEntriesByType('resource'), ...performance.getEntriesByType('navigation')]"
    ".map(e => ({own: e.name.includes('/ui/'), size: e.encodedBodySize}))"
)


class Figures:
    """The figures of one vault, by name: each is printed as soon as it is measured."""

    def __init__(self, seconds: float) -> None:
        self.values: dict[str, float] = {}
        self._seconds = seconds

    def add(self, name: str, value: float | None) -> None:
        """Keep a figure, and print it."""
        self.values[name] = float("nan") if value is None else value
        say(f"{name}: {shown(self.values[name])}")

    def repeat(
        self, name: str, page: Page, script: str, calls: Iterable[list[Any]], less: float = 0
    ) -> None:
        """Add the 95th percentile of a script's milliseconds, for as long as there is time."""
        until = time.monotonic() + self._seconds
        times: list[float] = []
        for arguments in calls:
            spent = page.evaluate(script, arguments)
            times += [] if spent is None else [spent - less]
            if time.monotonic() > until:
                break
        self.add(f"{name}, p95, ms", percentile(times, 0.95) if times else None)


def shown(value: float) -> str:
    """Return a number as the table has it."""
    if value != value:  # noqa: PLR0124 - not a number
        return "none"
    return f"{value:,.3f}" if 0 < abs(value) < 1 else f"{value:,.0f}"


@contextmanager
def opened(browser: Browser, address: str) -> Iterator[Page]:
    """Open the page in a context of its own, with a cold cache."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.set_default_timeout(30_000)
    page.add_init_script(_OBSERVE)
    page.goto(address)
    page.wait_for_selector(".row h2")
    try:
        yield page
    finally:
        context.close()


def opening(browser: Browser, address: str, times: int, figures: Figures) -> None:
    """Measure how the page opens, several times."""
    paints, usable = [], []
    entries: list[dict[str, Any]] = []
    for _ in range(times):
        with opened(browser, address) as page:
            page.wait_for_timeout(400)
            paints.append(
                page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
            )
            usable.append(page.evaluate("window.seen.usable"))
            entries = page.evaluate(_SIZES)
    figures.add("first contentful paint, ms", statistics.median(paints))
    figures.add("list usable, ms", statistics.median(usable))
    for files, name in ((True, "files of the first view"), (False, "replies to the first view")):
        sizes = [entry["size"] for entry in entries if entry["own"] is files]
        figures.add(f"{name}, KB", sum(sizes) / 1000)
        figures.add(f"{name}, number", float(len(sizes)))


def typed(notes: list[dict[str, Any]], times: int) -> list[str]:
    """Return titles as they are typed: each text a letter longer than the one before."""
    texts = [note["title"][:end] for note in notes for end in range(2, min(10, len(note["title"])))]
    return [text for text in texts if not text.endswith(" ")][:times]


def notes_of(server: Server, number: int) -> list[dict[str, Any]]:
    """Return the first notes of the list."""
    page = server.call("GET", "/notes?limit=100")
    notes: list[dict[str, Any]] = page["notes"]
    while len(notes) < number and page["nextCursor"]:
        page = server.call("GET", f"/notes?limit=100&cursor={page['nextCursor']}")
        notes += page["notes"]
    return notes[:number]


def laid_out(server: Server) -> None:
    """Wait until the positions of the graph are computed, as they are after an index run."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        with suppress(urllib.error.HTTPError):
            urllib.request.urlopen(f"{server.endpoint}/graph/layout").close()
            return
        time.sleep(0.5)


def measure(browser: Browser, folder: Path, options: argparse.Namespace, figures: Figures) -> None:
    """Serve a vault and measure the page over it."""
    with (
        tempfile.TemporaryDirectory() as home,
        Server(folder, Path(home), VAULT_AGENT_WEB_ENABLED="true") as server,
    ):
        server.settle()
        laid_out(server)
        listed = notes_of(server, options.keys)
        [long] = server.call("GET", "/resolve?name=long.md")["notes"]
        address = f"http://127.0.0.1:{server.port}/ui/"
        opening(browser, address, options.times, figures)
        with opened(browser, address) as page:
            asset = page.evaluate(
                "document.querySelector('script[type=module]').src.replace('/app/main.js', '')"
            )
            texts = ([text, asset] for text in typed(listed, options.keys))
            figures.repeat("key to results", page, _SEARCH, texts, WAIT_MS)
            page.locator("#find").fill("")
            page.wait_for_timeout(200)
            notes = [listed[-1]["noteId"], long["noteId"]] * (options.keys // 10)
            calls = ([note, asset] for note in notes)
            figures.repeat("a short or long note opened", page, _OPEN, calls)
            figures.add("graph, first picture, ms", page.evaluate(_GRAPH))


def write_long(folder: Path) -> None:
    """Add a longer note."""
    source = Vault(200)
    text = "\n\n".join(source.text(at, 8 * 1024) for at in range(4)).replace("\n---\n", "\n\n")
    text = text.encode()[: 1000 * LONG_KB].decode("utf-8", "ignore")
    (folder / "long.md").write_text(f"# long\n\n{text}", "utf-8")


def main() -> None:
    """Measure each size and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--times", type=int, default=9, help="how often the page is opened")
    parser.add_argument(
        "--keys", type=int, default=200, help="searches; a tenth as many times a note"
    )
    parser.add_argument("--seconds", type=float, default=60, help="at most, for each part")
    options = parser.parse_args()
    program = find_browser()
    if program is None:
        raise SystemExit("No Chromium. `make browser` installs it.")
    from playwright.sync_api import sync_playwright

    columns: dict[str, dict[str, float]] = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, headless=True)
        for size in options.sizes:
            figures = Figures(options.seconds)
            columns[f"{size:,} notes"] = figures.values
            with tempfile.TemporaryDirectory() as folder:
                Vault(size - 1).write(Path(folder))
                write_long(Path(folder))
                measure(browser, Path(folder), options, figures)
        browser.close()
    print(f"\n{machine()}\n")
    names = next(iter(columns.values()))
    rows = [(name, *(shown(column[name]) for column in columns.values())) for name in names]
    print(table(("figure", *columns), *rows))


if __name__ == "__main__":
    main()
