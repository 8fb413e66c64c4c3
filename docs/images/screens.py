"""Take the pictures of the web page: web-notes.jpg, web-graph.jpg and web-files.jpg.

    make screens VAULT=~/obsidian-hub

Serves a clone of the Obsidian Hub, a vault of thousands of public notes, and opens the page in the
machine's own Chromium: https://github.com/obsidian-community/obsidian-hub
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROOT = Path(__file__).parents[2]
PORT = 8798
ADDRESS = f"http://127.0.0.1:{PORT}"
SIZE = {"width": 1280, "height": 800}
QUALITY = 72
PATIENCE = 90
GUIDE = "Controlling Obsidian via a Third-party App"

sys.path.insert(0, str(ROOT))
from tests.web.browsers import find_browser  # noqa: E402 - below the path to it


def wait_for(path: str) -> None:
    """Wait until the server answers a request."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            urllib.request.urlopen(ADDRESS + path).close()  # noqa: S310 - our own server
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
        else:
            return
    raise SystemExit(f"{path} did not answer")


def main() -> None:
    """Take the pictures of the vault at the path that is given."""
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    with tempfile.TemporaryDirectory() as index, sync_playwright() as playwright:
        program = str(Path(sys.executable).with_name("vault-agent"))
        server = subprocess.Popen(  # noqa: S603 - our own program
            (
                *(program, "serve", "--web", "--vault-root", sys.argv[1]),
                *("--index-dir", index, "--port", str(PORT)),
            )
        )
        try:
            wait_for("/graph/layout")
            browser = playwright.chromium.launch(executable_path=find_browser(), headless=True)
            page = browser.new_page(viewport=SIZE, color_scheme="light")
            page.goto(f"{ADDRESS}/ui/#/notes?q=digital+garden")
            page.locator(".row").nth(1).click()
            page.locator(".back .ref").first.wait_for()
            page.wait_for_timeout(2000)  # the local graph is laid out
            take(page, "web-notes.jpg")
            page.goto(f"{ADDRESS}/ui/#/notes")
            page.get_by_role("button", name="Show or hide the tree of files").click()
            for name in ("04 - Guides, Workflows, & Courses", "Guides", GUIDE):
                text = page.get_by_text(name, exact=True)
                page.get_by_role("treeitem").filter(has=text).first.click()
            page.locator(".back").wait_for()
            page.wait_for_timeout(2000)
            take(page, "web-files.jpg")
            page.emulate_media(color_scheme="dark")
            page.goto(f"{ADDRESS}/ui/#/graph")
            page.mouse.move(SIZE["width"] / 2, SIZE["height"] - 1)  # over nothing
            page.wait_for_timeout(4000)  # the picture is drawn, with its groups
            take(page, "web-graph.jpg")
            browser.close()
        finally:
            server.terminate()
            server.wait()


def take(page: Page, name: str) -> None:
    """Write a picture beside this file."""
    page.screenshot(path=Path(__file__).with_name(name), quality=QUALITY)


if __name__ == "__main__":
    main()
