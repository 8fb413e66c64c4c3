"""A server follows its settings while clients use it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event

from tests.support.program import Program

CLIENTS = 2
CHANGES = 4


def test_no_request_fails_while_the_settings_change(program: Program):
    program.fill(30)
    program.variables |= {
        "VAULT_AGENT_INDEX_DIR": str(program.indexes),
        "VAULT_AGENT_VAULT_ROOT": str(program.vault),
    }
    program.start()
    program.index()
    ended = Event()

    def search() -> list[str]:
        """Search until the end, and return the codes of the errors."""
        codes = []
        while not ended.is_set():
            reply = program.search("filler")
            if reply.status != 200:
                codes.append(reply.code)
        return codes

    with ThreadPoolExecutor(CLIENTS) as pool:
        searches = [pool.submit(search) for _ in range(CLIENTS)]
        try:
            for number in range(CHANGES):
                told = program.run("config", "set", "memory.show", str(number % 2 == 1).lower())
                assert "uses it from now on" in told.stderr
        finally:
            ended.set()
    assert [search.result() for search in searches] == [[]] * CLIENTS
