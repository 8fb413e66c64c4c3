"""Print how many files and lines each part of the project has: `python -m tests.counts`.

The rooms are those of the table by which a redesign is measured. Lines are those of Python files
in the folder of a room, as `wc -l` counts them.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "vault_agent"
ROOMS = (
    ("markdown", "text"),
    ("store", "search", "indexing"),
    ("model", "wire", "api", "client"),
    ("vaults", "freshness", "memory", "journals", "redaction", "store/sessions"),
    ("mcp",),
    ("cli", "config"),
    ("vault", "writing"),
)
"""The rows of the table: rooms that change together. `store/sessions` is also part of `store`."""


class Count(NamedTuple):
    """How many files and lines there are."""

    files: int
    lines: int


def counted(folders: Iterable[Path]) -> Count:
    """Return the count of the Python files below folders."""
    texts = [path.read_bytes() for folder in folders for path in sorted(folder.rglob("*.py"))]
    return Count(len(texts), sum(text.count(b"\n") for text in texts))


def rows() -> list[tuple[str, Count]]:
    """Return the count of each row, of all rooms, and of what stands beside the source."""
    found = [(" + ".join(row), counted(SOURCE / name for name in row)) for row in ROOMS]
    named = {name for row in ROOMS for name in row}
    others = sorted(
        path.name
        for path in SOURCE.iterdir()
        if path.is_dir() and path.name not in named and next(path.rglob("*.py"), None)
    )
    found += [(name, counted([SOURCE / name])) for name in others]
    found += [("all of src", counted([ROOT / "src"]))]
    return found + [(name, counted([ROOT / name])) for name in ("benchmarks", "tests")]


def documents() -> int:
    """Return the bytes of the documentation."""
    return sum(path.stat().st_size for path in (ROOT / "docs").rglob("*.md"))


def main() -> None:
    """Print the table."""
    for name, count in rows():
        sys.stdout.write(f"{name:<36}{count.files:>6} files{count.lines:>9,} lines\n")
    sys.stdout.write(f"{'docs':<36}{documents() / 1000:>20,.0f} kB\n")


if __name__ == "__main__":
    main()
