"""Record the demo in a terminal: `make recording` writes docs/images/demo.svg.

The demo runs in a pseudo-terminal. This module replays its output line by line, which keeps only
the last state of the live display. rich draws the result.
"""

from __future__ import annotations

import io
import os
import pty
import re
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

COLUMNS = 100
FIRST, LAST = "# The server", "$ vault-agent get note"
_LINK = re.compile(r"\x1b\]8;[^\x1b]*\x1b\\")
_PIECE = re.compile(r"\x1b\[(?P<argument>[0-9;?]*)(?P<command>[A-Za-z])|(?P<text>[^\x1b]+)")


def printed(arguments: list[str]) -> str:
    """Return what a command prints to a terminal, without links."""
    process, terminal = pty.fork()
    if process == 0:
        os.environ.update(TERM="xterm-256color", COLUMNS=str(COLUMNS), LINES="40")
        os.execv(arguments[0], arguments)  # noqa: S606 - our own program
    pieces = []
    while True:
        try:
            piece = os.read(terminal, 1 << 16)
        except OSError:  # Linux: the other end has closed
            break
        if not piece:
            break
        pieces.append(piece)
    os.waitpid(process, 0)
    return _LINK.sub("", b"".join(pieces).decode())


def replayed(output: str) -> list[str]:
    """Return the final lines of the screen, with their colours."""
    lines, row = [""], 0
    for piece in _PIECE.finditer(output):
        if piece["command"] == "A":
            row = max(0, row - int(piece["argument"] or 1))
        elif piece["command"] == "K":
            lines[row] = ""
        elif piece["command"] == "m":
            lines[row] += piece[0]
        elif piece["text"]:
            for number, part in enumerate(piece["text"].replace("\r", "").split("\n")):
                if number:
                    row += 1
                    lines += [""] * (row + 1 - len(lines))
                lines[row] += part
    return lines


def main() -> None:
    """Record the demo, select the middle part, and draw it."""
    lines = replayed(printed([str(Path(sys.executable).with_name("vault-agent")), "demo"]))
    first = next(place for place, line in enumerate(lines) if FIRST in line)
    last = next(place for place, line in enumerate(lines) if LAST in line)
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi("\n".join(lines[first:last]).rstrip()))
    picture = console.export_svg(title="vault-agent demo", unique_id="demo")
    # Remove the font's URLs, so that the picture makes no request. Remove the text lengths, which
    # rich computes as if wide characters were narrow.
    picture = re.sub(r"@font-face \{.*?\}", "", picture, flags=re.DOTALL)
    picture = re.sub(r' textLength="[^"]*"', "", picture)
    Path(__file__).with_name("demo.svg").write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
