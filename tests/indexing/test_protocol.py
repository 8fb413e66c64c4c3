"""Messages between the server and its indexing process arrive unchanged."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from vault_agent.codes import CODES
from vault_agent.embedding.settings import EndpointSettings
from vault_agent.errors import CLASSES, Failed
from vault_agent.indexing.protocol import (
    EVENTS,
    MAX_DETAIL_CHARACTERS,
    MAX_EVENT_BYTES,
    REQUESTS,
    WATCH_EVENTS,
    AttachmentsRead,
    Away,
    Beat,
    Cluster,
    Clustered,
    Compare,
    Compared,
    Crashed,
    Done,
    Embed,
    Embedded,
    Event,
    FinishEmbedding,
    Index,
    LaidOut,
    LayOut,
    Phase,
    ProtocolError,
    Published,
    QueryAnnounced,
    ReadAttachments,
    Refused,
    Request,
    Seen,
    SeenMuch,
    Verified,
    Verify,
    WarmedUp,
    WarmUp,
    Warned,
    Watch,
    WatchEvent,
    Watching,
    decode_event,
    decode_request,
    decode_watch_event,
    encode,
)
from vault_agent.indexing.task import IndexRun, IndexTask
from vault_agent.model.jobs import JobSummary
from vault_agent.model.warning import Warning
from vault_agent.system.crash import CrashReport

STRANGE = os.fsdecode(b"not-\xff-utf8/\n\x01.md")
TASK = IndexTask(
    root=f"/vault/{STRANGE}",
    directory="/index",
    vault="id",
    exclude=("a/", "*.tmp"),
    max_note_bytes=5,
    fingerprint="f",
    rebuild=True,
    parallel=2,
    paths=(STRANGE, "日記/東京.md"),
)
ENDPOINT = EndpointSettings("http://127.0.0.1:1", "model", timeout=1, query_prefix="q: ")
REQUESTS_SENT: tuple[Request, ...] = (
    Index(TASK),
    Index(replace(TASK, removable=(STRANGE,), folder=(1, 1 << 63))),
    Embed("/index", ENDPOINT, require=True, doubted=True),
    ReadAttachments(TASK, STRANGE),
    FinishEmbedding(),
    Watch("/vault", ("a/",), "auto", (2049, 7)),
    Compare(TASK),
    Verify(TASK),
    Cluster(TASK),
    LayOut(TASK),
    WarmUp(),
    QueryAnnounced(),
)
RUN = IndexRun(
    JobSummary(added=3, links=2), 7, 9, note_ids=("a",), missing=(STRANGE,), oldest_change=1.5
)
EVENTS_SENT: tuple[Event, ...] = (
    Phase("scan", 3, None),
    Phase("embed", 3, 4, 900),
    Warned("FILE_SKIPPED", "A file.", {"path": STRANGE, "size": 3, "names": ["a"]}),
    Published(),
    Published(RUN),
    Crashed("worker", CrashReport("ValueError", ("vault_agent.indexing.index:3",))),
    Done(RUN),
    Embedded(1, 2, 3),
    AttachmentsRead((STRANGE,), STRANGE),
    Compared(stale=True, same_vault=False),
    Verified(),
    Clustered(2, 3, (0, 0, 1), 0.25, ("late frost",)),
    LaidOut(2, 3),
    WarmedUp(),
    Refused("VAULT_NOT_FOUND", "Gone.", {"path": STRANGE}),
)
WATCH_EVENTS_SENT: tuple[WatchEvent, ...] = (
    Watching("poll", 5_051, (2049, 1 << 63), "WATCH_LIMIT", fresh=False),
    Beat(),
    Seen(("日記/東京.md", STRANGE)),
    SeenMuch("overflow"),
    Away(),
    Away((1, 2)),
    Crashed("watcher", CrashReport("OSError", ())),
)


@pytest.mark.parametrize("request_", REQUESTS_SENT)
def test_requests_round_trip(request_: Request):
    line = encode(request_)
    assert line.count(b"\n") == 1
    assert decode_request(line) == request_


@pytest.mark.parametrize("event", EVENTS_SENT)
def test_events_round_trip(event: Event):
    line = encode(event)
    assert line.count(b"\n") == 1
    assert decode_event(line) == event


@pytest.mark.parametrize("event", WATCH_EVENTS_SENT)
def test_events_of_a_watcher_round_trip(event: WatchEvent):
    line = encode(event)
    assert line.count(b"\n") == 1
    assert decode_watch_event(line) == event


def test_every_message_type_is_tested():
    assert {type(each).__name__ for each in WATCH_EVENTS_SENT} == set(WATCH_EVENTS)
    assert {type(each).__name__ for each in REQUESTS_SENT} == set(REQUESTS)
    assert {type(each).__name__ for each in EVENTS_SENT} == set(EVENTS)


def test_an_error_keeps_its_class_message_and_details():
    for code, meaning in CODES.items():
        if meaning.error:
            kind = CLASSES[str(meaning.error)]
            details = {"jobId": "7"} if code == "INDEX_BUSY" else {"sizes": [1, 2]}
            sent = kind(code, "A sentence.", details)
            event = decode_event(encode(Refused.of(sent)))
            assert isinstance(event, Refused)
            error = event.error
            assert type(error) is kind
            assert (error.code, error.message, error.details) == (code, sent.message, sent.details)


def test_an_error_with_an_unknown_code_becomes_failed():
    assert type(Refused("SOME_CODE", "A sentence.").error) is Failed


@pytest.mark.fault(
    "Jobs",
    "a warning or error that would not fit into a message",
    "its texts are cut",
)
@pytest.mark.parametrize(
    "details",
    [
        {"path": "\x01" * 750_000},
        {"path": "\U0001f4a3" * 750_000},
        {"names": ["\udcff" * 5_000] * 5_000},
        {f"{number}" + "\x01" * 5_000: "x" * 5_000 for number in range(5_000)},
        {"deep": [["\x01" * 4_000] * 100] * 20},
    ],
    ids=["a long path", "four-byte characters", "a long list", "many names", "lists of lists"],
)
def test_messages_with_huge_warnings_stay_small(details: dict[str, object]):
    for message in (
        Warned.of(Warning("CODE", "m" * 100_000, details)),
        Refused.of(Failed("CODE", "m" * 100_000, details)),
    ):
        line = encode(message)
        assert len(line) <= MAX_EVENT_BYTES
        event = decode_event(line)
        assert isinstance(event, (Warned, Refused))
        assert event.code == "CODE"
        assert len(event.message) == MAX_DETAIL_CHARACTERS


def test_a_long_path_is_cut_at_its_end():
    event = decode_event(encode(Warned.of(Warning("CODE", "m", {"path": "ab/" * 100_000}))))
    assert isinstance(event, Warned)
    assert event.details["path"] == ("ab/" * 100_000)[: MAX_DETAIL_CHARACTERS - 1] + "…"


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b"[]",
        b"{}",
        b'{"type":"Nothing"}',
        b'{"type":["Phase"]}',
        b'{"type":"Compared"}',
        b'{"type":"Compared","stale":1}',
        b'{"type":"Compared","stale":true,"more":1}',
        b'{"type":"Phase","name":"scan","done":"canary","total":null}',
        b'{"type":"Crashed","process":"worker","report":{"error_type":"A","frames":["a",1]}}',
        b'{"type":"Compare","task":{}}',
    ],
)
def test_an_invalid_event_is_rejected_without_quoting_it(line: bytes):
    with pytest.raises(ProtocolError) as refusal:
        decode_event(line)
    assert "canary" not in str(refusal.value)
