"""The pages of the documentation that are made from the program, and the plugin for agents.

`make docs` writes them. A test compares them with what the program says now.
"""

from __future__ import annotations

from pathlib import Path

from docs.make import codes, commands, faults, plugin, routes, settings

ROOT = Path(__file__).parents[2]
_PAGES = {
    "docs/reference/cli.md": commands.page,
    "docs/reference/config.md": settings.page,
    "docs/reference/routes.md": routes.page,
    "tests/FAULTS.md": faults.page,
    "config.example.toml": settings.example,
    "src/vault_agent/config/generated_settings.json": settings.rows,
}
CODES_PAGE = "docs/reference/codes.md"
NOT_DESCRIBED = codes.NOT_DESCRIBED


def pages() -> dict[str, str]:
    """Return the text of each file, by its path in the repository."""
    made = {path: page() for path, page in _PAGES.items()} | plugin.files()
    return {**made, CODES_PAGE: codes.page((ROOT / CODES_PAGE).read_text("utf-8"))}


def write() -> None:
    """Write all files."""
    for path, text in pages().items():
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(text, "utf-8", newline="\n")
