"""`uninstall` removes what was set up, and nothing else."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import orjson
import pytest
from tests.cli.fake import Run
from tests.cli.test_restart import started
from tests.support.folders import below

from vault_agent.cli.uninstall import remove_temp_folder
from vault_agent.text.names import TEMP_FOLDER

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="homes are set otherwise there")


def files(home: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(home)): path.read_bytes()
        for path in below(home, "*")
        if path.is_file()
    }


@pytest.fixture
def home(environment: dict[str, str]) -> Path:
    """Return a home in which two agents have settings of their own."""
    folder = Path(environment["HOME"])
    for path, text in (
        (
            ".cursor/mcp.json",
            json.dumps({"mcpServers": {"other": {"command": "x"}}}, indent=2) + "\n",
        ),
        (".claude/settings.json", '{\n  "theme": "dark"\n}\n'),
    ):
        (folder / path).parent.mkdir()
        (folder / path).write_text(text)
    return folder


async def test_all_that_was_set_up_is_removed_and_the_rest_stays(
    home: Path, run_apart: Run, notes: Path
):
    before = files(home)
    await started(run_apart, "--background")
    assert (await run_apart("enable", "memory")).code == 0
    assert (await run_apart("enable", "mcp")).code == 0
    assert (await run_apart("agent", "connect", "cursor")).code == 0
    assert "The hooks are in " in (await run_apart("agent", "connect", "claude-code")).out
    [index] = {file.parent for file in below(home, "jobs.db")}
    for kept in ("writes/before/aa", "vectors/1.rows"):
        (index / kept).parent.mkdir(parents=True, exist_ok=True)
        (index / kept).write_bytes(b"x")
    temp_folder = notes / ".vault-agent.tmp"
    temp_folder.mkdir()
    (temp_folder / ".gitignore").write_text("*\n")
    asked = await run_apart("uninstall")
    assert asked.code == 2
    assert "My Notes, with the undo of writes, with embeddings" in " ".join(asked.out.split())
    assert "Add --yes" in asked.err
    for listed in ("Cursor", "Claude Code", "the server of ~/My Notes", "the index of ~/My Notes"):
        assert listed in asked.out.partition("This stays:")[0]
    assert "your notes" in asked.out.partition("This stays:")[2]
    done = await run_apart("uninstall", "--settings", "--yes")
    assert done.code == 0, done.err
    assert not temp_folder.exists()
    assert done.out.endswith("-m pip uninstall vault-agent\n")
    removed = done.out.partition("This stays:")[0].splitlines()[1:]
    assert f"Removed {len(removed)} things." in done.out
    after = {name: data for name, data in files(home).items() if not name.endswith(".bak")}
    assert after == {name: data for name, data in before.items() if "vault-agent" not in name}
    assert "There is nothing to remove." in (await run_apart("uninstall", "--yes")).out
    again = await run_apart("--json", "uninstall", "--settings", "--yes")
    assert orjson.loads(again.out)["data"]["removed"] == []


async def test_indexes_and_settings_are_kept_on_request(
    home: Path, run: Run, run_apart: Run, notes: Path
):
    await started(run_apart, "--background")
    assert (await run_apart("uninstall", "--keep-indexes", "--yes")).code == 0
    assert list(below(home, "jobs.db"))
    assert (await run("config", "get", "vault.root")).out == f"{notes}\n"


async def test_files_of_others_in_the_data_folder_stay(
    home: Path, run: Run, run_apart: Run, notes: Path, tmp_path: Path
):
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "mine.txt").write_text("mine")
    await run("config", "set", "index.dir", str(shared))
    await started(run_apart, "--background")
    assert (await run_apart("uninstall", "--yes")).code == 0
    assert [path.name for path in shared.iterdir()] == ["mine.txt"]


async def test_a_text_that_a_crash_has_left_stays(
    home: Path, run: Run, run_apart: Run, notes: Path
):
    temp_folder = notes / ".vault-agent.tmp"
    temp_folder.mkdir()
    (temp_folder / ".va-0123456789abcdef.tmp").write_text("saved by a person\n")
    done = await run_apart("uninstall", "--yes")
    assert done.code == 1
    assert "The folder for temporary files stays: Directory not empty" in done.err
    assert (temp_folder / ".va-0123456789abcdef.tmp").read_text() == "saved by a person\n"


def test_the_folder_is_removed_only_while_it_has_nothing_of_others(tmp_path: Path):
    assert not remove_temp_folder(tmp_path)
    folder = tmp_path / TEMP_FOLDER
    folder.mkdir()
    ignored, other = folder / ".gitignore", folder / ".va-0123456789abcdef.tmp"
    for file, text in ((other, "a text of a person\n"), (ignored, "changed by a person\n")):
        ignored.write_text("*\n")
        file.write_text(text)
        with pytest.raises(OSError, match=file.name):
            remove_temp_folder(tmp_path)
        assert file.read_text() == text
        file.unlink()
    ignored.write_text("*\n")
    assert remove_temp_folder(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_folder_behind_a_link_stays(tmp_path: Path):
    elsewhere, vault = tmp_path / "elsewhere", tmp_path / "vault"
    elsewhere.mkdir()
    vault.mkdir()
    (elsewhere / ".gitignore").write_text("*\n")
    (vault / TEMP_FOLDER).symlink_to(elsewhere)
    assert not remove_temp_folder(vault)
    assert (elsewhere / ".gitignore").exists()


async def test_the_notes_of_a_vault_that_was_forgotten_are_said_to_stay(
    home: Path, run: Run, run_apart: Run, notes: Path
):
    await started(run_apart, "--background")
    await run("config", "unset", "vault.root")
    stays = (await run_apart("uninstall")).out.partition("This stays:")[2]
    assert "your notes, with all that was written into them: ~/My Notes" in stays
