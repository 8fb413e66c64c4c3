"""Fuzzed requests to the real program cause no internal error, leak or loss."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tests.security.conftest import Fortress
from tests.security.fuzz import Account, Requests, run

from vault_agent.model.identifiers import identify

HOOKS = Path(__file__).with_name("fuzz_hooks.py")
FROST = identify("Garden/Frost.md")
IDS = (FROST, f"{FROST}:0", f"{FROST}:1", f"{FROST}:99", identify("many/0/Note 0.md"))
PATHS = ("Garden/photo.png", "Garden/page.html", "Garden/Frost.md", "Garden/link.txt", "Garden")


def fuzz(fortress: Fortress, count: int, connections: int, seed: int = 4) -> Account:
    """Send `count` requests over several connections, then check the server and the vault."""
    total, lock = Account(), threading.Lock()

    def work(number: int) -> None:
        requests = Requests(seed * 1000 + number, ids=IDS, paths=PATHS)
        with fortress.wire() as wire:
            account = run(wire, requests, count // connections, fortress.private.found_in)
        with lock:
            total.add(account)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    fortress.finish_running()
    with fortress.wire() as wire:
        found = wire.post("/search", {"query": "late frost"})
        assert found.data["results"][0]["path"] == "Garden/Frost.md"
        assert wire.ask("GET", "/health").data["index"]["available"]
        assert wire.ask("GET", f"/notes/{FROST}").status == 200
    fortress.private.examine("the server's log", fortress.log.read_bytes())
    print(f"\n{total}")
    return total


def test_fuzzed_requests_cause_no_internal_error(fortress: Fortress):
    account = fuzz(fortress, 2_000, 2)
    assert account.faults == []
    assert account.requests == 2_000
    assert {200, 400, 404} <= set(account.statuses)


@pytest.mark.long
def test_a_hundred_thousand_fuzzed_requests_cause_no_internal_error(fortress: Fortress):
    account = fuzz(fortress, 100_000, 4, seed=5)
    assert account.faults == []
    assert account.requests == 100_000


@pytest.mark.long
def test_generated_requests_to_the_real_server_get_documented_replies(
    fortress: Fortress, tmp_path: Path
):
    # Some are refused although valid in JSON Schema (`limit: 1.0`), and a job is still there after
    # DELETE, which cancels. A 503 is documented, a 500 is looked for in the log; a key is sent with
    # every request, so it cannot be seen to be ignored.
    on_purpose = "positive_data_acceptance,use_after_free,not_a_server_error,ignored_auth"
    before = fortress.log.stat().st_size
    # 413 is the reply to a text that is too long.
    statuses = [400, 401, 403, 404, 405, 406, 409, 413, 415, 422, 428, 429, "5xx"]
    expected = f"[checks.negative_data_rejection]\nexpected-statuses = {json.dumps(statuses)}\n"
    (tmp_path / "schemathesis.toml").write_text(expected, encoding="utf-8")
    ended = subprocess.run(
        [
            *(Path(sys.executable).with_name("schemathesis"), "run"),
            f"{fortress.endpoint}/openapi.json",
            *("--header", f"Authorization: Bearer {fortress.key}"),
            *("--checks", "all", "--exclude-checks", on_purpose),
            *("--exclude-path-regex", "/events$", "--max-examples", "100"),
        ],
        check=False,
        cwd=tmp_path,
        env={**os.environ, "SCHEMATHESIS_HOOKS": str(HOOKS)},
        capture_output=True,
        text=True,
    )
    fortress.finish_running()
    assert ended.returncode == 0, ended.stdout
    written = fortress.log.read_bytes()[before:]
    assert b'"level":"error"' not in written
    print(ended.stdout.partition("Test cases:")[2])
