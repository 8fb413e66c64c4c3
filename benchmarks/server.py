"""A real server as a child process, used over HTTP, and its memory."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support.homes import at_home

from benchmarks.figures import megabytes

if TYPE_CHECKING:
    from collections.abc import Callable

PROGRAM = str(Path(sys.executable).with_name("vault-agent"))
_TICKS_A_SECOND = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
SEED = 1
SETTLE_SECONDS = 1.5
"""A pause before a measurement. After a job, old files are still being removed."""
POLL_SECONDS = 0.02
"""Between two looks at a job. Each costs the server time that is counted as the job's."""
FINAL = {"succeeded", "failed", "cancelled", "interrupted"}
JSON = {"Content-Type": "application/json"}


def isolated(home: Path) -> dict[str, str]:
    """Return an environment without the user's settings."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("VAULT_AGENT_")}
    folders = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")
    return kept | at_home(home) | dict.fromkeys(folders, str(home)) | {"NO_COLOR": "1"}


class Caller:
    """One client, with a connection that stays open."""

    def __init__(self, port: int, key: str = "") -> None:
        self._key = {"Authorization": f"Bearer {key}"} if key else {}
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)

    def close(self) -> None:
        """Close the connection. The next request opens another one."""
        self._connection.close()

    def call(self, method: str, path: str, body: object = None) -> Any:
        """Send one request on the open connection; return `data` or end the benchmark."""
        return json.loads(self._send(method, path, body))["data"]

    def search(self, query: str, **options: object) -> float:
        """Return the seconds from a search request to its reply."""
        started = time.perf_counter()
        self._send("POST", "/search", {"query": query, **options})
        return time.perf_counter() - started

    def _send(self, method: str, path: str, body: object) -> bytes:
        payload = None if body is None else json.dumps(body).encode()
        headers = self._key | (JSON if payload else {})
        self._connection.request(method, path, payload, headers)
        response = self._connection.getresponse()
        content = response.read()
        if response.status >= 400:
            raise SystemExit(f"{method} {path}: {response.status} {content[:300]!r}")
        return content


class Server:
    """`vault-agent serve` on a free port; use as a context manager."""

    def __init__(self, vault: Path, home: Path, program: str = PROGRAM, **settings: str) -> None:
        """Take settings as environment variables: `VAULT_AGENT_EMBEDDING_ENABLED="true"`.

        `program` is the `vault-agent` command to run.
        """
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.endpoint = f"http://127.0.0.1:{self.port}"
        self.index_dir = home / "index"
        self.environment = isolated(home) | {"VAULT_AGENT_SERVER_ENDPOINT": self.endpoint}
        self.environment |= settings
        self._command = (program, "serve", "--vault-root", str(vault), "--port", str(self.port))
        self._command += ("--index-dir", str(self.index_dir))
        self._log = home / "serve.log"

    def __enter__(self) -> Server:
        started = time.perf_counter()
        with self._log.open("w") as log:
            self.process = subprocess.Popen(
                self._command,
                env=self.environment,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
            )
        while not self._reachable():
            if self.process.poll() is not None or time.perf_counter() - started > 60:
                raise SystemExit(f"The server did not start:\n{self._log.read_text()}")
            time.sleep(0.005)
        self.start_seconds = time.perf_counter() - started
        self._caller = Caller(self.port, self.environment.get("VAULT_AGENT_SERVER_API_KEY", ""))
        self.call, self.search = self._caller.call, self._caller.search
        self.hang_up = self._caller.close
        return self

    def __exit__(self, *_: object) -> None:
        self._caller.close()
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def _reachable(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return True
        except OSError:
            return False

    def submit(self, kind: str) -> str:
        """Start an index or reindex job; return its ID."""
        return self.call("POST", f"/{kind}", {})["job"]["id"]

    def job(self, job_id: str) -> dict[str, Any]:
        """Return a job's current state."""
        return self.call("GET", f"/jobs/{job_id}")["job"]

    def finish(self, job_id: str) -> dict[str, Any]:
        """Wait until a job has ended; return it."""
        while (job := self.job(job_id))["state"] not in FINAL:
            time.sleep(POLL_SECONDS)
        if job["state"] != "succeeded":
            raise SystemExit(f"job {job['state']}: {job['error']}")
        return job

    def run(self, kind: str) -> float:
        """Run a job; return the seconds from the request to its end."""
        return self.cost(kind)[0]

    def cost(self, kind: str) -> tuple[float, float]:
        """Run a job; return its seconds, and the processor time of all processes (Linux)."""
        cpu, started = cpu_seconds(self.process.pid), time.perf_counter()
        self.finish(self.submit(kind))
        wall = time.perf_counter() - started
        return wall, cpu_seconds(self.process.pid) - cpu

    def running_job(self) -> str | None:
        """Return the ID of the running job, if there is one."""
        return self.call("GET", "/health")["runningJob"]

    def settle(self) -> float:
        """Wait for the first index; return the seconds that this took."""
        started = time.perf_counter()
        if job := self.running_job():
            self.finish(job)
        return time.perf_counter() - started


def embedding(endpoint: str, model: str) -> dict[str, str]:
    """Return the settings of semantic search by a model, none without one."""
    if not model:
        return {}
    return {
        "VAULT_AGENT_EMBEDDING_ENABLED": "true",
        "VAULT_AGENT_EMBEDDING_ENDPOINT": endpoint,
        "VAULT_AGENT_EMBEDDING_MODEL": model,
    }


# --- processor time -----------------------------------------------------------------------------


def cpu_seconds(pid: int) -> float:
    """Return the processor time of a process and all below it, ended ones included (Linux)."""
    return sum(_ticks(p, slice(11, 15)) for p in (pid, *descendants(pid))) / _TICKS_A_SECOND


def _ticks(pid: int, fields: slice) -> int:
    """Return the sum of fields of /proc/PID/stat: 11 user, 12 system, 13, 14 of children."""
    try:
        numbers = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # Ended between the listing and the look.
        return 0
    return sum(map(int, numbers[fields]))


# --- memory -------------------------------------------------------------------------------------


def _memory(pid: int) -> tuple[int, int]:
    """Return the resident and the proportional set size of one process, in bytes."""
    sizes = {"Rss": 0, "Pss": 0}
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        name, _, rest = line.partition(":")
        if name in sizes:
            sizes[name] = int(rest.split()[0]) * 1024
    return sizes["Rss"], sizes["Pss"]


def descendants(pid: int) -> list[int]:
    """Return the child processes of a process and their descendants."""
    below = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            below += [int(child), *descendants(int(child))]
    return below


@dataclass
class Peak:
    """The highest memory of the server and of all its child processes together, in bytes."""

    server_rss: int = 0
    server_pss: int = 0
    below_pss: int = 0
    below_processes: int = 0

    def server(self) -> str:
        """Return the memory of the server as the table has it."""
        return f"RSS {megabytes(self.server_rss)}, PSS {megabytes(self.server_pss)}"

    def below(self) -> str:
        """Return the memory of the processes below it as the table has it."""
        return f"PSS {megabytes(self.below_pss)} in {self.below_processes} processes"

    def sample(self, pid: int) -> None:
        """Measure the memory once."""
        try:
            rss, pss = _memory(pid)
            children = descendants(pid)
        except OSError:  # Not Linux, or the process has ended.
            return
        below = 0
        for child in children:
            try:
                below += _memory(child)[1]
            except OSError:  # The process has ended since it was listed.
                continue
        self.server_rss = max(self.server_rss, rss)
        self.server_pss = max(self.server_pss, pss)
        self.below_pss = max(self.below_pss, below)
        self.below_processes = max(self.below_processes, len(children))


def watch(pid: int, work: Callable[[], object]) -> Peak:
    """Measure the memory twenty times a second while `work` runs."""
    peak = Peak()
    stop = threading.Event()

    def loop() -> None:
        while not stop.wait(0.05):
            peak.sample(pid)

    thread = threading.Thread(target=loop)
    thread.start()
    try:
        work()
    finally:
        stop.set()
        thread.join()
    peak.sample(pid)
    return peak


def disk_bytes(folder: Path) -> int:
    """Return the size of a folder in bytes; hard links to one file count once."""
    seen: dict[tuple[int, int], int] = {}
    for path in folder.rglob("*"):
        if path.is_file():
            status = path.stat()
            seen[status.st_dev, status.st_ino] = status.st_size
    return sum(seen.values())
