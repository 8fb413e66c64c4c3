"""The page's own modules without a browser: each `.mjs` file here is run by `node --test`."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.support.clocks import PATIENCE
from tests.support.node import node

HERE = Path(__file__).parent


@pytest.mark.parametrize("module", sorted(HERE.glob("*.mjs")), ids=lambda module: module.stem)
def test_page(module: Path):
    options = (
        "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON",
        "--test",
        "--test-reporter=spec",
        f"--test-timeout={PATIENCE * 1000:.0f}",
    )
    command = [node(), *options, module]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "pass 0\n" not in done.stdout
