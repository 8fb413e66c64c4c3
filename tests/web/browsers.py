"""Where a browser for the tests is: the machine's own, never one that is downloaded."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "msedge", "chrome")
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
