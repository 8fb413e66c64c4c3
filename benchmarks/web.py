"""Measure the web page in the machine's own Chromium, without a GPU.

    python benchmarks/web.py                    1,000, 10,000 and 38,000 notes
    python benchmarks/web.py --sizes 1000       one size, a minute
    python benchmarks/web.py --vault FOLDER     a vault of one's own

For each size it serves a generated vault, opens the page, searches, opens notes and draws the graph.
Prints a Markdown table. Times are wall-clock times as a person would feel them, so the machine must
be idle; the load is printed with them. A search has 60 ms to wait after the last key: that is not
counted.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from server import Server
from vault import Vault

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.web.browsers import find_browser

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, Page

SIZES = (1_000, 10_000, 38_000)
COLD = 9
KEYS = 60
MOVES = 120
WAIT_MS = 60
TYPED = ("garden", "winter bread", "notes about light", "the river", "stone and water")

_OBSERVE = """
window.seen = { shift: 0, tasks: [] };
new PerformanceObserver((list) => { for (const e of list.getEntries()) if (!e.hadRecentInput) seen.shift += e.value; })
  .observe({ type: "layout-shift", buffered: true });
new PerformanceObserver((list) => { for (const e of list.getEntries()) seen.tasks.push(e.duration); })
  .observe({ type: "longtask", buffered: true });
new MutationObserver((_, self) => {
  if (document.querySelector(".row")) { seen.usable = performance.now(); self.disconnect(); }
}).observe(document, { subtree: true, childList: true });
"""

# Each sets something off and resolves with the milliseconds until it was painted.
_UNTIL_PAINTED = """
const painted = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
const until = async (is) => { const end = performance.now() + 3000; while (!is() && performance.now() < end) await new Promise((done) => setTimeout(done, 1)); await painted(); };
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
  await until(() => results.peek() !== before);
  return performance.now() - began;
}"""
)
_OPEN = (
    """async ([id]) => {"""
    + _UNTIL_PAINTED
    + """
  const began = performance.now();
  location.hash = `#/notes/${id}`;
  const read = () => document.querySelector("article.read");
  await until(() => read()?.getAttribute("aria-busy") === "false" && document.querySelector(".prose")?.childElementCount);
  return performance.now() - began;
}"""
)
_SWITCH = (
    """async ([text]) => {"""
    + _UNTIL_PAINTED
    + """
  const field = document.querySelector("dialog input");
  const before = document.querySelector("#options").textContent;
  field.value = text;
  const began = performance.now();
  field.dispatchEvent(new InputEvent("input", { bubbles: true }));
  await until(() => document.querySelector("#options").textContent !== before);
  return performance.now() - began;
}"""
)
_GRAPH = (
    """async () => {"""
    + _UNTIL_PAINTED
    + """
  const began = performance.now();
  location.hash = "#/graph";
  await until(() => Number(document.querySelector(".graph canvas")?.dataset.drawn) > 0);
  return performance.now() - began;
}"""
)


def p95(values: list[float]) -> float:
    """Return the 95th percentile."""
    return sorted(values)[int(len(values) * 0.95) - 1]


@contextmanager
def opened(browser: Browser, address: str) -> Iterator[Page]:
    """Open the page in a context of its own, with a cold cache."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.add_init_script(_OBSERVE)
    page.goto(address)
    page.wait_for_selector(".row")
    yield page
    context.close()


def opening(browser: Browser, address: str) -> dict[str, float]:
    """Measure how the page opens, several times."""
    paints, usable, blocked, shifts = [], [], [], []
    entries: list[dict[str, Any]] = []
    for _ in range(COLD):
        with opened(browser, address) as page:
            page.wait_for_timeout(300)
            paints.append(
                page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
            )
            seen = page.evaluate("window.seen")
            usable.append(seen["usable"])
            shifts.append(seen["shift"])
            blocked.append(sum(max(0, task - 50) for task in seen["tasks"]))
            entries = page.evaluate(
                "[...performance.getEntriesByType('resource'), ...performance.getEntriesByType('navigation')]"
                ".filter(e => e.name.includes('/ui/')).map(e => ({size: e.encodedBodySize, start: e.startTime}))"
            )
    return {
        "first contentful paint, ms": statistics.median(paints),
        "list usable, ms": statistics.median(usable),
        "total blocking time, ms": statistics.median(blocked),
        "layout shift": max(shifts),
        "transferred for the first view, KB": sum(each["size"] for each in entries) / 1000,
        "requests": float(len(entries)),
    }


def using(page: Page, notes: list[str]) -> dict[str, float]:
    """Measure search, switcher and reading."""
    asset = page.evaluate(
        "document.querySelector('script[type=module]').src.replace('/app/main.js', '')"
    )
    searches = []
    for number in range(KEYS):
        words = TYPED[number % len(TYPED)]
        text = words[: 2 + number // len(TYPED) % (len(words) - 1)] + " " * (number % 2)
        searches.append(page.evaluate(_SEARCH, [f"{text}{number % 7}"[:40], asset]) - WAIT_MS)
    page.locator("#find").fill("")
    reads = [page.evaluate(_OPEN, [note]) for note in notes]
    page.keyboard.press("Control+k")
    page.wait_for_selector("dialog input")
    switches = [
        page.evaluate(_SWITCH, [TYPED[n % 5][: 1 + n % 6] + "aeiou"[n % 5]]) for n in range(20)
    ]
    page.keyboard.press("Escape")
    return {
        "key to results, p95, ms": p95(searches),
        "switcher, key to painted, p95, ms": p95(switches),
        "note opened, p95, ms": p95(reads),
    }


def drawing(page: Page) -> dict[str, float]:
    """Measure the graph."""
    first = page.evaluate(_GRAPH)
    page.wait_for_timeout(3000)
    page.evaluate("seen.tasks.length = 0")
    canvas = page.locator(".graph > canvas")

    def frames() -> float:
        canvas.press("Shift+F")
        page.wait_for_timeout(100)
        return float(canvas.get_attribute("data-frames") or 0)

    def moved(step: Callable[[int], None]) -> float:
        before, began = frames(), time.perf_counter()
        for number in range(MOVES):
            step(number)
        taken = time.perf_counter() - began
        return (frames() - before) / taken

    page.mouse.move(720, 480)
    page.mouse.down()
    pan = moved(lambda number: page.mouse.move(720 + number % 60 * 4, 480 + number % 40 * 3))
    page.mouse.up()
    zoom = moved(lambda number: page.mouse.wheel(0, -60 if number % 40 < 20 else 60))
    return {
        "graph, first picture, ms": first,
        "graph, pan, frames a second": pan,
        "graph, zoom, frames a second": zoom,
        "page's longest task while the graph moves, ms": max(
            page.evaluate("seen.tasks"), default=0.0
        ),
    }


def measure(browser: Browser, folder: Path) -> dict[str, float]:
    """Serve a vault and measure the page over it."""
    with (
        tempfile.TemporaryDirectory() as home,
        Server(folder, Path(home), VAULT_AGENT_WEB_ENABLED="true") as server,
    ):
        running = server.running_job()  # a first index begins by itself
        server.finish(running or server.submit("index"))
        notes = [note["noteId"] for note in server.call("GET", "/notes?limit=40")["notes"]]
        address = f"http://127.0.0.1:{server.port}/ui/"
        found = opening(browser, address)
        with opened(browser, address) as page:
            found |= using(page, notes)
            found |= drawing(page)
        return found


def main() -> None:
    """Measure each size and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--vault", type=Path)
    given = parser.parse_args()
    found = find_browser()
    if found is None:
        raise SystemExit("No Chromium. `make browser` installs it.")
    from playwright.sync_api import sync_playwright

    columns: dict[str, dict[str, float]] = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, headless=True)
        if given.vault:
            columns[given.vault.name] = measure(browser, given.vault)
        else:
            for size in given.sizes:
                with tempfile.TemporaryDirectory() as folder:
                    Vault(size).write(Path(folder))
                    columns[f"{size:,} notes"] = measure(browser, Path(folder))
        browser.close()
    print(f"Load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores.\n")
    print(f"| figure | {' | '.join(columns)} |\n|---|{'---:|' * len(columns)}")
    for name in next(iter(columns.values())):
        print(
            f"| {name} | {' | '.join(f'{column[name]:,.2f}' if column[name] < 1 else f'{column[name]:,.0f}' for column in columns.values())} |"
        )


if __name__ == "__main__":
    main()
