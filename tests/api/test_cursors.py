"""Cursors continue the list of one request, and nothing else."""

from __future__ import annotations

import base64
from dataclasses import dataclass

import orjson
import pytest

from vault_agent.api.cursors import MAX_CURSOR_CHARACTERS, Cursor, decode_cursor, encode_cursor
from vault_agent.errors import InvalidRequest

VAULT = "a" * 32


@dataclass(frozen=True)
class Asked:
    """A request for a list."""

    name: str = ""
    limit: int = 10
    cursor: str | None = None


def test_a_cursor_gives_its_position_back():
    cursor = encode_cursor(Asked(name="x"), (20, "path"), vault=VAULT, revision="7.1")
    assert len(cursor) <= MAX_CURSOR_CHARACTERS
    later = Asked(name="x", limit=5, cursor=cursor)
    assert decode_cursor(later, cursor, int, str, vault=VAULT) == Cursor((20, "path"), "7.1")


@pytest.mark.fault(
    "HTTP and access",
    "a cursor that is forged, of 10 KB, or of another request or vault; a cursor of "
    "an older revision or a removed note",
    "400 `INVALID_CURSOR`; 410 `CURSOR_EXPIRED`",
)
def test_a_cursor_of_another_request_or_vault_is_refused():
    cursor = encode_cursor(Asked(name="x"), (20,), vault=VAULT)
    for sent, vault in ((Asked(name="y"), VAULT), (Asked(name="x"), "b" * 32)):
        with pytest.raises(InvalidRequest) as refused:
            decode_cursor(sent, cursor, int, vault=vault)
        assert refused.value.code == "INVALID_CURSOR"


def _encoded(content: object) -> str:
    return base64.urlsafe_b64encode(orjson.dumps(content)).rstrip(b"=").decode()


@pytest.mark.parametrize(
    "forged",
    [
        "",
        "?",
        "é",
        "AAAA",
        "A" * 10_240,
        _encoded(7),
        _encoded([]),
        _encoded(["0123456789abcdef", None, 20]),
        encode_cursor(Asked(), (True,), vault=VAULT),
        encode_cursor(Asked(), ("20",), vault=VAULT),
        encode_cursor(Asked(), (1, 2), vault=VAULT),
    ],
)
def test_a_forged_cursor_is_refused(forged: str):
    with pytest.raises(InvalidRequest) as refused:
        decode_cursor(Asked(), forged, int, vault=VAULT)
    assert refused.value.code == "INVALID_CURSOR"
    assert forged[:20] not in refused.value.message or not forged


def test_a_cursor_that_would_be_too_long_is_an_internal_error():
    with pytest.raises(ValueError, match="characters"):
        encode_cursor(Asked(), ("x" * 300,), vault=VAULT)
