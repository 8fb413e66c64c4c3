"""Checks that a tag, the version and the changelog agree, before a release is published."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from vault_agent import __version__

ROOT = Path(__file__).resolve().parent.parent
_NEWEST = re.compile(r"^## \[(\S+)\] - (\d{4}-\d\d-\d\d)$", re.MULTILINE)


def problems(tag: str, changelog: str) -> list[str]:
    """Return what does not agree, in sentences."""
    found = []
    if tag != f"v{__version__}":
        found.append(f"The tag is {tag}, and the version is {__version__}.")
    newest = _NEWEST.search(changelog)
    if newest is None or newest[1] != __version__:
        found.append(f"CHANGELOG.md has no day for version {__version__}.")
    return found


if __name__ == "__main__":
    wrong = problems(
        os.environ.get("GITHUB_REF_NAME", ""), (ROOT / "CHANGELOG.md").read_text("utf-8")
    )
    sys.exit("\n".join(wrong) or None)
