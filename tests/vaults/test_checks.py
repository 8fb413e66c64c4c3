"""Whether the notes have changed since the last run."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from vault_agent.indexing.protocol import Compare, Compared
from vault_agent.vaults import health as module
from vault_agent.vaults.health import Checks


@pytest.mark.parametrize("announced", [False, True])
async def test_a_write_that_is_announced_after_a_comparison_is_no_change_by_others(
    monkeypatch: pytest.MonkeyPatch, announced: bool
):
    monkeypatch.setattr(module, "_SECONDS_UNTIL_ANNOUNCED", 0)
    queue = SimpleNamespace(is_busy=False, activity_count=0)
    answers = [True, not announced]

    async def ask(question: Compare) -> Compared:
        stale = answers.pop(0)
        queue.activity_count += announced and not answers  # during the second comparison
        return Compared(stale=stale)

    parts: Any = (
        SimpleNamespace(indexer=SimpleNamespace(ask=ask), spec=None),
        SimpleNamespace(whole_runs=0),
        SimpleNamespace(is_indexing=False),
        SimpleNamespace(is_live=False, state=None),
        queue,
    )
    checks = Checks(*parts)
    await checks._compare()
    assert answers == []
    assert checks.stale is not announced
