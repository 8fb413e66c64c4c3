"""Requests reject invalid data and hide it in errors; replies round-trip."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, fields

import orjson
import pytest

from vault_agent.api import requests
from vault_agent.api.reading import NoteRequest
from vault_agent.api.replies import shown_job
from vault_agent.api.requests import parse, parse_strings
from vault_agent.codes import CODES
from vault_agent.errors import InvalidRequest
from vault_agent.model.jobs import Job, JobKind, JobState, OneJob
from vault_agent.model.modes import Mode
from vault_agent.model.search import Answer, Hit, RelatedQuery, SearchQuery
from vault_agent.model.sent import Unreadable
from vault_agent.model.values import dump as dump_value
from vault_agent.model.values import read, sent_fields
from vault_agent.server.routes import ROUTES
from vault_agent.vaults.jobs import IndexBody

from .conftest import hit

NOTE_ID = "0123456789abcdef0123456789abcdef"
REQUESTS = [route.request for route in ROUTES]


@pytest.mark.parametrize("kind", REQUESTS, ids=lambda kind: kind.__name__)
def test_a_request_is_frozen_and_refuses_unknown_fields(kind: type):
    assert kind.__dataclass_params__.frozen
    with pytest.raises(InvalidRequest) as refused:
        parse(kind, b'{"canary": "canary"}')
    assert "canary" not in refused.value.message


@pytest.mark.parametrize("kind", REQUESTS, ids=lambda kind: kind.__name__)
def test_what_is_for_the_server_alone_is_never_read(kind: type):
    known = {field.name for field in sent_fields(kind)}
    for name in {field.name for field in fields(kind)} - known:
        with pytest.raises(InvalidRequest, match=r"nknown field|missing|takes no"):
            parse(kind, orjson.dumps({name: None}))


def test_requests_accept_only_wire_names():
    assert parse(IndexBody, b'{"requireEmbeddings": true}').require_embeddings
    with pytest.raises(InvalidRequest) as refused:
        parse(IndexBody, b'{"require_embeddings": true}')
    assert refused.value.message == (
        "Unknown field. Known are: requireEmbeddings, freshEmbeddings."
    )


@dataclass(frozen=True)
class InPath:
    """A request with one field in the path."""

    name: str
    flag: bool = False


def test_a_field_of_the_path_is_not_in_the_body():
    sent = parse(InPath, b'{"flag": true}', {"name": "x"})
    assert (sent.name, sent.flag) == ("x", True)
    deep = b'{"flag": ' + b"[" * 600 + b"]" * 600 + b"}"
    bodies = (
        b'{"name": "y"}',
        b'{"flag": true, "flag": false}',
        b"{",
        b"[]",
        b'{"other": 1}',
        deep,
    )
    for body in bodies:
        with pytest.raises(InvalidRequest) as refused:
            parse(InPath, body, {"name": "x"})
        assert refused.value.code == "INVALID_REQUEST"


def test_only_an_address_has_numbers_and_switches_as_text():
    assert parse_strings(NoteRequest, {"noteId": NOTE_ID, "piece": "2"}).piece == 2
    for text in ("02", "+2", "2.0", "٢", ""):
        with pytest.raises(InvalidRequest):
            parse_strings(NoteRequest, {"noteId": NOTE_ID, "piece": text})
    with pytest.raises(InvalidRequest):
        parse(IndexBody, b'{"requireEmbeddings": "true"}')


def test_validation_errors_name_the_field_and_the_rule():
    with pytest.raises(InvalidRequest) as refused:
        parse(SearchQuery, b'{"query": "a", "filters": {"tags": ["x", 7]}}')
    assert refused.value.details == {"field": "filters.tags.1", "rule": "string_type"}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("{}", "query is missing."),
        ('{"query": " "}', "query must not be empty."),
        ('{"query": 1}', "query must be text."),
        (f'{{"query": "{"a" * 1001}"}}', "query must have at most 1,000 characters."),
        ('{"query": "a", "limit": 0}', "limit must be at least 1."),
        ('{"query": "a", "limit": 51}', "limit must be at most 50."),
        ('{"query": "a", "limit": "3"}', "limit must be a whole number."),
        ('{"query": "a", "explain": 1}', "explain must be true or false."),
        ('{"query": "a", "mode": "x"}', "mode must be 'lexical', 'embedding' or 'hybrid'."),
        ('{"query": "a", "filters": 1}', "filters must be an object."),
        ("[]", "The request body must be an object."),
        (
            '{"query": "a", "filters": {"after": "soon"}}',
            "filters.after must be a calendar date, as YYYY-MM-DD.",
        ),
    ],
)
def test_validation_errors_say_what_is_allowed(body: str, message: str):
    with pytest.raises(InvalidRequest) as refused:
        parse(SearchQuery, body.encode())
    assert refused.value.message == message


@pytest.mark.parametrize("text", ["x", NOTE_ID + "\\n", NOTE_ID.upper(), NOTE_ID + ":01"])
def test_a_malformed_id_is_refused_with_advice(text: str):
    with pytest.raises(InvalidRequest, match="take it from a result") as refused:
        parse(RelatedQuery, f'{{"id": "{text}"}}'.encode())
    assert refused.value.code == "INVALID_ID"


def test_the_query_length_is_checked_after_trimming():
    assert parse(SearchQuery, b'{"query": "' + b" " * 2000 + b'a"}').query == "a"
    assert len(parse(SearchQuery, ('{"query": "' + "漢" * 1000 + '"}').encode()).query) == 1000


def test_properties_are_pairs():
    body = b'{"query": "a", "filters": {"properties": {"draft": true, "n": 1.5, "s": " x "}}}'
    filters = parse(SearchQuery, body).filters
    assert filters.properties == (("draft", "true"), ("n", "1.5"), ("s", "x"))


@pytest.mark.parametrize("day", ["2024-02-30", "2024-1-1", "20240101", "2024-W01-1", "today", ""])
def test_only_real_dates_are_accepted(day: str):
    with pytest.raises(InvalidRequest):
        parse(SearchQuery, f'{{"query": "a", "filters": {{"before": "{day}"}}}}'.encode())


def test_replies_round_trip():
    answer = Answer(None, Mode.LEXICAL, 10, (hit(), hit(explanation={"bm25": 1.5}, vault="b")))
    job = Job("j", JobKind.INDEX, JobState.QUEUED, "2026-01-01T00:00:00Z")
    for value in (answer, OneJob(shown_job(job))):
        assert read(type(value), orjson.loads(dump_value(value))) == value


def test_a_field_of_another_type_is_unreadable():
    sent = orjson.loads(dump_value(hit()))
    for name, other in (("score", True), ("type", "x"), ("matches", [[1]]), ("metadata", None)):
        with pytest.raises(Unreadable):
            read(Hit, {**sent, name: other})
    del sent["path"]
    with pytest.raises(Unreadable):
        read(Hit, sent)


def test_a_field_is_left_out_only_if_it_says_so():
    sent = orjson.loads(dump_value(hit()))
    assert sent["explanation"] is None
    assert not {"vault", "also"} & sent.keys()
    assert orjson.loads(dump_value(hit(vault="b")))["vault"] == "b"


def test_importing_requests_and_replies_imports_no_server():
    code = "import sys, vault_agent.model.search, vault_agent.model.values; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"aiohttp", "numpy", "tantivy", "pydantic"} & set(run.stdout.split())


def test_every_error_code_of_a_field_exists():
    assert {CODES[code].status for code in requests._CODES.values()} == {400}
