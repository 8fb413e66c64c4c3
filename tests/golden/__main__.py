"""Write the golden files again: `python -m tests.golden`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.golden.record import REPLIES, record


def main() -> None:
    """Write what is replied today, and say which files this has changed."""
    with tempfile.TemporaryDirectory() as folder:
        found = record(Path(folder).resolve())
    known = {path.relative_to(REPLIES).as_posix() for path in REPLIES.rglob("*.json")}
    for name in sorted(known - set(found)):
        (REPLIES / name).unlink()
        sys.stdout.write(f"removed {name}\n")
    for name, text in found.items():
        path = REPLIES / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_file() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")
            sys.stdout.write(f"wrote {name}\n")


if __name__ == "__main__":
    main()
