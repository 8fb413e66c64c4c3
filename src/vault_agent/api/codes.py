"""The error codes that many operations share."""

from __future__ import annotations

INDEX_CODES = ("INDEX_NOT_FOUND", "INDEX_INCOMPATIBLE", "INDEX_IO_ERROR")
CURSOR_CODES = ("INVALID_CURSOR", "CURSOR_EXPIRED")
PAGE_CODES = ("INVALID_LIMIT", *CURSOR_CODES)
NOTE_CODES = ("INVALID_ID", "NOTE_NOT_FOUND")
