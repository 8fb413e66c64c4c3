"""What one caller or one hostile note costs others, each beside its usual time in the same run.

    python -m benchmarks harm               all of it, some minutes
    python -m benchmarks harm linear        processor time of a note and of four times as much
    python -m benchmarks harm notes         others while hostile notes are rendered and edited
    python -m benchmarks harm agents        a search while another agent makes 1,000 calls
    python -m benchmarks harm start         the handshake and the lists of a cold relay

Prints Markdown. The ratios count; seconds are those of this machine, as busy as it is.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.run import machine
from benchmarks.server import PROGRAM, Server, isolated

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

KEY = "benchmark-key-of-32-characters-aaaa"
HOSTILE = ("*a_ ", "[", "![[", "**a **", "<b title={}><p>", "# b\n", "a ^b\n\n", "> ")
MEGABYTE = 1 << 20
ABANDONED_AFTER = 2.0
CALLS = 1_000
ROUNDS = 5
VERSION = "2026-07-28"


def main() -> None:
    """Run the chosen parts."""
    parts = {"linear": linear, "notes": notes, "agents": agents, "start": start}
    parser = argparse.ArgumentParser(prog="python -m benchmarks harm", description=__doc__)
    parser.add_argument("part", nargs="*", choices=[[], *parts], metavar="PART")
    chosen = parser.parse_args().part or list(parts)
    print(machine(), flush=True)
    for name in chosen:
        print(f"\n## {name}\n", flush=True)
        asyncio.run(parts[name]())


# --- linear ---------------------------------------------------------------------------------------


async def linear() -> None:
    """Compare the processor time of hostile notes with that of notes four times as large."""
    from tests.markdown.rendering import html_of
    from tests.markdown.test_linear import OPERATIONS, UNITS, refusable
    from tests.support.clocks import cpu_seconds

    print("| operation | at most times as much for four times the text | with | slowest MB |")
    print("|---|---|---|---|")
    for name, work in {"render": html_of, **OPERATIONS}.items():
        rows = []
        for unit in UNITS:
            costs = []
            for size in (MEGABYTE // 16, MEGABYTE // 4):
                count = size // len(unit)
                text = "".join(unit.replace("{}", str(number)) for number in range(count))
                costs.append(min(cpu_seconds(refusable(work), text) for _ in range(3)))
            rows.append((costs[1] / max(costs[0], 0.002), unit, 4 * costs[1]))
        ratio, unit, _ = max(rows)
        print(f"| {name} | {ratio:.1f} | `{unit!r}` | {max(row[2] for row in rows):.1f} s |")
        sys.stdout.flush()


# --- hostile notes --------------------------------------------------------------------------------


async def notes() -> None:
    """Measure what others wait for while hostile notes are rendered, read and edited."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "vault")
        root.mkdir()
        names = []
        for number, unit in enumerate(HOSTILE):
            count = MEGABYTE // len(unit) - len(unit)
            text = "".join(unit.replace("{}", str(place)) for place in range(count))
            root.joinpath(f"h{number}.md").write_text(f"# H\n\n{text}"[: MEGABYTE - 64])
            names.append(f"h{number}")
        root.joinpath("Small.md").write_text("# Small\n\nThe quick brown fox.\n")
        root.joinpath("Large.md").write_text("# Large\n\n" + "The quick brown fox.\n\n" * 3_000)
        async with serving(root, Path(folder)) as (server, ids):
            others: dict[str, Callable[[], Awaitable[Any]]] = {
                "read a small note": lambda: ask(server, "GET", f"/notes/{ids['Small']}"),
                "show a small note": lambda: ask(server, "GET", f"/notes/{ids['Small']}/html"),
                "show a note of 66 kB": lambda: ask(server, "GET", f"/notes/{ids['Large']}/html"),
                "outline of 66 kB": lambda: ask(server, "GET", f"/notes/{ids['Large']}/outline"),
                "search": lambda: ask(server, "POST", "/search", {"query": "quick fox"}),
                "append to a note": lambda: write(server, "note", path="Small.md", content="x\n"),
                "append to a section of 66 kB": lambda: write(
                    server, "section", path="Large.md", heading=["Large"], content="x\n"
                ),
            }
            usual = {name: await timed(work) for name, work in others.items()}
            print("| meanwhile | usual | eight renders, given up after 2 s | eight renders |"
                  " eight edits |")  # fmt: skip
            print("|---|---|---|---|---|")

            def render(name: str) -> Awaitable[Any]:
                return ask(server, "GET", f"/notes/{ids[name]}/html")

            def edit(name: str) -> Awaitable[Any]:
                return write(server, "section", path=f"{name}.md", heading=["H"], content="x\n")

            columns = []
            for work, patience in ((render, ABANDONED_AFTER), (render, None), (edit, None)):
                tasks = [asyncio.create_task(again(work, name, patience)) for name in names]
                await asyncio.sleep(ABANDONED_AFTER + 0.5 if patience else 0.5)
                column = {}
                for name, other in others.items():
                    column[name] = await timed(other)
                    print(name, shown(column[name]), file=sys.stderr, flush=True)
                columns.append(column)
                await ended(tasks)
            for name in others:
                cells = [usual[name], *(column[name] for column in columns)]
                print(f"| {name} | {' | '.join(map(shown, cells))} |")
            tasks = [asyncio.create_task(again(render, name, None)) for name in names]
            await asyncio.sleep(2)
            began = time.perf_counter()
            server.process.send_signal(signal.SIGTERM)
            await asyncio.to_thread(server.process.wait)
            print(f"\nSIGTERM amid eight renders: ended after {time.perf_counter() - began:.2f} s")
            await ended(tasks)


async def again(work: Callable[[str], Awaitable[Any]], name: str, patience: float | None) -> None:
    """Repeat a request, and give each up after some seconds."""
    while True:
        with suppress(TimeoutError):
            async with asyncio.timeout(patience):
                await work(name)


async def ended(tasks: list[asyncio.Task[None]]) -> None:
    """End tasks, whatever becomes of them, and give the server a moment."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.sleep(1)


# --- agents ---------------------------------------------------------------------------------------


async def agents() -> None:
    """Measure an agent's search while another agent makes very many calls at once."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "vault")
        root.mkdir()
        for number in range(2_000):
            text = f"# Note {number}\n\nThe quick brown fox {number} jumps over the lazy dog.\n"
            root.joinpath(f"n{number}.md").write_text(text * 5)
        async with serving(root, Path(folder), agents=("one", "two")) as (server, _):
            keys = server.environment

            def search(name: str, words: str) -> Awaitable[Any]:
                return tool(server, name, keys[name], "vault_search", query=words)

            usual = await timed(lambda: search("two", "lazy fox"))
            calls = [
                asyncio.create_task(search("one", f"quick dog {number}")) for number in range(CALLS)
            ]
            await asyncio.sleep(0.2)
            during = []
            while not all(call.done() for call in calls):
                during += await seconds_of(lambda: search("two", "lazy fox"), 1)
            replies = await asyncio.gather(*calls, return_exceptions=True)
            done = sum(not isinstance(reply, BaseException) for reply in replies)
            found = statistics.median(during), max(during)
            ratio = found[0] / usual[0]
            print(f"Another agent's search: usually {shown(usual)}; during {CALLS:,} calls"
                  f" {shown(found)}, {ratio:.1f} times as long ({len(during)} searches;"
                  f" {done} calls were answered, the others refused)")  # fmt: skip


async def tool(server: Server, agent: str, key: str, name: str, **arguments: object) -> Any:
    """Call a tool as an agent."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": name, "arguments": arguments, "_meta": meta}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {
        "MCP-Protocol-Version": VERSION,
        "Mcp-Method": "tools/call",
        "Mcp-Name": name,
        "Accept": "application/json",
    }
    return await ask(server, "POST", f"/mcp/{agent}", body, key=key, headers=headers)


# --- a cold start ---------------------------------------------------------------------------------


async def start() -> None:
    """Measure the handshake and the lists of `vault-agent mcp` where no server runs."""
    await asyncio.to_thread(start_cold)


def start_cold() -> None:
    """Start relays without a vault, with one, and with one that is indexed."""
    print("| | initialize | with tools/list and prompts/list | processor time |")
    print("|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        home, root = Path(folder, "home"), Path(folder, "vault")
        home.mkdir()
        root.mkdir()
        root.joinpath("a.md").write_text("# A\n")
        environment = isolated(home) | {"VAULT_AGENT_MCP_ENABLED": "true"}
        with_vault = environment | {"VAULT_AGENT_VAULT_ROOT": str(root)}
        for name, variables in (("no vault", environment), ("a vault, no index", with_vault)):
            print_start(name, [started(variables) for _ in range(ROUNDS)])
            stop(variables)
        for command in (("serve", "--background"), ("index",)):
            subprocess.run([PROGRAM, *command], env=with_vault, capture_output=True, check=False)
        found = []
        for _ in range(ROUNDS):
            stop(with_vault)
            found.append(started(with_vault))
        print_start("a vault and an index", found)
        stop(with_vault)


def print_start(name: str, found: list[tuple[float, float, float]]) -> None:
    """Print a row of medians."""
    cells = [f"{statistics.median(column) * 1000:.0f} ms" for column in zip(*found, strict=True)]
    print(f"| {name} | {' | '.join(cells)} |", flush=True)


def started(environment: dict[str, str]) -> tuple[float, float, float]:
    """Return the seconds until the handshake, until the lists, and the relay's processor time."""
    began = time.perf_counter()
    with subprocess.Popen(
        [PROGRAM, "mcp"],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as relay:
        params = {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "benchmark", "version": "1"},
        }
        asked(relay, 1, "initialize", params)
        handshake = time.perf_counter() - began
        asked(relay, 2, "tools/list", {})
        asked(relay, 3, "prompts/list", {})
        lists = time.perf_counter() - began
        fields = Path(f"/proc/{relay.pid}/stat").read_text().rpartition(")")[2].split()
        cpu = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        relay.stdin.close()  # type: ignore[union-attr]
    return handshake, lists, cpu


def asked(relay: subprocess.Popen[bytes], number: int, method: str, params: object) -> None:
    """Send a request on the relay's standard input, and wait for its reply."""
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    assert relay.stdin is not None
    assert relay.stdout is not None
    relay.stdin.write(json.dumps(message).encode() + b"\n")
    relay.stdin.flush()
    reply = json.loads(relay.stdout.readline())
    if "result" not in reply:
        raise SystemExit(f"{method}: {reply}")


def stop(environment: dict[str, str]) -> None:
    """Stop the server that a relay has started."""
    command = [PROGRAM, "serve", "--stop"]
    subprocess.run(command, env=environment, capture_output=True, check=False)


# --- requests -------------------------------------------------------------------------------------


@asynccontextmanager
async def serving(
    root: Path, home: Path, agents: tuple[str, ...] = ()
) -> AsyncIterator[tuple[Server, dict[str, str]]]:
    """Yield a server that may write, whose index is built, and the note IDs by name.

    The keys of agents are in its environment, by their names.
    """
    config = home / "config.toml"
    config.write_text("[mcp]\nenabled = true\n")
    variables = {"VAULT_AGENT_CONFIG": str(config), "VAULT_AGENT_SERVER_API_KEY": KEY}
    keys = {}
    for name in agents:
        command = [PROGRAM, "agent", "add", name, "--folder", "."]
        made = await asyncio.to_thread(
            subprocess.run,
            command,
            env=isolated(home) | variables,
            capture_output=True,
            text=True,
            check=True,
        )
        keys[name] = made.stdout.strip()
    variables |= {
        "VAULT_AGENT_WRITE_ENABLED": "true",
        "VAULT_AGENT_WRITE_FOLDERS": '["."]',
        "VAULT_AGENT_WRITE_QUIET_SECONDS": "0",
        "VAULT_AGENT_WRITE_MAX_PER_MINUTE": "6000",
    }
    with Server(root, home, **variables) as server:
        server.environment |= keys
        while (await ask(server, "GET", "/health"))["data"]["runningJob"]:  # noqa: ASYNC110
            await asyncio.sleep(0.2)
        listed = await ask(server, "GET", "/notes?limit=20")
        yield server, {Path(row["path"]).stem: row["noteId"] for row in listed["data"]["notes"]}


async def ask(
    server: Server,
    method: str,
    path: str,
    body: object = None,
    *,
    key: str = KEY,
    headers: dict[str, str] | None = None,
) -> Any:
    """Send one request on a connection of its own. Return the reply's JSON."""
    data = b"" if body is None else json.dumps(body).encode()
    given = {
        "Host": f"127.0.0.1:{server.port}",
        "Authorization": f"Bearer {key}",
        "Content-Type": "application/json",
        "Content-Length": str(len(data)),
        "Connection": "close",
        **(headers or {}),
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in given.items())
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    try:
        writer.write(f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + data)
        reply = await reader.read()
    finally:
        writer.close()
    first, _, rest = reply.partition(b"\r\n")
    if b" 200 " not in first and b" 202 " not in first:
        raise RuntimeError(f"{method} {path}: {first!r} {rest[-300:]!r}")
    return json.loads(rest.partition(b"\r\n\r\n")[2])


async def write(server: Server, operation: str, **fields: object) -> Any:
    """Append text to a note or to a section."""
    body = {"mode" if operation == "note" else "action": "append", "waitMs": 0, **fields}
    return await ask(server, "POST", f"/write/{operation}", body | {"allowRepeat": True})


async def seconds_of(work: Callable[[], Awaitable[Any]], rounds: int) -> list[float]:
    """Return the seconds of each round of some work."""
    found = []
    for _ in range(rounds):
        began = time.perf_counter()
        await work()
        found.append(time.perf_counter() - began)
    return found


async def timed(work: Callable[[], Awaitable[Any]]) -> tuple[float, float]:
    """Return the median and the longest of some rounds, in seconds."""
    found = await seconds_of(work, ROUNDS)
    return statistics.median(found), max(found)


def shown(times: tuple[float, float]) -> str:
    """Return a median and a longest time."""
    return f"{times[0] * 1000:.0f} ms (at most {times[1] * 1000:.0f})"


if __name__ == "__main__":
    main()
