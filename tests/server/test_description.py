"""Replies match the OpenAPI document for generated valid and invalid requests."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from pathlib import Path

import pytest

from vault_agent.server.openapi import describe

from .conftest import run

# Refused on purpose although valid in JSON Schema (`limit: 1.0`), and a job that is
# still there after DELETE, which cancels.
ON_PURPOSE = "positive_data_acceptance,use_after_free"


def test_every_reference_leads_to_a_schema():
    document = describe()
    references = re.findall(r'"\$ref": "([^"]+)"', json.dumps(document))
    assert {each.removeprefix("#/components/schemas/") for each in references} <= set(
        document["components"]["schemas"]
    )


@pytest.mark.long
async def test_generated_requests_get_documented_replies(tmp_path: Path):
    async with run() as server:
        process = await asyncio.create_subprocess_exec(
            *(Path(sys.executable).with_name("schemathesis"), "run"),
            f"http://{server.authority}/openapi.json",
            *("--checks", "all", "--exclude-checks", ON_PURPOSE),
            *("--exclude-path-regex", "/events$", "--max-examples", "50"),
            cwd=tmp_path,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        output, _ = await process.communicate()
        assert process.returncode == 0, output.decode()
        assert not [event for event in server.events if event["level"] == "error"]
