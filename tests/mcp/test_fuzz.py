"""Long: mutated messages through a relay."""

from __future__ import annotations

import json
import random
from copy import deepcopy
from typing import Any

import pytest
from tests.mcp.conftest import META, Agent
from tests.mcp.test_relay import PING, relay

pytestmark = pytest.mark.long

MESSAGES = 100_000
CANARY = "zebracanary"


def message(chosen: random.Random, number: int) -> bytes:
    """Return a message that is valid, of the wrong shape, or not even JSON."""
    values: tuple[Any, ...] = (CANARY, None, True, -1, 2.5, [], {}, [CANARY], {CANARY: CANARY}, "")
    params: dict[str, Any] = {
        "name": chosen.choice(("vault_search", "vault_read", "vault_list", CANARY)),
        "arguments": {"query": "frost", "path": "Late frost", "limit": 3},
        "_meta": dict(META),
    }
    methods = ("tools/call", "tools/list", "prompts/get", "resources/read", "initialize", CANARY)
    sent: dict[str, Any] = {
        "jsonrpc": "2.0",
        "id": number,
        "method": chosen.choice(methods),
        "params": params,
    }
    for _ in range(chosen.randrange(3)):
        place = chosen.choice((sent, params, params["arguments"], params["_meta"]))
        if isinstance(place, dict):
            place[chosen.choice([*place, "more"])] = deepcopy(chosen.choice(values))
    line = bytearray(json.dumps(sent).encode())
    for _ in range(chosen.choice((0, 0, 0, 1, 5))):
        where = chosen.randrange(len(line))
        line[where : where + chosen.randrange(3)] = bytes([chosen.randrange(256)])
    return bytes(line).replace(b"\n", b" ")


@pytest.mark.fault(
    "Agents",
    "fuzzed JSON-RPC",
    "refused without repeating the input",
)
def test_mutated_messages_neither_end_nor_appear_in_a_reply(agent: Agent):
    chosen = random.Random(7)
    with relay(agent) as pipe:
        for start in range(0, MESSAGES, 100):
            for number in range(start, start + 100):
                pipe.send(message(chosen, number))
            pipe.send({**PING, "id": "end"})
            while (reply := pipe.receive()).get("id") != "end":
                if error := reply.get("error"):
                    # The protocol's error for a version repeats it.
                    error.get("data", {}).pop("requested", None)
                    assert CANARY not in json.dumps(error)
                    assert error["code"] != -32603
        assert pipe.process.poll() is None
