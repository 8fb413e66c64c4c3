"""API keys in the real program: strong, stored privately and shown only on request."""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.product.test_endings import processes_of
from tests.security.wire import Wire
from tests.support.program import Program

pytestmark = pytest.mark.skipif(os.name == "nt", reason="modes as POSIX has them")
OUR_KEY = "canary-0123456789-0123456789-0123456789"


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    """Return a program with one note, not yet started."""
    with Program(tmp_path) as made:
        made.write("Bread.md", "# Bread\n\nFlour, water and patience.\n")
        yield made


def config_of(program: Program) -> Path:
    """Return the user's own config file."""
    [line] = program.run("config", "path").stdout.splitlines()
    found = Path(line)
    assert found.is_relative_to(program.home)
    return found


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.fault(
    "Secrets and logs",
    "a server for the network without a strong key",
    "a key is generated once, or the server does not start",
)
def test_a_strong_private_key_is_generated_once_and_required(program: Program):
    config = config_of(program)
    config.parent.mkdir(parents=True)
    config.write_text("# mine\n[server]\nport = 1\n")
    config.chmod(0o644)
    for _ in range(2):
        # The port is bound on every address. The test uses only loopback.
        program.start("--host", "0.0.0.0")
        key = program.run("config", "reveal-api-key").stdout.strip()
        program.private.add("the key", key)
        assert re.fullmatch(r"[A-Za-z0-9_-]{43}", key)
        assert mode(config) == 0o600
        assert config.read_text().startswith("# mine\n[server]\nport = 1\n")
        with Wire(program.endpoint) as stranger, Wire(program.endpoint, key) as owner:
            assert stranger.ask("GET", "/health").status == 401
            assert stranger.ask("GET", f"/health?api_key={key}").status == 401
            assert owner.ask("GET", "/health").status == 200
        assert key in config.read_text()
        program.stop()
    assert config.read_text().count("api_key") == 1
    warnings = [line for line in program.log.read_text().splitlines() if "SERVER_EXPOSED" in line]
    assert ["A key was created" in warning for warning in warnings] == [True, False]
    assert key in program.run("config", "reveal-api-key", "--json").stdout
    changed = program.run("config", "set", "server.port", "0")
    assert changed.returncode == 0
    assert key not in changed.stdout + changed.stderr
    assert mode(config) == 0o600


@pytest.mark.fault(
    "Secrets and logs",
    "others can read the config file",
    "its mode becomes 0600 before a key is written",
)
def test_a_public_config_file_becomes_private_before_a_key_is_written(program: Program):
    config = config_of(program)
    config.parent.mkdir(parents=True)
    config.write_text("")
    config.chmod(0o644)
    program.private.add("the key", OUR_KEY)
    assert program.run("config", "set", "server.api_key", OUR_KEY).returncode == 0
    assert mode(config) == 0o600
    assert program.run("config", "reveal-api-key").stdout == f"{OUR_KEY}\n"


@pytest.mark.parametrize(
    ("key", "arguments", "code", "says"),
    [
        ("short-canary", (), 2, "CONFIG_INVALID"),
        ("x" * 31, (), 2, "CONFIG_INVALID"),
        ("", ("--config", "{elsewhere}"), 3, "API_KEY_REQUIRED"),
        ("canary with spaces " * 3, (), 2, "CONFIG_INVALID"),
        ("canary-ключ" * 5, (), 2, "CONFIG_INVALID"),
    ],
)
def test_off_loopback_a_server_needs_a_strong_key(  # noqa: PLR0917 - a table's columns
    program: Program, tmp_path: Path, key: str, arguments: tuple[str, ...], code: int, says: str
):
    elsewhere = tmp_path / "elsewhere.toml"
    elsewhere.write_text("")
    if key:
        program.private.add("the key", key)
        program.variables = {"VAULT_AGENT_SERVER_API_KEY": key}
    filled = [each.format(elsewhere=elsewhere) for each in arguments]
    ended = program.run(
        *("serve", "--host", "0.0.0.0", "--port", "0"),
        *("--vault-root", str(program.vault), *filled),
    )
    assert ended.returncode == code
    assert ended.stderr.splitlines()[-1].startswith(says)
    assert elsewhere.read_text() == ""


@pytest.mark.fault(
    "Secrets and logs",
    "another user lists the processes",
    "no process has a key or a path in its arguments",
)
@pytest.mark.skipif(sys.platform != "linux", reason="reads command lines from /proc")
def test_no_process_has_a_key_in_its_arguments(program: Program):
    program.variables = {"VAULT_AGENT_SERVER_API_KEY": OUR_KEY}
    program.private.add("the key", OUR_KEY)
    program.fill(300)
    program.start()
    for process in processes_of(program)[1:]:
        arguments = Path(f"/proc/{process}/cmdline").read_bytes()
        assert OUR_KEY.encode() not in arguments
        assert str(program.vault).encode() not in arguments


def test_no_key_is_written_for_an_address_that_cannot_be_bound(program: Program):
    config = config_of(program)
    ended = program.run(
        *("serve", "--host", "300.1.1.1", "--port", "0"), *("--vault-root", str(program.vault))
    )
    assert ended.returncode == 2
    assert ended.stderr.startswith("CONFIG_INVALID: server.host ")
    assert "SERVER_EXPOSED" not in ended.stderr
    assert not config.exists()
