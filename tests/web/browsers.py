"""The browser of the tests: the machine's own, never one that is downloaded; and proxies for it."""

from __future__ import annotations

import os
import shutil
import socketserver
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.clocks import PATIENCE

try:
    from playwright.sync_api import Error, expect, sync_playwright
except ModuleNotFoundError:  # `make browser` installs it; its tests are skipped without
    Error = expect = sync_playwright = None

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page, ProxySettings, Route

__all__ = ["Elsewhere", "Error", "expect", "find_browser", "held", "started_browser", "tab_to",
           "wait"]  # fmt: skip

_NAMES = (
    "chromium-headless-shell",  # has no windows and no profile: a third less processor time
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "msedge",
    "chrome",
)
_PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)


def find_browser() -> str | None:
    """Return the path of a Chromium, or None, also without Playwright, which drives it.

    The one without windows comes first.
    """
    if sync_playwright is None:
        return None
    given = os.environ.get("VAULT_AGENT_TEST_BROWSER")
    if given:
        return given
    named = (shutil.which(name) for name in _NAMES)
    return next((found for found in (*named, *_PLACES) if found and Path(found).is_file()), None)


class Elsewhere:
    """A proxy that connects nowhere. Whatever is asked of another computer arrives here.

    The browser has one for itself and each `watched.Watch` one for its pages, so that what a
    browser asks of its maker is told from what a page asks by where it arrives.
    """

    def __init__(self) -> None:
        self.asked: list[str] = []
        asked = self.asked

        class Handler(socketserver.StreamRequestHandler):
            timeout = PATIENCE

            def handle(self) -> None:
                try:
                    line = self.rfile.readline(300).decode("latin-1").strip()
                except OSError:  # the browser gave the connection up
                    return
                # A connection that is opened ahead and never used asks nothing.
                if line:
                    asked.append(line)

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = False  # `close` waits until what has arrived is read

        self._server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def address(self) -> str:
        """The address of the proxy."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def proxy(self) -> ProxySettings:
        """The setting of a browser or context that uses it for all but this computer."""
        return {"server": self.address, "bypass": "127.0.0.1"}

    def close(self) -> None:
        """Stop listening. Close what uses it first."""
        self._server.shutdown()
        self._server.server_close()


# A browser draws the pages of its address bar for each context, which takes more than a small page.
_OMNIBOX = ("WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup")
# Chromium takes the last list only.
_OFF_BY_PLAYWRIGHT = (
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsUpgrades",
    "HttpsFirstBalancedModeAutoEnable",
    "LensOverlay",
    "MediaRouter",
    "PaintHolding",
    "ThirdPartyStoragePartitioning",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "OptimizationHints",
    "NetworkTimeServiceQuerying",
    "AimEnabled",
    "PreconnectToSearch",
)


@contextmanager
def started_browser(path: str) -> Iterator[tuple[Browser, Elsewhere]]:
    """Start a browser with a new profile. Yield it and the proxy of what it asks by itself.

    Playwright turns off its updates, synchronisation and other work in the background. A Chromium
    asks its maker all the same, for its extensions and the time.
    """
    itself = Elsewhere()
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=path,
                headless=True,
                proxy=itself.proxy,
                args=[
                    # It would ask how to fill in the forms of a page, and as if the page had asked.
                    "--autofill-server-url=http://127.0.0.1:9/",
                    "--process-per-site",  # a page takes over the process of the one before
                    f"--disable-features={','.join((*_OFF_BY_PLAYWRIGHT, *_OMNIBOX))}",
                ],
            )
            yield browser, itself
            browser.close()
    finally:
        itself.close()


@contextmanager
def held(page: Page, pattern: str) -> Iterator[None]:
    """Hold the requests that match a pattern until the context is left."""
    routes: list[Route] = []
    page.route(pattern, lambda route: routes.append(route))  # noqa: PLW0108
    yield
    page.wait_for_function("() => true")
    page.unroute(pattern)
    for route in routes:  # none if it was loaded already
        with suppress(Error):  # asked no more, or sent on already
            route.continue_()


def tab_to(page: Page, wanted: Locator) -> None:
    """Press Tab until something has the focus."""
    expect(wanted).to_be_enabled()
    for _ in range(40):
        if wanted.evaluate("each => each === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError("Tab does not reach it")


def wait(page: Page, happened: Callable[[], object]) -> None:
    """Wait until something has happened. The browser's events are read meanwhile."""
    deadline = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < deadline
        page.wait_for_timeout(20)  # ms


if __name__ == "__main__":
    sys.exit(0 if find_browser() else 1)
