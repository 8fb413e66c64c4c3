"""A command that fails has changed nothing: no file, and not the server that runs."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.fake import Run
from tests.cli.test_restart import refuse_services, started
from tests.support.folders import below

from vault_agent.system.address import live_address

REFUSED = [
    "setup --folder {home} --yes",
    "setup --folder / --yes",
    "setup --folder {home}/missing --yes",
    "setup --folder {notes} --agent nobody",
    "serve --background --index-dir {notes}/index",
    "serve --background --index-dir {home}/file.txt",
    "serve --background --vault-root {home}/missing",
    "serve --background --port 99999",
    "serve --background --vault-root {home}",
    "config set index.dir {notes}/index",
    "config set vault.root {home}",
    "config set server.port x",
    "config set write.folders ../up",
    "config set embedding.enabled true",
    "config set embedding.endpoint http://10.0.0.1/v1",
    "config set no.key 1",
    "config unset no.key",
    "enable write --folder Inbox --folder ../up --allow move",
    "enable write --folder .hidden",
    "enable chat --model x --model-url http://10.0.0.1/v1",
    "enable embedding --model x --model-url http://127.0.0.1:1/v1/embeddings",
    "enable rerank --model-url http://127.0.0.1:1/v1/rerank",
    "enable nothing",
    "disable nothing",
    "agent add new --folder missing",
    "agent add new --folder . --deny ../up",
    "agent add New --folder .",
    "agent add new --folder . --write everything",
    "agent remove nobody",
    "agent rotate nobody",
    "agent connect cursor --yes",
    "agent connect nobody --yes",
    "agent disconnect nobody",
    "vaults add {home}",
    "vaults add {home}/missing",
    "vaults add {notes}",
    "vaults add {other} --name global",
    "vaults forget nobody",
    "init --yes",
]
"""Commands in the home folder. Each has something wrong."""

LONG, NOBODY = "x" * 300, "~no.such.user/notes"
REFUSED += [
    command.format(folder)
    for folder in ("{home}/" + LONG, NOBODY)
    for command in (
        *("setup --folder {} --yes", "serve --background --vault-root {}"),
        *("config set vault.root {}", "vaults add {}", "vaults forget {}"),
    )
]

APART = ("setup", "serve", "enable", "agent")
"""What may start or end servers, or other programs."""


def files_of(home: Path) -> dict[str, bytes]:
    """Return the bytes of all files but the log and the index, which the server itself writes."""
    return {
        str(path.relative_to(home)): path.read_bytes()
        for path in sorted(below(home, "*"))
        if path.is_file() and "indexes" not in path.parts
    }


def serving(home: Path) -> list[int]:
    """Return the processes of the servers that answer."""
    found = (live_address(path.parent) for path in below(home, "server.address"))
    return [address.pid for address in found if address is not None]


@pytest.fixture
async def check(
    environment: dict[str, str],
    run: Run,
    run_apart: Run,
    notes: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Callable:
    """Return a function that runs commands, and names those that do not fail or change anything."""
    home = Path(environment["HOME"])
    monkeypatch.chdir(home)
    (home / "Other").mkdir()
    (home / "file.txt").write_text("a file\n")
    (home / ".cursor").mkdir()
    (home / ".cursor" / "mcp.json").write_text("{ not JSON")

    async def check(commands: list[str], **names: object) -> list[str]:
        places = {"home": home, "notes": notes, "other": home / "Other", **names}
        pids = serving(home)
        before = files_of(home)
        wrong = []
        for command in commands:
            words = [word.format_map(places) for word in command.split()]
            ended = await (run_apart if words[0] in APART else run)(*words)
            after = files_of(home)
            changed = sorted(name for name in before | after if before.get(name) != after.get(name))
            if ended.code == 0 or "INTERNAL_ERROR" in ended.err:
                wrong.append(f"{command}: {ended.code} {ended.err}")
            if changed:
                wrong.append(f"{command}: changed {', '.join(changed)}")
                before = after
            if serving(home) != pids:
                return [*wrong, f"{command}: stopped the server"]
        return wrong

    return check


@pytest.mark.fault(
    "Commands",
    "a command that changes settings, servers or other programs' files gets a bad input",
    "it fails with a code; every file is as before, and the server that runs still answers",
)
async def test_a_refused_command_has_changed_nothing(
    run_apart: Run, environment: dict[str, str], check: Callable, notes: Path
):
    await started(run_apart, "--background")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert await check(REFUSED, taken=port) == []


async def test_a_server_is_not_stopped_for_settings_with_which_none_can_start(
    run: Run, run_apart: Run, check: Callable, notes: Path
):
    await started(run_apart, "--background")
    config = Path((await run("config", "path")).out.strip())
    text = config.read_text()
    commands = [
        "serve --background",
        "setup --folder {notes} --yes",
        "enable web",
        "enable watch --off",
    ]
    for broken in (
        f"[index]\ndir = '{notes}/index'\n",
        "[agents.pub]\n",
        "[cli]\nopen_in = 'nowhere'\n",
        "[unknown]\nkey = 1\n",
        "not TOML",
    ):
        config.write_text(text + broken)
        assert await check(commands) == [], broken


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="systemd")
async def test_a_service_that_does_not_start_leaves_the_server_running(
    environment: dict[str, str], run_apart: Run, check: Callable, tmp_path: Path
):
    await started(run_apart, "--background")
    refuse_services(environment, tmp_path)
    assert await check(["serve --at-login install"]) == []
    assert (await run_apart("serve", "--at-login", "install")).err.startswith(
        "SERVICE_FAILED: `systemctl --user daemon-reload` failed: no bus. "
    )


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="systemd")
async def test_a_server_that_was_stopped_for_a_service_in_vain_is_started_again(
    environment: dict[str, str], run_apart: Run, notes: Path, tmp_path: Path
):
    home = Path(environment["HOME"])
    await started(run_apart, "--background")
    refuse_services(environment, tmp_path)
    (tmp_path / "bin" / "systemctl").write_text('#!/bin/sh\n[ "$2" = daemon-reload ]\n')
    before = files_of(home)
    assert (await run_apart("serve", "--at-login", "install")).err.startswith("SERVICE_FAILED: ")
    assert files_of(home) == before
    assert serving(home)
