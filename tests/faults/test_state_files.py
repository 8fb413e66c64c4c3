"""Files of the program that somebody has replaced by a pipe or a folder: no command hangs."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.faults.test_server import index_folder
from tests.support.program import Program
from tests.support.systems import posix

pytestmark = posix("Windows has no pipes with a path")


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return the folder of a program with an index, and a copy of it to begin from."""
    folder = tmp_path_factory.mktemp("state")
    made = Program(folder)
    made.write("Bread.md", "# Bread\n\nFlour and water.\n")
    made.start()
    made.index()
    made.stop()
    made.close()
    return folder, shutil.copytree(folder, tmp_path_factory.mktemp("copy") / "state")


@pytest.fixture
def program(indexed: tuple[Path, Path]) -> Iterator[Program]:
    """Return a program with an index, whose server has stopped."""
    folder, copy = indexed
    shutil.rmtree(folder)
    shutil.copytree(copy, folder)
    with Program(folder) as made:
        made.variables = {
            "VAULT_AGENT_SERVER_API_KEY": "k" * 40,
            "VAULT_AGENT_WEB_ENABLED": "true",
            "VAULT_AGENT_VAULT_ROOT": str(made.vault),
            "VAULT_AGENT_INDEX_DIR": str(made.indexes),
            "VAULT_AGENT_SERVER_PORT": "0",
        }
        yield made


def put(kind: str, file: Path) -> None:
    """Replace a file."""
    if file.exists():
        file.rename(file.with_name(f"{file.name} before"))
    os.mkfifo(file) if kind == "pipe" else file.mkdir()


@pytest.mark.fault(
    "The index",
    "`current`, `secret`, `server.address`, the log or a lock is now a pipe or a folder",
    "`INDEX_IO_ERROR` names it; no command hangs",
)
@pytest.mark.parametrize(
    ("name", "command", "kind"),
    [
        ("current", "serve", "pipe"),
        ("secret", "serve", "folder"),
        ("server.lock", "serve", "pipe"),
        ("server.address", "serve", "folder"),
        ("server.address", "status", "pipe"),
        ("server.log", "serve --background", "pipe"),
    ],
)
def test_a_file_of_the_server(program: Program, name: str, command: str, kind: str):
    folder = index_folder(program)
    put(kind, folder / name)
    ended = program.run(*command.split())
    what = f"Instead of the file {name}, there is a {kind} in the folder {folder.name}. Remove it,"
    assert f"INDEX_IO_ERROR: {what}" in ended.stderr
    assert ended.returncode == 1


@pytest.mark.parametrize(("name", "kind"), [("server.address", "pipe"), ("server.lock", "folder")])
def test_doctor_goes_on_behind_a_file_of_the_server(program: Program, name: str, kind: str):
    folder = index_folder(program)
    (folder / "server.address").write_text("http://127.0.0.1:9\n1\n1.0\n")
    put(kind, folder / name)
    shown = program.run("doctor")
    assert f"not ok  server     Instead of the file {name}, there is a {kind}" in shown.stdout
    assert "service" in shown.stdout  # the last check
    assert (shown.returncode, shown.stderr) == (1, "")


def test_a_lock_that_is_asked_for(program: Program):
    folder = index_folder(program)
    (folder / "server.address").write_text("http://127.0.0.1:9\n1\n1.0\n")
    put("pipe", folder / "server.lock")
    assert "Instead of the file server.lock" in program.run("status").stderr


def test_what_a_server_can_do_without_is_ignored(program: Program):
    folder = index_folder(program)
    for name, kind in (
        ("server.settings", "pipe"),
        ("vault.json", "pipe"),
        ("last-results", "pipe"),
        ("graph.positions", "folder"),
    ):
        put(kind, folder / name)
    program.start()
    for command in (("search", "flour"), ("show", "1"), ("status",), ("index",)):
        assert "INTERNAL" not in program.run(*command).stderr
    assert "Bread.md" in program.run("search", "flour").stdout
    program.stop()


def test_a_file_that_is_replaced_while_the_server_runs(program: Program):
    program.start()
    folder = index_folder(program)
    put("pipe", folder / "current")
    program.write("New.md", "Rye.\n")
    ended = program.run("index")
    assert "Instead of the file current, there is a pipe" in ended.stderr
    assert "Bread.md" in program.run("search", "flour").stdout
    put("folder", folder / "writer.lock")
    assert "Instead of the file" in program.run("index").stderr
    program.stop()


@pytest.mark.fault(
    "The index",
    "the config file or the list of vaults is replaced by a pipe or a folder",
    "`CONFIG_INVALID` names it; no command hangs",
)
@pytest.mark.parametrize(("name", "kind"), [("config.toml", "pipe"), ("vaults.toml", "folder")])
def test_a_file_of_settings(program: Program, name: str, kind: str):
    config = program.home / "settings"
    config.mkdir()
    program.variables["XDG_CONFIG_HOME"] = str(config)
    file = config / "vault-agent" / name
    file.parent.mkdir()
    put(kind, file)
    what = f"CONFIG_INVALID: The config file {name} is a {kind}, and must be a file: remove it.\n"
    for command in (
        ("vaults",) if name == "vaults.toml" else ("status",),
        ("enable", "watch") if name == "config.toml" else ("vaults", "add", str(program.home)),
    ):
        ended = program.run(*command)
        assert (ended.returncode, ended.stderr) == (2, what)


def test_a_pipe_that_a_shell_gives_is_a_config_file(program: Program):
    reading, writing = os.pipe()
    os.write(writing, b"[nonsense]\n")
    os.close(writing)
    try:
        os.set_inheritable(reading, True)
        program.variables["VAULT_AGENT_CONFIG"] = f"/proc/{os.getpid()}/fd/{reading}"
        assert "nonsense" in program.run("status").stderr
        program.variables["VAULT_AGENT_CONFIG"] = os.devnull
        assert "CONFIG_INVALID" not in program.run("status").stderr
        link = program.home / "link.toml"
        link.symlink_to(os.devnull)
        program.variables["VAULT_AGENT_CONFIG"] = str(link)
        assert "CONFIG_INVALID" not in program.run("status").stderr
    finally:
        os.close(reading)
