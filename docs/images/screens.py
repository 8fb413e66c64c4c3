"""Take the pictures of the web page: `make screens` writes web-notes.jpg and web-graph.jpg.

Serves the sample vault and opens the page in the machine's own Chromium.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[2]
PORT = 8798
ADDRESS = f"http://127.0.0.1:{PORT}"
SIZE = {"width": 1280, "height": 800}
QUALITY = 76
PATIENCE = 30

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
    """Take both pictures."""
    with tempfile.TemporaryDirectory() as index, sync_playwright() as playwright:
        program = str(Path(sys.executable).with_name("vault-agent"))
        vault = str(ROOT / "fixtures" / "vault")
        server = subprocess.Popen(  # noqa: S603 - our own program
            (
                *(program, "serve", "--web", "--vault-root", vault),
                *("--index-dir", index, "--port", str(PORT)),
            )
        )
        try:
            wait_for("/graph/layout")
            browser = playwright.chromium.launch(executable_path=find_browser(), headless=True)
            page = browser.new_page(viewport=SIZE, color_scheme="light")
            page.goto(f"{ADDRESS}/ui/#/notes?q=frost")
            page.locator(".row", has_text="Frost alarm").first.click()
            page.locator(".back .ref").first.wait_for()
            page.wait_for_timeout(2000)  # the local graph is laid out
            page.screenshot(path=Path(__file__).with_name("web-notes.jpg"), quality=QUALITY)
            page.emulate_media(color_scheme="dark")
            page.goto(f"{ADDRESS}/ui/#/graph")
            page.get_by_role("radio", name="Cluster").click()
            page.locator("#find").fill("late frost")
            page.locator("#find").press("Enter")
            page.locator("#find").fill("")
            page.wait_for_timeout(3000)  # the picture is drawn, with its groups
            page.screenshot(path=Path(__file__).with_name("web-graph.jpg"), quality=QUALITY)
            browser.close()
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
