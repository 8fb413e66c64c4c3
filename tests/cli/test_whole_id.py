"""The beginning of an ID stands for the only one that begins so."""

from __future__ import annotations

import pytest

from vault_agent.cli.names import whole_id
from vault_agent.errors import InvalidRequest

KNOWN = ("cc-1", "cc-12", "cc-13", "codex-7")


@pytest.mark.parametrize(
    ("begin", "whole"),
    [("co", "codex-7"), ("cc-12", "cc-12"), ("cc-1", "cc-1"), ("gone", "gone")],
)
def test_the_beginning_of_an_id_is_enough(begin: str, whole: str):
    assert whole_id(begin, KNOWN) == whole


def test_one_of_several_is_never_guessed():
    with pytest.raises(InvalidRequest, match="3 sessions"):
        whole_id("cc", KNOWN)
