"""`open`, and what people type for a note: paths, titles, and numbers of results."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import orjson
import pytest
from tests.cli.fake import NOTE, FakeServer, Run, result
from tests.support.folders import below

from vault_agent.cli.names import local_vault, note_address, recalled
from vault_agent.cli.open import editor_command
from vault_agent.cli.terminal import has_links, linked
from vault_agent.config.layers import read_layers
from vault_agent.config.rules import index_folder, vault_identity

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals")


@pytest.fixture
def vault(tmp_path: Path, environment: dict[str, str], server: FakeServer) -> Path:
    """Create the vault that the fake server serves, and an editor that prints its arguments."""
    folder = tmp_path / "vault"
    (folder / "Kitchen").mkdir(parents=True)
    (folder / "Kitchen" / "Stock.md").write_text("# Stock\n\nSimmer.\n", "utf-8")
    editor = tmp_path / "vim"
    editor.write_text('#!/bin/sh\necho "vim:" "$@"\n')
    editor.chmod(0o755)
    data = tmp_path / "data"
    index_folder(folder, data).mkdir(parents=True)
    environment["VAULT_AGENT_VAULT_ROOT"] = str(folder)
    environment["VAULT_AGENT_INDEX_DIR"] = str(data)
    environment["EDITOR"] = str(editor)
    environment.pop("VISUAL", None)
    server.vault = vault_identity(folder)
    return folder


@pytest.mark.parametrize(
    ("editor", "arguments"),
    [
        ("vim", ["vim", "+12", "/v/My note.md"]),
        ("/usr/bin/nvim -p", ["/usr/bin/nvim", "-p", "+12", "/v/My note.md"]),
        ("emacsclient -t", ["emacsclient", "-t", "+12", "/v/My note.md"]),
        ("code --wait", ["code", "--wait", "--goto", "/v/My note.md:12"]),
        ("hx", ["hx", "/v/My note.md:12"]),
        ("subl -w", ["subl", "-w", "/v/My note.md:12"]),
        ("'/opt/my tools/kate'", ["/opt/my tools/kate", "--line", "12", "/v/My note.md"]),
        ("ed", ["ed", "/v/My note.md"]),
    ],
)
def test_an_editor_gets_the_line_in_its_own_syntax(editor: str, arguments: list[str]):
    assert editor_command(editor, "/v/My note.md", 12) == arguments
    assert editor_command(editor, "/v/My note.md", None)[-1] == "/v/My note.md"


@pytest.mark.parametrize("editor", ["", " ", "vim 'unclosed"])
def test_an_invalid_editor_is_refused(editor: str):
    with pytest.raises(ValueError, match=r"empty|quotation"):
        editor_command(editor, "/v/a.md", 1)


async def test_a_note_opens_at_the_line_that_was_named(vault: Path, run_apart: Run):
    file = vault / "Kitchen" / "Stock.md"
    for name, line in (
        ("Stock", ""),
        ("Kitchen/Stock.md:3", "+3 "),
        (f"{NOTE}:2", "+1 "),  # the first line of the chunk
        ("[[Stock#stock]]", "+1 "),
    ):
        ended = await run_apart("open", name)
        assert ended.code == 0, ended.err
        assert ended.out == f"vim: {line}{file}\n"
    as_json = await run_apart("--json", "open", "Kitchen/Stock.md:3", EDITOR="true")
    assert orjson.loads(as_json.out)["data"] == {
        "path": "Kitchen/Stock.md", "line": 3, "in": "editor",
    }  # fmt: skip


async def test_a_result_opens_by_its_number(
    vault: Path,
    environment: dict[str, str],
    run_at_terminal: Run,
    server: FakeServer,
    run_apart: Run,
):
    server.results = [result(line=7), result(id=NOTE, type="note", chunk_index=None, line=None)]
    shown = (await run_at_terminal("search", "bones")).err
    assert " 1  0.87  " in shown
    assert "Kitchen/Stock.md:7" in shown
    assert f"\x1b]8;;{(vault / 'Kitchen' / 'Stock.md').as_uri()}\x1b\\" in shown
    assert NOTE not in shown
    folder = index_folder(vault, Path(environment["VAULT_AGENT_INDEX_DIR"]))
    assert (folder / "last-results").stat().st_mode & 0o777 == 0o600
    file = vault / "Kitchen" / "Stock.md"
    assert (await run_apart("open", "1")).out == f"vim: +7 {file}\n"
    assert (await run_apart("open", "2")).out == f"vim: {file}\n"
    await run_apart("get", "chunk", "1")
    assert server.asked[-1][1] == f"/chunks/{NOTE}/2"
    await run_apart("related", "1")
    assert server.asked[-1][2].id == f"{NOTE}:2"
    assert (await run_apart("open", "1")).err == "1 is Kitchen/Stock.md\n"
    server.named = []
    missing = await run_apart("open", "3")
    assert missing.code == 4
    assert "Your last search at a terminal has no result 3." in missing.err


async def test_only_a_search_gives_numbers_and_one_without_results_takes_them(
    vault: Path, run_at_terminal: Run, server: FakeServer, run: Run
):
    await run_at_terminal("search", "bones")
    server.results = [result(id="f" * 32, note_id="f" * 32, type="note", chunk_index=None)]
    shown = (await run_at_terminal("related", "1")).err
    assert shown.startswith("1 is Kitchen/Stock.md\n")
    assert " 1  " not in shown
    await run("related", "1")
    assert server.asked[-1][2].id == f"{NOTE}:2"
    server.results = []
    await run_at_terminal("search", "nothing")
    server.named = []
    nothing = await run("related", "1")
    assert "Your last search at a terminal has no result 1." in nothing.err


async def test_numbers_of_paths_alone_are_those_of_their_lines(
    vault: Path, run_at_terminal: Run, server: FakeServer, run: Run
):
    other = "f" * 32
    server.results = [
        result(line=7),
        result(line=9),
        result(id=other, note_id=other, path="Bread.md", type="note", chunk_index=None, line=None),
    ]
    shown = (await run_at_terminal("search", "-l", "bones")).err
    assert shown.splitlines() == ["Kitchen/Stock.md", "Bread.md"]
    await run("related", "2")
    assert server.asked[-1][2].id == other


async def test_results_in_a_pipe_are_not_remembered(
    vault: Path, environment: dict[str, str], run: Run
):
    ended = await run("search", "bones")
    assert ended.out.startswith("Kitchen/Stock.md:")
    assert not list(below(Path(environment["VAULT_AGENT_INDEX_DIR"]), "last-results"))


async def test_a_name_of_several_notes_lists_them(vault: Path, server: FakeServer, run: Run):
    server.named = ["Kitchen/Stock.md", "Shop/Stock.md"]
    for command in (("open",), ("get", "note"), ("get", "chunk"), ("related",)):
        ended = await run(*command, "Stock")
        assert ended.code == 4
        assert ended.err == (
            "NOTE_AMBIGUOUS: 2 notes have this name. Give its path.\n"
            "  Kitchen/Stock.md\n  Shop/Stock.md\n"
        )


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("a\x1b[31mb\u202e", '"a\\x1b[31mb\\u202e"'),
        ("x" * 500, f'"{"x" * 100}…"'),
        ("two words", '"two words"'),
    ],
)
async def test_an_error_repeats_the_name_that_was_typed_safely(
    server: FakeServer, run: Run, typed: str, shown: str
):
    server.named = []
    for command in (("get", "note"), ("graph",), ("related",)):
        ended = await run(*command, typed)
        assert ended.code == 4
        assert ended.err.startswith(
            f"NOTE_NOT_FOUND: No note has the path, name, alias or title {shown}."
        )


async def test_an_unknown_name_lists_similar_notes(vault: Path, server: FakeServer, run: Run):
    server.named = []
    ended = await run("open", "Stok")
    assert ended.code == 4
    assert (
        ended.err == 'NOTE_NOT_FOUND: No note has the path, name, alias or title "Stok".\n'
        "Similar names:\n  Kitchen/Stock.md\n"
    )


@pytest.mark.fault(
    "Paths",
    "a server's reply names a path outside the vault",
    "`open` opens nothing",
)
async def test_a_note_is_never_opened_outside_the_vault(
    vault: Path, server: FakeServer, run: Run, tmp_path: Path
):
    (tmp_path / "secret.md").write_text("secret", "utf-8")
    for path in ("../secret.md", str(tmp_path / "secret.md"), "Kitchen/Gone.md", "Kitchen"):
        server.named = [path]
        ended = await run("open", "secret")
        assert ended.code == 4
        assert ended.out == ""
    server.vault = "0" * 32
    ended = await run("open", "Stock")
    assert ended.code == 2
    assert "VAULT_MISMATCH" in ended.err


@pytest.mark.fault(
    "Paths",
    "the editor is missing or fails",
    "`PROGRAM_FAILED`",
)
async def test_what_cannot_be_opened_is_said(vault: Path, run_apart: Run):
    page = await run_apart("open", "Stock", "--in", "ui")
    assert page.code == 2
    assert "enable web" in page.err
    for editor, says in (("false", "exit code 1"), ("no-such-editor", "cannot be started")):
        ended = await run_apart("open", "Stock", EDITOR=editor)
        assert ended.code == 1
        assert ended.err.startswith("PROGRAM_FAILED: The editor ")
        assert says in ended.err
    none = await run_apart("open", "Stock", "--in", "editor", EDITOR="")
    assert none.err.startswith("PROGRAM_FAILED: No editor is set. ")


async def test_without_an_editor_obsidian_or_the_system_opens_the_note(
    vault: Path, run_apart: Run, tmp_path: Path
):
    if sys.platform == "darwin":
        pytest.skip("xdg-open")
    opener = tmp_path / "bin" / "xdg-open"
    opener.parent.mkdir()
    opener.write_text('#!/bin/sh\necho "$1"\n')
    opener.chmod(0o755)
    path = f"{opener.parent}{os.pathsep}{os.environ['PATH']}"
    file = vault / "Kitchen" / "Stock.md"
    plain = await run_apart("open", "Stock", EDITOR="", PATH=path)
    assert plain.out == f"{file}\n"
    (vault / ".obsidian").mkdir()
    in_obsidian = await run_apart("open", "Stock", EDITOR="", PATH=path)
    assert in_obsidian.out.startswith("obsidian://open?path=%2F")
    assert in_obsidian.err == "Opened Kitchen/Stock.md.\n"
    chosen = await run_apart("open", "Stock", VAULT_AGENT_CLI_OPEN_IN="obsidian", PATH=path)
    assert chosen.out == in_obsidian.out
    assert note_address(vault, "A b.md").startswith("obsidian://open?path=")
    opener.write_text("#!/bin/sh\necho 'lynx: not found' >&2\nexit 3\n")
    failed = await run_apart("open", "Stock", EDITOR="", PATH=path)
    assert failed.err.startswith(
        "PROGRAM_FAILED: Obsidian was not opened: xdg-open ended with exit code 3. "
    )
    assert "`vault-agent show " in failed.err


def test_only_the_served_vault_of_the_settings_is_local(tmp_path: Path):
    layers = read_layers({"vault.root": str(tmp_path)}, None, {})
    assert local_vault(layers, vault_identity(tmp_path)) is not None
    assert local_vault(layers, "0" * 32) is None
    assert local_vault(read_layers({}, None, {}), vault_identity(tmp_path)) is None


@pytest.mark.parametrize("kept", [b"", b"{}", b"[[1, 2]]", b'[["a"]]', b"[[", b'[["a", "b"]]'])
def test_damaged_last_results_count_as_none(tmp_path: Path, kept: bytes):
    (tmp_path / "last-results").write_bytes(kept)
    assert recalled(tmp_path, 1) is None


@pytest.mark.parametrize(
    ("variables", "links"),
    [
        ({}, True),
        ({"TERM": "linux"}, False),
        ({"TERM": "tmux-256color"}, False),
        ({"TERM": "dumb"}, False),
        ({"NO_COLOR": "1"}, False),
    ],
)
def test_hyperlinks_need_a_terminal_that_shows_them(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], links: bool
):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    import pty

    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w") as terminal:
        assert has_links(terminal) is links
    os.close(ours)
    assert linked("a", "file:///b") == "\x1b]8;;file:///b\x1b\\a\x1b]8;;\x1b\\"
