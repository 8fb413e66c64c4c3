"""Checks the form of identifiers before a request is sent."""

from __future__ import annotations

import re

from vault_agent.errors import InvalidRequest

_NOTE = re.compile(r"[0-9a-f]{32}")
_CHUNK = re.compile(r"[0-9a-f]{32}:(0|[1-9][0-9]*)")


def check_note_id(text: str) -> str:
    """Return a note ID, or raise INVALID_ID with a hint."""
    if _CHUNK.fullmatch(text):
        raise InvalidRequest(
            "INVALID_ID", f"that is a chunk ID: try `vault-agent get chunk {text}`"
        )
    return text if _NOTE.fullmatch(text) else _refuse(text, "note ID")


def check_chunk_id(text: str) -> str:
    """Return a chunk ID, or raise INVALID_ID with a hint."""
    if _NOTE.fullmatch(text):
        raise InvalidRequest(
            "INVALID_ID",
            f"that is a note ID: try `vault-agent get note {text}`, or add the number of a chunk,"
            f" as in {text}:0",
        )
    return text if _CHUNK.fullmatch(text) else _refuse(text, "chunk ID")


def check_id(text: str) -> str:
    """Return a note or chunk ID, or raise INVALID_ID with a hint."""
    known = _NOTE.fullmatch(text) or _CHUNK.fullmatch(text)
    return text if known else _refuse(text, "note or chunk ID")


def _refuse(text: str, what: str) -> str:
    like_a_path = "/" in text or text.lower().endswith((".md", ".markdown"))
    start = "a path is not" if like_a_path else "that is not"
    raise InvalidRequest(
        "INVALID_ID", f"{start} a {what}: `vault-agent search` prints the ID under each result"
    )
