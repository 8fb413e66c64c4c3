"""Signed addresses of files belong to one path of one vault, and end."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

import pytest

from vault_agent.errors import Unauthorized
from vault_agent.vaults.secret import Secret
from vault_agent.vaults.web_view import DAY_SECONDS, FileKeys


def parts(address: str) -> tuple[str, str]:
    place, _, key = address.partition("?k=")
    return unquote(place), key


def test_an_address_is_valid_until_the_end_of_the_next_day(tmp_path: Path):
    now = [20_000.5 * DAY_SECONDS]
    keys = FileKeys(Secret(tmp_path / "s"), "v", now=lambda: now[0])
    place, key = parts(keys.address("a b/日本.png"))
    assert place == "/ui/files/a b/日本.png"
    assert keys.address("a") == keys.address("a")
    for later in (0, 0.49, 1.49):
        now[0] = (20_000.5 + later) * DAY_SECONDS
        keys.check("a b/日本.png", key)
    now[0] = 20_002.01 * DAY_SECONDS
    with pytest.raises(Unauthorized):
        keys.check("a b/日本.png", key)


def test_an_address_belongs_to_its_path_vault_and_secret(tmp_path: Path):
    secret = Secret(tmp_path / "s")
    keys = FileKeys(secret, "v")
    _, key = parts(keys.address("a.png"))
    keys.check("a.png", key)
    for other, path in ((keys, "b.png"), (FileKeys(secret, "w"), "a.png")):
        with pytest.raises(Unauthorized):
            other.check(path, key)
    secret.renew()
    with pytest.raises(Unauthorized):
        keys.check("a.png", key)


@pytest.mark.parametrize(
    ("address", "place"),
    [("default", "/ui/files/a"), ("project:My notes", "/vaults/project:My notes/ui/files/a")],
)
def test_files_of_another_vault_are_below_its_routes(tmp_path: Path, address: str, place: str):
    keys = FileKeys(Secret(tmp_path / "s"), "v", address)
    assert parts(keys.address("a"))[0] == place
