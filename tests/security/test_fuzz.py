"""Generated requests to the real program get documented replies, and cause no internal error."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.security.conftest import Fortress

HOOKS = Path(__file__).with_name("fuzz_hooks.py")


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
