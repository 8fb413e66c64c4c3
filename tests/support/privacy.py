"""Private texts given to the program, and searches for them in logs and errors.

Every harness that runs the real program keeps one `Confidences`, adds what it hands over, and has
every log, error and error reply examined. So the whole suite watches, whatever a test is about.
"""

from __future__ import annotations

SHORTEST_LINE = 16
"""Shorter lines of notes (`---`, `# Title`) may stand in a log by chance."""
SHORTEST_WORD = 6
CRASH = ("Traceback (most recent call last)", "panicked at", "Fatal Python error", "Exception in")


class Confidences:
    """Texts that must not appear in a log, an error or an error reply."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def add(self, what: str, text: str | bytes) -> None:
        """Add a short text, for example a query, a key or a path."""
        plain = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
        if len(plain.strip()) >= SHORTEST_WORD:
            self._texts[plain.strip()] = what

    def add_lines(self, what: str, text: str | bytes) -> None:
        """Add every line of a text that is long enough to be recognised."""
        plain = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
        for line in plain.splitlines():
            if SHORTEST_LINE <= len(line.strip()) <= 10_000:
                self._texts[line.strip()] = what

    def found_in(self, text: str | bytes) -> list[str]:
        """Return the private texts found in a text, by kind and beginning."""
        plain = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
        found = [f"{what}: {known[:40]}" for known, what in self._texts.items() if known in plain]
        return found + [f"crash output: {mark}" for mark in CRASH if mark in plain]

    def examine(self, where: str, text: str | bytes) -> None:
        """Fail if a text contains private text."""
        assert self.found_in(text) == [], where
