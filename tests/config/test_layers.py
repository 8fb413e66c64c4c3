"""Settings come from flags, environment, file and defaults, in that order. Typos are reported."""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
import traceback
from pathlib import Path

import pytest
from platformdirs import user_config_path, user_data_path
from pydantic import BaseModel
from tests.support.settings import load_config

import vault_agent
from vault_agent.config.fast_settings import connection
from vault_agent.config.layers import read_layers, user_folder
from vault_agent.config.setting_names import SETTINGS
from vault_agent.config.settings import Config, index_directory
from vault_agent.errors import Misconfigured
from vault_agent.model.identifiers import identify

SECRET = "canary-key-3f9a-must-never-be-printed"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


def load(file: Path, text: str = "", flags=None, **environ: str) -> Config:
    file.write_text(text, "utf-8")
    names = {f"VAULT_AGENT_{name}": value for name, value in environ.items()}
    return load_config(flags, file, names)


def broken(file: Path, text: str = "", flags=None, **environ: str) -> str:
    with pytest.raises(Misconfigured) as refusal:
        load(file, text, flags, **environ)
    assert refusal.value.code == "CONFIG_INVALID"
    assert SECRET not in "".join(traceback.format_exception(refusal.value))
    return refusal.value.message


def test_the_table_of_keys_matches_the_config_fields():
    fields = {
        f"{section}.{option}": str(value.annotation)
        for section, field in Config.model_fields.items()
        if section != "agents"  # any number of tables
        for option, value in field.annotation.model_fields.items()
    }
    assert set(fields) == set(SETTINGS)
    for name, annotation in fields.items():
        assert SETTINGS[name].secret == ("SecretStr" in annotation)
        assert SETTINGS[name].path == ("Path" in annotation)
        assert SETTINGS[name].many == ("tuple" in annotation)


def test_a_setting_that_no_server_reads_is_in_no_room_of_the_server():
    package = Path(vault_agent.__file__).parent
    rooms = ("app.py", "api/*.py", "memory/*.py", "server/*.py", "vaults/*.py")
    source = "".join(file.read_text() for room in rooms for file in package.glob(room))
    for name, setting in SETTINGS.items():
        assert setting.of_server or f"config.{name}" not in source


def test_flags_override_environment_file_and_defaults(file: Path):
    text = "[server]\nport = 1001\n"
    assert load(file, text, {"server.port": 1003}, SERVER_PORT="1002").server.port == 1003
    assert load(file, text, {"server.port": None}, SERVER_PORT="1002").server.port == 1002
    assert load(file, text).server.port == 1001
    assert load(file, "[server]\nhost = '127.0.0.1'\n").server.port == 8787
    assert load(file, text, SERVER_PORT="").server.port == 1001
    merged = load(file, text, SERVER_LOG_LEVEL="info").server
    assert (merged.port, merged.log_level) == (1001, "info")


@pytest.mark.parametrize("text", ["[Dd]/,!b/", " [Dd]/ , !b/ ", '["[Dd]/", "!b/"]'])
def test_environment_lists_use_commas_or_json(file: Path, text: str):
    assert load(file, VAULT_EXCLUDE=text).vault.exclude == ("[Dd]/", "!b/")


def test_long_setting_names_work_in_the_environment(file: Path):
    config = load(file, EMBEDDING_ALLOW_PRIVATE_NETWORK_ENDPOINT="true")
    assert config.embedding.allow_private_network_endpoint


def test_paths_are_relative_to_the_current_folder_or_home(
    file: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(file.parent)
    assert load(file, "[vault]\nroot = '~/notes'\n").vault.root == Path.home() / "notes"
    assert load(file, VAULT_ROOT="notes").vault.root == file.parent / "notes"
    assert load(file, flags={"vault.root": "notes"}).vault.root == file.parent / "notes"
    assert "vault.root (config file) must be an absolute path" in broken(
        file, "[vault]\nroot = 'notes'\n"
    )


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        (
            "[vault]\nrot = 'x'\n",
            "vault.rot (config file) is an unknown setting (did you mean vault.root?)",
        ),
        (
            "[valut]\nroot = 'x'\n",
            "[valut] (config file) is an unknown section (did you mean vault?).",
        ),
        ("port = 8787\n", "`port` (config file) is an unknown setting."),
        ("server = 1\n", "`server` (config file) must be a section, written [server]."),
        ("[server.tls]\ncert = 'x'\n", "server.tls (config file) is an unknown setting"),
    ],
)
def test_an_unknown_key_is_an_error_with_a_suggestion(file: Path, text: str, hint: str):
    assert hint in broken(file, text)


def test_settings_of_earlier_versions_are_passed_over(file: Path):
    for chat in ("", "model = 'x'\n"):
        text = f"[web]\nmath = false\n[chat]\n{chat}[server]\nport = 1001\n"
        config = load(file, text, WRITE_MAX_NOTE_BYTES="5")
        assert config.server.port == 1001


def test_an_unknown_setting_beside_those_of_earlier_versions_is_an_error(file: Path):
    assert "[nothing] (config file) is an unknown section" in broken(file, "[nothing]\n")
    assert "[chat] (config file) is an unknown section" in broken(
        file, "[chat]\nmodel = 'x'\nmodle = 'x'\n"
    )


def test_an_unknown_variable_is_an_error_with_a_suggestion(file: Path):
    message = broken(file, VAULT_ROT="canary")
    assert "canary" not in message  # it may be a key
    assert "VAULT_AGENT_VAULT_ROT" in message
    assert "did you mean VAULT_AGENT_VAULT_ROOT?" in message


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (
            "[server]\nport = 70000",
            "server.port (config file) must be a port from 1 to 65535, or 0 for any free one",
        ),
        ("[server]\nport = true", "server.port (config file) must be a port"),
        ("[server]\nhost = 'a b'", "server.host (config file) must be an IP address"),
        ("[server]\nendpoint = 'ftp://x'", "server.endpoint (config file) must be a URL"),
        ("[server]\nendpoint = 'http://u:p@x'", "must not hold a user name"),
        ("[server]\nlog_level = 'loud'", "server.log_level (config file) must be 'debug'"),
        ("[index]\nmax_note_bytes = 0", "index.max_note_bytes"),
        ("[embedding]\nconcurrency = true", "embedding.concurrency (config file) must be a number"),
        ("[embedding]\nenabled = 1", "embedding.enabled (config file) must be true or false"),
        (
            "[embedding]\nenabled = 'maybe'",
            "embedding.enabled (config file) must be true or false.",
        ),
        ("[embedding]\nenabled = true", "needs embedding.model to be set first"),
        ("[embedding]\ntimeout_seconds = nan", "embedding.timeout_seconds"),
        ("[cors]\nallowed_origins = ['*']", "cors.allowed_origins (config file) must be an origin"),
        ("[cors]\nallowed_origins = ['https://*.example']", "must be an origin"),
        ("[cors]\nallowed_origins = ['null']", "must be an origin"),
        ("[cors]\nallowed_origins = ['https://a.example/path']", "must be an origin"),
        (
            "[vault]\nexclude = ['ok', '!']",
            "item 2 of vault.exclude (config file) is not a valid gitignore pattern.",
        ),
        (
            "[vault]\nexclude = ['[z-a]']",
            "item 1 of vault.exclude (config file) is not a valid gitignore pattern.",
        ),
        (
            "[vault]\nexclude = ['#', '[']",
            "item 2 of vault.exclude (config file) is not a valid gitignore pattern.",
        ),
        ("[vault]\nexclude = [1]", "vault.exclude (config file) must be a list of texts"),
    ],
)
def test_a_bad_value_is_rejected_with_its_rule(file: Path, text: str, rule: str):
    assert rule in broken(file, text)


def test_all_invalid_settings_are_listed(file: Path):
    message = broken(file, "[server]\nport = -1\nhost = ''\nlog_level = 'loud'", INDEX_DIR="\0")
    assert "server.port" in message
    assert "server.log_level" in message


@pytest.mark.parametrize(
    "text",
    [
        f"[server]\napi_key = '{SECRET} with a space'",
        f"[server]\napi_key = ['{SECRET}']",
        f"[server]\napi_key = '{SECRET}",
        f"[server]\napi_key = '{SECRET}'\nport = '{SECRET}'",
        f"[embedding]\nendpoint = 'http://user:{SECRET}@host/'",
        f"[server]\napi_key = '{SECRET}'\n[server]\napi_key = '{SECRET}'",
    ],
)
def test_errors_do_not_quote_values(file: Path, text: str):
    assert SECRET not in broken(file, text)


def test_settings_are_printed_without_the_key(file: Path):
    config = load(file, f"[server]\napi_key = '{SECRET}'")
    assert SECRET not in repr(config)
    assert SECRET not in str(config.model_dump())
    assert SECRET not in config.model_dump_json()
    assert config.server.api_key.get_secret_value() == SECRET


def test_a_syntax_error_is_reported_with_its_line(file: Path):
    assert "config.toml:2:8 is not valid TOML" in broken(file, "[vault]\nroot = \n")


def test_a_named_file_must_exist(tmp_path: Path):
    for flags in ({"chosen": tmp_path / "none.toml"}, {"chosen": None}):
        environ = {"VAULT_AGENT_CONFIG": str(tmp_path / "none.toml")}
        with pytest.raises(Misconfigured, match="does not exist"):
            read_layers(environ=environ, **flags)


def test_a_binary_config_file_is_an_error(file: Path):
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(Misconfigured, match="UTF-8"):
        load_config(None, file, {})


def test_origins_must_have_the_form_that_browsers_send(file: Path):
    text = "[cors]\nallowed_origins = ['https://Notes.Example:443/', 'http://localhost:3000']"
    assert load(file, text).cors.allowed_origins == (
        "https://notes.example",
        "http://localhost:3000",
    )


@pytest.mark.parametrize(
    ("host", "endpoint"),
    [
        ("0.0.0.0", "http://127.0.0.1:8787"),
        ("::", "http://[::1]:8787"),
        ("::1", "http://[::1]:8787"),
        ("localhost", "http://localhost:8787"),
    ],
)
def test_the_endpoint_follows_the_bound_address(file: Path, host: str, endpoint: str):
    text = f"[server]\nhost = '{host}'"
    assert load(file, text).endpoint == endpoint
    assert connection(read_layers(None, file, {})).endpoint == endpoint


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[server]\nport = 9000",
        f"[server]\nendpoint = 'http://[::1]:1/base/'\napi_key = '{SECRET}'",
        "[server]\nhost = '192.168.0.2'",
    ],
)
def test_the_fast_path_reads_the_same_values(file: Path, text: str):
    config = load(file, text)
    fast = connection(read_layers(None, file, {}))
    assert fast.endpoint == config.endpoint
    key = config.server.api_key
    assert fast.api_key == (key.get_secret_value() if key else None)
    assert SECRET not in repr(fast)


def test_the_index_is_in_the_users_data_folder(tmp_path: Path):
    root = tmp_path / "vault"
    root.mkdir()
    parent = tmp_path / "data"
    config = load_config({"vault.root": root, "index.dir": parent}, environ={})
    assert index_directory(config) == parent / "indexes" / identify(str(root.resolve()))
    default = index_directory(load_config({"vault.root": root}, environ={}))
    assert default.parent.name == "indexes"
    assert default.parent.parent.name == "vault-agent"


@pytest.mark.parametrize("chosen", [None, "", "/elsewhere", "~/in-home", "relative"])
def test_the_users_folders_are_those_of_the_platform(
    chosen: str | None, monkeypatch: pytest.MonkeyPatch
):
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
        if chosen is not None:
            monkeypatch.setenv(name, chosen)
    assert user_folder("config") == user_config_path("vault-agent", appauthor=False)
    assert user_folder("data") == user_data_path("vault-agent", appauthor=False)


def test_two_spellings_of_one_vault_share_its_index(tmp_path: Path):
    (tmp_path / "vault").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "vault")
    first, second = (
        index_directory(load_config({"vault.root": tmp_path / name}, environ={}))
        for name in ("vault", "link")
    )
    assert first == second


def test_an_index_inside_the_vault_is_refused(tmp_path: Path):
    config = load_config({"vault.root": tmp_path, "index.dir": tmp_path / "x"}, environ={})
    with pytest.raises(Misconfigured, match="outside the vault"):
        index_directory(config)


def test_a_vault_that_contains_its_index_is_refused(tmp_path: Path):
    config = load_config({"vault.root": tmp_path / "indexes", "index.dir": tmp_path}, environ={})
    with pytest.raises(Misconfigured, match="outside the vault"):
        index_directory(config)


def test_settings_accept_a_symlink_loop_as_a_path(tmp_path: Path):
    (tmp_path / "loop").symlink_to("loop")
    for root, parent in (("loop", "data"), ("vault", "loop")):
        flags = {"vault.root": tmp_path / root, "index.dir": tmp_path / parent}
        assert index_directory(load_config(flags, environ={})).parent.name == "indexes"


@pytest.mark.skipif(sys.platform != "linux", reason="names that are not UTF-8")
def test_an_index_folder_whose_name_is_not_unicode_is_refused(tmp_path: Path):
    (tmp_path / "data").symlink_to(os.fsdecode(b"not-\xff-utf8"))
    flags = {"vault.root": tmp_path / "vault", "index.dir": tmp_path / "data"}
    with pytest.raises(Misconfigured, match="a path in UTF-8"):
        index_directory(load_config(flags, environ={}))


def test_without_a_vault_the_error_says_how_to_set_one():
    with pytest.raises(Misconfigured, match=r"vault-agent setup --folder") as refusal:
        index_directory(Config())
    assert refusal.value.code == "VAULT_NOT_FOUND"


def models() -> list[type[BaseModel]]:
    """Return every pydantic model of the product."""
    for module in pkgutil.walk_packages(vault_agent.__path__, "vault_agent."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    found, waiting = [], list(BaseModel.__subclasses__())
    while waiting:
        model = waiting.pop()
        waiting += model.__subclasses__()
        if model.__module__.startswith("vault_agent."):
            found.append(model)
    return found


def test_config_models_hide_input_in_errors():
    every = models()
    assert len(every) > 15
    assert [model for model in every if not model.model_config.get("hide_input_in_errors")] == []
