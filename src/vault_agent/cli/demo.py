"""`vault-agent demo`: runs the main commands on a temporary sample vault."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import asyncclick as click

from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.config import built_in_settings
from vault_agent.cli.terminal import clean, say, style
from vault_agent.config.setting_names import SETTINGS
from vault_agent.errors import Failed
from vault_agent.system.processes import PROGRAM

_SEARCHES = ("sourdough starter", "dark adaptation", "味噌")
_NAME = "vault-agent"
_FIRST_NOTES = "Bakery"


@click.command("demo", cls=Command)
def command(invocation: Invocation) -> None:
    """See it work on sample notes: serve, index, search, read.

    Your notes and settings are not read or changed. All files are deleted at the end.
    """
    if invocation.json:
        raise click.UsageError("the demo has no --json")
    if sys.platform != "win32":
        # SIGTERM ends the demo like Ctrl-C, so that its files are deleted too.
        signal.signal(signal.SIGTERM, signal.getsignal(signal.SIGINT))
    with tempfile.TemporaryDirectory(prefix="vault-agent-demo-", ignore_cleanup_errors=True) as at:
        _show(Path(at))
    say()
    say("The demo is done. Its notes and index have been deleted. For your own notes:")
    program = _program()
    say(f"  {program} setup")
    say(f"  {program} search what I look for")
    say(f"  {program} open 1")


def _program() -> str:
    """Return the program's name, or its path if it is not on the PATH."""
    beside = shutil.which(_NAME, path=str(Path(sys.executable).parent))
    if beside is None or shutil.which(_NAME) is not None:
        return _NAME
    path = Path(beside)
    here = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    return clean(shlex.quote(str(here)))


def _show(folder: Path) -> None:
    source, vault = _notes(), folder / "Notes"
    environment = _environment(folder)
    shutil.copytree(source / _FIRST_NOTES, vault / _FIRST_NOTES)
    _run(environment, "config", "set", "vault.root", str(vault))
    try:
        _run(environment, "serve", "--background", "--until-idle")
        say()
        say(
            style(
                "# The server has indexed one folder of notes. Now the others are added.", "faint"
            )
        )
        shutil.copytree(source, vault, dirs_exist_ok=True)
        _run(environment, "index")
        for query in _SEARCHES:
            _run(environment, "search", query, "--limit", "3")
        best = _best(environment, _SEARCHES[0])
        _run(environment, "related", best["title"], "--limit", "3")
        _run(environment, "links", best["path"], "--in", "--limit", "3")
        _run(environment, "get", "chunk", best["id"])
        _run(environment, "get", "note", best["path"])
        say()
    finally:
        _output(environment, "serve", "--stop")


def _notes() -> Path:
    """Return the sample vault, from the package or from the repository."""
    packed = Path(__file__).parent / "demo_vault"
    return packed if packed.is_dir() else Path(__file__).parents[3] / "fixtures" / "vault"


def _environment(folder: Path) -> dict[str, str]:
    """Return an environment without the user's settings."""
    mine = {name: value for name, value in os.environ.items() if "VAULT_AGENT_" not in name}
    meaning = {SETTINGS[name].environment: value for name, value in built_in_settings()}
    return {
        **mine,
        **meaning,
        "VAULT_AGENT_EMBEDDING_ENABLED": "true" if meaning else "false",
        "VAULT_AGENT_CONFIG": str(folder / "config.toml"),
        "VAULT_AGENT_INDEX_DIR": str(folder / "data"),
        "VAULT_AGENT_SERVER_PORT": "0",
    }


def _run(environment: dict[str, str], *arguments: str) -> None:
    """Print a command as a user would type it, and run it."""
    say()
    say(style(f"$ vault-agent {shlex.join(arguments)}", "strong"))
    done = subprocess.run(  # noqa: S603 - our own program
        (*PROGRAM, *arguments), env=environment, stdin=subprocess.DEVNULL, check=False
    )
    if done.returncode != 0:
        raise Failed("PROGRAM_FAILED", "a command of the demo failed; see its output above")


def _output(environment: dict[str, str], *arguments: str) -> bytes:
    """Run a command, and return what it prints."""
    done = subprocess.run(  # noqa: S603 - our own program
        (*PROGRAM, *arguments),
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    return done.stdout


def _best(environment: dict[str, str], query: str) -> dict[str, Any]:
    reply = json.loads(_output(environment, "search", query, "--limit", "1", "--json"))
    result: dict[str, Any] = reply["data"]["results"][0]
    return result
