"""Measure the web page in the machine's own Chromium, without a GPU.

    python -m benchmarks web                       1,284, 9,746 and 38,000 notes
    python -m benchmarks web --sizes 1284          one size, a minute
    python -m benchmarks web --vault FOLDER        a vault of one's own
    python -m benchmarks web --times 2 --keys 10   few repetitions, for a first look

For each size it serves a generated vault, opens the page, searches, opens notes and draws the graph.
Each figure is printed as soon as it is known, and all of them as a Markdown table at the end. Times
are wall-clock times as a person would feel them, so the machine must be idle; the load is printed
with them. The first view is what is loaded until 0.4 s after its list is shown: the page's own files,
compressed, and the replies about the vault. The stream of events is not in it. A search has 60 ms to
wait after the last key: that is not counted. Each part ends after `--seconds`, with the repetitions it
has made; one that does not end within three minutes ends the run.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import statistics
import tempfile
import threading
import time
import urllib.error
import urllib.request
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.web.browsers import find_browser

from benchmarks.server import Server
from benchmarks.vault import Vault

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from playwright.sync_api import Browser, Page

SIZES = (1_284, 9_746, 38_000)
WAIT_MS = 60
PATIENCE = 180  # seconds without a figure, after which something hangs
LONG_KB = (10, 200)

_OBSERVE = """
window.seen = { shift: 0, tasks: [] };
new PerformanceObserver((list) => { for (const e of list.getEntries()) if (!e.hadRecentInput) seen.shift += e.value; })
  .observe({ type: "layout-shift", buffered: true });
new PerformanceObserver((list) => { for (const e of list.getEntries()) seen.tasks.push(e.duration); })
  .observe({ type: "longtask", buffered: true });
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
# Moves the pointer, or turns the wheel, in each frame of the page; returns the frames a second that
# the worker drew. The pointer is down on the ground.
_MOVE = """async ([how, milliseconds]) => {
  const canvas = document.querySelector(".graph > canvas");
  const frames = async () => {
    const before = canvas.dataset.frames;
    canvas.dispatchEvent(new KeyboardEvent("keydown", { key: "F", bubbles: true }));
    for (let wait = 0; canvas.dataset.frames === before && wait < 60; wait += 1) await new Promise((done) => setTimeout(done, 5));
    return Number(canvas.dataset.frames);
  };
  const first = await frames();
  const began = performance.now();
  for (let step = 0; performance.now() - began < milliseconds; step += 1) {
    const [x, y] = [1390 - 4 * (step % 60), 110 + 3 * (step % 40)];
    if (how === "pan") canvas.dispatchEvent(new PointerEvent("pointermove", { pointerId: 1, clientX: x, clientY: y, buttons: 1, bubbles: true }));
    else canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: step % 40 < 20 ? -60 : 60, clientX: 800, clientY: 480, bubbles: true, cancelable: true }));
    await new Promise((done) => requestAnimationFrame(done));
  }
  const taken = performance.now() - began;
  return (await frames() - first) * 1000 / taken;
}"""
_SIZES = (
    "[...performance.getEntriesByType('resource'), ...performance.getEntriesByType('navigation')]"
    ".map(e => ({own: e.name.includes('/ui/'), size: e.encodedBodySize}))"
)


def p95(values: list[float]) -> float:
    """Return the 95th percentile."""
    return sorted(values)[max(0, int(len(values) * 0.95) - 1)]


class Figures:
    """The figures of one vault: each is printed as soon as it is known."""

    def __init__(self, vault: str, seconds: float, keys: int) -> None:
        self.found: dict[str, float] = {}
        self.keys = keys
        self._vault, self._seconds = vault, seconds
        self._began = time.monotonic()

    def add(self, name: str, value: float | None, note: str = "") -> None:
        """Print a figure. What did not happen is not a number."""
        self.found[name] = float("nan") if value is None else value
        passed = time.monotonic() - self._began
        print(
            f"{passed:6.0f} s  {self._vault}: {name}: {shown(self.found[name])} {note}", flush=True
        )

    def repeated(
        self, name: str, page: Page, script: str, given: Iterable[list[Any]], less: float = 0
    ) -> None:
        """Add the 95th percentile of a script's milliseconds, for as long as there is time."""
        until = time.monotonic() + self._seconds
        times: list[float] = []
        lost = 0
        for each in given:
            taken = page.evaluate(script, each)
            if taken is None:
                lost += 1
            else:
                times.append(taken - less)
            if time.monotonic() > until:
                break
        note = f"({len(times)} times{f', {lost} without a result' if lost else ''})"
        if times:
            note += f", median {shown(statistics.median(times))}"
        self.add(f"{name}, p95, ms", p95(times) if times else None, note)


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
    paints, usable, blocked, shifts = [], [], [], []
    entries: list[dict[str, Any]] = []
    for _ in range(times):
        with opened(browser, address) as page:
            page.wait_for_timeout(400)
            paints.append(
                page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
            )
            seen = page.evaluate("window.seen")
            usable.append(seen["usable"])
            shifts.append(seen["shift"])
            blocked.append(sum(max(0, task - 50) for task in seen["tasks"]))
            entries = page.evaluate(_SIZES)
    note = f"(median of {times})"
    figures.add("first contentful paint, ms", statistics.median(paints), note)
    figures.add("list usable, ms", statistics.median(usable), note)
    figures.add("total blocking time, ms", statistics.median(blocked), note)
    figures.add("layout shift", max(shifts), "(largest)")
    for files, name in ((True, "files of the first view"), (False, "replies to the first view")):
        sizes = [each["size"] for each in entries if each["own"] is files]
        figures.add(f"{name}, KB", sum(sizes) / 1000)
        figures.add(f"{name}, number", float(len(sizes)))


def typed(titles: list[str], times: int) -> list[str]:
    """Return texts as they are typed: each a letter longer than the one before, or a new one."""
    texts: list[str] = []
    for title in titles:
        texts += [title[: 2 + at] for at in range(min(8, len(title) - 1)) if title[1 + at] != " "]
    return texts[:times]


def using(page: Page, asset: str, notes: list[dict[str, Any]], figures: Figures) -> None:
    """Measure search and reading."""
    texts = typed([note["title"] for note in notes], figures.keys)
    ids = [[note["noteId"], asset] for note in notes]
    figures.repeated("key to results", page, _SEARCH, ([text, asset] for text in texts), WAIT_MS)
    page.locator("#find").fill("")
    page.wait_for_timeout(200)
    figures.repeated("note opened", page, _OPEN, ids[: figures.keys // 2])


def reading(page: Page, asset: str, long: dict[int, str], other: str, figures: Figures) -> None:
    """Measure how notes of a size open, each after another note."""
    for size, note in long.items():
        times = []
        for _ in range(max(2, figures.keys // 10)):
            page.evaluate(_OPEN, [other, asset])
            times.append(page.evaluate(_OPEN, [note, asset]))
        known = [each for each in times if each is not None]
        figures.add(f"note of {size} KB opened, p95, ms", p95(known) if known else None)


def drawing(page: Page, seconds: float, figures: Figures) -> None:
    """Measure the graph."""
    figures.add("graph, first picture, ms", page.evaluate(_GRAPH))
    page.wait_for_timeout(3000)
    page.evaluate("seen.tasks.length = 0")
    span = 1000 * min(3.0, seconds)
    page.mouse.move(1390, 110)
    page.mouse.down()
    figures.add("graph, pan, frames a second", page.evaluate(_MOVE, ["pan", span]))
    page.mouse.up()
    figures.add("graph, zoom, frames a second", page.evaluate(_MOVE, ["zoom", span]))
    longest = max(page.evaluate("seen.tasks"), default=0.0)
    figures.add("page's longest task while the graph moves, ms", longest)


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


def measure(browser: Browser, folder: Path, given: argparse.Namespace, figures: Figures) -> None:
    """Serve a vault and measure the page over it."""
    with (
        tempfile.TemporaryDirectory() as home,
        Server(folder, Path(home), VAULT_AGENT_WEB_ENABLED="true") as server,
        watched(server),
    ):
        running = server.running_job()  # a first index begins by itself
        server.finish(running or server.submit("index"))
        laid_out(server)
        listed = notes_of(server, given.keys)
        long = {}
        for size in LONG_KB:
            for found in server.call("GET", f"/resolve?name=long%20{size}")["notes"]:
                long[size] = found["noteId"]
        address = f"http://127.0.0.1:{server.port}/ui/"
        opening(browser, address, given.times, figures)
        with opened(browser, address) as page:
            asset = page.evaluate(
                "document.querySelector('script[type=module]').src.replace('/app/main.js', '')"
            )
            using(page, asset, listed, figures)
            reading(page, asset, long, listed[-1]["noteId"], figures)
            drawing(page, given.seconds, figures)


@contextmanager
def watched(server: Server) -> Iterator[None]:
    """End everything if a part hangs, and say where."""

    def end() -> None:
        faulthandler.dump_traceback(all_threads=True)
        server.process.terminate()
        os._exit(1)

    timer = threading.Timer(PATIENCE * 4, end)
    timer.daemon = True
    timer.start()
    yield
    timer.cancel()


def write_long(folder: Path) -> None:
    """Add notes of 10 and of 200 KB."""
    source = Vault(200)
    text = "\n\n".join(source.text(at, 8 * 1024) for at in range(40)).replace("\n---\n", "\n\n")
    for size in LONG_KB:
        (folder / f"long {size}.md").write_text(
            f"# long {size}\n\n" + text.encode()[: 1000 * size].decode("utf-8", "ignore"), "utf-8"
        )


def main() -> None:
    """Measure each size and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--vault", type=Path)
    parser.add_argument("--times", type=int, default=9, help="how often the page is opened")
    parser.add_argument("--keys", type=int, default=200, help="searches; half as many notes")
    parser.add_argument("--seconds", type=float, default=60, help="at most, for each part")
    given = parser.parse_args()
    found = find_browser()
    if found is None:
        raise SystemExit("No Chromium. `make browser` installs it.")
    from playwright.sync_api import sync_playwright

    columns: dict[str, dict[str, float]] = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, headless=True)
        for size in [0] if given.vault else given.sizes:
            name = given.vault.name if given.vault else f"{size:,} notes"
            figures = Figures(name, given.seconds, given.keys)
            columns[name] = figures.found
            with tempfile.TemporaryDirectory() as folder:
                if not given.vault:
                    Vault(size - len(LONG_KB)).write(Path(folder))
                    write_long(Path(folder))
                measure(browser, given.vault or Path(folder), given, figures)
        browser.close()
    print(f"\nLoad {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores.\n")
    print(f"| figure | {' | '.join(columns)} |\n|---|{'---:|' * len(columns)}")
    for name in next(iter(columns.values())):
        print(f"| {name} | {' | '.join(shown(column[name]) for column in columns.values())} |")


if __name__ == "__main__":
    main()
