"""The browser of the tests: the machine's own, never one that is downloaded; and a proxy for it."""

from __future__ import annotations

import os
import re
import shutil
import socketserver
import threading
from pathlib import Path

_NAMES = (
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
    """Return the path of a Chromium, or None."""
    given = os.environ.get("VAULT_AGENT_TEST_BROWSER")
    if given:
        return given
    named = (shutil.which(name) for name in _NAMES)
    return next((found for found in (*named, *_PLACES) if found and Path(found).is_file()), None)


# What a browser asks of its maker by itself, such as how to fill in forms.
_OF_THE_BROWSER = re.compile(
    r"^(?:CONNECT |GET http://)[\w.-]*\.(?:google|googleapis|gvt1|microsoft)\.com[:/]"
)


class Elsewhere:
    """A proxy that connects nowhere. Whatever the browser asks of another computer arrives here."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        asked = self.asked

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                line = self.rfile.readline(300).decode("latin-1").strip()
                # A connection that is opened ahead and never used asks nothing.
                if line and not _OF_THE_BROWSER.search(line):
                    asked.append(line)

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def address(self) -> str:
        """The address of the proxy."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
