"""One real server with MCP on, for all tests of this folder. It serves a small vault."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from tests.support.clocks import PATIENCE
from tests.support.program import Program
from tests.support.waiting import eventually

MODERN = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
}
FROST = """\
---
title: Late frost
tags: [garden, weather]
aliases: [Spring frost]
---
# Late frost

Watch the sky in April.

## Protecting seedlings

Fleece at dusk holds two degrees; take it off before ten in the morning, or the seedlings get too
warm and grow long and weak in the shade of it. See [[Seedlings]].

### Cloches

A cloche of glass is warmer than fleece. ^cloche

## Records

- 2024: the last frost came on 12 May.
"""


def is_too_early(result: dict[str, Any]) -> bool:
    """Whether a tool has waited for the first index, and then said to call again."""
    return str(result["content"][0]["text"]).startswith("INDEX_NOT_FOUND: The first index is")


class Agent(Program):
    """A program whose server speaks MCP."""

    @property
    def url(self) -> str:
        return f"{self.endpoint}/mcp"

    def post(
        self, body: object, headers: dict[str, str] | None = None, path: str = "/mcp"
    ) -> tuple[int, dict[str, Any] | None, dict[str, str]]:
        """Send a POST and return its status, its JSON, and its headers."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        given = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            **(headers or {}),
        }
        request = urllib.request.Request(
            self.endpoint + path, method="POST", data=data, headers=given
        )
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
                content = reply.read()
                return reply.status, json.loads(content) if content else None, dict(reply.headers)
        except urllib.error.HTTPError as error:
            with error:
                content = error.read()
            return error.code, json.loads(content) if content else None, dict(error.headers)

    def ask(
        self, agent: str, method: str, headers: dict[str, str] | None = None, **params: Any
    ) -> dict[str, Any]:
        """Send a request of the newest revision to an agent's endpoint, or to that of the owner.

        Return the whole JSON-RPC reply.
        """
        more = params.pop("more", {})
        sent = {**params, "_meta": {**META, **more}}
        given = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method, **(headers or {})}
        name = sent.get("name", sent.get("uri"))
        if name is not None:
            given["Mcp-Name"] = name
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": sent}
        _, reply, _ = self.post(body, given, f"/mcp/{agent}" if agent else "/mcp")
        assert reply is not None
        return reply

    def rpc(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """Send a request as the owner and return the whole JSON-RPC reply."""
        return self.ask("", method, **(params or {}))

    def use(self, agent: str, name: str, **arguments: Any) -> str:
        """Call a tool as an agent and return its text."""
        result = self.ask(agent, "tools/call", name=name, arguments=arguments)["result"]
        text = str(result["content"][0]["text"])
        assert result["isError"] is False, text
        return text

    def refuse(self, agent: str, name: str, **arguments: Any) -> str:
        """Call a tool that must fail as an agent and return the text of its error."""
        result = self.ask(agent, "tools/call", name=name, arguments=arguments)["result"]
        text = str(result["content"][0]["text"])
        assert result["isError"] is True, text
        return text

    def tool(self, name: str, **arguments: Any) -> str:
        """Call a tool and return its text. Call it again while the first index is being built."""
        result = eventually(
            lambda: self.rpc("tools/call", {"name": name, "arguments": arguments})["result"],
            lambda result: not is_too_early(result),
        )
        assert result["isError"] is False, result["content"][0]["text"]
        return str(result["content"][0]["text"])

    def failing(self, name: str, **arguments: Any) -> str:
        """Call a tool that must fail and return the text of its error."""
        return self.refuse("", name, **arguments)


@pytest.fixture(scope="session")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    """Return a running server whose first index is built."""
    with Agent(tmp_path_factory.mktemp("agent")) as made:
        made.write("Garden/Beds/Late frost.md", FROST)
        made.write(
            "Garden/Seedlings.md", "# Seedlings\n\nWater seedlings in the morning. #garden\n"
        )
        made.write("Kitchen/Shopping.md", "- [ ] Buy flour 📅 2026-05-01\n- [x] Buy salt #shop\n")
        made.write("Kitchen/Bread.md", "# Bread\n\nThe dough rests overnight in a cool place.\n")
        made.write("Garden/Index.md", "# Garden index\n\n[[Late frost]] and [[Seedlings]].\n")
        made.write("Kitchen/Index.md", "# Kitchen index\n\n[[Bread]].\n")
        long = "".join(
            f"Line {number} of the long note about lamps.\n" for number in range(1, 3001)
        )
        made.write("Long.md", f"# Long\n\n{long}")
        made.start("--mcp")
        made.finish_first()
        yield made
