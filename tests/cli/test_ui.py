"""`ui` and `open --in ui` open the web page."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.cli.fake import NOTE, FakeServer, Run

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a shell script as the browser")


@pytest.fixture
def opened(tmp_path: Path, environment: dict[str, str], server: FakeServer):
    """Let a script be the browser, and return a function for what it was asked to open."""
    server.page = True
    said = tmp_path / "opened"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {said}\n')
    browser.chmod(0o755)
    environment["BROWSER"] = str(browser)
    environment.pop("EDITOR", None)
    environment.pop("VISUAL", None)
    return lambda: said.read_text() if said.exists() else None


async def test_the_page_opens_in_the_browser(server: FakeServer, run_apart: Run, opened):
    ended = await run_apart("ui")
    assert ended.code == 0
    assert ended.out == f"{server.endpoint}/ui/#/notes\n"
    assert opened() == f"{server.endpoint}/ui/#/notes"


async def test_a_ticket_goes_along_where_there_is_a_key(server: FakeServer, run_apart: Run, opened):
    server.ticket = "T-1"
    assert (await run_apart("ui", "Stock", "--view", "graph")).code == 0
    assert opened() == f"{server.endpoint}/ui/#ticket=T-1&to=%2Fgraph%2F{NOTE}"
    assert server.asked[-1][2].printed is True


@pytest.mark.parametrize("option", ["--print", "--json"])
async def test_a_printed_address_is_not_opened(
    server: FakeServer, run_apart: Run, opened, option: str
):
    server.ticket = "T-2"
    ended = await run_apart("ui", option)
    assert f"{server.endpoint}/ui/#ticket=T-2&to=%2Fnotes" in ended.out
    assert opened() is None
    assert server.asked[-1][2].printed is True


async def test_without_the_page_the_command_says_how_to_turn_it_on(
    server: FakeServer, run_apart: Run, opened
):
    server.page = False
    ended = await run_apart("ui")
    assert ended.code == 2
    assert ended.err.startswith("FEATURE_DISABLED: ")
    assert "vault-agent enable web" in ended.err


async def test_without_a_browser_the_address_is_printed_all_the_same(
    server: FakeServer, run_apart: Run, opened, tmp_path: Path
):
    nowhere = {"BROWSER": str(tmp_path / "none"), "PATH": "/nowhere", "DISPLAY": ""}
    ended = await run_apart("ui", "--view", "graph", **nowhere)
    assert (ended.code, ended.out) == (0, f"{server.endpoint}/ui/#/graph\n")
    assert "No browser could be started" in ended.err
    refused = await run_apart("open", "Stock", "--in", "ui", **nowhere)
    assert refused.err.startswith("PROGRAM_FAILED: ")
    assert f"{server.endpoint}/ui/#/notes" in refused.err
    assert refused.err.endswith("To read it here: `vault-agent show Stock`\n")


async def test_a_note_opens_in_the_page_at_its_line(server: FakeServer, run_apart: Run, opened):
    ended = await run_apart("open", "Stock.md:12", "--in", "ui", "--json")
    assert ended.code == 0
    assert '"ui"' in ended.out
    assert opened() == f"{server.endpoint}/ui/#/notes/{NOTE}?line=12"


async def test_a_note_opens_in_the_page_where_nothing_else_can(
    server: FakeServer, run_apart: Run, opened
):
    assert (await run_apart("open", "Stock")).code == 0
    assert opened() == f"{server.endpoint}/ui/#/notes/{NOTE}"
