"""Idle sockets do not slow search and are closed."""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from tests.security.conftest import Fortress
from tests.security.wire import Wire
from tests.support.clocks import PATIENCE

# What each socket sends before it stops, in turn.
SILENT_AFTER = (
    b"",
    b"GET /health HTTP/1.1\r\nHost: loc",
    b"POST /search HTTP/1.1\r\nHost: localhost\r\n",
    b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n",
)
SEARCHES = 100


def held(fortress: Fortress, count: int, stack: ExitStack) -> list[socket.socket]:
    """Open sockets that stop sending."""
    _, _, authority = fortress.endpoint.partition("//")
    host, _, port = authority.partition(":")
    sockets = []
    for number in range(count):
        sockets.append(stack.enter_context(socket.create_connection((host, int(port)), 5)))
        sockets[-1].sendall(SILENT_AFTER[number % len(SILENT_AFTER)])
    return sockets


def p99(wire: Wire) -> float:
    """Return the 99th percentile of many searches, in seconds."""
    taken = []
    for number in range(SEARCHES):
        answer = wire.post("/search", {"query": f"word{number % 40} filler"})
        assert answer.status == 200
        taken.append(answer.seconds)
    return sorted(taken)[SEARCHES * 99 // 100 - 1]


def compare(fortress: Fortress, count: int) -> Iterator[list[socket.socket]]:
    """Search without and with `count` idle sockets, print both times, and yield the sockets."""
    with fortress.wire() as wire, ExitStack() as stack:
        alone = min(p99(wire), p99(wire))
        sockets = held(fortress, count, stack)
        beside = min(p99(wire), p99(wire))
        print(f"\np99 of search: {alone * 1000:.1f} ms, beside {count} idle {beside * 1000:.1f} ms")
        yield sockets


@pytest.mark.fault(
    "HTTP and access",
    "a thousand idle sockets",
    "searches stay as fast",
)
def test_search_works_beside_idle_sockets(fortress: Fortress):
    for _ in compare(fortress, 300):
        pass


@pytest.mark.long
def test_a_thousand_idle_sockets_do_not_stop_search_and_are_closed(fortress: Fortress):
    for sockets in compare(fortress, 1000):
        deadline = time.monotonic() + PATIENCE
        waiting = set(sockets)
        poll = select.poll()
        by_number = {each.fileno(): each for each in sockets}
        for number in by_number:
            poll.register(number, select.POLLIN)
        while waiting and time.monotonic() < deadline:
            for number, _ in poll.poll(500):
                if number in by_number and not by_number[number].recv(65536):
                    poll.unregister(number)
                    waiting.discard(by_number.pop(number))
        print(f"{len(sockets) - len(waiting)} closed by the server, {len(waiting)} still open")
        assert not waiting
