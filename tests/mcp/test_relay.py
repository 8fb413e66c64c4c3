"""`vault-agent mcp`: what a client sees that starts it as its own server."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from tests.mcp.conftest import META, Agent, is_too_early
from tests.support.clocks import PATIENCE
from tests.support.folders import below
from tests.support.processes import is_gone
from tests.support.program import PROGRAM
from tests.support.systems import posix
from tests.support.waiting import eventually

from vault_agent.system.address import is_serving

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
SLOW = {
    "asyncclick",
    "aiohttp",
    "pydantic",
    "mcp",
    "mcp_types",
    "asyncio",
    "anyio",
    "numpy",
    "rich",
}


class Pipe:
    """A relay, with lines in and out."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process

    def send(self, message: object) -> None:
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        line = self.process.stdout.readline()
        assert line.endswith(b"\n"), line
        reply: dict[str, Any] = json.loads(line)
        return reply

    def ask(self, message: object) -> dict[str, Any]:
        self.send(message)
        return self.receive()

    def call(self, number: int, tool: str, **arguments: str) -> str:
        """Call a tool by the newest revision."""
        params = {"name": tool, "arguments": arguments, "_meta": META}
        request = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
        reply = eventually(
            lambda: self.ask(request), lambda reply: not is_too_early(reply["result"])
        )
        assert reply["id"] == number
        return str(reply["result"]["content"][0]["text"])


@contextmanager
def relay(program: Agent, *arguments: str) -> Iterator[Pipe]:
    """Start a relay as a client would. Its standard error must stay empty."""
    process = subprocess.Popen(
        [*PROGRAM, "mcp", *arguments],
        env=program.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        yield Pipe(process)
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=PATIENCE)


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Agent]:
    """Return a vault without a server. A server that a relay starts is stopped at the end."""
    with Agent(tmp_path) as made:
        made.variables = {
            "VAULT_AGENT_VAULT_ROOT": str(made.vault),
            "VAULT_AGENT_INDEX_DIR": str(made.indexes),
            "VAULT_AGENT_SERVER_PORT": "0",
        }
        made.write("Bread.md", "# Bread\n\nThe dough rests overnight in a cool place.\n")
        yield made
        made.run("serve", "--stop")


def server_processes(program: Agent) -> int:
    """Return the process that serves, by the record of the index."""
    noted = next(below(program.indexes, "server.address")).read_text()
    return int(noted.split("\n")[1])


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_official_client_speaks_with_it_in_both_eras(agent, mode):
    parameters = StdioServerParameters(
        command=PROGRAM[0], args=[*PROGRAM[1:], "mcp"], env=agent.environment
    )
    async with Client(parameters, mode=mode) as client:
        tools = (await client.list_tools()).tools
        found = await client.call_tool("vault_search", {"query": "fleece at dusk"})
        missing = await client.call_tool("vault_read", {"path": "Late forst"})
    assert tools[0].name == "vault_search"
    assert "Late frost.md:10-14" in found.content[0].text
    assert missing.is_error
    assert "Did you mean:\n- Garden/Beds/Late frost.md" in missing.content[0].text


def test_it_imports_nothing_slow(agent):
    asked = (PING, HANDSHAKE, {**PING, "id": 2, "method": "tools/list"})
    script = (
        "import os, sys\n"
        "def leave(code):\n"
        f"    print(*({SLOW!r} & set(sys.modules)), file=sys.stderr)\n"
        "    sys.exit(code)\n"
        "os._exit = leave\n"
        "sys.argv[1:] = ['mcp', '--no-start']\n"
        "from vault_agent.cli.main import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", script],
        env=agent.environment,
        input=b"".join(json.dumps(each).encode() + b"\n" for each in asked),
        capture_output=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.stderr.split() == []


# --- without a server -------------------------------------------------------------------------

CLIENT = {"name": "test", "version": "1"}
HANDSHAKE = {
    "jsonrpc": "2.0",
    "id": "shake",
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT},
}
LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")


def asks(pipe: Pipe, method: str, **params: Any) -> dict[str, Any]:
    """Return the result of a request, by the newest revision."""
    sent = {"jsonrpc": "2.0", "id": method, "method": method, "params": {**params, "_meta": META}}
    result: dict[str, Any] = pipe.ask(sent)["result"]
    return result


def no_server_ever(program: Agent) -> bool:
    return not list(below(program.home, "server.address"))


@pytest.mark.fault(
    "Agents",
    "a client connects while there is no server, no index or no vault",
    "the relay answers the handshake and the lists itself; calls wait for the server, "
    "or say what to do",
)
@pytest.mark.parametrize("where", ["no vault", "no server"])
def test_the_handshake_and_the_lists_need_neither_a_vault_nor_a_server(alone, where):
    if where == "no vault":
        del alone.variables["VAULT_AGENT_VAULT_ROOT"]
    with relay(alone, "--no-start") as pipe:
        result = pipe.ask(HANDSHAKE)["result"]
        assert (result["protocolVersion"], result["serverInfo"]["name"]) == (
            "2025-11-25",
            "vault-agent",
        )
        legacy = pipe.ask({**PING, "method": "tools/list"})["result"]
        assert [tool["name"] for tool in legacy["tools"]][:2] == ["vault_search", "vault_read"]
        for method in LISTS:
            assert asks(pipe, method)["ttlMs"] == 300_000
        assert "instructions" in asks(pipe, "server/discover")
        called = asks(pipe, "tools/call", name="vault_search", arguments={"query": "dough"})
        assert called["isError"] is True
        assert "vault-agent" in called["content"][0]["text"]
    assert no_server_ever(alone)


def test_a_call_without_a_vault_says_what_to_do(alone):
    del alone.variables["VAULT_AGENT_VAULT_ROOT"]
    with relay(alone) as pipe:
        pipe.ask(HANDSHAKE)
        text = pipe.call(1, "vault_search", query="dough")
    assert text.startswith("VAULT_NOT_FOUND: ")
    assert "Ask the user" in text
    assert "vault-agent setup --folder" in text


def test_the_lists_are_those_of_the_running_server(alone):
    """The relay and the server have other settings here: the server's count."""
    alone.variables["VAULT_AGENT_MCP_TOOLSET"] = "co-cli"
    alone.start("--mcp")
    with relay(alone) as pipe:
        assert asks(pipe, "tools/list")["tools"][0]["name"] == "search_notes"
        [prompt] = asks(pipe, "prompts/list")["prompts"]
        assert prompt["name"] == "ask_vault"


@pytest.mark.fault(
    "Agents",
    "the server of another vault or user listens at the usual port, or where a killed server did",
    "a relay does not use it",
)
def test_only_the_server_of_the_configured_vault_is_used(alone, agent):
    """Another user's or vault's server may listen where ours would."""
    alone.variables["VAULT_AGENT_SERVER_PORT"] = agent.endpoint.rpartition(":")[2]
    with relay(alone, "--no-start") as pipe:
        text = pipe.call(1, "vault_search", query="fleece")
    assert text.startswith("SERVER_UNAVAILABLE: ")
    del alone.variables["VAULT_AGENT_VAULT_ROOT"]
    with relay(alone) as pipe:
        text = pipe.call(1, "vault_search", query="fleece")
    assert text.startswith("VAULT_NOT_FOUND: ")


def test_an_address_that_a_killed_server_left_behind_is_not_used(alone, agent):
    with relay(alone) as pipe:
        assert "Bread.md" in pipe.call(1, "vault_search", query="dough")
    noted = next(below(alone.indexes, "server.address"))
    os.kill(server_processes(alone), signal.SIGKILL)
    _, *rest = noted.read_text().splitlines()
    noted.write_text("\n".join([agent.endpoint, *rest]) + "\n")
    eventually(lambda: not is_serving(noted.parent))  # its keeper ends a moment later
    with relay(alone) as pipe:
        assert "Bread.md" in pipe.call(1, "vault_search", query="dough")
        assert agent.endpoint not in noted.read_text()  # its server removes it when it ends


@pytest.mark.fault(
    "Agents",
    "a relay's input ends, a signal comes, or its parent is gone",
    "it ends with 0",
)
def test_it_ends_with_its_input_at_once_and_with_code_0(agent):
    with relay(agent) as pipe:
        assert pipe.ask(PING) == {"jsonrpc": "2.0", "id": 1, "result": {}}
        out, err = pipe.process.communicate(timeout=PATIENCE)
        assert (pipe.process.returncode, out, err) == (0, b"", b"")


def test_what_was_asked_before_the_end_of_the_input_is_answered(agent):
    params = {"name": "vault_search", "arguments": {"query": "dough"}, "_meta": META}
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}
    asked = [{**PING, "id": "last", "method": "initialize", "params": HANDSHAKE["params"]}, call]
    with relay(agent) as pipe:
        text = b"".join(json.dumps(line).encode() + b"\n" for line in asked)
        out, err = pipe.process.communicate(text.removesuffix(b"\n"), timeout=PATIENCE)
    replies = {reply["id"]: reply["result"] for reply in map(json.loads, out.splitlines())}
    assert replies.keys() == {"last", 2}
    assert replies["last"]["serverInfo"]["name"] == "vault-agent"
    assert "content" in replies[2]
    assert (pipe.process.returncode, err) == (0, b"")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize("number", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_a_signal_ends_it_while_its_input_is_open(agent, number):
    with relay(agent) as pipe:
        pipe.ask(PING)
        pipe.process.send_signal(getattr(signal, number))
        assert pipe.process.wait(PATIENCE) == 0


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no parents in this sense")
def test_it_ends_when_its_parent_is_gone(agent):
    sooner = (
        "from vault_agent.mcp import relay; relay.PARENT_SECONDS = 0.2;"
        " from vault_agent.cli.main import main; main()"
    )
    command = [sys.executable, "-P", "-c", sooner, "mcp"]
    script = (
        "import subprocess, sys, os, time\n"
        f"child = subprocess.Popen({command!r}, stdin=os.dup(0), stdout=os.dup(1))\n"
        "print(child.pid, file=sys.stderr, flush=True)\n"
        "time.sleep(600)"
    )
    reading, writing = os.pipe()  # stays open, as if another process had inherited it
    parent = subprocess.Popen(
        [sys.executable, "-c", script],
        env=agent.environment,
        stdin=reading,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    child = int(parent.stderr.readline())
    os.write(writing, json.dumps(PING).encode() + b"\n")
    assert parent.stdout.readline()  # the relay knows its parent by now
    parent.kill()
    parent.wait(PATIENCE)
    try:
        eventually(lambda: is_gone(child))
    finally:
        parent.stderr.close()
        parent.stdout.close()
        os.close(reading)
        os.close(writing)


def test_lines_that_are_no_messages_are_refused_and_it_goes_on(agent):
    with relay(agent) as pipe:
        for line, code in (
            (b"{canary", -32700),
            (b"\xff\xfe", -32700),
            (b"[" * 50_000, -32700),
            (json.dumps([PING]).encode(), -32600),
            (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600),
            (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', -32600),
            (b'"' + b"canary" * 50_000 + b'"', -32600),
        ):
            reply = pipe.ask(line)
            assert (reply["id"], reply["error"]["code"]) == (None, code)
            assert "canary" not in json.dumps(reply)
        for number in (0, "", "ä", -7, 2**40):
            assert pipe.ask({**PING, "id": number})["id"] == number


@pytest.mark.parametrize("first", [True, False])
def test_a_request_that_is_too_long_gets_a_reply_of_its_own(agent, first: bool):
    text = 'a "quoted" {line}\\\n' * 150_000  # 3 MB
    params = {"name": "vault_search", "arguments": {"query": text, "id": 8}, "_meta": META}
    rest = {"method": "tools/call", "params": params}
    for number in (7, "seven"):
        numbered = {"jsonrpc": "2.0", "id": number}
        with relay(agent) as pipe:
            reply = pipe.ask({**numbered, **rest} if first else {**rest, **numbered})
            assert (reply["id"], reply["error"]["code"]) == (number, -32600)
            assert reply["error"]["message"] == "The request is over 1,024 KiB. Send less at once."
            assert pipe.ask(PING)["id"] == 1


def test_a_reply_of_the_client_is_ignored_also_if_it_is_too_long(agent):
    with relay(agent) as pipe:
        for text in ("short", "x" * 1_100_000):
            reply = {"jsonrpc": "2.0", "id": 1, "result": {"text": text}}
            pipe.process.stdin.write(json.dumps(reply).encode() + b"\n")
        assert "result" in pipe.ask(PING)


def test_a_line_that_is_too_long_and_never_ends_gets_a_reply(agent):
    with relay(agent) as pipe:
        pipe.process.stdin.write(json.dumps({**PING, "params": {"x": "x" * 1_100_000}}).encode())
        pipe.process.stdin.close()
        assert pipe.receive()["error"]["code"] == -32600
        pipe.process.stdin = None


def test_errors_of_the_server_have_the_id_of_their_request(agent):
    with relay(agent) as pipe:
        reply = pipe.ask({**PING, "id": 7, "method": "no/such", "params": {"_meta": META}})
        assert (reply["id"], reply["error"]["code"]) == (7, -32601)
    with relay(agent, "--agent", "nobody") as pipe:
        reply = pipe.ask({**PING, "id": 8})
        assert reply["id"] == 8
        assert reply["error"]["message"] == "There is no agent of this name."


def test_many_requests_run_side_by_side(agent):
    with relay(agent) as pipe:
        for number in range(60):
            params = {"name": "vault_search", "arguments": {"query": "frost"}, "_meta": META}
            request = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
            pipe.send(request)
        replies = [pipe.receive() for _ in range(60)]
    assert sorted(reply["id"] for reply in replies) == list(range(60))
    assert all("Late frost" in reply["result"]["content"][0]["text"] for reply in replies)


@pytest.mark.fault(
    "Agents",
    "a client uses a request's ID again as soon as it has the reply",
    "it is answered",
)
def test_an_id_may_be_used_again_after_its_reply(agent):
    with relay(agent) as pipe:
        assert all("result" in pipe.ask(PING) for _ in range(300))


@pytest.mark.fault(
    "Agents",
    "no server runs and several relays start; the server is killed",
    "one server is started and shared; the next call starts another",
)
def test_a_server_is_started_if_none_runs_and_shared(alone):
    with relay(alone) as first, relay(alone) as second, relay(alone) as third:
        pipes = (first, second, third)
        for pipe in pipes:
            pipe.send(PING)
        assert [pipe.receive()["result"] for pipe in pipes] == [{}, {}, {}]
        assert "Bread.md:1-3" in first.call(2, "vault_search", query="dough")
        serving = server_processes(alone)
    with relay(alone) as fourth:
        fourth.ask(PING)
    assert server_processes(alone) == serving


def test_a_session_is_warned_of_a_state_once(alone):
    with relay(alone) as first, relay(alone) as second:
        for pipe in (first, second):
            found = [pipe.call(n, "vault_search", query="dough", mode="hybrid") for n in (1, 2)]
            assert ["! EMBEDDING_UNAVAILABLE: " in text for text in found] == [True, False]


@posix("signals of POSIX")
def test_a_killed_server_is_started_again_and_the_call_answered(alone):
    with relay(alone) as pipe:
        assert "Bread.md" in pipe.call(1, "vault_search", query="dough")
        before = server_processes(alone)
        os.kill(before, signal.SIGKILL)
        assert "Bread.md" in pipe.call(2, "vault_search", query="dough")
        assert server_processes(alone) != before


def note_other_version(program: Agent) -> int:
    """Make the record of the running server that of another version. Return its process."""
    noted = next(below(program.indexes, "server.address"))
    endpoint, pid, version = noted.read_text().splitlines()
    noted.write_text(f"{endpoint}\n{pid}\n{version.replace(version.split()[0], '0.0.1')}\n")
    return int(pid)


@pytest.mark.fault(
    "Agents",
    "a relay meets a server of another version",
    "one that a relay started is replaced; another one gets a warning",
)
def test_a_server_of_another_version_that_a_relay_started_is_replaced(alone):
    with relay(alone) as pipe:
        pipe.ask(PING)
    before = note_other_version(alone)
    with relay(alone) as pipe:
        assert "Bread.md" in pipe.call(1, "vault_search", query="dough")
        assert server_processes(alone) != before


def test_a_server_of_another_version_that_its_user_started_gets_a_warning(alone):
    alone.start("--mcp")
    before = note_other_version(alone)
    with relay(alone) as pipe:
        assert pipe.ask(PING)["result"] == {}
        assert server_processes(alone) == before
        _, err = pipe.process.communicate(timeout=PATIENCE)
        assert err == b"SERVER_OF_OTHER_VERSION: run `vault-agent serve --background`.\n"


def test_no_server_is_started_where_mcp_was_turned_off(alone):
    alone.variables["VAULT_AGENT_MCP_ENABLED"] = "false"
    try:
        with relay(alone) as pipe:
            reply = pipe.ask(PING)
    finally:
        del alone.variables["VAULT_AGENT_MCP_ENABLED"]
    assert reply["error"]["message"].startswith("FEATURE_DISABLED: ")
    assert reply["error"]["message"].endswith("vault-agent enable mcp")
    assert not list(below(alone.indexes, "server.address"))


@pytest.mark.fault(
    "Agents",
    "the server has MCP off; there is no vault",
    "the error names the switch, or the command to run",
)
def test_a_server_without_mcp_is_named_with_the_switch(alone):
    alone.start()
    with relay(alone) as pipe:
        reply = pipe.ask(PING)
    assert reply["id"] == 1
    assert reply["error"]["message"].startswith("FEATURE_DISABLED: ")
    assert reply["error"]["message"].endswith("vault-agent enable mcp")


def test_a_wrong_config_file_is_reported_before_anything_is_relayed(alone, tmp_path):
    config = tmp_path / "wrong.toml"
    config.write_text("[nothing]\n")
    done = alone.run("mcp", "--config", str(config))
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("CONFIG_INVALID: ")


def test_the_revision_of_the_handshake_is_kept_for_later_requests(agent):
    with relay(agent) as pipe:
        client = {"name": "test", "version": "1"}
        params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
        reply = pipe.ask({**PING, "method": "initialize", "params": params})
        assert reply["result"]["protocolVersion"] == "2025-06-18"
        pipe.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        listed = pipe.ask({**PING, "id": 2, "method": "tools/list"})["result"]
        assert "resultType" not in listed
        modern = {"_meta": META}
        listed = pipe.ask({**PING, "id": 3, "method": "tools/list", "params": modern})["result"]
        assert listed["resultType"] == "complete"


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX terminal")
def test_at_a_terminal_it_says_what_it_waits_for(alone: Agent):
    import pty

    leader, follower = pty.openpty()
    with subprocess.Popen(
        [*PROGRAM, "mcp"],
        env=alone.environment,
        stdin=follower,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stderr.readline() == (
            b"Waiting for MCP on stdin. Agents start this. Ctrl-C ends it.\n"
        )
        process.terminate()
        out, err = process.communicate(timeout=PATIENCE)
    os.close(leader)
    os.close(follower)
    assert (out, err) == (b"", b"")
