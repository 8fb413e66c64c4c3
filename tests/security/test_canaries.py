"""Private text appears only in requested replies: canaries in all inputs, crashes included.

One run of the real program with the log at its most talkative. Notes, titles, frontmatter, queries,
bodies, headers, keys, absolute paths, attachments and what the embedding endpoint says hold
canaries; whatever the program then writes, save what was asked for, is searched for them.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.product.endpoint import Endpoint, running_endpoint
from tests.product.test_endings import processes_of
from tests.security.conftest import Fortress
from tests.security.test_access_table import ALLOWED
from tests.support import local_model as misbehaviour
from tests.support.folders import below
from tests.support.waiting import eventually

from vault_agent.model.identifiers import identify
from vault_agent.server.log import Fields

FROST = identify("Garden/Frost.md")
SENT = "canary-of-what-was-sent"
PROVIDER = "canary-of-the-provider"


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Fortress]:
    folder = tmp_path / "canary-of-an-absolute-path"
    folder.mkdir()
    with Fortress(folder) as made:
        config = folder / "canary-of-the-config.toml"
        config.write_text("[server]\nlog_level = 'debug'\n")
        made.variables["VAULT_AGENT_CONFIG"] = str(config)
        made.private.add("the config's path", str(config))
        for text in (SENT, PROVIDER, "canary"):
            made.private.add("a canary", text)
        yield made


def ask_everything(program: Fortress) -> None:
    """Send valid and invalid requests to every route, with canaries everywhere."""
    headers = {
        "User-Agent": SENT, "Referer": f"http://{SENT}/", "Cookie": SENT, "X-Request-Id": SENT,
        "If-None-Match": f'"{SENT}"', "Range": f"bytes={SENT}", "X-Forwarded-For": SENT,
    }  # fmt: skip
    with program.wire() as wire:
        for (method, _), (target, body, _) in ALLOWED.items():
            wire.ask(method, target, body, headers)
            for changed in (f"{target}/{SENT}", f"{target}?{SENT}={SENT}", f"/{SENT}"):
                refused(program, wire.ask(method, changed, body, headers))
            for bad in (SENT.encode(), json.dumps({SENT: SENT}).encode(), b"\xff" + SENT.encode()):
                refused(program, wire.ask(method, target, bad, headers))
            for name, value in (
                ("Authorization", f"Bearer {SENT}"), ("Host", SENT), ("Origin", f"http://{SENT}"),
                ("Content-Type", SENT), ("Content-Encoding", SENT), ("Expect", SENT),
            ):  # fmt: skip
                wire.ask(method, target, body, {name: value})
        for query in (SENT, f'"{SENT}" -x', f"path:{SENT}", f"tag:{SENT}", f"{SENT} " * 30):
            wire.post("/search", {"query": query, "explain": True})
        for bad in (
            {"query": SENT, "limit": SENT}, {"query": SENT, "mode": SENT}, {"query": [SENT]},
            {"query": SENT, "filters": {SENT: 1}}, {"query": SENT, "filters": {"after": SENT}},
            {"id": SENT}, {"query": SENT * 50},
            {"query": SENT, "filters": {"paths": [SENT + "*a????????"]}},
        ):  # fmt: skip
            refused(program, wire.post("/search", bad))
            refused(program, wire.post("/related", bad))
    with program.wire() as wire:
        for raw in (
            f"{SENT}\r\n\r\n",
            f"GET /{SENT}\r\n\r\n",
            f"GET / HTTP/1.1\r\nHost: a\r\n{SENT}\r\n\r\n",
            f"GET /health HTTP/9.9\r\nHost: {SENT}\r\n\r\n",
            f"{SENT} / HTTP/1.1\r\nHost: a\r\n\r\n",
            f"POST /search HTTP/1.1\r\nHost: {wire.authority}\r\nContent-Length: {SENT}\r\n\r\n",
            f"GET http://{SENT}/ HTTP/1.1\r\nHost: a\r\n\r\n",
            f"GET /{SENT * 1000} HTTP/1.1\r\n\r\n",
        ):
            refused(program, wire.send(raw.encode()))


def refused(program: Fortress, answer: Any) -> None:
    """Search an error reply for canaries."""
    if answer.status >= 400:
        program.private.examine("a refusal", answer.head + answer.body)


def misuse_commands(program: Fortress) -> None:
    """Run failing commands. `run` checks their output, which may repeat names, but no values."""
    lines = (
        ["search", SENT, "--limit", SENT],
        ["search", SENT, "--limit", "99"],
        ["get", "attachment", f"../{SENT}", "--json"],
        ["get", "attachment", "a.png", "--download", "--output", f"/{SENT}/{SENT}/x"],
        ["related", identify(SENT)],
        ["config", "set", "server.api_key", f"{SENT} {SENT}"],
        ["config", "set", "server.api_key", SENT, SENT],
        ["serve", "--vault-root", f"/{SENT}", "--json"],
        ["serve", "--vault-root", str(program.vault), "--index-dir", str(program.vault / "x")],
    )
    with ThreadPoolExecutor(4) as several:
        for line, ended in zip(
            lines, several.map(lambda line: program.run_apart(*line), lines), strict=True
        ):
            assert ended.returncode != 0, line
            assert ended.stdout == "" or ended.stdout.startswith('{"error"'), line
    with_key = program.variables
    program.variables = {**with_key, "VAULT_AGENT_SERVER_API_KEY": "x" * 43}
    assert program.run("search", SENT).returncode == 3
    program.variables = {**with_key, "VAULT_AGENT_SERVER_API_KEY": f"{SENT} with a space"}
    assert program.run("search", SENT).returncode == 2
    program.variables = with_key


def index(program: Fortress, kind: str = "index") -> dict[str, Any]:
    """Run a job to any end. Its summary may contain vault paths and nothing else private."""
    with program.wire() as wire:
        answer = wire.post(f"/{kind}", {"requireEmbeddings": False})
        assert answer.status == 202, answer
        job_id = answer.data["job"]["id"]
        program.state_of(wire, job_id)
        return account(program, job_id)


def account(program: Fortress, job_id: str) -> dict[str, Any]:
    with program.wire() as wire:
        answer = wire.ask("GET", f"/jobs/{job_id}")
        program.private.examine("a job", answer.body)
        job: dict[str, Any] = answer.data["job"]
        return job


@contextmanager
def provider(program: Fortress) -> Iterator[Endpoint]:
    kept = program.variables
    with running_endpoint(program) as endpoint:
        program.variables = {**kept, **program.variables}
        program.private.add("the provider's address", endpoint.url)
        yield endpoint


@pytest.mark.fault(
    "Secrets and logs",
    "notes, titles, frontmatter, queries, bodies, headers, keys, paths, attachments, "
    "endpoint replies",
    "never in output, logs, errors or crash output",
)
def test_the_program_writes_no_private_text(program: Fortress):
    program.write(
        "Garden/bad.md", "---\ntitle: canary: [canary\nx: *canary\n---\ncanary-in-a-body\n"
    )
    program.write("Garden/latin.md", b"caf\xe9 canary-in-latin-one-text")
    program.fill(40)
    with provider(program) as endpoint:
        endpoint.always = misbehaviour.status(500, f"{PROVIDER} says: Flour and water")
        program.start()
        program.finish_running()
        for reply in (
            misbehaviour.status(200, PROVIDER),
            misbehaviour.status(404, {"error": {"message": f'model "{PROVIDER}" not found'}}),
            misbehaviour.redirect(f"http://127.0.0.1:9/{PROVIDER}"),
        ):
            endpoint.always = reply
            index(program)
            with program.wire() as wire:
                refused(program, wire.post("/search", {"query": SENT, "mode": "embedding"}))
                hybrid = wire.post("/search", {"query": SENT, "mode": "hybrid"})
                assert SENT not in hybrid.body.decode()
                assert PROVIDER not in hybrid.body.decode()
        endpoint.always = None
        job = index(program, "reindex")
        assert job["state"] == "succeeded"
        assert {"FRONTMATTER_PARSE_FAILED", "FILE_NOT_UTF8"} <= {w["code"] for w in job["warnings"]}
        ask_everything(program)
        misuse_commands(program)
    assert program.stop()[0] == 0
    events = [json.loads(line) for line in program.log.read_text().splitlines()]
    assert len(events) > 200
    assert {"listening", "request", "malformed_request", "stopped"} <= {e["event"] for e in events}
    assert set().union(*events) <= {"time", "level", "event", *Fields.__annotations__}
    assert not [event for event in events if event["level"] == "error"]


@pytest.mark.fault(
    "HTTP and access",
    "no more files can be opened",
    "500 until they can; nothing is treated as damaged or missing",
)
@pytest.mark.skipif(sys.platform != "linux", reason="finds processes by /proc")
@pytest.mark.long
def test_crash_output_contains_no_private_text(program: Fortress):
    import resource

    program.fill(400)
    program.start()
    program.finish_running()
    for number in range(3):
        # The first is the server, then the indexing process and its parsers.
        victim = (-1, -2, 1)[number]
        program.fill(400 + number)
        for note in (program.vault / "many").rglob("*.md"):
            note.write_bytes(note.read_bytes() + b"canary-of-a-crash\n")
        with program.wire() as wire:
            job_id = wire.post("/reindex", {}).data["job"]["id"]
            found = eventually(lambda: processes_of(program), lambda pids: len(pids) >= 3)
            os.kill(found[victim], signal.SIGKILL)
            program.state_of(wire, job_id)
        job = account(program, job_id)
        assert job["state"] in ("succeeded", "failed"), job
    # The job database is invalid; later the server can open no file.
    [record] = below(program.indexes, "jobs.db")
    record.write_bytes(b"canary-in-the-record" * 500)
    with program.wire() as wire:
        for target in ("/jobs", "/health", "/jobs/none"):
            refused(program, wire.ask("GET", target))
        refused(program, wire.post("/index", {}))
        _, most = resource.prlimit(program.server.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(program.server.pid, resource.RLIMIT_NOFILE, (4, most))
        answer = wire.ask("GET", "/attachments/Garden/photo.png?download=true")
        assert (answer.status, answer.code) == (500, "INTERNAL_ERROR")
        refused(program, answer)
        for (method, _), (target, body, _) in ALLOWED.items():
            refused(program, wire.ask(method, target, body))
        resource.prlimit(program.server.pid, resource.RLIMIT_NOFILE, (most, most))
        assert wire.post("/search", {"query": "late frost"}).status == 200
        assert wire.ask("GET", "/attachments/Garden/photo.png?download=true").status == 200
    program.stop()
    assert '"status":50' in program.log.read_text()
