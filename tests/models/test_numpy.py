"""numpy is imported only if embeddings are enabled, after its threads are limited."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.clocks import PATIENCE

SERVER = """
import asyncio, os, sys
from pathlib import Path

class Watcher:
    seen = "never imported"
    def find_spec(self, name, path=None, target=None):
        if name == "numpy":
            Watcher.seen = os.environ.get("OPENBLAS_NUM_THREADS", "unset")

sys.meta_path.insert(0, Watcher())
from tests.support.settings import load_config
from vault_agent.app import open_app
from vault_agent.model.search import SearchQuery
from vault_agent.server import sending, serve

async def main(folder, enabled):
    flags = {
        "vault.root": f"{folder}/vault",
        "index.dir": f"{folder}/index",
        "embedding.enabled": enabled == "on",
        "embedding.model": "m",
        "embedding.endpoint": "http://127.0.0.1:9/v1/embeddings",
    }
    async with open_app(load_config(flags, Path(f"{folder}/none.toml"), {})) as app:
        engine = app.vaults.default
        while engine.jobs.running:
            await asyncio.sleep(0.02)
        assert (await engine.search(SearchQuery("flour"))).results
        await engine.health()
    print(Watcher.seen)

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("embeddings", "expected"),
    [("off", "never imported"), pytest.param("on", "1", marks=pytest.mark.long)],
)
def test_numpy_is_imported_only_for_embeddings_and_with_one_thread(
    tmp_path: Path, embeddings: str, expected: str
):
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "Bread.md").write_text("Flour and water.\n", encoding="utf-8")
    (tmp_path / "none.toml").touch()
    ended = subprocess.run(
        [sys.executable, "-c", SERVER, str(tmp_path), embeddings],
        env={"PATH": "", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.strip() == expected
