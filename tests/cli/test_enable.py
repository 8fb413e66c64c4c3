"""`enable` sets all that a feature needs, and `config set` says what is missing."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import orjson
import pytest
from tests.cli.fake import Run
from tests.cli.test_restart import started
from tests.support.local_model import LocalModel
from tests.support.meaning import needs_built_in_model
from tests.support.systems import posix

from vault_agent.cli.config import install_model
from vault_agent.cli.features import FEATURES
from vault_agent.config.setting_names import SETTINGS
from vault_agent.models import built_in

MODELS = ("embedding", "rerank")


async def settings(run: Run) -> dict:
    rows = orjson.loads((await run("--json", "config")).out)["data"]["settings"]
    return {row["key"]: row["value"] for row in rows}


async def test_what_a_refusal_advises_works_at_once(run: Run, run_apart: Run, notes: Path):
    await started(run_apart, "--background")
    refused = await run("write", "x.md", "-t", "hi")
    (advised,) = re.findall(r"`vault-agent ([^`]+)`", refused.err)
    missing = await run_apart(*shlex.split(advised))
    assert missing.code == 2
    assert "--folder" in missing.err
    done = await run_apart(*shlex.split(advised), "--folder", "Inbox", "--folder", "Log")
    assert done.code == 0, done.err
    assert "You may change notes in Inbox, Log." in done.out
    assert "Agents may do there: create, append, edit." in done.out
    assert "Next: vault-agent write Inbox/NOTE.md --text TEXT" in done.out
    assert "Log is not there yet." in done.err
    assert done.err.count("Every request needs a key from now on.") == 1
    assert "uses it from now on" in done.err
    assert (await run("write", "Inbox/x.md", "-t", "hi")).code == 0
    assert (notes / "Inbox/x.md").read_text() == "hi"
    more = await run_apart("enable", "write", "--folder", "Daily")
    assert "Next: vault-agent write Daily/NOTE.md --text TEXT" in more.out
    off = await run_apart("enable", "write", "--off")
    assert off.out.startswith("Notes are no longer changed. What was written stays.")
    assert "FEATURE_DISABLED" in (await run("write", "Inbox/y.md", "-t", "hi")).err


async def test_the_owner_may_do_everything_in_the_folders_and_agents_what_is_allowed(
    run: Run, run_apart: Run, notes: Path
):
    await started(run_apart, "--background")
    await run_apart("enable", "write", "--folder", "Inbox")
    await run("write", "Inbox/x.md", "-t", "hi")
    assert (await run("write", "Inbox/x.md", "--mode", "overwrite", "-t", "x", "--yes")).code == 0
    assert (await run("move", "Inbox/x.md", "Inbox/y.md", "--yes")).code == 0
    assert (await run("delete", "Inbox/y.md", "--yes")).code == 0
    assert (await settings(run))["write.allow"] == ["create", "append", "edit"]
    told = await run_apart("agent", "add", "tidy", "--folder", "Inbox", "--write", "edit,move")
    [advised] = re.findall("vault-agent (enable write --allow move)", told.err)
    await run_apart(*shlex.split(advised))
    assert (await settings(run))["write.allow"] == ["create", "append", "edit", "move"]
    refused = await run("write", "Log/x.md", "-t", "hi")
    assert refused.err.endswith("To allow it: `vault-agent enable write --folder FOLDER`.\n")
    await run_apart("enable", "write", "--folder", "Log")
    for folder in ("Inbox", "Log"):
        assert (await run("write", f"{folder}/y.md", "-t", "hi")).code == 0


@posix("a terminal is made by a POSIX call")
@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("\n\n\n", None),
        ("none\n\n\n", None),
        ("Inbox\n\n", (["Inbox"], ["create", "append", "edit"])),
        ("Inbox, Log\nnone\n", (["Inbox", "Log"], [])),
        (".\nappend, move\n", (["."], ["append", "move"])),
        ("Inbox\nanything\n", None),
    ],
)
async def test_no_answer_opens_nothing_and_agents_are_asked_for_by_themselves(
    run: Run,
    run_at_terminal: Run,
    notes: Path,
    typed: str,
    expected: tuple[list[str], list[str]] | None,
):
    before = await settings(run)
    done = await run_at_terminal("enable", "write", stdin=typed)
    after = await settings(run)
    if expected is None:
        assert done.code != 0
        assert after == before
    else:
        assert done.code == 0, done.err
        assert after["write.enabled"]
        assert (after["write.folders"], after["write.allow"]) == expected


async def test_writing_that_needs_folders_is_refused_with_the_command_that_asks_for_them(run: Run):
    refused = await run("config", "set", "write.enabled", "true")
    assert refused.code == 2
    assert "needs write.folders or vaults.enabled to be set first" in refused.err
    assert "`vault-agent enable write`" in refused.err


@pytest.mark.parametrize(
    ("name", "missing"),
    [
        ("memory.enabled", "vaults.enabled"),
        ("journal.enabled", "vaults.enabled"),
        ("web.open_on_serve", "web.enabled"),
    ],
)
async def test_a_switch_that_does_nothing_alone_says_what_is_missing(
    run: Run, name: str, missing: str
):
    told = await run("config", "set", name, "true")
    assert told.code == 0
    assert f"{name} does little or nothing without {missing}" in told.err
    feature = name.partition(".")[0]
    assert f"vault-agent enable {feature}" in told.err
    await run("enable", feature)
    assert "does little or nothing" not in (await run("config", "set", name, "true")).err


async def test_the_vaults_of_projects_may_be_written_without_a_folder_of_ones_own(run: Run):
    await run("enable", "vaults")
    done = await run("enable", "write")
    assert done.code == 0, done.err
    assert "may change notes in the vaults of projects." in done.out
    assert (await settings(run))["write.folders"] == []


async def test_ones_own_notes_stay_closed_beside_projects_until_a_folder_is_named(
    run: Run, run_apart: Run, notes: Path
):
    await started(run_apart, "--background")
    await run_apart("enable", "vaults")
    done = await run_apart("enable", "write")
    assert done.code == 0, done.err
    (advised,) = re.findall(r"vault-agent (enable write --folder) NAME", done.err)
    refused = await run("write", "Inbox/x.md", "-t", "hi")
    assert "VAULT_READ_ONLY" in refused.err
    assert f"To allow it: `vault-agent {advised} FOLDER`" in refused.err
    await run_apart(*shlex.split(advised), "Inbox")
    assert (await run("write", "Inbox/x.md", "-t", "hi")).code == 0
    assert "undone Inbox/x.md" in (await run("undo")).out
    assert not (notes / "Inbox/x.md").exists()


async def test_a_key_that_other_computers_need_is_announced(run: Run, notes: Path):
    told = await run("config", "set", "server.host", "0.0.0.0")
    assert told.err.count("Every request needs a key from now on.") == 1
    assert "config reveal-api-key" in told.err


async def test_enable_alone_shows_what_is_on(run: Run):
    await run("enable", "web")
    lines = {line.split()[1]: line for line in (await run("enable")).out.splitlines()}
    assert lines.keys() == FEATURES.keys()
    assert [name for name, line in lines.items() if line.startswith("on ")] == ["web"]
    assert orjson.loads((await run("--json", "enable")).out)["data"]["features"]["web"]


async def test_the_key_is_announced_by_the_switch_that_makes_it_needed(run: Run):
    await run("config", "set", "write.folders", ".")
    told = await run("config", "set", "write.enabled", "true")
    assert "Every request needs a key from now on." in told.err
    assert "vault-agent ui" not in told.err  # there is no page
    await run("config", "set", "vaults.enabled", "true")
    assert "key" not in (await run("config", "set", "memory.enabled", "true")).err


@pytest.mark.parametrize("name", [each for each in FEATURES if each not in MODELS])
async def test_enable_turns_on_all_that_a_feature_needs_and_disable_ends_it(run: Run, name: str):
    await run("config", "set", "write.folders", ".")
    on = await run("enable", name)
    assert on.code == 0, on.err
    now = await settings(run)
    assert all(now[each] for each in FEATURES[name].on)
    assert "does little or nothing" not in on.err
    off = await run("--json", "enable", name, "--off")
    assert off.code == 0
    now = await settings(run)
    assert not any(now[each] for each in FEATURES[name].off)


async def test_the_reranker_is_turned_on_only_if_it_answers(run: Run):
    refused = await run("config", "set", "rerank.enabled", "true")
    assert "`vault-agent enable rerank`" in refused.err
    assert "--model-url" in (await run("enable", "rerank")).err
    async with LocalModel() as endpoint:
        done = await run("enable", "rerank", "--model-url", endpoint.rerank_url)
        assert done.code == 0, done.err
        assert f"The reranker at {endpoint.rerank_url} sorts the best results" in " ".join(
            done.out.split()
        )
    now = await settings(run)
    assert (now["rerank.endpoint"], now["rerank.enabled"]) == (endpoint.rerank_url, True)
    assert (await run("enable", "rerank", "--off")).code == 0
    gone = await run("enable", "rerank")
    assert (gone.code, gone.err.split(":")[0]) == (1, "RERANK_UNAVAILABLE")
    assert (await settings(run))["rerank.enabled"] is False


@pytest.mark.parametrize("name", [each.section for each in SETTINGS.values() if each.needs])
async def test_every_setting_that_needs_others_has_a_feature(name: str):
    assert name in FEATURES


async def test_embedding_is_turned_on_only_if_its_model_answers(
    run: Run, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(built_in, "is_installed", lambda: False)
    unnamed = await run("enable", "embedding")
    assert "--model" in unnamed.err
    assert " -m pip install 'vault-agent[meaning]'`" in unnamed.err
    async with LocalModel() as endpoint:
        wanted = ("--model", endpoint.model, "--model-url", endpoint.url)
        done = await run("enable", "embedding", *wanted)
        assert done.code == 0, done.err
    now = await settings(run)
    assert now["embedding.model"] == endpoint.model
    assert now["embedding.enabled"]
    await run("enable", "embedding", "--off")
    refused = await run("enable", "embedding")
    assert refused.err.startswith("EMBEDDING_UNAVAILABLE")
    assert not (await settings(run))["embedding.enabled"]


@pytest.mark.parametrize(
    ("prefix", "command"),
    [
        ("/h/.local/share/pipx/venvs/vault-agent", "pipx runpip vault-agent install"),
        ("/h/.local/share/uv/tools/vault-agent", "uv tool install --force"),
        ("/work/.venv", f"{sys.executable} -m pip install"),
    ],
)
def test_the_model_is_installed_as_the_program_was(prefix: str, command: str):
    assert f"`{command} '" in install_model(prefix)


@needs_built_in_model
async def test_the_built_in_model_needs_no_address_and_gives_way_to_another(run: Run):
    done = await run("enable", "embedding")
    assert done.code == 0, done.err
    assert "It knows English." in done.err
    now = await settings(run)
    assert now["embedding.endpoint"] == "built-in"
    assert now["embedding.enabled"]
    assert "works, built in" in (await run("doctor")).out
    # A model's name alone means a model of Ollama, which does not answer here.
    other = await run("enable", "embedding", "--model", "no-such-model:1b")
    assert other.err.startswith("EMBEDDING_UNAVAILABLE")
    async with LocalModel() as endpoint:
        wanted = ("--model", endpoint.model, "--model-url", endpoint.url)
        assert (await run("enable", "embedding", *wanted)).code == 0
    assert (await run("enable", "embedding", "--model-url", "built-in")).code == 0
    assert (await settings(run))["embedding.model"] == "all-MiniLM-L6-v2"


async def test_an_option_of_another_feature_is_refused(run: Run):
    for wrong in (("web", "--folder", "."), ("write", "--model", "x"), ("nothing",)):
        assert (await run("enable", *wrong)).code == 2


async def test_a_variable_that_overrides_a_switch_is_named(run: Run):
    told = await run("enable", "web", "--off", VAULT_AGENT_WEB_ENABLED="true")
    assert "VAULT_AGENT_WEB_ENABLED overrides web.enabled" in told.err


async def test_config_list_is_config_get(run: Run):
    assert (await run("config")).out == (await run("config", "get")).out


def test_what_a_setting_needs_are_settings():
    for setting in SETTINGS.values():
        for other in (*setting.needs, *setting.idle_without):
            assert all(each in SETTINGS for each in other.split(" or "))
        if setting.idle_without and setting.option == "enabled" and setting.section != "cors":
            assert setting.section in FEATURES
