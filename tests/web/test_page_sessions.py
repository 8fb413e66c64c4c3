"""Tickets work once, tokens last, and both end when they should."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest

from vault_agent.errors import Unauthorized
from vault_agent.vaults.secret import Secret, hkdf
from vault_agent.web.page_sessions import TOKEN_SECONDS, PageSessions

KEY = "k" * 40


class Clock:
    """A clock that a test sets."""

    def __init__(self):
        self.seconds = 1_800_000_000.0

    def __call__(self):
        return self.seconds


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def make(tmp_path: Path, clock: Clock):
    def make(key: str = KEY, vault: str = "v1", folder: Path = tmp_path) -> PageSessions:
        secret = Secret(folder / "secret")
        return PageSessions(secret, key, vault=vault, ended=folder / "ended", now=clock)

    return make


def open_one(sessions: PageSessions) -> str:
    return sessions.open(sessions.make_ticket().ticket).token


def is_refused(sessions: PageSessions, token: str) -> bool:
    with pytest.raises(Unauthorized) as refused:
        sessions.check(token)
    return refused.value.code == "SESSION_ENDED" and "vault-agent ui" in refused.value.message


def test_a_second_use_of_a_ticket_ends_the_session_of_the_first(make):
    sessions = make()
    ticket = sessions.make_ticket().ticket
    token = sessions.open(ticket).token
    renewed = sessions.renew(token).token
    other = open_one(sessions)
    with pytest.raises(Unauthorized):
        sessions.open(ticket)
    assert is_refused(sessions, token)
    assert is_refused(sessions, renewed)
    assert sessions.check(other)
    assert is_refused(make(), token)  # also after a restart


@pytest.mark.parametrize("printed", [False, True])
def test_an_old_ticket_is_refused(make, clock: Clock, printed: bool):
    sessions = make()
    ticket = sessions.make_ticket(printed=printed)
    assert ticket.seconds == (300 if printed else 60)
    clock.seconds += ticket.seconds + 1
    with pytest.raises(Unauthorized):
        sessions.open(ticket.ticket)


def test_a_token_is_valid_over_a_restart_and_for_seven_days(make, clock: Clock):
    token = open_one(make())
    sessions = make()
    clock.seconds += TOKEN_SECONDS - 1
    renewed = sessions.renew(token)
    clock.seconds += 2
    assert is_refused(sessions, token)
    assert sessions.check(renewed.token)


def test_any_changed_bit_voids_a_token(make):
    sessions = make()
    token = open_one(sessions)
    for place in range(len(token)):
        for bit in (1, 2, 4, 16, 32):
            changed = token[:place] + chr(ord(token[place]) ^ bit) + token[place + 1 :]
            with pytest.raises(Unauthorized):
                sessions.check(changed)
    for wrong in ("va1.", "va1.1.2.3", token[:-1], token + "A", token.replace("va1", "va2"), ""):
        with pytest.raises(Unauthorized):
            sessions.check(wrong)


def test_another_key_vault_or_secret_voids_a_token(make, tmp_path: Path):
    token = open_one(make())
    assert is_refused(make(key="x" * 40), token)
    assert is_refused(make(vault="v2"), token)
    (tmp_path / "elsewhere").mkdir()
    assert is_refused(make(folder=tmp_path / "elsewhere"), token)


def test_signing_out_everywhere_ends_all_sessions_and_tickets(make):
    sessions = make()
    token, ticket = open_one(sessions), sessions.make_ticket().ticket
    sessions.end_all()
    assert is_refused(sessions, token)
    with pytest.raises(Unauthorized):
        sessions.open(ticket)
    assert sessions.check(open_one(sessions))
    assert is_refused(make(), token)


def test_wrong_tickets_do_not_keep_the_owner_out(make):
    sessions = make()
    for _ in range(50):
        with pytest.raises(Unauthorized):
            sessions.open("wrong")
    assert sessions.check(open_one(sessions))


def test_the_owner_opens_the_page_as_often_as_wanted(make):
    sessions = make()
    first = sessions.make_ticket(printed=True).ticket
    for _ in range(500):
        assert sessions.check(open_one(sessions))
    assert sessions.check(sessions.open(first).token)


def test_the_number_of_tickets_that_are_kept_is_bounded(make):
    sessions = make()
    first = sessions.make_ticket().ticket
    for _ in range(1_000):
        last = sessions.make_ticket().ticket
    with pytest.raises(Unauthorized):
        sessions.open(first)
    assert sessions.check(sessions.open(last).token)


def test_a_damaged_record_of_ended_sessions_is_ignored(make, tmp_path: Path):
    for damage in (b"\x00", b"[]", b'{"a": "b"}'):
        (tmp_path / "ended").write_bytes(damage)
        assert make().check(open_one(make()))


def test_the_secret_is_private_and_made_once(tmp_path: Path):
    file = tmp_path / "secret"
    first = Secret(file).value
    assert len(first) == 32
    assert Secret(file).value == first
    if sys.platform != "win32":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.write_bytes(b"cut")
    assert len(Secret(file).value) == 32


def test_keys_are_derived_as_the_standard_says():
    """The test vectors of RFC 5869, of which 32 bytes are used here."""
    derived = hkdf(b"\x0b" * 22, salt=bytes(range(13)), info=bytes(range(0xF0, 0xFA)))
    assert derived.hex() == "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf"
    assert hkdf(b"\x0b" * 22, salt=b"", info=b"").hex() == (
        "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d"
    )
