"""The hook of agents: it never fails, never waits long, and loses no event."""

from __future__ import annotations

import json
import os
import signal
import socketserver
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from tests.support.clocks import PATIENCE
from tests.support.homes import at_home
from tests.support.waiting import eventually

from vault_agent.config.project import OURS, VAULT, ensure_project_file
from vault_agent.config.rules import vault_identity
from vault_agent.config.vault_list import Registered, Role, add_vault
from vault_agent.memory.events import from_line, read_lines, session_paths
from vault_agent.model.sessions import SessionEvent

PROGRAM = (sys.executable, "-P", "-m", "vault_agent", "memory", "hook")
START = {
    "hook_event_name": "SessionStart",
    "session_id": "0f0e0d0c-1111-4222-8333-444455556666",
    "transcript_path": "/home/somebody/.claude/projects/x/t.jsonl",
    "source": "startup",
    "model": "a-model",
}
PROMPT = {
    **START,
    "hook_event_name": "UserPromptSubmit",
    "prompt": "make it faster",
    "source": "user",
}
END = {**START, "hook_event_name": "SessionEnd", "reason": "logout"}


class World:
    """A project with a trusted vault, and the settings of a user."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.home = self.folder / "home"
        self.project = self.folder / "project"
        (self.project / "src").mkdir(parents=True)
        self.vault = self.project / OURS / VAULT
        self.vault.mkdir(parents=True)
        self.config = self.home / ".config" / "vault-agent" / "config.toml"
        self.config.parent.mkdir(parents=True)
        self.switch("memory")
        self.register()

    def switch(self, *on: str) -> None:
        lines = [f"[{each}]\nenabled = true" for each in ("vaults", *on) if on]
        self.config.write_text("\n".join([*lines, f'[index]\ndir = "{self.data}"', ""]))

    def register(self) -> None:
        uid = ensure_project_file(self.project, "one").uid or ""
        registry = self.config.with_name("vaults.toml")
        add_vault(Registered(self.vault, Role.PROJECT, "one", uid), registry)

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def kept(self) -> list[SessionEvent]:
        """The events in the files of sessions."""
        lines = (line for path in session_paths(self.data) for line in read_lines(path))
        return [event for line in lines if (event := from_line(line)) is not None]

    def environment(self, **more: str) -> dict[str, str]:
        patient = {"VAULT_AGENT_MEMORY_HOOK_TIMEOUT_MS": "10000"}  # on a busy machine
        return {**os.environ, **at_home(self.home), **patient, **more}

    def hook(
        self,
        given: dict[str, Any] | bytes,
        *arguments: str,
        endpoint: str | None = "http://127.0.0.1:9",
        **more: str,
    ) -> dict[str, Any] | None:
        """Run the hook and return what it prints. It ends with code 0 and says nothing else."""
        data = given if isinstance(given, bytes) else json.dumps(self.placed(given)).encode()
        chosen = arguments or ("--agent", "claude-code")
        done = subprocess.run(
            [*PROGRAM, *chosen, *(("--endpoint", endpoint) if endpoint else ())],
            input=data,
            capture_output=True,
            env=self.environment(**more),
            check=False,
            timeout=PATIENCE,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        return json.loads(done.stdout) if done.stdout else None

    def placed(self, given: dict[str, Any]) -> dict[str, Any]:
        return {"cwd": str(self.project / "src"), **given}


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return World(tmp_path)


class Server:
    """A server that replies always the same, and notes what it got."""

    def __init__(self, reply: bytes | None) -> None:
        self.requests: list[bytes] = []
        outer = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                got = b""
                with suppress(OSError):
                    while b"\r\n\r\n" not in got or len(got) < outer.length(got):
                        part = self.request.recv(65_536)
                        if not part:
                            return
                        got += part
                    outer.requests.append(got)
                    if reply is None:
                        outer.released.wait(PATIENCE)
                    else:
                        self.request.sendall(reply)

        self.released = threading.Event()
        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.endpoint = f"http://127.0.0.1:{self.server.server_address[1]}"

    @staticmethod
    def length(got: bytes) -> int:
        head, _, _ = got.partition(b"\r\n\r\n")
        lengths = [line for line in head.split(b"\r\n") if line.startswith(b"Content-Length:")]
        return len(head) + 4 + int(lengths[0].partition(b":")[2])

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(each.partition(b"\r\n\r\n")[2]) for each in self.requests]


@contextmanager
def serving(reply: bytes | None) -> Iterator[Server]:
    server = Server(reply)
    with server.server:
        thread = threading.Thread(target=server.server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield server
        server.released.set()
        server.server.shutdown()


def reply(status: int, value: object) -> bytes:
    body = json.dumps(value).encode()
    return f"HTTP/1.1 {status} x\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


def accepted(text: str | None = None, message: str | None = None) -> bytes:
    return reply(202, {"data": {"text": text, "message": message}, "warnings": []})


def test_a_start_is_sent_and_what_it_brings_is_printed(world: World):
    with serving(accepted("[Vault Memory] …", "1 draft waits.")) as server:
        printed = world.hook(START, endpoint=server.endpoint)
    assert printed == {
        "hookSpecificOutput": {
            "hookEventName": "SessionStart",
            "additionalContext": "[Vault Memory] …",
        },
        "systemMessage": "1 draft waits.",
    }
    [event] = server.events
    assert event["event"] == "start"
    assert event["vault"] == vault_identity(world.vault)
    assert event["sessionId"] == START["session_id"]
    assert event["cwd"] == str(world.project / "src")
    assert [each.event for each in world.kept] == ["start"]


def test_other_agents_have_names_of_their_own(world: World):
    with serving(accepted("text")) as server:
        printed = world.hook(
            {"hook_event_name": "BeforeAgent", "session_id": "g1", "prompt": "hello"},
            "--agent=gemini",
            endpoint=server.endpoint,
        )
        assert printed["hookSpecificOutput"]["hookEventName"] == "BeforeAgent"
        world.hook({**START, "hook_event_name": "PreToolUse"}, endpoint=server.endpoint)
        world.hook(START, "--agent", "another", endpoint=server.endpoint)
    assert [each["agent"] for each in server.events] == ["gemini"]


@pytest.mark.fault(
    "Sessions, journals and memory of agents",
    "no server, one that fails, hangs up, never ends its reply, or is another program",
    "the agent goes on; the event is a line of its session's file",
)
@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(reply(403, {"error": {"code": "FEATURE_DISABLED"}}), id="it refuses"),
        pytest.param(reply(503, {}), id="it is busy"),
        pytest.param(b"", id="it hangs up"),
        pytest.param(b"SSH-2.0-OpenSSH\r\n\r\n", id="it is another program"),
        pytest.param(b"HTTP/1.1 202 x\r\n\r\n<html>", id="it is another server"),
        pytest.param(b"HTTP/1.1 202 x\r\n\r\n" + b" " * 300_000, id="it never ends"),
    ],
)
def test_an_event_is_kept_whatever_a_server_says(world: World, answer: bytes):
    with serving(answer) as server:
        assert world.hook(END, endpoint=server.endpoint) is None
    [event] = world.kept
    assert (event.event, event.reason) == ("end", "logout")
    [file] = session_paths(world.data)
    assert os.name == "nt" or file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("root", [{}, {"VAULT_AGENT_VAULT_ROOT": "{home}"}])
def test_whoever_listens_at_the_usual_port_gets_nothing(world: World, root: dict[str, str]):
    """Only the server of the vault, or a named one: another may be another user's."""
    with serving(accepted("theirs")) as server:
        port = server.endpoint.rpartition(":")[2]
        more = {name: value.format(home=world.home) for name, value in root.items()}
        more["VAULT_AGENT_MCP_ENABLED"] = "false"  # else a server of ours is started
        said = world.hook(PROMPT, endpoint=None, VAULT_AGENT_SERVER_PORT=port, **more)
        assert (said, server.requests) == (None, [])
    assert [each.event for each in world.kept] == ["prompt"]


def run_program(world: World, *arguments: str) -> str:
    command = [sys.executable, "-P", "-m", "vault_agent", *arguments]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env=world.environment(),
        check=False,
        timeout=PATIENCE,
    )
    return done.stdout


def test_a_server_is_started_for_the_events_to_come(world: World):
    notes = world.folder / "notes"
    notes.mkdir()
    with world.config.open("a") as file:
        file.write(f"[vault]\nroot = '{notes}'\n[server]\nport = 0\n")
    stopped = ""
    try:
        assert world.hook(PROMPT, endpoint=None) is None  # it does not wait for the server
        eventually(lambda: list(world.data.glob("indexes/*/server.address")))
    finally:
        stopped = run_program(world, "serve", "--stop")
    assert "topped" in stopped


@pytest.mark.parametrize(
    ("event", "more"),
    [
        (END, {}),
        (PROMPT, {"VAULT_AGENT_MCP_ENABLED": "false"}),
        (PROMPT, {"VAULT_AGENT_SERVER_ENDPOINT": "http://127.0.0.1:9"}),
        (PROMPT, {"VAULT_AGENT_OFF": "1"}),
    ],
)
def test_no_server_is_started_where_nobody_waits_or_settings_forbid_it(
    world: World, event: dict[str, Any], more: dict[str, str]
):
    world.hook(event, endpoint=None, VAULT_AGENT_VAULT_ROOT=str(world.home), **more)
    assert not list(world.data.glob("indexes/*/*"))


@pytest.mark.fault(
    "Sessions, journals and memory of agents",
    "a server that hangs",
    "the hook gives up after `memory.hook_timeout_ms`, prints nothing and ends with "
    "0; the event is kept",
)
def test_a_server_that_hangs_is_given_up(world: World):
    with serving(None) as server:
        timeout = {"VAULT_AGENT_MEMORY_HOOK_TIMEOUT_MS": "100"}
        assert world.hook(PROMPT, endpoint=server.endpoint, **timeout) is None
    assert [each.event for each in world.kept] == ["prompt"]


@pytest.mark.fault(
    "Sessions, journals and memory of agents",
    "the agent never closes the hook's input",
    "read until the JSON is whole",
)
def test_the_input_may_stay_open(world: World):
    with serving(accepted("text")) as server:
        process = subprocess.Popen(
            [*PROGRAM, "--agent", "claude-code", "--endpoint", server.endpoint],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=world.environment(),
        )
        whole = json.dumps(world.placed({**PROMPT, "prompt": "a } b"})).encode()
        middle = whole.index(b"}") + 1
        for part in (whole[:middle], whole[middle:]):
            process.stdin.write(part)
            process.stdin.flush()
            time.sleep(0.05)
        assert process.stdout.read()  # it has ended
        assert process.wait(PATIENCE) == 0
        process.stdin.close()
        process.stdout.close()


@pytest.mark.fault(
    "Sessions, journals and memory of agents",
    "input that is empty, no JSON, deep, over 1 MiB, or with a hostile session ID",
    "ignored; nothing is written",
)
@pytest.mark.parametrize(
    "given",
    [
        b"",
        b"{",
        b"\xff\xfe{}",
        b"[" * 100_000,
        b'{"cwd": "/", "prompt": "' + b"a" * (1 << 20) + b'"}',
        b'{"cwd": "\\u0000", "hook_event_name": "SessionStart", "session_id": "a"}',
        b'{"cwd": "/", "hook_event_name": "SessionStart", "session_id": "../../etc"}',
    ],
    ids=lambda given: given[:20].decode("latin-1"),
)
def test_what_is_no_event_is_ignored(world: World, given: bytes):
    assert world.hook(given) is None
    assert not world.data.exists()


@pytest.mark.fault(
    "Sessions, journals and memory of agents",
    "wrong arguments, an unknown setting, a damaged config file",
    "code 0, nothing printed",
)
def test_arguments_that_are_wrong_do_not_fail(world: World):
    for arguments in ((), ("--agent",), ("--nothing", "--agent", "codex"), ("--config", "/none")):
        done = subprocess.run(
            [*PROGRAM, *arguments],
            input=json.dumps(world.placed(START)).encode(),
            capture_output=True,
            env=world.environment(VAULT_AGENT_UNKNOWN="1"),
            check=False,
            timeout=PATIENCE,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_nothing_is_done_while_it_is_off(world: World):
    with serving(accepted("text")) as server:
        assert world.hook(START, endpoint=server.endpoint, VAULT_AGENT_OFF="1") is None
        world.switch()
        assert world.hook(START, endpoint=server.endpoint) is None
        world.switch("journal")
        assert world.hook(START, endpoint=server.endpoint) is not None
    assert len(server.requests) == len(world.kept) == 1
    world.switch()
    assert world.hook(PROMPT) is None
    assert len(world.kept) == 1


@pytest.mark.fault(
    "Sessions, journals and memory of agents",
    "a clone with a vault that is not trusted",
    "one line at the start; nothing is sent or injected",
)
def test_a_vault_that_is_not_trusted_is_told_once_and_not_used(world: World):
    (world.config.with_name("vaults.toml")).unlink()
    with serving(accepted("text")) as server:
        printed = world.hook(START, endpoint=server.endpoint)
        assert list(printed) == ["systemMessage"]
        assert "vault-agent vaults add" in printed["systemMessage"]
        assert world.hook(PROMPT, endpoint=server.endpoint) is None
    assert server.requests == []
    assert not world.data.exists()


def test_outside_a_project_nothing_is_done(world: World):
    assert world.hook({**START, "cwd": str(world.folder)}) is None
    assert not world.data.exists()


def test_the_commit_of_a_worktree_is_read_without_git(world: World):
    git = world.project / ".git"
    own = git / "worktrees" / "tree"
    own.mkdir(parents=True)
    tree = world.folder / "tree"
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {own}\n")
    (own / "gitdir").write_text(f"{tree}/.git\n")
    (own / "commondir").write_text("../..\n")
    (own / "HEAD").write_text("ref: refs/heads/topic\n")
    (git / "packed-refs").write_text(f"# pack-refs\n{'b' * 40} refs/heads/topic\n")
    (git / "HEAD").write_text(f"{'a' * 40}\n")
    world.hook({**START, "cwd": str(tree)})
    world.hook(START)
    assert [each.commit for each in world.kept] == ["b" * 40, "a" * 40]
    assert {each.vault for each in world.kept} == {vault_identity(world.vault)}


@pytest.mark.fault(
    "Sessions, journals and memory of agents",
    "kill -9 of the hook at any point",
    "the event is kept whole or not at all",
)
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="POSIX only")
def test_an_event_is_kept_whole_or_not_at_all(world: World):
    data = json.dumps(world.placed(PROMPT)).encode()
    for delay in (0.02, 0.06, 0.1, 0.15, 0.2):
        process = subprocess.Popen(
            [*PROGRAM, "--agent", "claude-code", "--endpoint", "http://127.0.0.1:9"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=world.environment(),
        )
        with suppress(BrokenPipeError):
            process.stdin.write(data)
            process.stdin.close()
        time.sleep(delay)
        process.kill()
        process.wait(PATIENCE)
    assert all(each.prompt == "make it faster" for each in world.kept)


def test_the_hook_imports_little():
    """Its start is what an agent waits for."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", "import sys, vault_agent.cli.hook; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = {each.partition(".")[0] for each in done.stdout.split()}
    ours = {"vault_agent", "platformdirs", "sitecustomize"}  # the last one is of the tests
    third = {
        each
        for each in loaded - ours
        if each not in sys.stdlib_module_names and not each.startswith("_")
    }
    assert third == set()
    slow = {"asyncio", "http", "email", "ssl", "subprocess", "logging", "dataclasses", "tempfile"}
    assert not slow & loaded
    assert "vault_agent.codes" not in done.stdout.split()
