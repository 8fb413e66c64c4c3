"""What is read of an attachment, and the limits of reading it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from vault_agent.text.names import AttachmentKind

EXTRACT_VERSION: Final = 2
"""Raise it when an attachment gives another text, so that kept texts are not used."""
MAX_BINARY_BYTES: Final = 256 << 20
"""Limit of a file that is read with a library, such as a PDF."""
MAX_TEXT_BYTES: Final = 16 << 20
"""Limit of an attachment that is text itself."""

MAX_CHARACTERS: Final = 8_000_000
"""Limit of the text of one attachment."""
MAX_PAGES: Final = 5_000
MAX_LABEL: Final = 200
"""Limit of the characters of a label."""
CPU_SECONDS: Final = 20.0
"""Processor time of one attachment, after which its worker is ended."""
MEMORY_BYTES: Final = 1 << 30
"""Memory of the worker that reads attachments."""
_SECONDS_TO_A_PAGE: Final = 15.0
"""Processor time after which reading ends at a page, so that the pages before it are kept."""


def byte_limit(kind: AttachmentKind) -> int:
    """Return the size of the largest file of a kind that is read."""
    return MAX_BINARY_BYTES if kind in {"pdf", "office", "epub"} else MAX_TEXT_BYTES


class TextPart(NamedTuple):
    """A page, or another part with a name. Without a label, it is the whole file."""

    label: str | None
    text: str


class Extracted(NamedTuple):
    """The text of an attachment. `cut` says by which limit it is not the whole text."""

    parts: tuple[TextPart, ...]
    cut: str | None = None


def label_of(text: str) -> str | None:
    """Return a heading as the label of a part, in one line. None for a blank one."""
    return " ".join(text.split())[:MAX_LABEL] or None


class UnreadableAttachment(Exception):
    """A file has no text that can be read. `reason` is a word for the warning."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class TextCollector:
    """The parts read so far, within the limits."""

    def __init__(self) -> None:
        self.cut: str | None = None
        self._parts: list[TextPart] = []
        self._characters = 0
        self._end = time.process_time() + _SECONDS_TO_A_PAGE

    def add(self, label: str | None, text: str) -> None:
        """Add a part. A blank one is left out."""
        room = MAX_CHARACTERS - self._characters
        if len(text) > room:
            text, self.cut = text[:room], "characters"
        if text and not text.isspace():
            self._parts.append(TextPart(label, text))
            self._characters += len(text)

    @property
    def is_full(self) -> bool:
        """Whether a limit is met, so that reading must end."""
        if self.cut is None and time.process_time() > self._end:
            self.cut = "time"
        return self.cut is not None

    def extracted(self) -> Extracted:
        """Return what was read."""
        return Extracted(tuple(self._parts), self.cut)
