"""Every route, tool and command replies what the golden files say."""

from __future__ import annotations

import difflib
import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.golden import commands, tools
from tests.golden.record import REPLIES, record
from tests.golden.steady import written

from vault_agent.mcp.toolsets import TOOLSETS
from vault_agent.server.routes import ROUTES

NOWHERE = {"GET /nothing", "POST /health"}
"""What is asked to see how unknown routes and methods are refused."""

ONLY_REFUSED = {
    "GET /ui/assets/{path}": "its path has the version of the page's files",
}
REWRITE = "If the change is meant: `python -m tests.golden`, look at the difference, and commit it."


def golden(area: str) -> dict[str, list[dict[str, Any]]]:
    """Return the cases of golden files by name."""
    return {
        path.stem: json.loads(path.read_text("utf-8"))
        for path in sorted((REPLIES / area).glob("*.json"))
    }


@pytest.mark.skipif(os.name == "nt", reason="paths of POSIX")
def test_every_reply_is_the_golden_one(tmp_path: Path):
    found = record(tmp_path)
    known = {
        path.relative_to(REPLIES).as_posix(): path.read_text("utf-8")
        for path in REPLIES.rglob("*.json")
    }
    different = [
        line
        for name in sorted(known.keys() | found.keys())
        for line in difflib.unified_diff(
            known.get(name, "").splitlines(),
            found.get(name, "").splitlines(),
            f"{name} (golden)",
            f"{name} (today)",
            n=6,
            lineterm="",
        )
    ]
    assert not different, "\n".join(["", *different[:300], "", REWRITE])


def test_every_route_has_a_golden_reply():
    replies = [case for cases in golden("http").values() for case in cases]
    routes = {f"{route.method} {route.path}" for route in ROUTES}
    assert {case["case"] for case in replies} == routes | NOWHERE, REWRITE
    good = {case["case"] for case in replies if case["status"] < 400}
    assert routes - good == set(ONLY_REFUSED)


@pytest.mark.parametrize("toolset", TOOLSETS)
def test_every_tool_has_a_golden_reply(toolset: str):
    replies = golden("mcp")[toolset]
    names = set(TOOLSETS[toolset])
    unknown = {"none"} if toolset == "vault-agent" else set()
    assert {case["case"] for case in replies} == names | {tools.LIST} | unknown, REWRITE
    good = {case["case"] for case in replies if not case.get("reply", {}).get("isError", True)}
    assert good == names
    listed = next(case["reply"] for case in replies if case["case"] == tools.LIST)
    assert {tool["name"] for tool in listed["tools"]} == names


def test_every_command_has_a_golden_reply():
    replies = [case for cases in golden("commands").values() for case in cases]
    assert {case["case"] for case in replies} == commands.every() - set(commands.WITHOUT), REWRITE
    assert set(commands.WITHOUT) <= commands.every()
    good = {case["case"] for case in replies if case["exit"] == 0}
    assert commands.every() - set(commands.WITHOUT) - good == set(commands.ONLY_REFUSED)


def test_a_golden_file_has_the_whole_value():
    value = {
        "a": ["x" * 60, {"b": "y" * 60, "c": [1, 2.5, None, True]}],
        "é": [],
        "long": "z" * 120,
    }
    assert json.loads(written([value])) == [value]
    for cases in (*golden("http").values(), *golden("mcp").values(), *golden("commands").values()):
        assert json.loads(written(cases)) == cases
