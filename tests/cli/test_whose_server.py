"""Which server is asked: that of the configured vault, or one that a setting names."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.cli.fake import FakeServer
from tests.support.homes import HOMES

from vault_agent.cli.command import Invocation
from vault_agent.config.setting_names import SETTINGS
from vault_agent.errors import Unavailable


@pytest.fixture
def usual(
    server: FakeServer,
    tmp_path: Path,
    environment: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> FakeServer:
    """Let somebody listen at the usual port, and read settings from an empty home."""
    del environment["VAULT_AGENT_SERVER_ENDPOINT"]
    for name in (*HOMES, "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "nobody"))
    port = SETTINGS["server.port"]._replace(default=int(server.endpoint.rpartition(":")[2]))
    monkeypatch.setitem(SETTINGS, "server.port", port)
    return server


def ask() -> None:
    with Invocation().client() as client:
        client.call("GET /health")


@pytest.mark.parametrize("port", [None, "server"])
async def test_without_a_vault_or_a_server_nobody_is_asked(
    usual: FakeServer, port: str | None, monkeypatch: pytest.MonkeyPatch
):
    if port is not None:
        monkeypatch.setenv("VAULT_AGENT_SERVER_PORT", usual.endpoint.rpartition(":")[2])
    with pytest.raises(Unavailable, match=r"No vault is set yet\..*vault-agent setup"):
        await asyncio.to_thread(ask)
    assert usual.asked == []


@pytest.mark.parametrize("setting", ["SERVER_ENDPOINT", "VAULT_ROOT"])
async def test_a_setting_says_which_server_is_meant(
    usual: FakeServer, setting: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    values = {
        "SERVER_ENDPOINT": usual.endpoint,
        "VAULT_ROOT": str(tmp_path),
    }
    monkeypatch.setenv(f"VAULT_AGENT_{setting}", values[setting])
    await asyncio.to_thread(ask)
    assert len(usual.asked) == 1
