"""`init` is enough: a project gets a server that starts, on a computer without any notes."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest
from tests.support.clocks import PATIENCE
from tests.support.program import PROGRAM, Program

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    made = Program(tmp_path)
    made.variables["VAULT_AGENT_INDEX_DIR"] = str(made.indexes)
    yield made
    made.close()


def test_a_server_starts_after_init_without_notes_of_ones_own(program: Program):
    shop = program.home / "shop"
    shop.mkdir()

    def run(*arguments: str) -> str:
        environment = program.environment
        ended = subprocess.run(
            [*PROGRAM, *arguments],
            cwd=shop,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    made = run("init", "--yes")
    shared = os.path.realpath(program.home / ".vault-agent" / "vault")
    assert f"Set vault.root to {shared}" in made
    run("serve", "--background", "--port", "0")
    try:
        assert "project:shop" in run("vaults", "list")
    finally:
        run("serve", "--stop")
    assert "Set vault.root" not in run("init", "--yes")
