"""`config set` changes one value, keeps the rest, and leaves a private file."""

from __future__ import annotations

import os
import stat
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.support.settings import load_config, set_value
from tests.support.systems import posix

from vault_agent.config.layers import default_config_path, parse_file
from vault_agent.config.private import rewrite
from vault_agent.config.server_key import require_key
from vault_agent.config.setting_names import SETTINGS
from vault_agent.errors import Misconfigured, Unauthorized

EXAMPLE = Path(__file__).parent.parent.parent / "config.example.toml"
KEY = "k" * 43


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "config.toml"


def write(file: Path, text: str) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(text.encode())


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


@posix("modes of POSIX")
def test_the_config_file_and_its_folder_are_created_private(file: Path):
    set_value(file, "vault.root", "~/notes")
    assert tomllib.loads(file.read_text("utf-8")) == {"vault": {"root": "~/notes"}}
    assert (mode(file), mode(file.parent)) == (0o600, 0o700)


@posix("modes of POSIX")
def test_a_readable_file_becomes_private_before_a_key_is_written(file: Path):
    write(file, "[server]\nport = 1001\n")
    file.chmod(0o644)
    before = file.open()  # a process with the old file open must not see the key
    set_value(file, "server.api_key", KEY)
    assert mode(file) == 0o600
    assert KEY in file.read_text("utf-8")
    assert KEY not in before.read()
    before.close()
    assert list(file.parent.iterdir()) == [file]


@posix("modes of POSIX")
def test_a_key_is_never_in_a_readable_file(file: Path, monkeypatch: pytest.MonkeyPatch):
    held = []
    fsync = os.fsync

    def look(descriptor: int) -> None:
        status = os.fstat(descriptor)
        if stat.S_ISREG(status.st_mode):
            held.append((status.st_size > len(KEY), status.st_mode & 0o777))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", look)
    set_value(file, "server.api_key", KEY)
    assert (True, 0o600) in held
    assert {mode for full, mode in held if full} == {0o600}


def test_a_failed_write_leaves_no_copy_of_the_key(file: Path):
    file.mkdir(parents=True)  # a folder that no file can replace
    with pytest.raises(Misconfigured):
        rewrite(file, lambda _: KEY)
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_comments_order_and_spacing_are_preserved(file: Path, end: str):
    text = (
        "# mine\n\n[server]   # where\nport=1001# odd\nhost = '127.0.0.1'\n\n"
        "[vault]\nexclude = [\n  'a/', # one\n]\n# the end"
    ).replace("\n", end)
    write(file, text)
    set_value(file, "server.port", "1002")
    assert file.read_bytes().decode() == text.replace("1001", "1002")


def test_the_example_file_lists_every_key_with_its_default(file: Path):
    text = EXAMPLE.read_text("utf-8")
    lines = [line.removeprefix("# ") if " = " in line else line for line in text.splitlines()]
    tables = tomllib.loads("\n".join(line for line in lines if not line.startswith("#")))
    assert {f"{s}.{o}" for s, table in tables.items() for o in table} == set(SETTINGS)
    settings = load_config(environ={}).model_dump(mode="json")
    with_example = {"vault.root", "server.endpoint", "index.dir"}  # they have no default
    for name in set(SETTINGS) - with_example:
        section, _, option = name.partition(".")
        assert (tables[section][option] or None) == (settings[section][option] or None), name


def test_every_setting_can_be_set_and_read_back(file: Path):
    values = {
        "vault.root": "/notes",
        "vault.exclude": "a/, !b/",
        "server.endpoint": "http://127.0.0.1:1",
        "server.host": "::1",
        "server.port": "1",
        "server.api_key": KEY,
        "server.allowed_hosts": "notes.lan,nas.tailnet.example",
        "server.log_level": "info",
        "index.dir": "/data",
        "index.max_note_bytes": "5",
        "index.frontmatter_fields": "author, summary",
        "index.attachments": "pdf, text",
        "watch.enabled": "on",
        "watch.mode": "poll",
        "watch.rescan_seconds": "30",
        "vaults.enabled": "true",
        "vaults.global_root": "/global",
        "web.enabled": "true",
        "web.open_on_serve": "true",
        "web.diagrams": "true",
        "web.remote_pictures": "true",
        "memory.enabled": "true",
        "memory.include_global": "false",
        "memory.exclude_types": "bug, journal",
        "memory.auto_inject": "false",
        "memory.show": "false",
        "memory.hook_timeout_ms": "500",
        "journal.enabled": "true",
        "journal.ask": "true",
        "journal.command": "claude -p",
        "journal.exclude": "~/private, build",
        "journal.redact_patterns": '["ACME-[0-9]{6,8}"]',
        "write.folders": "claude, Notes/",
        "write.enabled": "true",
        "write.allow": "create, move",
        "write.quiet_seconds": "0.5",
        "write.max_per_minute": "5",
        "write.undo_days": "0",
        "write.template_folder": "T",
        "write.tasks_format": "dataview",
        "search.folders": "Archive=0.5, a/b/=2",
        "search.recency": "180",
        "rerank.endpoint": "http://127.0.0.1:4/v1/rerank",
        "rerank.enabled": "true",
        "rerank.model": "r",
        "rerank.timeout_seconds": "1.5",
        "embedding.model": "m",
        "embedding.enabled": "true",
        "embedding.endpoint": "http://127.0.0.1:2/v1/embeddings",
        "embedding.require": "yes",
        "embedding.allow_private_network_endpoint": "false",
        "embedding.concurrency": "4",
        "embedding.timeout_seconds": "1.5",
        "embedding.query_prefix": "q: ",
        "embedding.document_prefix": "d: ",
        "cli.open_in": "editor",
        "cors.enabled": "true",
        "cors.allowed_origins": "https://a.example",
        "mcp.enabled": "true",
        "mcp.toolset": "co-cli",
    }
    assert set(values) == set(SETTINGS)
    for name, text in values.items():
        assert set_value(file, name, text) == []
    config = load_config(None, file, {})
    assert config.vault.exclude == ("a/", "!b/")
    assert config.embedding.enabled
    assert config.embedding.query_prefix == "q: "
    assert config.cors.allowed_origins == ("https://a.example",)
    for name in reversed(values):
        set_value(file, name, None)
    assert load_config(None, file, {}) == load_config(environ={})


def test_a_relative_folder_is_stored_as_an_absolute_path(
    file: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(file.parent.parent)
    set_value(file, "vault.root", "notes")
    assert load_config(None, file, {}).vault.root == file.parent.parent / "notes"


@pytest.mark.parametrize(
    ("name", "text", "rule"),
    [
        ("server.prot", "1", "did you mean server.port"),
        ("server.api_key", "canary with spaces", "Bearer"),
        ("journal.redact_patterns", "canary(", "item 1 of journal.redact_patterns is not a valid"),
        ("journal.redact_patterns", "x*", "matches empty text"),
        ("write.enabled", "true", "needs write.folders or vaults.enabled to be set first"),
        ("write.folders", "Notes,.obsidian", "do not begin with a dot"),
        ("write.folders", "../Other", "relative to it"),
        ("write.allow", "create,rename", "permanent"),
        ("index.attachments", "pdf,pdfs", "must be one or more of 'pdf'"),
    ],
)
def test_a_bad_value_does_not_change_the_file(file: Path, name: str, text: str, rule: str):
    write(file, "[vault]\n")
    with pytest.raises(Misconfigured, match=rule) as refusal:
        set_value(file, name, text)
    assert "canary" not in str(refusal.value)
    assert file.read_bytes() == b"[vault]\n"


def test_an_invalid_file_can_be_corrected_one_setting_at_a_time(file: Path):
    write(file, "[server]\nport = 0\nlog_level = 'loud'\n[other]\nx = 1\n")
    problems = set_value(file, "server.port", "8787")
    assert [problem.key for problem in problems] == ["other", "server.log_level"]
    assert [problem.key for problem in set_value(file, "server.log_level", "info")] == ["other"]
    assert set_value(file, "other.x", None) == []
    assert file.read_text() == '[server]\nport = 8787\nlog_level = "info"\n'


def test_a_change_names_settings_that_are_no_longer_used(file: Path):
    write(file, "[write]\nmax_note_bytes = 5\n[chat]\nmodel = 'x'\n")
    assert list(map(str, set_value(file, "server.port", "8787"))) == [
        "write.max_note_bytes (config file) is no longer used: remove it",
        "chat.model (config file) is no longer used: remove it",
    ]
    set_value(file, "write.max_note_bytes", None)
    assert set_value(file, "chat.model", None) == []


def test_a_file_that_is_not_toml_is_neither_changed_nor_quoted(file: Path):
    write(file, "api_key = canary")
    with pytest.raises(Misconfigured, match=r"config.toml:1:\d+ is not valid TOML") as refusal:
        set_value(file, "server.port", "1")
    assert "canary" not in str(refusal.value)
    assert file.read_bytes() == b"api_key = canary"


def test_a_symlinked_config_file_stays_a_symlink(file: Path, tmp_path: Path):
    write(file, "")
    link = tmp_path / "link.toml"
    link.symlink_to(file)
    set_value(link, "server.port", "1001")
    assert link.is_symlink()
    assert "1001" in file.read_text("utf-8")


@pytest.mark.skipif(sys.platform == "win32", reason="folders cannot be locked there")
def test_concurrent_edits_are_all_kept(file: Path):
    settings = {
        "server.port": "1001",
        "server.log_level": "debug",
        "index.max_note_bytes": "5000",
        "embedding.model": "m",
        "embedding.concurrency": "3",
        "vault.exclude": "a/",
    }
    for _ in range(10):
        write(file, "# mine\n")
        with ThreadPoolExecutor(len(settings)) as pool:
            list(pool.map(set_value, [file] * len(settings), settings, settings.values()))
        held = parse_file(file.read_text("utf-8"), name=file.name)
        assert held.keys() == settings.keys()
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.parametrize(
    "text", ["vault.root = '/a'\n", "vault = { root = '/a' }\n", "", "[vault]"]
)
def test_settings_can_be_added_to_every_toml_section_style(file: Path, text: str):
    write(file, text)
    set_value(file, "vault.exclude", "a/")
    set_value(file, "server.port", "1001")
    config = load_config(None, file, {})
    assert (config.vault.exclude, config.server.port) == (("a/",), 1001)


# --- keys -------------------------------------------------------------------------------------


def test_a_loopback_server_needs_no_key():
    for host in ("127.0.0.1", "127.9.9.9", "::1", "localhost"):
        config = load_config({"server.host": host}, environ={})
        assert require_key(config, None, {}) == (config, False)
    assert not default_config_path().exists()


@posix("modes of POSIX")
@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "laptop.local"])
def test_off_loopback_a_key_is_generated_once_and_stored_privately(host: str):
    config, made = require_key(load_config({"server.host": host}, environ={}), None, {})
    assert made
    assert len(config.server.api_key.get_secret_value()) >= 43
    assert mode(default_config_path()) == 0o600
    again = load_config({"server.host": host}, environ={})
    assert again.server.api_key == config.server.api_key
    assert require_key(again, None, {}) == (again, False)
    default_config_path().unlink()
    anew, _ = require_key(load_config({"server.host": host}, environ={}), None, {})
    assert anew.server.api_key != config.server.api_key


@pytest.mark.parametrize(
    "text", ["[server]\nhost = '0.0.0.0'\n", "[write]\nfolders = ['.']\nenabled = true\n"]
)
def test_no_key_is_generated_into_a_chosen_config_file(file: Path, text: str):
    write(file, text)
    for chosen, environ in ((file, {}), (None, {"VAULT_AGENT_CONFIG": str(file)})):
        with pytest.raises(Unauthorized) as refusal:
            require_key(load_config(None, chosen, environ), chosen, environ)
        assert refusal.value.code == "API_KEY_REQUIRED"
    assert b"api_key" not in file.read_bytes()
    assert not default_config_path().exists()


def test_a_short_key_is_refused_off_loopback_only():
    short = {"server.api_key": "x" * 31}
    with pytest.raises(Misconfigured, match="32 characters"):
        require_key(load_config({**short, "server.host": "::"}, environ={}), None, {})
    require_key(load_config(short, environ={}), None, {})


def test_spaces_around_a_model_name_are_removed() -> None:
    # The model is part of a vector's key: with the spaces no vector would be found.
    assert load_config({"embedding.model": " nomic "}, environ={}).embedding.model == "nomic"


def test_a_server_that_changes_notes_gets_a_key():
    flags = {"write.enabled": "true", "write.folders": "."}
    config, made = require_key(load_config(flags, environ={}), None, {})
    assert made
    assert len(config.server.api_key.get_secret_value()) > 32
    assert require_key(load_config(flags, environ={}), None, {}) == (config, False)


@posix("symbolic links need rights there")
def test_a_config_file_that_links_to_itself_is_refused(tmp_path: Path):
    path = tmp_path / "config.toml"
    path.symlink_to(path)
    with pytest.raises(Misconfigured, match="CONFIG_INVALID"):
        set_value(path, "server.port", "1234")
