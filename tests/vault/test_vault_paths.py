"""Accepted and refused spellings of paths."""

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


def test_outside_or_malformed_paths_are_refused() -> None:
    found = {spelling: refusal_of(spelling) for spelling, _ in refused()}
    wanted = {spelling: (KINDS[code], code) for spelling, code in refused()}
    assert found == wanted


def refusal_of(spelling: str) -> tuple[type[VaultAgentError], str] | None:
    try:
        validate(spelling)
    except VaultAgentError as error:
        return type(error), error.code
    return None


def test_the_table_of_hostile_paths_is_long() -> None:
    assert len({spelling for spelling, _ in refused()}) > 200


@pytest.mark.parametrize("spelling", HARMLESS, ids=ascii)
def test_unusual_valid_names_are_accepted(spelling: str) -> None:
    assert validate(spelling) == spelling


@pytest.mark.parametrize(
    "spelling", ["../canary-name", "canary-name\n", "/canary-name", "a\\canary-name"]
)
def test_messages_do_not_quote_the_path(spelling: str) -> None:
    with pytest.raises(VaultAgentError) as caught:
        validate(spelling)
    assert "canary" not in f"{caught.value} {caught.value.details}"


def test_a_long_path_within_the_limit_is_accepted() -> None:
    path = "/".join(["x" * 200] * 20)
    assert len(path) < MAX_PATH_BYTES
    assert validate(path) == path


@pytest.mark.parametrize(
    "name",
    [
        "a.txt:stream",
        "CON",
        "conin$.md",
        "con.txt",
        "Folder/NUL",
        "lpt1.md",
        "COM¹",
        "a.",
        "a ",
        "b./c",
    ],
)
def test_reserved_windows_names_are_refused_on_windows(name: str) -> None:
    with pytest.raises(InvalidRequest):
        check_windows_name(name)


@pytest.mark.parametrize("name", ["console.txt", "a.b", "Folder/nullable.md", ".x"])
def test_names_that_resemble_reserved_ones_are_accepted(name: str) -> None:
    check_windows_name(name)
