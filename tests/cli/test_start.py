"""Each command imports only what it needs. Shell completion works."""

from __future__ import annotations

import asyncio
import shutil
import sys

import pytest
from tests.cli.fake import FakeServer, Run

SLOW = {
    "asyncclick",
    "asyncio",
    "aiohttp",
    "pydantic",
    "pydantic_settings",
    "rich",
    "numpy",
    "tomlkit",
    "tantivy",
}


async def imported(environment: dict[str, str], *arguments: str) -> set[str]:
    """Return which of the slow packages a command line imports."""
    script = (
        "import atexit, os, sys; os._exit = sys.exit\n"
        f"atexit.register(lambda: print(*({SLOW!r} & set(sys.modules)), file=sys.stderr))\n"
        "from vault_agent.cli.main import main; main()"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-c", script, *arguments,
        env=environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    _, err = await process.communicate()
    assert process.returncode == 0
    return set(err.decode().splitlines()[-1].split())


async def test_the_version_imports_no_package(environment: dict[str, str]):
    assert await imported(environment, "--version") == set()


@pytest.mark.parametrize("arguments", [["--help"], ["completion", "bash"], ["config", "path"]])
async def test_local_commands_import_no_http_client(
    environment: dict[str, str], arguments: list[str]
):
    assert await imported(environment, *arguments) - {"asyncio"} == {"asyncclick"}


@pytest.mark.parametrize("more", [[], ["--json"]])
async def test_a_search_imports_no_models_and_no_display(
    environment: dict[str, str], server: FakeServer, more: list[str]
):
    assert await imported(environment, "search", "x", *more) == {"asyncclick"}


async def test_following_without_a_terminal_imports_no_display(
    environment: dict[str, str], server: FakeServer
):
    assert "rich" not in await imported(environment, "index")


# --- completion -------------------------------------------------------------------------------


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
async def test_a_completion_script_is_printed_for_each_shell(run: Run, shell: str, tmp_path):
    ended = await run("completion", shell)
    assert ended.code == 0
    assert "_VAULT_AGENT_COMPLETE" in ended.out
    if binary := shutil.which(shell):
        script = tmp_path / "script"
        script.write_text(ended.out, "utf-8")
        checked = await asyncio.create_subprocess_exec(binary, "-n", str(script))
        assert await checked.wait() == 0


async def test_commands_options_and_settings_are_completed(run: Run):
    expected = {
        "vault-agent re": {"reindex", "related"},
        "vault-agent get ": {"note", "chunk", "attachment"},
        "vault-agent search --mode h": {"hybrid"},
        "vault-agent config set embedding.c": {"embedding.concurrency"},
        "vault-agent search x --js": {"--json"},
        "vault-agent agent connect claude-c": {"claude-code"},
        "vault-agent serve --vault-root No": {"No"},  # the shell's own folders
    }
    shell = {"_VAULT_AGENT_COMPLETE": "bash_complete"}
    all_ended = await asyncio.gather(
        *(run(**shell, COMP_WORDS=words, COMP_CWORD=str(words.count(" "))) for words in expected)
    )
    for ended, offered in zip(all_ended, expected.values(), strict=True):
        assert {line.partition(",")[2] for line in ended.out.splitlines()} == offered
