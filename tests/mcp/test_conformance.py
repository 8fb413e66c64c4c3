"""The official conformance suite of the protocol, against a real server.

Runs with `tox -e conformance` only: it needs the npm registry.
`CONFORMANCE` may hold another command that runs the suite.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess

import pytest
from tests.support.clocks import PATIENCE
from tests.support.node import node, with_node

pytestmark = pytest.mark.conformance

SUITE = ("--yes", "@modelcontextprotocol/conformance@0.2.0-alpha.12")
OLD, NEW = "2025-11-25", "2026-07-28"
BOTH = (
    "completion-complete",
    "tools-list",
    "resources-list",
    "prompts-list",
    "dns-rebinding-protection",
)
SCENARIOS = (
    *((name, version) for name in BOTH for version in (OLD, NEW)),
    *((name, OLD) for name in ("server-initialize", "ping")),
    *((name, NEW) for name in ("caching", "http-header-validation")),
    ("sep-2164-resource-not-found", NEW),
    ("server-stateless", NEW),
)
"""Those that need no tool, resource or prompt of the suite's own server."""
NEED_THEIR_TOOLS = {
    "sep-2575-server-rejects-undeclared-capability",
    "sep-2575-missing-capability-http-400",
    "sep-2575-http-server-no-independent-requests-on-stream",
    "sep-2575-server-no-log-without-loglevel",
}
"""Checks of `server-stateless` that call tools of the suite's own server."""


def run(url: str, scenario: str, version: str, folder: str) -> str:
    command = shlex.split(os.environ.get("CONFORMANCE", "")) or [node("npx"), *SUITE]
    made = subprocess.run(
        [*command, "server", "--url", url, "--scenario", scenario, "--spec-version", version],
        cwd=folder,
        env=with_node(),
        capture_output=True,
        text=True,
        timeout=PATIENCE * 4,
        check=False,
    )
    return made.stdout + made.stderr


@pytest.mark.parametrize(("scenario", "version"), SCENARIOS)
def test_the_conformance_suite_passes(agent, tmp_path, scenario, version):
    output = run(agent.url, scenario, version, str(tmp_path))
    passed, checks = map(int, re.findall(r"^Passed: (\d+)/(\d+), ", output, re.MULTILINE)[-1])
    # Colours stand around the word.
    failed = set(re.findall(r"\[([\w-]+) *\]\S* \S*FAILURE", output))
    expected = NEED_THEIR_TOOLS if scenario == "server-stateless" else set()
    assert failed == expected, output
    assert passed > 0
    assert passed == checks - len(expected), output
