"""Measures what an agent sees: the relay's start, its calls, its memory, and the size of replies.

    python -m benchmarks.agents --vault FOLDER [--queries N] [--clients N]

Takes tokens as characters / 4.4, which o200k_base gives on the tools' schemas.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from benchmarks.server import PROGRAM, Server, isolated

CHARACTERS_A_TOKEN = 4.4
HANDSHAKE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "benchmark", "version": "1"},
}
HOSTILE = ("(a+)+$", "(?s).*e.{200}qzq", "[a-z ]*e[a-z ]{40}q")


class Relay:
    """One `vault-agent mcp`, as a client starts it."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.began = time.perf_counter()
        self.process = subprocess.Popen(
            [PROGRAM, "mcp"], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._count = 0

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send a request and return its result."""
        self._count += 1
        request = {"jsonrpc": "2.0", "id": self._count, "method": method, "params": params}
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        reply = json.loads(self.process.stdout.readline())
        return reply["result"]

    def tool(self, name: str, **arguments: Any) -> tuple[str, float]:
        """Return the text of a call and its milliseconds."""
        began = time.perf_counter()
        result = self.ask("tools/call", {"name": name, "arguments": arguments})
        return result["content"][0]["text"], (time.perf_counter() - began) * 1000

    def end(self) -> float:
        """End its input and return the milliseconds until it has ended."""
        began = time.perf_counter()
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()
        return (time.perf_counter() - began) * 1000

    @property
    def memory(self) -> float:
        """Resident MB (Linux only)."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.findall(r"VmRSS:\s+(\d+)", status)[0]) / 1000


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def show(name: str, *figures: str) -> None:
    print(f"{name:<44}{' · '.join(figures)}", flush=True)


def queries(vault: Path, count: int) -> list[str]:
    """Return words of three from the notes, always the same."""
    chosen = random.Random(7)
    files = sorted(vault.rglob("*.md"))
    found = []
    while len(found) < count:
        words = re.findall(r"[A-Za-z]{4,}", chosen.choice(files).read_text("utf-8", "replace"))
        if len(words) > 20:
            found.append(" ".join(chosen.sample(words, 3)))
    return found


def start(environment: dict[str, str]) -> None:
    """Measure the handshake of relays while a server runs."""
    walls, processors, exits = [], [], []
    for _ in range(20):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        relay = Relay(environment)
        relay.ask("initialize", HANDSHAKE)
        walls.append((time.perf_counter() - relay.began) * 1000)
        memory = relay.memory
        exits.append(relay.end())
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        processors.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    show("initialize, server running, wall ms", f"p50 {statistics.median(walls):.0f}",
         f"p95 {percentile(walls, 0.95):.0f}")  # fmt: skip
    show("the same, CPU s of the relay", f"median {statistics.median(processors):.3f}")
    show("memory of a relay, MB", f"{memory:.1f}")
    show("exit after the end of input, ms", f"worst {max(exits):.1f}")


def calls(environment: dict[str, str], asked: list[str]) -> None:
    """Measure calls of one client: their time, and the bytes of their replies."""
    relay = Relay(environment)
    relay.ask("initialize", HANDSHAKE)
    tools = relay.ask("tools/list", {})["tools"]
    size = len(json.dumps(tools, ensure_ascii=False, separators=(",", ":")))
    show("schemas of the tools", f"{len(tools)} tools", f"{size} bytes",
         f"about {size / CHARACTERS_A_TOKEN:.0f} tokens")  # fmt: skip
    relay.tool("vault_search", query="warm up")
    texts, times = zip(*(relay.tool("vault_search", query=each) for each in asked), strict=True)
    sizes = [float(len(text.encode())) for text in texts]
    show("vault_search, ms", f"p50 {statistics.median(times):.1f}",
         f"p99 {percentile(list(times), 0.99):.1f}")  # fmt: skip
    show("ten results, bytes", f"median {statistics.median(sizes):.0f}",
         f"p99 {percentile(sizes, 0.99):.0f}")  # fmt: skip
    patterns = [rf"\b{each.split()[0]}\b" for each in asked]
    times = [relay.tool("vault_search", query=each, match="regex")[1] for each in patterns]
    show("regex, ms", f"p50 {statistics.median(times):.1f}",
         f"p95 {percentile(times, 0.95):.1f}")  # fmt: skip
    for pattern in HOSTILE:
        text, milliseconds = relay.tool("vault_search", query=pattern, match="regex")
        show(f"hostile {pattern}", f"{milliseconds:.0f} ms", text.split("\n")[0][:40])
    relay.end()


def side_by_side(environment: dict[str, str], asked: list[str], clients: int) -> None:
    """Measure several clients that call at once."""
    times: list[float] = []
    failures = 0

    def use(number: int) -> None:
        nonlocal failures
        relay = Relay(environment)
        relay.ask("initialize", HANDSHAKE)
        for place in range(100):
            query = asked[(number + place) % len(asked)]
            text, milliseconds = relay.tool("vault_search", query=query)
            times.append(milliseconds)
            failures += not re.match(r"\d+ places?", text)
        relay.end()

    threads = [threading.Thread(target=use, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    show(f"{clients} clients, {100 * clients} calls", f"{failures} failures",
         f"p50 {statistics.median(times):.0f} ms",
         f"p99 {percentile(times, 0.99):.0f} ms")  # fmt: skip


def cold(vault: Path, home: Path) -> None:
    """Measure the first handshake and answer where no server runs, with an index."""
    environment = isolated(home) | {
        "VAULT_AGENT_VAULT_ROOT": str(vault),
        "VAULT_AGENT_INDEX_DIR": str(home / "index"),
    }
    relay = Relay(environment)
    relay.ask("initialize", HANDSHAKE)
    handshake = time.perf_counter() - relay.began
    relay.tool("vault_search", query="note")
    answer = time.perf_counter() - relay.began
    relay.end()
    show("no server running", f"initialize {handshake:.2f} s", f"first answer {answer:.2f} s")
    subprocess.run([PROGRAM, "serve", "--stop"], env=environment, check=False, capture_output=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vault", type=Path, required=True)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--clients", type=int, default=10)
    given = parser.parse_args()
    asked = queries(given.vault, given.queries)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        with Server(given.vault, home, VAULT_AGENT_MCP_ENABLED="true") as server:
            environment = {**server.environment, "VAULT_AGENT_VAULT_ROOT": str(given.vault)}
            wait(environment)
            start(environment)
            calls(environment, asked)
            side_by_side(environment, asked, given.clients)
        cold(given.vault, home)
    load = os.getloadavg()[0]
    print(f"{os.cpu_count()} cores, load {load:.1f}, Python {sys.version.split()[0]}")


def wait(environment: dict[str, str]) -> None:
    """Wait for the first index. Each call waits for some seconds itself."""
    relay = Relay(environment)
    relay.ask("initialize", HANDSHAKE)
    while "INDEX_NOT_FOUND" in relay.tool("vault_search", query="x")[0]:
        pass
    relay.end()


if __name__ == "__main__":
    main()
