"""The real program: a server process with a temporary vault, used over HTTP."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, Self

import pytest
from tests.support.clocks import PATIENCE
from tests.support.command import run_here
from tests.support.homes import at_home
from tests.support.privacy import Confidences
from tests.support.systems import NO_TERMINALS
from tests.support.waiting import eventually

PROGRAM = (sys.executable, "-m", "vault_agent")
APART = frozenset(
    ("serve", "demo", "mcp", "restart", "stop", "update", "connect", "disconnect", "enable", "hook",
     "open")
)  # fmt: skip
"""What starts or ends servers or agents, ends its process, or sets what signals do in it."""
JOB_SECONDS = 300.0


class Reply(NamedTuple):
    """An HTTP reply."""

    status: int
    body: dict[str, Any]

    @property
    def data(self) -> Any:
        assert "data" in self.body, self.body
        return self.body["data"]

    @property
    def code(self) -> str:
        return str(self.body["error"]["code"])

    @property
    def warnings(self) -> list[str]:
        return [warning["code"] for warning in self.body["warnings"]]


def is_served(reply: Reply) -> bool:
    """Whether a request has succeeded."""
    return reply.status == 200


class Program:
    """A vault, a home, and at most one server process at a time.

    What it is given is private: every log, error and error reply is examined for it.
    """

    def __init__(self, folder: Path) -> None:
        self.headers: dict[str, str] = {}
        self.vault = folder / "vault"
        self.vault.mkdir(exist_ok=True)
        self.indexes = folder / "data"
        self.home = folder / "home"
        self.home.mkdir(exist_ok=True)
        self.endpoint = ""
        self.variables: dict[str, str] = {}  # more settings, as environment variables
        self.server: subprocess.Popen[str] | None = None
        self.log = folder / "server.log"  # the standard error of all its servers
        self.private = Confidences()
        for place in (self.vault, self.indexes, self.home):
            self.private.add("an absolute path", str(place))

    @property
    def environment(self) -> dict[str, str]:
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("VAULT_AGENT_", "XDG_"))
        }
        endpoint = {"VAULT_AGENT_SERVER_ENDPOINT": self.endpoint} if self.endpoint else {}
        return {
            **kept,
            **at_home(self.home),
            **endpoint,
            "NO_COLOR": "1",
            "COLUMNS": "100",
            **self.variables,
        }

    def write(self, path: str, text: str | bytes = "") -> Path:
        """Write a file of the vault."""
        file = self.vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        self.private.add_lines("a file", text)
        return file

    def fill(self, notes: int) -> None:
        """Write many notes of a few chunks each."""
        for number in range(notes):
            sections = "\n\n".join(
                f"## Part {part}\n\nword{number} shared text of part {part}. " + "filler " * 60
                for part in range(4)
            )
            self.write(f"many/{number % 20}/Note {number}.md", f"# Note {number}\n\n{sections}\n")

    def popen(self, *arguments: str) -> subprocess.Popen[str]:
        """Start the program and collect its standard error in `log`."""
        with self.log.open("ab") as log:
            return subprocess.Popen(
                [*PROGRAM, *arguments],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )

    def start(self, *arguments: str) -> None:
        """Start a server on a free port and wait until it accepts requests."""
        self.endpoint = ""
        self.server = self.popen(
            *("--json", "serve", "--vault-root", str(self.vault), "--port", "0"),
            *("--index-dir", str(self.indexes), *arguments),
        )
        line = self.server.stdout.readline()
        if not line:
            self.server.communicate()
            raise AssertionError(self.log.read_text())
        announced = json.loads(line)
        self.endpoint = announced.get("data", announced)["endpoint"]

    def kill(self) -> None:
        """Kill the server as a power cut would."""
        self.server.kill()
        self._see_it_ended()

    def stop(self) -> tuple[int, float]:
        """Stop the server. Return its exit code and the seconds this took."""
        began = time.monotonic()
        self.server.send_signal(signal.SIGTERM)
        self._see_it_ended()
        return self.server.returncode, time.monotonic() - began

    def wait(self) -> int:
        """Wait until the server has ended by itself. Return its exit code."""
        self._see_it_ended()
        return int(self.server.returncode)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop all processes and check all logs."""
        if self.server is not None and self.server.poll() is None:
            self.kill()
            return
        if self.server is not None and self.server.stdout is not None:
            self.server.stdout.close()
        if self.log.exists():
            self.private.examine("the server's log", self.log.read_bytes())

    def _see_it_ended(self) -> None:
        out, _ = self.server.communicate(timeout=PATIENCE)
        self.private.examine("the server's standard output", out)
        self.private.examine("the server's log", self.log.read_bytes())

    def run(
        self, *arguments: str, at: Path | None = None, stdin: str = "", **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a command in the folder `at`: in this process, unless it needs its own."""
        if not APART.isdisjoint(arguments):
            return self.run_apart(*arguments, at=at, stdin=stdin, **variables)
        environment = {**self.environment, **variables}
        with ThreadPoolExecutor(1) as thread:  # it has an event loop of its own
            ended = thread.submit(run_here, arguments, environment, stdin, at).result()
        return self._examined(subprocess.CompletedProcess(arguments, *ended))

    def run_apart(
        self, *arguments: str, at: Path | None = None, stdin: str = "", **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a command in a process of its own and wait for its end."""
        ended = subprocess.run(
            [*PROGRAM, *arguments],
            check=False,
            cwd=at,
            env={**self.environment, **variables},
            input=stdin,
            capture_output=True,
            text=True,
            timeout=JOB_SECONDS,
        )
        return self._examined(ended)

    def at_a_terminal(
        self, *arguments: str, answers: Iterable[Any] = (), **variables: str
    ) -> tuple[int, str]:
        """Run a command at a terminal. An answer that can be called is called first.

        Return its exit code and what the terminal shows.
        """
        left = list(answers)
        ours, theirs = pytest.importorskip("pty", reason=NO_TERMINALS).openpty()
        process = subprocess.Popen(
            [*PROGRAM, *arguments],
            env={**self.environment, **variables},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)
        shown = b""
        deadline = time.monotonic() + PATIENCE
        try:
            while time.monotonic() < deadline:
                ready, _, _ = select.select([ours], [], [], 0.1)
                try:
                    part = os.read(ours, 4096) if ready else b""
                except OSError:  # the end of a terminal
                    break
                if ready and not part:
                    break
                shown += part
                if shown.endswith(b"[y/N] ") and left:
                    answer = left.pop(0)
                    if callable(answer):
                        answer()
                        continue
                    os.write(ours, answer.encode())
                    shown += b" "
            return process.wait(PATIENCE), shown.decode()
        finally:
            os.close(ours)
            if process.poll() is None:
                process.kill()

    def _examined(
        self, ended: subprocess.CompletedProcess[str]
    ) -> subprocess.CompletedProcess[str]:
        self.private.examine("a command's standard error", ended.stderr)
        if ended.stdout.startswith('{"error"'):
            self.private.examine("a command's error", ended.stdout)
        return ended

    def send(
        self,
        method: str,
        path: str,
        body: object = None,
        headers: dict[str, str] | None = None,
    ) -> Reply:
        """Send a request, with `self.headers` in it."""
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        given = {} if data is None else {"Content-Type": "application/json"}
        request = urllib.request.Request(
            self.endpoint + path,
            method=method,
            data=data,
            headers={**self.headers, **given, **(headers or {})},
        )
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
                return Reply(reply.status, json.loads(reply.read()))
        except urllib.error.HTTPError as error:
            with error:
                content = error.read()
            self.private.examine("an error reply", content)
            return Reply(error.code, json.loads(content))

    def call(self, method: str, path: str, body: object = None) -> Reply:
        """Send a request."""
        return self.send(method, path, body)

    def search(self, query: str, **options: object) -> Reply:
        """Search."""
        self.private.add("a query", query)
        return self.call("POST", "/search", {"query": query, **options})

    def submit(self, kind: str = "index", **options: bool) -> str:
        """Start a job, once no other one runs, and return its ID."""
        while (reply := self.call("POST", f"/{kind}", options)).status == 409:
            self.finish(reply.body["error"]["details"]["jobId"])
        assert reply.status == 202, reply
        return str(reply.data["job"]["id"])

    def finish(self, job_id: str) -> dict[str, Any]:
        """Wait for a job's end."""
        return eventually(
            lambda: self.call("GET", f"/jobs/{job_id}").data["job"],
            lambda job: job["state"] not in ("queued", "running"),
            seconds=JOB_SECONDS,
        )

    def finish_first(self) -> dict[str, Any]:
        """Wait for the job that the server has begun at its start."""
        return self.finish(self.call("GET", "/jobs").data["jobs"][0]["id"])

    def index(self, kind: str = "index", **options: bool) -> dict[str, Any]:
        """Run a job and expect success."""
        job = self.finish(self.submit(kind, **options))
        assert job["state"] == "succeeded", job
        return job
