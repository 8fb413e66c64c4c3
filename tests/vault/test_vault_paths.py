"""What a person or a client may type as a path, and what is refused."""

from __future__ import annotations

import pytest
from tests.vault.spellings import HARMLESS, INVALID, OUTSIDE, refused

from vault_agent.errors import Forbidden, InvalidRequest, VaultAgentError
from vault_agent.vault.paths import (
    MAX_PATH_BYTES,
    check_windows_name,
    validate,
)

KINDS = {INVALID: InvalidRequest, OUTSIDE: Forbidden}


@pytest.mark.parametrize(("spelling", "code"), refused(), ids=ascii)
def test_a_spelling_that_leaves_or_is_malformed_is_refused(spelling: str, code: str) -> None:
    with pytest.raises(KINDS[code]) as caught:
        validate(spelling)
    assert caught.value.code == code


def test_the_table_is_long_enough_to_mean_something() -> None:
    assert len({spelling for spelling, _ in refused()}) > 200


@pytest.mark.parametrize("spelling", HARMLESS, ids=ascii)
def test_an_odd_but_honest_name_passes_unchanged(spelling: str) -> None:
    assert validate(spelling) == spelling


@pytest.mark.parametrize(
    "spelling", ["../canary-name", "canary-name\n", "/canary-name", "a\\canary-name"]
)
def test_no_message_repeats_the_input(spelling: str) -> None:
    with pytest.raises(VaultAgentError) as caught:
        validate(spelling)
    assert "canary" not in f"{caught.value} {caught.value.details}"


def test_a_long_path_within_the_limit_passes() -> None:
    path = "/".join(["x" * 200] * 20)
    assert len(path) < MAX_PATH_BYTES
    assert validate(path) == path


@pytest.mark.parametrize(
    "name", ["a.txt:stream", "CON", "con.txt", "Folder/NUL", "lpt1.md", "COM¹", "a.", "a ", "b./c"]
)
def test_windows_own_names_are_refused_there(name: str) -> None:
    with pytest.raises(InvalidRequest):
        check_windows_name(name)


@pytest.mark.parametrize("name", ["console.txt", "a.b", "Folder/nullable.md", ".x"])
def test_names_like_windows_own_pass(name: str) -> None:
    check_windows_name(name)
