"""An endpoint with a real model: `minilm.py`, or the one named by the environment.

REAL_EMBEDDING_ENDPOINT and REAL_EMBEDDING_MODEL point the tests at, say, an Ollama on this machine.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.program import Program

from vault_agent.models.settings import EndpointSettings


@pytest.fixture(scope="session")
def endpoint() -> Iterator[str]:
    """Return the endpoint's URL."""
    if named := os.environ.get("REAL_EMBEDDING_ENDPOINT"):
        yield named
        return
    command = [sys.executable, str(Path(__file__).with_name("minilm.py"))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        line = server.stdout.readline()
        assert line, "the endpoint did not start"
        yield json.loads(line)["endpoint"]
        server.terminate()


@pytest.fixture(scope="session")
def model() -> str:
    """Return the model's name."""
    return os.environ.get("REAL_EMBEDDING_MODEL", "all-minilm")


@pytest.fixture
def settings(endpoint: str, model: str) -> EndpointSettings:
    """Return settings for a client, with time for a model that is loaded first."""
    return EndpointSettings(endpoint, model, query_timeout=30.0)


@pytest.fixture
def program(tmp_path: Path, endpoint: str, model: str) -> Iterator[Program]:
    """Return a program that uses the endpoint, not yet started, its vault empty."""
    made = Program(tmp_path)
    made.variables = {
        "VAULT_AGENT_EMBEDDING_ENABLED": "true",
        "VAULT_AGENT_EMBEDDING_ENDPOINT": endpoint,
        "VAULT_AGENT_EMBEDDING_MODEL": model,
    }
    yield made
    made.close()
