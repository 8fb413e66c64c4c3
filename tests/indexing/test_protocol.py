"""Messages between the server and its indexing process arrive unchanged."""

from __future__ import annotations

import io
import os

import pytest

from vault_agent.codes import CODES
from vault_agent.errors import CLASSES
from vault_agent.indexing.protocol import IndexSpec, UpdateIndex
from vault_agent.system.child import encode, read_message
from vault_agent.vault.paths import Exclusions

STRANGE = os.fsdecode(b"not-\xff-utf8/\n\x01.md")
SPEC = IndexSpec(
    root=f"/vault/{STRANGE}",
    directory="/index",
    identity="id",
    exclusions=Exclusions(("a/", "*.tmp")),
    max_note_bytes=5,
    parallel=2,
)


UPDATE = UpdateIndex(SPEC, paths=(STRANGE, "日記/東京.md"), rebuild=True)


def test_messages_of_a_pipe_are_read_one_by_one_until_it_ends():
    pipe = io.BytesIO(2 * encode(UPDATE))
    read = [read_message(pipe), read_message(pipe)]
    assert read == [UPDATE, UPDATE]
    assert {message.spec.exclusions.fingerprint for message in read} == {
        SPEC.exclusions.fingerprint
    }
    with pytest.raises(EOFError):
        read_message(pipe)


def test_an_error_keeps_its_class_message_and_details():
    for code, meaning in CODES.items():
        if meaning.error:
            kind = CLASSES[str(meaning.error)]
            details = {"jobId": "7"} if code == "INDEX_BUSY" else {"sizes": [1, 2]}
            sent = kind(code, "A sentence.", details)
            error = read_message(io.BytesIO(encode(sent)))
            assert type(error) is kind
            assert error.over_http() == sent.over_http()
            assert (error.code, error.message, error.details) == (code, sent.message, sent.details)
