"""`setup` goes from nothing to a server, by questions or by options."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import orjson
import pytest
from tests.cli.fake import Run, vault_named
from tests.cli.test_restart import refuse_services
from tests.support.folders import below
from tests.support.listening import free_port
from tests.support.meaning import needs_built_in_model
from tests.support.systems import posix
from tests.support.waiting import eventually_async

from vault_agent.cli import detached
from vault_agent.cli.setup import obsidian_vaults
from vault_agent.models import built_in


@pytest.fixture
async def home(environment: dict[str, str], run: Run) -> AsyncIterator[Path]:
    """Return a home with a folder of notes and Cursor. Servers are stopped at the end."""
    folder = Path(environment["HOME"])
    vault_named("Notes", environment)
    (folder / ".cursor").mkdir()
    await run("config", "set", "server.port", str(free_port()))
    # So that the same is asked whether the built-in model is installed here or not.
    await run("config", "set", "embedding.model", "another")
    yield folder
    for noted in below(folder, "server.address"):
        await asyncio.to_thread(detached.stop, noted.parent)


async def test_options_are_enough_without_a_terminal(home: Path, run: Run, run_apart: Run):
    done = await run_apart("setup", "--folder", str(home / "Notes"), "--agent", "cursor")
    assert done.code == 0, done.err
    assert "Ready: 1 note of ~/Notes" in done.out
    assert "/ui/" in done.out
    assert "Stock.md" in (await run("search", "bones")).out
    assert "watch, mcp, web on" in (await run("status")).out
    assert (await run("doctor")).code == 0
    again = orjson.loads((await run_apart("--json", "setup", "--no-web", "--no-watch")).out)["data"]
    assert again["page"] is None
    assert "mcp on" in (await run("status")).out
    # What it does not ask for again stays as it is.
    assert orjson.loads((await run_apart("--json", "setup")).out)["data"]["page"] is None


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="systemd")
async def test_without_services_the_server_runs_in_the_background(
    environment: dict[str, str], home: Path, run: Run, run_apart: Run, tmp_path: Path
):
    refuse_services(environment, tmp_path)
    done = await run_apart("setup", "--folder", str(home / "Notes"), "--service")
    assert (done.code, done.err.splitlines()[0]) == (
        0,
        "SERVICE_FAILED: `systemctl --user daemon-reload` failed: no bus",
    )
    assert "The server runs in the background. It does not start at each login." in done.out
    assert "Stock.md" in (await run("search", "bones")).out


async def is_advised(run: Run) -> bool:
    warned = (await run("search", "bones")).err
    return "VAULT_NOT_FOUND" in warned and "`vault-agent setup --folder" in warned


async def test_a_moved_vault_is_found_again_by_one_command(home: Path, run: Run, run_apart: Run):
    await run_apart("setup", "--folder", str(home / "Notes"))
    moved = (home / "Notes").rename(home / "Moved")
    assert (await run("doctor")).code == 1
    await eventually_async(lambda: is_advised(run_apart))
    done = await run_apart("setup", "--folder", str(moved), "--yes")
    assert done.code == 0, done.err
    listed = orjson.loads((await run("--json", "vaults")).out)["data"]["indexes"]
    assert [each["vault"] for each in listed] == [str(moved)]
    assert "Stock.md" in (await run("search", "bones")).out
    assert (await run("doctor")).code == 0


async def test_without_a_folder_it_says_which_option_names_it(home: Path, run: Run):
    refused = await run("setup")
    assert refused.code == 2
    assert "`vault-agent setup --folder ~/Notes`" in refused.err
    missing = await run("setup", "--folder", str(home / "none"))
    assert missing.err.startswith("VAULT_NOT_FOUND: ")
    assert (await run("setup", "--folder", ".", "--agent", "nobody")).code == 2


@needs_built_in_model
async def test_the_built_in_model_is_turned_on_where_it_is_installed(
    home: Path, run: Run, run_apart: Run
):
    await run("config", "unset", "embedding.model")
    done = await run_apart("setup", "--folder", str(home / "Notes"), "--no-web")
    assert done.code == 0, done.err
    found = await run("search", "skeleton parts", "--mode", "embedding")
    assert found.out.startswith("Stock.md"), found.err
    again = await run_apart("setup", "--no-meaning")
    assert again.code == 0, again.err
    assert (await run("config", "get", "embedding.endpoint")).out.strip() == "built-in"


async def test_a_built_in_model_that_is_not_installed_is_named(
    home: Path, run: Run, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(built_in, "is_installed", lambda: False)
    refused = await run("setup", "--folder", str(home / "Notes"), "--meaning")
    assert refused.code != 0
    assert "pip install 'vault-agent[meaning]'" in refused.err


@posix("a terminal is made by a POSIX call")
async def test_at_a_terminal_each_question_has_a_default(
    home: Path, run: Run, run_at_terminal: Run
):
    done = await run_at_terminal("setup", stdin="\n\n\n\n\n")
    assert done.code == 0, done.err
    assert "1  ~/Notes" in done.err
    assert "[cursor]" in done.err
    assert done.err.count("[Y/n]") == 2
    assert done.err.count("[y/N]") == 1
    assert "Ready: 1 note of ~/Notes" in done.err
    assert "watch, mcp, web on" in (await run("status")).out


@posix("a terminal is made by a POSIX call")
@pytest.mark.parametrize("typed", ["\x04", "\n\x04", "\n\n\x04"])
async def test_ctrl_d_at_a_question_sets_nothing_up(
    home: Path, run: Run, run_at_terminal: Run, typed: str
):
    ended = await run_at_terminal("setup", stdin=typed)
    assert ended.code == 130, ended.err
    assert (await run("config", "get", "vault.root")).code == 1


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="where Obsidian has its settings")
@pytest.mark.parametrize(
    "settings", [".config/obsidian", ".var/app/md.obsidian.Obsidian/config/obsidian"]
)
async def test_the_vaults_of_obsidian_are_offered_with_numbers(
    home: Path, run: Run, run_at_terminal: Run, environment: dict[str, str], settings: str
):
    vault_named("Work", environment)
    vaults = {
        "a": {"path": str(home / "Notes"), "ts": 3},
        "b": {"path": str(home / "Work"), "ts": 2, "open": True},
        "c": {"path": str(home / "gone"), "ts": 1},
    }
    (home / settings).mkdir(parents=True)
    (home / settings / "obsidian.json").write_bytes(orjson.dumps({"vaults": vaults}))
    done = await run_at_terminal("setup", "--no-agents", stdin="2\n\n\n\n")
    assert done.code == 0, done.err
    assert "1  ~/Work (Obsidian)" in done.err
    assert "2  ~/Notes (Obsidian)" in done.err
    assert "3  " not in done.err
    assert "Ready: 1 note of ~/Notes" in done.err


_VAULT = '{"vaults": {"a": {"path": "%s", "ts": %s}}}'


@pytest.mark.parametrize(
    "broken",
    [
        *("", "[]", '{"vaults": 1}', '{"vaults": {"a": {}}}', "\x00", "[" * 100_000),
        *(_VAULT % ("/tmp", "1" * 400), _VAULT % ("/" + "x" * 300, 1), _VAULT % ("\\u0000", 1)),
    ],
    ids=range(9),
)
async def test_settings_of_obsidian_in_another_form_offer_nothing(
    home: Path, monkeypatch: pytest.MonkeyPatch, broken: str
):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home))
    monkeypatch.setenv("HOME", str(home))
    (home / "obsidian").mkdir()
    (home / "obsidian" / "obsidian.json").write_text(broken)
    assert obsidian_vaults() == []


@posix("a pipe is made by a POSIX call")
@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
async def test_settings_of_obsidian_that_are_no_file_offer_nothing(
    home: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], None]
):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home))
    monkeypatch.setenv("HOME", str(home))
    (home / "obsidian").mkdir()
    make(home / "obsidian" / "obsidian.json")
    assert obsidian_vaults() == []


@posix("a terminal is made by a POSIX call")
async def test_a_folder_that_cannot_be_the_vault_is_refused_at_once_and_another_one_asked_for(
    home: Path, run_at_terminal: Run
):
    typed = "~\n/\nmissing\n~/Notes\n\n\n\n"
    done = await run_at_terminal("setup", "--no-agents", stdin=typed)
    assert done.code == 0, done.err
    assert done.err.count("Folder of your notes, by number or path [1]: ") == 4
    for refused in ("~", "/"):
        assert f"{refused} cannot be the vault. It holds " in done.err
    assert "There is no folder ~/missing." in done.err
    assert "Ready: 1 note of ~/Notes" in done.err


@pytest.mark.parametrize("refused", ["~", "/"])
async def test_the_home_folder_is_refused_also_if_the_indexes_are_elsewhere(
    home: Path, run: Run, refused: str
):
    elsewhere = {"VAULT_AGENT_INDEX_DIR": str(home.parent / "indexes")}
    ended = await run("setup", "--folder", refused, **elsewhere)
    assert ended.code == 2
    assert "cannot be the vault" in ended.err
    assert (await run("config", "get", "vault.root")).code == 1


@posix("a terminal is made by a POSIX call")
async def test_tab_at_the_terminal_completes_the_folder(home: Path, run_at_terminal: Run):
    done = await run_at_terminal("setup", "--no-agents", stdin="~/No\t\n\n\n\n")
    assert done.code == 0, done.err
    assert "Ready: 1 note of ~/Notes" in done.err


async def test_init_alone_is_enough_in_a_project_without_notes_of_ones_own(
    home: Path, run: Run, run_apart: Run, monkeypatch: pytest.MonkeyPatch
):
    (home / "shop" / ".git").mkdir(parents=True)
    monkeypatch.chdir(home / "shop")
    assert (await run("init", "--yes")).code == 0
    vault = home / "shop" / ".vault-agent" / "vault"
    (vault / "Prices.md").write_text("# Prices\n\nKept in cents.\n")
    await run_apart("serve", "--background")
    await run("index")
    assert "Prices.md" in (await run("search", "cents")).out
    assert (await run("memory", "show", "prices in cents")).code == 0


async def test_a_search_that_starts_the_server_has_the_key_that_it_makes(
    home: Path, run: Run, run_apart: Run
):
    await run("config", "set", "vault.root", str(home / "Notes"))
    await run("enable", "memory")
    assert (await run("config", "get", "server.api_key")).code == 1
    found = await run_apart("search", "bones")
    assert found.code == 0, found.err
    assert "Stock.md" in found.out
