"""`doctor` finds what is wrong, and what it says to type mends it."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import orjson
import pytest
from tests.cli.fake import FakeServer, Run
from tests.cli.test_restart import started
from tests.support.local_model import LocalModel
from tests.support.waiting import eventually_async

from vault_agent import __version__
from vault_agent.codes import CODES
from vault_agent.model.warning import Warning


async def checks(run: Run) -> dict[str, dict]:
    """Return the checks by name; of several with one name, the one that failed."""
    ended = await run("--json", "doctor")
    data = orjson.loads(ended.out)["data"]
    assert ended.code == (1 if data["wrong"] else 0)
    rows = sorted(data["checks"], key=lambda row: row["ok"] is False)
    return {row["name"]: row for row in rows}


async def test_all_is_well_with_a_server_that_has_its_index(run: Run, run_apart: Run, notes: Path):
    await started(run_apart, "--background")
    await run("jobs", "follow")
    shown = await run("doctor")
    assert shown.code == 0, shown.out
    assert shown.out.endswith("All is well.\n")
    assert shown.err == ""
    assert {row["ok"] for row in (await checks(run_apart)).values()} == {True, None}


async def test_each_problem_is_mended_by_what_is_to_be_typed(
    environment: dict[str, str], run: Run, run_apart: Run, notes: Path
):
    found = await checks(run_apart)
    assert found["server"]["fix"] == "vault-agent serve --background"
    await run_apart(*shlex.split(found["server"]["fix"])[1:])
    await run("jobs", "follow")
    cursor = Path(environment["HOME"], ".cursor", "mcp.json")
    cursor.parent.mkdir()
    cursor.write_text('{"mcpServers": {"vault-agent": {"command": "/gone/vault-agent"}}}')
    found = await checks(run_apart)
    assert found["agents"]["fix"] == "vault-agent agent connect cursor --force"
    assert (await run_apart(*shlex.split(found["agents"]["fix"])[1:], "--yes")).code == 0
    found = await checks(run_apart)
    assert found["agents"]["ok"], found
    assert not [row for row in found.values() if row["ok"] is False]


@pytest.mark.parametrize(
    ("setting", "value", "name"),
    [
        ("vault.root", "", "notes"),
        ("index.dir", "INSIDE", "disk"),
        ("server.endpoint", "http://127.0.0.1:1", "server"),
        ("embedding.model", "x", "embedding"),
    ],
)
async def test_a_wrong_setting_is_found(run: Run, notes: Path, setting: str, value: str, name: str):
    ended = await run("config", "set", setting, value.replace("INSIDE", str(notes / "index")))
    if setting == "vault.root":  # one that does not exist is refused, but a folder may be moved
        notes.rename(notes.with_name("Moved"))
    elif ended.code != 0:  # it is refused, so a person must have written it
        config = Path((await run("config", "path")).out.strip())
        config.write_text(f"{config.read_text()}\n[index]\ndir = '{notes}/index'\n")
    await run("config", "set", "embedding.endpoint", "http://127.0.0.1:1/v1/embeddings")
    await run("config", "set", "embedding.enabled", "true")
    assert (await checks(run))[name]["ok"] is False


async def test_settings_that_cannot_be_read_are_the_problem(environment: dict[str, str], run: Run):
    path = Path((await run("config", "path")).out.strip())
    path.parent.mkdir(parents=True)
    path.write_text("[server]\nport = 'x'\n")
    found = await checks(run)
    assert not found["settings"]["ok"]
    assert "server.port" in found["settings"]["found"]
    assert found["settings"]["fix"] == "vault-agent config set server.port VALUE"
    if sys.platform != "win32":
        path.chmod(0o644)
        assert (await checks(run))["config"]["fix"].startswith("chmod 600")


async def test_an_agent_without_a_folder_is_named_with_the_file_to_correct(run: Run, notes: Path):
    config = Path((await run("config", "path")).out.strip())
    config.write_text(config.read_text() + "\n[agents.pub]\n")
    settings = (await checks(run))["settings"]
    assert 'agents.pub.folders must be set, such as folders = ["Work"]' in settings["found"]
    assert config.name in settings["fix"]


async def test_without_a_vault_setup_is_what_to_type(run: Run):
    assert (await checks(run))["notes"]["fix"] == "vault-agent setup"


async def test_doctor_never_advises_to_remove_what_cannot_be_made_again(
    run: Run, run_apart: Run, notes: Path
):
    await started(run_apart, "--background")
    await run("jobs", "follow")
    parent = Path((await run("config", "get", "index.dir")).out.strip())
    [index] = (parent / "indexes").iterdir()
    (index / "jobs.damaged").write_bytes(b"x")
    found = await checks(run_apart)
    assert "a damaged jobs.db was set aside" in found["state"]["found"]
    assert found["state"]["ok"] is None


@pytest.mark.parametrize("running", [None, "job-1"])
@pytest.mark.parametrize("code", sorted(code for code in CODES if CODES[code].indexing))
async def test_what_the_running_job_mends_is_no_problem(
    run: Run, notes: Path, server: FakeServer, code: str, running: str | None
):
    server.version, server.running_job = __version__, running
    server.warnings = [Warning(code, "Not all notes are in the index.")]
    found = await checks(run)
    assert (found["index"]["ok"] is False) is (running is None)


async def test_a_missing_vault_stops_the_watch_and_is_one_fault_of_the_server(
    run: Run, run_apart: Run, notes: Path
):
    await started(run_apart, "--background", "--watch")
    await run("jobs", "follow")
    notes.rename(notes.with_name("Moved"))
    found: dict[str, dict] = {}

    async def is_noticed() -> bool:
        found.update(await checks(run_apart))
        return "folder is missing" in found["watch"]["found"]

    await eventually_async(is_noticed)
    assert found["watch"]["ok"] is False
    assert found["index"]["ok"] is True


async def test_settings_of_earlier_versions_are_named(run: Run):
    config = Path((await run("config", "path")).out.strip())
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text("[web]\nmath = false\n")
    check = (await checks(run))["settings"]
    assert check["ok"] is None
    assert check["found"] == "web.math (config file) is no longer used: remove it"
    assert (await run("config", "unset", "web.math")).code == 0
    assert "math" not in config.read_text()


async def test_a_named_config_file_that_is_missing_is_the_only_fault(run: Run, tmp_path: Path):
    ended = await run("--json", "--config", str(tmp_path / "none.toml"), "doctor")
    (check,) = orjson.loads(ended.out)["data"]["checks"]
    assert (ended.code, check["name"], check["ok"]) == (1, "config", False)


async def test_a_named_vault_is_the_one_that_is_checked(
    run: Run, notes: Path, server: FakeServer, tmp_path: Path
):
    (tmp_path / "Recipes").mkdir()
    await run("vaults", "add", str(tmp_path / "Recipes"))
    config = (await run("config", "path")).out.strip()
    ended = await run("--json", "--config", config, "--vault", "Recipes", "doctor")
    rows = orjson.loads(ended.out)["data"]["checks"]
    found = {row["name"]: row for row in rows}
    assert found["notes"]["found"].endswith("/Recipes")
    assert [path for _, path, _ in server.asked] == ["/vaults/Recipes/health"]
    assert found["embedding"]["fix"] == f"vault-agent --config {config} enable embedding"
    assert all(
        row["fix"].startswith(f"vault-agent --config {config} ") for row in rows if row["fix"]
    )
    unknown = await run("--vault", "nobody", "doctor")
    assert "not ok  vaults     none has this name" in unknown.out


async def test_the_reranker_is_checked(run: Run, notes: Path):
    found = await checks(run)
    assert found["rerank"]["ok"] is None
    async with LocalModel() as endpoint:
        await run("config", "set", "rerank.endpoint", endpoint.rerank_url)
        await run("config", "set", "rerank.enabled", "true")
        found = await checks(run)
        assert found["rerank"] == {
            "name": "rerank",
            "ok": True,
            "found": f"a reranker answers at {endpoint.rerank_url}",
            "fix": "",
        }
    found = await checks(run)
    assert found["rerank"]["ok"] is False
    assert "Nothing answers at http://127.0.0.1:" in found["rerank"]["found"]


async def test_a_broken_list_of_vaults_is_named_and_stops_no_other_check(run: Run, notes: Path):
    assert "vaults" not in await checks(run)
    registry = Path((await run("config", "path")).out.strip()).with_name("vaults.toml")
    registry.write_text("[[vaults]\n")
    found = await checks(run)
    assert found["vaults"]["ok"] is False
    assert "vaults.toml is not a valid list of vaults" in found["vaults"]["found"]
    assert {"rerank", "service"} <= set(found)
