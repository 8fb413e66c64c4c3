"""A test endpoint, settings for it, and shorter waits."""

import pytest
from tests.support.clocks import PATIENCE
from tests.support.local_model import LocalModel

from vault_agent.models import client, embedder
from vault_agent.models.settings import EndpointSettings


@pytest.fixture
async def endpoint():
    async with LocalModel() as endpoint:
        yield endpoint


@pytest.fixture
def settings(endpoint):
    def make(**changes):
        defaults = {
            "url": endpoint.url,
            "model": endpoint.model,
            "timeout": 5.0,
            "patience": 3.0,
            "query_timeout": PATIENCE,
        }
        return EndpointSettings(**defaults | changes)

    return make


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch):
    """Shorten waits but keep their growth."""
    monkeypatch.setattr(client, "_FIRST_WAIT", 0.05)
    monkeypatch.setattr(embedder, "_FIRST_WAIT", 0.005)
