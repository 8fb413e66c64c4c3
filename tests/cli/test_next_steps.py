"""Each error ends with a command that works here when it is typed."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.cli.fake import PROGRAM
from tests.support.command import Ended, run_here
from tests.support.homes import at_home
from tests.support.listening import free_port
from tests.support.systems import posix

Type = Callable[[str], Ended]
ADVICE = re.compile(r"`vault-agent ([^`]+)`|: vault-agent ([^`\n]+)$", re.MULTILINE)

COMMANDS = [
    # What is not there.
    "show nosuch",
    "open nosuch",
    "links nosuch",
    "related nosuch",
    "tags add nosuch x",
    "show 7",
    "open 7",
    "jobs nope",
    "jobs cancel nope",
    "enable write",
    "search --mode embedding x",
    "vaults forget nobody",
    "vaults add",
    "vaults add missing",
    "agent remove nobody",
    "agent rotate nobody",
    "config set server.prt 1",
    "config get server.prt",
    "config unset server.prt",
    "setup --folder missing --yes",
    "setup --folder ~ --yes",
    "setup --folder / --yes",
    # What is off, and turned on by the advice.
    "write Other/x.md -t hi",
    "undo 0123",
    "ui",
    "open Soup",
    "memory journal",
    "memory",
    "--vault nobody search x",
    "links nosuch --vault nobody",
    # What is typed wrongly.
    "ls",
    "serch x",
    "search --nope x",
    "show",
    "open Soup --in nowhere",
    "agent connect",
    "agent connect nobody",
    "agent add new",
    "context",
    "write",
    "undo --nope",
    "enable nothing",
    "jobs follow nope",
    # The server and its index.
    "serve --index-dir /dev/null/x",
    "serve --background --index-dir /dev/null/x",
    "config set index.dir /dev/null/x",
]
"""Commands that fail, in an order in which the advice of one may be what the next ones need."""

PLACES = {"--folder .": "--folder Log", "FOLDER": "Other", "WORDS": "leeks", "~/Notes": "Notes"}
"""What a person puts in place of the words of an advice."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("home")
    for name in ("Notes/Other", "Other"):
        (home / name).mkdir(parents=True)
    (home / "Notes/Soup.md").write_text("# Soup\n\nLeeks and potatoes.\n")
    return home


@pytest.fixture(scope="module")
def type_(home: Path) -> Iterator[Type]:
    """Return a function that types a command in the home folder, where a server runs."""
    kept = {name: value for name, value in os.environ.items() if "VAULT_AGENT" not in name}
    for name in ("EDITOR", "VISUAL", "BROWSER", "DISPLAY"):
        kept.pop(name, None)
    variables = {**kept, **at_home(home), "COLUMNS": "100", "TERM": "xterm"}

    with ThreadPoolExecutor(1) as thread:

        def type_(line: str) -> Ended:
            words = tuple(shlex.split(line))
            return thread.submit(run_here, words, variables, at=home).result()

        type_(f"config set server.port {free_port()}")
        setup = (
            *PROGRAM,
            "setup",
            "--folder",
            "Notes",
            "--no-agents",
            "--no-watch",
            "--no-web",
            "--no-meaning",
        )
        subprocess.run(setup, env=variables, cwd=home, check=True, capture_output=True)
        yield type_
        type_("serve --stop")


def advised(shown: str) -> str:
    """Return the last command of a message."""
    found = [one or other for one, other in ADVICE.findall(shown)]
    assert found, f"no next step: {shown}"
    for word, instead in PLACES.items():
        found[-1] = found[-1].replace(word, instead)
    return found[-1]


def test_the_advice_of_an_error_works_when_typed(type_: Type):
    for line in COMMANDS:
        refused = type_(line)
        assert refused.err, f"{line}: {refused.out}"
        done = type_(advised(refused.err))
        assert done.code == 0, f"{line}: {refused.err}{done.out}{done.err}"


@posix("a program of the test")
def test_the_line_for_a_client_that_is_not_here_works_once_it_is(
    environment: dict[str, str], tmp_path: Path
):
    refused = run_here(("agent", "connect", "claude-code"), environment)
    [line] = re.findall(r"^  (claude .*)", refused.err, re.MULTILINE)
    client = tmp_path / "claude"
    client.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/typed\n')
    client.chmod(0o755)
    subprocess.run(line, shell=True, check=True, env={"PATH": str(tmp_path)})
    *words, command = (tmp_path / "typed").read_text().split()
    assert words[:5] == ["mcp", "add", "-s", "user", "vault-agent"]
    assert command == "mcp"
