"""The wire models reject invalid data, hide it in errors and round-trip."""

from __future__ import annotations

import subprocess
import sys

import orjson
import pytest
from pydantic import BaseModel, ValidationError

from vault_agent.api.compact import ROW_BYTES, compact, compact_row
from vault_agent.api.shown import shown_job
from vault_agent.codes import CODES
from vault_agent.errors import InvalidRequest
from vault_agent.model.jobs import Job, JobKind, JobState, OneJob
from vault_agent.model.modes import Mode
from vault_agent.model.search import Answer, Hit
from vault_agent.model.warning import Warning
from vault_agent.wire import base, requests, writing
from vault_agent.wire.base import Model, dump, parse, parse_with
from vault_agent.wire.requests import FiltersBody, IndexBody, RelatedBody, SearchBody
from vault_agent.wire.values import Unreadable, read
from vault_agent.wire.values import dump as dump_value

from .conftest import hit

NOTE_ID = "0123456789abcdef0123456789abcdef"
MODELS = [
    value
    for module in (requests, writing)
    for value in vars(module).values()
    if isinstance(value, type) and issubclass(value, BaseModel)
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_model_is_strict_frozen_and_hides_its_input(model: type[BaseModel]):
    assert issubclass(model, Model)
    config = model.model_config
    assert (config["strict"], config["extra"], config["frozen"]) == (True, "forbid", True)
    assert config["hide_input_in_errors"] is True
    rules = [rule for field in model.model_fields.values() for rule in field.metadata]
    assert not [rule for rule in rules if getattr(rule, "strict", None) is False]


def test_nested_models_hide_input_in_errors():
    with pytest.raises(ValidationError) as refused:
        SearchBody.model_validate_json(b'{"query": "a", "filters": {"tags": ["secret", 1]}}')
    assert "secret" not in str(refused.value)


def test_requests_accept_only_wire_names():
    assert parse(IndexBody, b'{"requireEmbeddings": true}').require_embeddings
    with pytest.raises(InvalidRequest) as refused:
        parse(IndexBody, b'{"require_embeddings": true}')
    assert refused.value.message == (
        "Unknown field. Known are: requireEmbeddings, freshEmbeddings."
    )


class InPath(Model):
    """A request with one field in the path."""

    name: str
    flag: bool = False


def test_a_field_of_the_path_is_not_in_the_body():
    sent = parse_with(InPath, b'{"flag": true}', {"name": "x"})
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
            parse_with(InPath, body, {"name": "x"})
        assert refused.value.code == "INVALID_REQUEST"


def test_validation_errors_name_the_field_and_the_rule():
    with pytest.raises(InvalidRequest) as refused:
        parse(SearchBody, b'{"query": "a", "filters": {"tags": ["x", 7]}}')
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
        ('{"query": "a", "fields": "x"}', "fields must be 'full' or 'compact'."),
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
        parse(SearchBody, body.encode())
    assert refused.value.message == message


@pytest.mark.parametrize("text", ["x", NOTE_ID + "\\n", NOTE_ID.upper(), NOTE_ID + ":01"])
def test_a_malformed_id_is_refused_with_advice(text: str):
    with pytest.raises(InvalidRequest, match="take it from a result") as refused:
        parse(RelatedBody, f'{{"id": "{text}"}}'.encode())
    assert refused.value.code == "INVALID_ID"


def test_the_query_length_is_checked_after_trimming():
    assert parse(SearchBody, b'{"query": "' + b" " * 2000 + b'a"}').query == "a"
    assert len(parse(SearchBody, ('{"query": "' + "漢" * 1000 + '"}').encode()).query) == 1000


def test_filters_are_converted_to_the_models():
    body = SearchBody(query="a", filters=FiltersBody(paths=("p",), after="2024-02-29"))
    filters = parse(SearchBody, dump(body)).to_query().filters
    assert (filters.paths, filters.after, filters.before) == (("p",), "2024-02-29", None)


@pytest.mark.parametrize("day", ["2024-02-30", "2024-1-1", "20240101", "2024-W01-1", "today", ""])
def test_only_real_dates_are_accepted(day: str):
    with pytest.raises(InvalidRequest):
        parse(SearchBody, f'{{"query": "a", "filters": {{"before": "{day}"}}}}'.encode())


def test_replies_round_trip():
    answer = Answer(None, Mode.LEXICAL, 10, (hit(), hit(explanation={"bm25": 1.5}, vault="b")))
    job = Job("j", JobKind.INDEX, JobState.QUEUED, "2026-01-01T00:00:00Z")
    for value in (answer, compact(answer), OneJob(shown_job(job))):
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


def test_cut_job_warnings_keep_their_true_count():
    warnings = tuple(Warning("W", "w") for _ in range(100))
    job = Job("j", JobKind.INDEX, JobState.RUNNING, "t", warnings=warnings, warning_count=345)
    shown = shown_job(job).warnings
    assert len(shown) == 101
    assert shown[-1].details == {"omitted": 245}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"heading": None, "heading_path": ()},
        {"heading": "A heading that goes on and on about lighthouses and their keepers"},
        {"snippet": ""},
        {"snippet": "漢字" * 120, "matches": ((100, 102),)},
        {"snippet": '"\\' * 120, "matches": ((239, 240),)},
        {"snippet": "word " * 48, "matches": ()},
        {"path": "あ" * 12 + ".md"},
    ],
)
def test_a_compact_row_stays_within_its_budget(changes):
    row = compact_row(hit(**changes))
    assert len(orjson.dumps(tuple(row))) < ROW_BYTES
    assert row[1] == hit(**changes).path


def test_in_a_compact_row_a_long_path_replaces_heading_and_snippet():
    path = "folder/" * 30 + "note.md"
    row = compact_row(hit(path=path))
    assert row[1:4] == (path, None, "")


def test_the_compact_snippet_shows_the_match():
    snippet = "filler " * 20 + "lighthouse " + "filler " * 12
    start = snippet.index("lighthouse")
    row = compact_row(hit(snippet=snippet, matches=((start, start + 10),)))
    assert "lighthouse" in str(row[3])


def test_importing_the_wire_models_imports_no_server():
    code = "import sys, vault_agent.wire.requests, vault_agent.wire.values; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"aiohttp", "numpy", "tantivy", "pydantic_settings"} & set(run.stdout.split())


def test_every_error_code_of_a_field_exists():
    assert {CODES[code].status for code in base._CODES.values()} == {400}
