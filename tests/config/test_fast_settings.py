"""Settings that are read without pydantic are those of the full validation."""

from __future__ import annotations

from typing import Any

import pytest

from vault_agent.config.fast_settings import setting
from vault_agent.config.layers import Layer, invalid
from vault_agent.config.setting_names import SETTINGS
from vault_agent.config.settings import check, value_of
from vault_agent.errors import Misconfigured

GIVEN: list[dict[str, Any]] = [
    {},
    {"vault.root": "~/Notes", "server.port": "9000", "write.folders": "a/, b ,a"},
    {"vault.root": "/notes", "write.enabled": True, "write.folders": ["."], "watch.enabled": "on"},
    {"write.allow": ["create", "move", "create"], "search.recency": 3},
    {"server.host": "[::1]", "server.api_key": "k" * 40, "server.endpoint": "http://a.example/"},
    {"embedding.query_prefix": "query: ", "embedding.model": " spaced "},
    {"cors.allowed_origins": "https://A.example:443,https://b.example"},
    {"vault.exclude": ["*.tmp", "!output/"], "index.max_note_bytes": "20", "mcp.toolset": "synk"},
    {"write.enabled": True},
    {"journal.command": " claude -p "},
    {"server.port": 70_000},
    {"server.port": True},
    {"watch.mode": "never"},
    {"embedding.concurrency": 0},
    {"embedding.concurrency": 1.5},
    {"search.recency": "nan"},
    {"search.folders": "Archive = 0.50,a/b/=2", "search.recency": "180"},
    {"search.folders": ["Archive"]},
    {"rerank.endpoint": "http://127.0.0.1:4/v1/rerank", "rerank.timeout_seconds": "1.50"},
    {"rerank.enabled": "true"},
    {"rerank.endpoint": "nowhere", "rerank.timeout_seconds": 0},
    {"write.folders": "../x"},
    {"write.allow": "all"},
    {"server.api_key": "no space"},
    {"embedding.model": "m" * 201},
    {"vault.exclude": ["["]},
    {"memory.enabled": 1},
    {"index.attachments": "pdf, csv,pdf"},
    {"index.attachments": ["docs"]},
]


@pytest.mark.parametrize("given", GIVEN, ids=str)
def test_they_are_read_as_by_the_full_validation(given: dict[str, Any]):
    layers = (Layer("environment", {}), Layer("file", given))
    config, problems = check(layers)
    if config is None:
        with pytest.raises(Misconfigured) as refusal:
            [setting(layers, name) for name in given]
        assert str(refusal.value) == str(invalid(problems[:1]))
        return
    secrets = {name for name, key in SETTINGS.items() if key.secret}
    expected = {name: value_of(config, name) for name in SETTINGS}
    for name in SETTINGS:
        value = setting(layers, name)
        if name in secrets:
            assert (value is None) == (expected[name] is None)
        else:
            assert (value, type(value)) == (expected[name], type(expected[name])), name
