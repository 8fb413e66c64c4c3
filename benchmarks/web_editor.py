"""Measure the editor of the web page in the machine's own Chromium, without a GPU.

    python -m benchmarks web_editor              typing in notes of 10 and 200 KB
    python -m benchmarks web_editor --keys 50    for a first look

`benchmarks/web.py` measures the rest of the page. A key is measured from its event to the end of
the frame that shows it. Times are wall-clock times, so the machine must be idle.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.web.browsers import find_browser

from benchmarks.server import Server
from benchmarks.vault import Vault
from benchmarks.web import p95

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PAGE = Path(__file__).parents[1] / "src" / "vault_agent" / "web"
KEY = "benchmark-key-" * 3
LETTERS = "and so the long night went on over the garden "
APART_MS = 40  # about 25 keys a second: faster than a person

_IMPORT = re.compile(r'^(?:import|export)\b[^;"]*?"(\.[^"]+)"', re.MULTILINE)
_WATCH = """() => {
  window.keys = [];
  window.tasks = [];
  new PerformanceObserver((list) => tasks.push(...list.getEntries().map((each) => each.duration)))
    .observe({ type: "longtask" });
  addEventListener("keydown", (event) => {
    const began = event.timeStamp;
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => keys.push(performance.now() - began);
      port2.postMessage(0);
    });
  }, true);
}"""


def write_note(folder: Path, kilobytes: int) -> str:
    """Write a note of a size and return its name."""
    source = Vault(60)
    text = "\n\n".join(source.text(at, 8 * 1024) for at in range(40)).replace("\n---\n", "\n\n")
    name = f"long {kilobytes}"
    (folder / f"{name}.md").write_text(
        f"# {name}\n\n" + text.encode()[: 1000 * kilobytes].decode("utf-8", "ignore"), "utf-8"
    )
    return name


def call(server: Server, method: str, path: str, body: object = None) -> Any:
    """Send a request with the key."""
    request = urllib.request.Request(
        f"{server.endpoint}{path}",
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as reply:
        return json.load(reply)["data"]


def typing(page: Page, keys: int) -> tuple[list[float], float]:
    """Type in the middle of the note. Return the milliseconds of each key, and the longest task."""
    page.evaluate("keys.length = tasks.length = 0")
    for at in range(keys):
        page.keyboard.press(
            {" ": "Space"}.get(LETTERS[at % len(LETTERS)], LETTERS[at % len(LETTERS)])
        )
        page.wait_for_timeout(APART_MS)
    page.wait_for_timeout(500)
    return page.evaluate("keys"), max(page.evaluate("tasks"), default=0.0)


def editing(browser: Browser, keys: int) -> dict[str, float]:
    """Serve a vault that may be written, and measure typing in notes of 10 and of 200 KB."""
    found: dict[str, float] = {}
    settings = {
        "VAULT_AGENT_WEB_ENABLED": "true",
        "VAULT_AGENT_WRITE_ENABLED": "true",
        "VAULT_AGENT_WRITE_FOLDERS": ".",
        "VAULT_AGENT_SERVER_API_KEY": KEY,
    }
    with tempfile.TemporaryDirectory() as made, tempfile.TemporaryDirectory() as home:
        names = {size: write_note(Path(made), size) for size in (10, 200)}
        with Server(Path(made), Path(home), **settings) as server:
            while not call(server, "GET", "/health")["index"]["notes"]:
                time.sleep(0.2)  # a first index begins by itself
            ticket = call(server, "POST", "/ui/tickets", {"printed": True})["ticket"]
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.goto(f"{server.endpoint}/ui/#ticket={ticket}&to=/notes")
            page.wait_for_selector(".row h2")
            page.evaluate(_WATCH)
            for size, name in names.items():
                note = call(server, "GET", f"/resolve?name={name.replace(' ', '%20')}")["notes"][0]
                began = page.evaluate("performance.now()")
                page.evaluate("hash => location.hash = hash", f"#/notes/{note['noteId']}?edit=1")
                page.locator(".field-md .cm-content", has_text=name).wait_for()
                opened = page.evaluate("performance.now()") - began
                found[f"editor opened with {size} KB, ms"] = opened
                page.locator(".field-md .cm-content").press("PageDown")
                for shown in ("", ", with preview"):
                    if shown:
                        page.keyboard.press("Control+e")
                        page.locator(".seen .prose p").first.wait_for()
                        page.wait_for_timeout(1000)
                    times, longest = typing(page, keys)
                    found[f"typing in {size} KB{shown}, key to painted, p95, ms"] = p95(times)
                    found[f"typing in {size} KB{shown}, longest task, ms"] = longest
                page.keyboard.press("Control+e")
                page.keyboard.press("Control+e")
            page.close()
    found["editor, loaded when first used, KB of gzip"] = sizes()
    return found


def sizes() -> float:
    """Return how large the editor is: what is loaded with it and not before."""
    app = PAGE / "app"
    before = imported(app / "main.js") | imported(app / "views" / "notes" / "read.js")
    files = imported(app / "views" / "editor" / "editor.js") - before
    files.add(PAGE / "css" / "editor.css")
    return sum(len(gzip.compress(file.read_bytes(), 9)) for file in files) / 1000


def imported(module: Path) -> set[Path]:
    """Return a module and all that are loaded with it."""
    found: set[Path] = set()
    waiting = [module.resolve()]
    while waiting:
        each = waiting.pop()
        if each not in found:
            found.add(each)
            names = _IMPORT.findall(each.read_text("utf-8")) if each.is_relative_to(PAGE) else []
            waiting += [(each.parent / name).resolve() for name in names if name.startswith(".")]
    return found


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--keys", type=int, default=200)
    given = parser.parse_args()
    found = find_browser()
    if found is None:
        raise SystemExit("No Chromium. `make browser` installs it.")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, headless=True)
        figures = editing(browser, given.keys)
        browser.close()
    print(f"Load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores.\n")
    print("| figure | |\n|---|---:|")
    for name, value in figures.items():
        print(f"| {name} | {value:,.1f} |")


if __name__ == "__main__":
    main()
