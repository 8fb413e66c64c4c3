"""`vault-agent config` shows and changes settings without showing secrets."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import orjson
import pytest
from tests.cli.fake import Run

KEY = "canary-key-0123456789-0123456789-01"


async def test_a_setting_is_set_read_and_removed(run: Run):
    assert (await run("config", "set", "server.port", "9000")).code == 0
    assert (await run("config", "get", "server.port")).out == "9000\n"
    refused = await run("config", "set", "server.port", "")
    assert refused.code == 2
    assert "`vault-agent config unset server.port`" in refused.err
    assert (await run("config", "unset", "server.port")).out == "server.port removed\n"
    assert (await run("config", "get", "server.port")).out == "8787\n"


async def test_all_settings_are_listed_with_their_sources(run: Run):
    await run("config", "set", "server.port", "9000")
    listed = (await run("config", "get", VAULT_AGENT_SERVER_HOST="::1")).out.splitlines()
    assert "server.port = 9000  (file)" in listed
    assert "server.host = ::1  (environment)" in listed
    assert "server.endpoint = http://[::1]:9000" in listed
    assert "embedding.enabled = false" in listed
    flagged = await run("config", "get", "--endpoint", "http://127.0.0.1:1", "--json")
    rows = {row["key"]: row for row in orjson.loads(flagged.out)["data"]["settings"]}
    assert rows["server.endpoint"]["origin"] == "flag"
    assert rows["embedding.concurrency"] == {
        "key": "embedding.concurrency",
        "value": 2,
        "origin": "default",
    }


async def test_a_secret_is_shown_only_by_its_own_command(run_apart: Run):
    assert (await run_apart("config", "get", "server.api_key")).out == ""
    assert "server.api_key = unset" in (await run_apart("config", "get")).out
    assert (await run_apart("config", "reveal-api-key")).code == 2
    told = await run_apart("config", "set", "server.api_key", KEY)
    listed, as_json, one = await asyncio.gather(
        run_apart("config", "get"),
        run_apart("config", "get", "--json"),
        run_apart("config", "get", "server.api_key"),
    )
    again = await run_apart("config", "set", "server.api_key", "-", "--json", stdin=f"{KEY}\n")
    for ended in (told, listed, as_json, one, again):
        assert ended.code == 0
        assert KEY not in ended.out + ended.err
    assert "server.api_key = set  (file)" in listed.out
    assert (await run_apart("config", "reveal-api-key")).out == f"{KEY}\n"


async def test_config_path_follows_the_flag_and_the_environment(
    environment: dict[str, str], run: Run, tmp_path: Path
):
    assert (await run("config", "path")).out.rstrip().endswith("config.toml")
    other = str(tmp_path / "other.toml")
    assert (await run("config", "path", "--config", other)).out == f"{other}\n"
    assert (await run("config", "path", VAULT_AGENT_CONFIG=other)).out == f"{other}\n"
    Path(environment["HOME"], "notes").mkdir()
    assert (await run("--config", other, "config", "set", "vault.root", "~/notes")).code == 0
    assert (tmp_path / "other.toml").read_text("utf-8") == '[vault]\nroot = "~/notes"\n'
    told = await run("config", "set", "vault.root", "~/notes", "--config", other)
    assert "Next: vault-agent serve" in told.err


async def test_a_missing_config_file_is_an_error_except_for_set(run: Run, tmp_path):
    ended = await run("search", "x", "--config", str(tmp_path / "none.toml"))
    assert ended.code == 2
    assert str(tmp_path) not in ended.err


async def test_config_set_prints_the_stored_value(run: Run):
    told = await run("config", "set", "vault.root", "tests")
    assert told.out == f"vault.root = {Path('tests').absolute()}\n"
    assert told.out == f"vault.root = {(await run('config', 'get', 'vault.root')).out}"


async def test_without_a_vault_the_next_step_is_setup(run: Run, tmp_path: Path):
    (tmp_path / "notes").mkdir()
    assert (await run("config", "set", "vault.root", str(tmp_path / "notes"))).code == 0
    unset = await run("config", "unset", "vault.root")
    assert unset.err == "No vault is set now. To set one: vault-agent setup\n"
    agent = await run("agent", "add", "desk", "--folder", "Inbox")
    assert agent.code == 0
    assert agent.err.endswith("so it sees nothing. To set one: vault-agent setup\n")


async def test_config_set_names_no_server_while_none_runs(run: Run):
    assert (await run("config", "set", "server.port", "9000")).err == ""
    assert (await run("config", "set", "vault.exclude", "drafts/")).err == ""
    assert (await run("config", "set", "cli.open_in", "obsidian")).err == ""


async def test_the_default_index_folder_is_shown(run: Run):
    shown = await run("config", "get", "index.dir")
    assert shown.code == 0
    assert Path(shown.out.rstrip()).is_absolute()
    assert "vault-agent" in shown.out


async def test_the_short_help_of_every_command_is_a_sentence(run: Run):
    groups = ((), ("config",), ("get",), ("jobs",), ("links",), ("graph",), ("agent",), ("tasks",))
    for ended in await asyncio.gather(*(run(*group, "--help", COLUMNS="80") for group in groups)):
        assert "..." not in ended.out.partition("Commands:")[2].partition("Options:")[0]


async def test_a_setting_is_removed_from_a_file_with_other_mistakes(run: Run):
    file = Path((await run("config", "path")).out.strip())
    file.parent.mkdir(parents=True)
    file.write_text("[search]\nnone = 1\nrecency = 'often'\nfolders = ''\n")
    for name in ("search.recency", "search.folders"):
        removed = await run("config", "unset", name)
        assert (removed.code, removed.out) == (0, f"{name} removed\n"), removed.err
    assert file.read_text() == "[search]\nnone = 1\n"
    again = await run("config", "unset", "search.recency")
    assert again.out == "search.recency is not in the config file. Nothing was changed.\n"


@pytest.mark.parametrize(
    "key", ["vault.root", "vault.exclude", "embedding.model", "server.api_key"]
)
async def test_getting_an_unset_setting_prints_only_that_on_stderr_and_exits_1(run: Run, key: str):
    ended = await run("config", "get", key)
    assert (ended.code, ended.out, ended.err) == (1, "", f"{key} is not set.\n")
    as_json = await run("config", "get", key, "--json")
    assert as_json.code == 1
    assert orjson.loads(as_json.out)["data"]["settings"][0]["key"] == key


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("[write]\nundo_days = 3\nno_longer = 1\n", "write.no_longer"),
        ("[write]\nundo_days = 3\n[newer]\na = 1\nb = 2\n", "newer"),
        ("newer = 1\n[write]\nundo_days = 3\n", "newer"),
    ],
)
async def test_what_is_unknown_is_named_with_the_command_that_removes_it(
    run: Run, text: str, name: str
):
    file = Path((await run("config", "path")).out.strip())
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    file.chmod(0o600)
    refused = await run("status")
    assert refused.code == 2
    removes = re.findall(r"`vault-agent ([^`]+)`", refused.err)[-1]
    assert removes == f"config unset {name}"
    assert (await run(*removes.split())).out == f"{name} removed\n"
    assert file.read_text() == "[write]\nundo_days = 3\n"
    assert "unknown setting" in (await run("config", "unset", name)).err
