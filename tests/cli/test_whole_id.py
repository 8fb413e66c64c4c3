"""The beginning of an ID stands for the only one that begins so."""

from __future__ import annotations

import pytest

from vault_agent.cli.memory import whole_id


@pytest.mark.parametrize(
    ("begin", "whole"),
    [("co", "codex-7"), ("cc-1", "cc-1"), ("gone", "gone"), ("cc", "cc")],
)
def test_the_beginning_of_an_id_is_enough_if_no_other_begins_so(begin: str, whole: str):
    assert whole_id(begin, ("cc-1", "cc-12", "cc-13", "codex-7")) == whole
