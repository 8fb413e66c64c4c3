"""`service` writes what systemd and launchd read. `indexes` lists and removes indexes."""

from __future__ import annotations

import os
import plistlib
import shlex
import sys
from configparser import RawConfigParser
from pathlib import Path

import orjson
import pytest
from tests.cli.fake import Run

from vault_agent.cli.service import service_of
from vault_agent.errors import Misconfigured
from vault_agent.system.address import record_vault, recorded_vault
from vault_agent.system.files import locked
from vault_agent.system.processes import PROGRAM

on_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="systemd")


class _Unit(RawConfigParser):
    def optionxform(self, optionstr: str) -> str:
        return optionstr


def unit_of(content: bytes) -> _Unit:
    unit = _Unit(strict=True)
    unit.read_string(content.decode())
    return unit


def test_the_systemd_unit_runs_this_program_and_restarts_it_after_a_failure(tmp_path: Path):
    variables = {"VAULT_AGENT_CONFIG": "/my 100% $config.toml"}
    service = service_of("linux", tmp_path, variables, tmp_path / "log")
    assert service.file == tmp_path / ".config/systemd/user/vault-agent.service"
    unit = unit_of(service.content)
    assert shlex.split(unit["Service"]["ExecStart"]) == [*PROGRAM, "serve"]
    assert unit["Service"]["Environment"] == '"VAULT_AGENT_CONFIG=/my 100%% $config.toml"'
    assert unit["Service"]["Restart"] == "on-failure"
    assert unit["Service"]["RestartPreventExitStatus"] == "2 3"
    assert unit["Install"]["WantedBy"] == "default.target"
    assert service.start[-1] == ("systemctl", "--user", "enable", "--now", "vault-agent.service")


def test_the_launchd_agent_runs_this_program_and_restarts_it_after_a_failure(tmp_path: Path):
    service = service_of("darwin", tmp_path, {"VAULT_AGENT_CONFIG": "/c"}, tmp_path / "log")
    assert service.file.parent == tmp_path / "Library/LaunchAgents"
    agent = plistlib.loads(service.content)
    assert agent["ProgramArguments"] == [*PROGRAM, "serve"]
    assert agent["KeepAlive"] == {"SuccessfulExit": False}
    assert agent["EnvironmentVariables"] == {"VAULT_AGENT_CONFIG": "/c"}
    assert agent["StandardErrorPath"] == str(tmp_path / "log")
    assert service.file.stem == agent["Label"]


def test_other_systems_have_no_service(tmp_path: Path):
    with pytest.raises(Misconfigured) as refused:
        service_of("win32", tmp_path, {}, tmp_path / "log")
    assert refused.value.code == "SERVICE_UNSUPPORTED"
    assert "serve --background" in refused.value.message


@pytest.mark.fault(
    "HTTP and access",
    "systemd refuses a service",
    "`SERVICE_FAILED` with its reason",
)
@on_linux
async def test_a_service_is_installed_updated_and_removed(
    environment: dict[str, str], tmp_path: Path, run: Run
):
    vault = tmp_path / "vault"
    vault.mkdir()
    control = tmp_path / "bin" / "systemctl"
    control.parent.mkdir()
    asked = tmp_path / "asked"
    control.write_text(f'#!/bin/sh\necho "$@" >> "{asked}"\n')
    control.chmod(0o755)
    environment["PATH"] = f"{control.parent}{os.pathsep}{environment['PATH']}"
    refused = await run("serve", "--at-login", "install")
    assert refused.code == 2
    assert refused.err.startswith("VAULT_NOT_FOUND: ")
    await run("config", "set", "vault.root", str(vault))
    missing = await run("serve", "--at-login", "status")
    assert (missing.code, missing.out.splitlines()[0]) == (4, "Service not installed.")
    installed = await run("serve", "--at-login", "install")
    assert installed.code == 0, installed.err
    file = Path(environment["HOME"], ".config/systemd/user/vault-agent.service")
    assert str(file) in installed.out
    assert unit_of(file.read_bytes()).has_section("Install")
    assert (await run("serve", "--at-login", "status")).out.startswith(
        "Service installed, running."
    )
    assert (await run("serve", "--at-login", "install")).code == 0
    assert (await run("serve", "--at-login", "remove")).code == 0
    assert not file.exists()
    assert asked.read_text().splitlines() == [
        "--user daemon-reload",
        "--user enable --now vault-agent.service",
        "--user is-active --quiet vault-agent.service",
        "--user daemon-reload",
        "--user restart vault-agent.service",
        "--user disable --now vault-agent.service",
    ]
    assert (await run("serve", "--at-login", "remove")).code == 4
    control.write_text("#!/bin/sh\necho 'no bus' >&2\nexit 1\n")
    failed = await run("serve", "--at-login", "install")
    assert failed.err == (
        "SERVICE_FAILED: `systemctl --user daemon-reload` failed: no bus. "
        "To run the server without it: `vault-agent serve --background`.\n"
    )
    assert not file.exists()


async def test_indexes_are_listed_and_removed(
    environment: dict[str, str], tmp_path: Path, run: Run
):
    parent = tmp_path / "data" / "indexes"
    environment["VAULT_AGENT_INDEX_DIR"] = str(parent.parent)
    kept, gone, old = (parent / (number * 8) for number in ("1234", "abcd", "5678"))
    for folder, size in ((kept, 3_000_000), (gone, 2_000_000), (old, 1_000_000)):
        folder.mkdir(parents=True)
        (folder / "index.db").write_bytes(b"x" * size)
    record_vault(kept, str(tmp_path))
    record_vault(gone, str(tmp_path / "nowhere"))
    assert recorded_vault(old) is None
    listed = await run("vaults")
    assert listed.out.splitlines() == [
        f"12341234  {tmp_path}  (not on the list; its index has 3.0 MB)",
        f"abcdabcd  {tmp_path / 'nowhere'}  (gone; its index has 2.0 MB)",
        "56785678  unknown vault  (not on the list; its index has 1.0 MB)",
    ]
    assert "vault-agent vaults forget abcdabcd" in listed.err
    as_json = orjson.loads((await run("--json", "vaults")).out)["data"]["indexes"]
    assert [index["vaultExists"] for index in as_json] == [True, False, None]

    assert (await run("vaults", "forget")).code == 2
    assert (await run("vaults", "forget", "ffff")).code == 4
    with locked(kept / "server.lock"):
        used = await run("vaults", "forget", "1234")
    assert used.code == 5
    assert kept.exists()
    for name, size in (("abcd", "2.0"), ("1234", "3.0"), ("5678", "1.0")):
        assert (await run("vaults", "forget", name)).out == f"Removed an index of {size} MB.\n"
    assert not any(parent.iterdir())


@pytest.mark.parametrize("kept", ["writes/before/aa", "vectors/1.rows", "jobs.damaged"])
async def test_an_index_with_what_cannot_be_made_again_is_not_removed_unasked(
    environment: dict[str, str], tmp_path: Path, run: Run, kept: str
):
    folder = tmp_path / "data" / "indexes" / ("abcd" * 8)
    environment["VAULT_AGENT_INDEX_DIR"] = str(folder.parents[1])
    (folder / kept).parent.mkdir(parents=True)
    (folder / kept).write_bytes(b"x")
    record_vault(folder, str(tmp_path / "unplugged"))
    refused = await run("vaults", "forget", "abcd")
    assert refused.code == 2
    assert "It has what cannot be made again: " in refused.err
    assert "Add --yes" in refused.err
    assert (folder / kept).exists()
    assert (await run("vaults", "forget", "abcd", "--yes")).code == 0
    assert not folder.exists()
