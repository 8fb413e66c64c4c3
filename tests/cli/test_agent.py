"""`agent`: the agents of the config file, and the clients that act as them."""

from __future__ import annotations

import sys
from pathlib import Path

import orjson
import pytest
from tests.cli.fake import Run
from tests.cli.test_doctor import checks

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="homes are set otherwise there")


async def agent_row(run: Run, name: str) -> dict:
    """Return an agent as `agent` lists it."""
    rows = orjson.loads((await run("--json", "agent")).out)["data"]["agents"]
    return next(row for row in rows if row["name"] == name)


async def test_rights_are_given_later_and_the_key_stays(run: Run, notes: Path):
    (notes / "Work").mkdir()
    await run("agent", "add", "desk", "--folder", ".")
    config = Path((await run("config", "path")).out.strip())
    key = next(line for line in config.read_text().splitlines() if "key_sha256" in line)
    changed = await run("agent", "set", "desk", "--write", "create,append", "--folder", "Work")
    assert changed.code == 0, changed.err
    assert (await agent_row(run, "desk"))["write"] == ["create", "append"]
    assert (await agent_row(run, "desk"))["folders"] == ["Work"]
    assert key in config.read_text()
    assert (await run("agent", "set", "desk", "--write", "none")).code == 0
    assert (await agent_row(run, "desk"))["write"] == []
    await run("agent", "set", "desk", "--deny", "Private")
    assert (await agent_row(run, "desk"))["deny"] == ["Private"]
    assert (await run("agent", "set", "desk", "--deny", "/")).code == 2
    await run("agent", "set", "desk", "--deny", "none")
    assert (await agent_row(run, "desk"))["deny"] == []
    (notes / "Private").mkdir()
    await run("agent", "set", "desk", "--folder", "Work", "--folder", "Private")
    assert "sees Work, Private\n" in (await run("agent")).out


async def test_an_agent_that_exists_is_changed_by_set(run: Run, notes: Path):
    await run("agent", "add", "desk", "--folder", ".")
    assert "vault-agent agent set desk" in (await run("agent", "add", "desk", "--folder", ".")).err
    before = Path((await run("config", "path")).out.strip()).read_bytes()
    for words in (("nobody", "--write", "edit"), ("desk", "--write", "all"), ("desk",)):
        assert (await run("agent", "set", *words)).code != 0, words
    assert (await run("agent", "set", "desk", "--folder", "Nowhere")).code != 0
    assert Path((await run("config", "path")).out.strip()).read_bytes() == before


async def test_an_unknown_agent_is_an_error(run: Run, run_apart: Run, notes: Path):
    for words in (("--print",), ("--yes",)):
        refused = await run_apart("agent", "connect", "cursor", "--agent", "nobody", *words)
        assert (refused.code, refused.out) == (4, "")
        assert refused.err.startswith("AGENT_NOT_FOUND: ")


async def test_an_entry_that_is_printed_while_mcp_is_off_says_how_to_turn_it_on(
    run: Run, notes: Path
):
    printed = await run("agent", "connect", "cursor", "--print")
    assert printed.err.endswith("To let them: vault-agent enable mcp\n")
    await run("config", "set", "mcp.enabled", "true")
    assert "enable mcp" not in (await run("agent", "connect", "cursor", "--print")).err


async def test_the_list_says_what_an_agent_may_do_with_the_settings_as_they_are(
    run: Run, notes: Path
):
    await run("agent", "add", "desk", "--folder", "Work", "--write", "create,move")
    assert "may not write, as writing is off" in (await run("agent")).out
    await run("config", "set", "write.folders", ".")
    await run("config", "set", "write.enabled", "true")
    assert "writes: create\n" in (await run("agent")).out


async def test_a_folder_that_is_not_there_is_said_to_the_owner(run: Run, notes: Path):
    await run("config", "unset", "vault.root")
    await run("agent", "add", "desk", "--folder", "Projects")
    await run("config", "set", "vault.root", str(notes))
    assert "sees Projects, which is not in the vault" in (await run("agent")).out
    found = await checks(run)
    assert found["agents"]["ok"] is False
    assert "The agent desk sees Projects, which is not in the vault" in found["agents"]["found"]
    (notes / "Later").mkdir()
    refused = await run("agent", "set", "desk", "--folder", "Projects", "--folder", "Later")
    assert "The vault has no folder Projects." in refused.err


@pytest.mark.parametrize("rights", ["", "edit,append"])
async def test_an_agent_that_cannot_make_its_folder_is_not_added(
    run: Run, notes: Path, rights: str
):
    refused = await run("agent", "add", "desk", "--folder", "Projects", "--write", rights)
    assert (refused.code, refused.out) == (2, "")
    assert "or let the agent make it: --write create" in refused.err
    assert (
        await run("agent", "add", "desk", "--folder", "Projects", "--write", "create")
    ).code == 0
    assert "refused" not in (await run("agent")).out
    assert (await run("agent", "set", "desk", "--write", rights or "none")).code == 2


@pytest.mark.parametrize(
    ("name", "typed"),
    [("Cafe\u0301/x", "Caf\u00e9/x"), ("Caf\u00e9", "Cafe\u0301"), ("Work", "work")],
)
async def test_the_folder_of_an_agent_has_its_name_on_the_disk(
    run: Run, notes: Path, name: str, typed: str
):
    (notes / name).mkdir(parents=True)
    for words in (("add", "desk", "--write", "create"), ("add", "two"), ("set", "two")):
        assert (await run("agent", *words, "--folder", typed)).code == 0
        assert (await agent_row(run, words[1]))["folders"] == [name]


async def test_a_client_that_acts_as_an_agent_is_connected_and_never_gets_more(
    run: Run, tmp_path: Path, notes: Path
):
    await run("agent", "add", "desk", "--folder", ".")
    await run("config", "set", "mcp.enabled", "true")
    await run("agent", "connect", "cursor", "--agent", "desk", "--yes")
    assert "connected as desk" in (await run("agent")).out
    entry = tmp_path / "home" / ".cursor" / "mcp.json"
    entry.write_text(entry.read_text().replace('"mcp"', '"mcp", "--verbose"'))
    again = (await checks(run))["agents"]["fix"]
    assert again == "vault-agent agent connect cursor --agent desk --force"
    assert "vault-agent agent disconnect cursor" in (await run("agent", "remove", "desk")).err
    entry.write_text(entry.read_text().replace('"mcp", "--verbose"', '"mcp"'))
    again = (await checks(run))["agents"]["fix"]
    assert again == "vault-agent agent disconnect cursor"
