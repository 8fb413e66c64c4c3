"""A crash report contains the error's type and our own lines, not its message."""

from __future__ import annotations

import io
import json

import pytest

from vault_agent.system.child import read_message
from vault_agent.system.crash import CrashReport, describe_crash


def test_a_crash_report_names_only_our_own_lines():
    with pytest.raises(EOFError) as crash:
        read_message(io.BytesIO(b""))
    report = describe_crash(crash.value)
    assert report.error_type == "EOFError"
    modules = [frame.partition(":")[0] for frame in report.frames]
    assert modules == ["vault_agent.system.child"] * 2
    assert str(report) == f"EOFError at {report.frames[-1]}"


def test_a_library_error_is_reported_with_the_calling_line():
    with pytest.raises(ValueError, match="Expecting") as crash:
        json.loads("secret canary")
    report = describe_crash(crash.value)
    assert report == CrashReport("JSONDecodeError", ())
    assert str(report) == "JSONDecodeError"


def test_a_deep_recursion_gives_a_short_report():
    def deeper(depth: int) -> None:
        exec("deeper(depth - 1)", {"__name__": "vault_agent.x", "deeper": deeper, "depth": depth})

    with pytest.raises(RecursionError) as crash:
        deeper(10_000)
    assert 0 < len(describe_crash(crash.value).frames) < 20
