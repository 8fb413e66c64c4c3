"""Use a server as clients do for an hour, and see whether it keeps anything.

A synthetic vault is written and a real server is started on it. Then searches, reads, index runs,
edits to the vault and clients that hang up in the middle take turns at a gentle pace. The server
and every process below it are weighed at the start, each minute and at the end. The last line is
the verdict: no more descriptors, threads or processes than at the start, and memory within 20 MB.
The exit code is 1 where that does not hold. Linux only: it reads /proc.

    python benchmarks/soak.py                     an hour
    python benchmarks/soak.py --minutes 5         for a first look
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import socket
import struct
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from server import FINAL, Server, descendants
from vault import Vault, queries

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SEED = 1
TURN_SECONDS = 1.0
CANCELLED_PER_TURN = 1  # 3,600 in an hour
INDEX_EVERY = 30  # turns
REINDEX_EVERY = 600
CANCEL_JOB_EVERY = 170
BURST_EVERY = 60
BURST_CLIENTS = 24
WARM_UP_TURNS = 300  # until caches and the allocator have what they keep
# As many as the warm-up goes through: what a cache holds of each is no leak, and is not counted.
QUERIES = 400
# Longer than the server keeps an idle connection, and than a standby process takes to start.
SETTLE_SECONDS = 20.0
SPARE_BYTES = 20 * 1024 * 1024
LARGE_NOTE = "Large note.md"
ATTACHMENT = "attachment.bin"


@dataclass(frozen=True)
class Weight:
    """What the server and the processes below it hold at one moment."""

    descriptors: int
    threads: int
    processes: int
    server_rss: int
    below_rss: int
    anonymous: int  # the part of both that is no mapped file

    @property
    def rss(self) -> int:
        """Resident bytes of all processes together."""
        return self.server_rss + self.below_rss

    def line(self, name: str, work: Work) -> str:
        """Return the weight as a line of the report."""
        return (
            f"{name:>8}  {self.descriptors:>4} descriptors  {self.threads:>3} threads"
            f"  {self.processes:>2} processes  RSS {self.server_rss / 1e6:7.1f} +"
            f" {self.below_rss / 1e6:7.1f} MB  anonymous {self.anonymous / 1e6:7.1f} MB"
            f"  | {work.requests:,} requests, {work.cancelled:,} cancelled, {work.jobs} jobs,"
            f" {work.edits} edits"
        )


def weigh(pid: int) -> Weight:
    """Weigh a process and all below it."""
    descriptors = threads = processes = below = anonymous = 0
    server_rss = _status(pid)["VmRSS"]
    for each in (pid, *descendants(pid)):
        try:
            status = _status(each)
            descriptors += len(list(Path(f"/proc/{each}/fd").iterdir()))
        except OSError:  # ended between the listing and the look
            continue
        processes += 1
        threads += status["Threads"]
        anonymous += status.get("RssAnon", 0)
        below += status.get("VmRSS", 0) if each != pid else 0
    return Weight(descriptors, threads, processes, server_rss, below, anonymous)


def _status(pid: int) -> dict[str, int]:
    """Return the numbers of /proc/PID/status; sizes in bytes."""
    found = {}
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        name, _, rest = line.partition(":")
        words = rest.split()
        if words and words[0].isdigit():
            found[name] = int(words[0]) * (1024 if words[-1] == "kB" else 1)
    return found


@dataclass
class Work:
    """What clients do, one turn after another, and how often they did it."""

    server: Server
    root: Path
    plan: Vault
    requests: int = 0
    cancelled: int = 0
    jobs: int = 0
    edits: int = 0
    turns: int = 0
    failures: int = 0
    _notes: list[str] = field(default_factory=list)
    _chunks: list[str] = field(default_factory=list)
    _last_job: str | None = None

    def __post_init__(self) -> None:
        self._chance = random.Random(SEED)
        self._queries = itertools.cycle(queries(self.plan.vocabulary, QUERIES))
        self._refusals = itertools.cycle(self._cancellations())

    def turn(self) -> None:
        """Do everything that is due once."""
        self.turns += 1
        self._read()
        for _ in range(CANCELLED_PER_TURN):
            next(self._refusals)()
        if self.turns % BURST_EVERY == 5:
            self._burst()
        if self.turns % INDEX_EVERY == 10:
            self._edit()
            self._submit("reindex" if self.turns % REINDEX_EVERY == 10 else "index")
        if self.turns % CANCEL_JOB_EVERY == 100:
            self._cancel_job()

    def settle(self) -> None:
        """Wait until no job runs and what was left open has been closed."""
        while self._running() is not None:
            time.sleep(0.5)
        time.sleep(SETTLE_SECONDS)

    # --- whole requests ---------------------------------------------------------------------

    def _call(self, method: str, path: str, body: object = None) -> Any:
        """Send one request on a connection of its own; return its `data` where it has some."""
        self.requests += 1
        payload = b"" if body is None else json.dumps(body).encode()
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=120) as client:
            client.sendall(_request(method, path, payload, close=True))
            received = bytearray()
            while piece := client.recv(1 << 16):
                received += piece
        head, _, content = bytes(received).partition(b"\r\n\r\n")
        status = int(head.split(b" ", 2)[1])
        if status >= 500:
            self.failures += 1
        if status >= 300 or b"application/json" not in head:
            return None
        return json.loads(content)["data"]

    def _running(self) -> str | None:
        return self._call("GET", "/health")["runningJob"]

    def _read(self) -> None:
        found = self._call("POST", "/search", {"query": next(self._queries)})
        for hit in found["results"] if found else ():
            self._notes.append(hit["noteId"])
            if hit["type"] == "chunk":
                self._chunks.append(hit["id"])
        del self._notes[:-200], self._chunks[:-200]
        if self._notes:
            note = self._chance.choice(self._notes)
            self._call("GET", f"/notes/{note}?allowLarge=true")
            self._call("POST", "/related", {"id": note})
        if self._chunks:
            self._call("GET", _chunk_path(self._chance.choice(self._chunks)))
        if self.turns % 5 == 0:
            self._call("GET", "/jobs")
            self._call("GET", f"/attachments/{ATTACHMENT}?download=true")

    def _burst(self) -> None:
        """Search from many clients at once."""
        bodies = [{"query": next(self._queries)} for _ in range(BURST_CLIENTS)]
        clients = [
            threading.Thread(target=self._call, args=("POST", "/search", body)) for body in bodies
        ]
        for client in clients:
            client.start()
        for client in clients:
            client.join()

    # --- jobs and edits ---------------------------------------------------------------------

    def _submit(self, kind: str) -> None:
        submitted = self._call("POST", f"/{kind}", {})
        if submitted is not None:  # else one is still running
            self.jobs += 1
            self._last_job = submitted["job"]["id"]

    def _cancel_job(self) -> None:
        """Start a rebuild and cancel it in the middle."""
        self._submit("reindex")
        if self._last_job is not None:
            time.sleep(self._chance.uniform(0, 0.4))
            ended = self._call("DELETE", f"/jobs/{self._last_job}")
            assert ended is None or ended["job"]["state"] in FINAL | {"running"}

    def _edit(self) -> None:
        """Change some notes, rename one there and back, and leave the vault as large as it was."""
        for index in self._chance.sample(range(self.plan.notes), 5):
            path = self.root / self.plan.path(index)
            text = path.read_text(encoding="utf-8")
            path.write_text(text[: max(len(text) - 40, 0)] + f"\nedit {self.edits:036}\n")
            self.edits += 1
        moved = self.root / self.plan.path(self.edits % self.plan.notes)
        aside = moved.with_name(f"{moved.stem} moved.md")
        moved.rename(aside)
        self._submit("index")
        time.sleep(0.2)
        aside.rename(moved)

    # --- clients that hang up ---------------------------------------------------------------

    def _cancellations(self) -> list[Callable[[], None]]:
        def search() -> None:
            body = {"query": next(self._queries), "limit": 50}
            self._hang_up(_request("POST", "/search", json.dumps(body).encode()))

        def misspelled() -> None:
            body = {"query": " ".join(f"x{word}q" for word in next(self._queries).split())}
            self._hang_up(_request("POST", "/search", json.dumps(body).encode()))

        def related() -> None:
            if self._notes:
                body = {"id": self._chance.choice(self._notes)}
                self._hang_up(_request("POST", "/related", json.dumps(body).encode()))

        def note() -> None:
            if self._notes:
                path = f"/notes/{self._chance.choice(self._notes)}?allowLarge=true"
                self._hang_up(_request("GET", path))

        def large_note() -> None:
            found = self._call("POST", "/search", {"query": "path:Large"})
            if found and found["results"]:
                path = f"/notes/{found['results'][0]['noteId']}?allowLarge=true"
                self._hang_up(_request("GET", path))

        def chunk() -> None:
            if self._chunks:
                self._hang_up(_request("GET", _chunk_path(self._chance.choice(self._chunks))))

        def half_a_body() -> None:
            whole = _request("POST", "/search", b'{"query": "half"}')
            self._hang_up(whole[:-8])

        def half_a_head() -> None:
            self._hang_up(b"POST /search HTTP/1.1\r\nHost: local")

        def download() -> None:
            self._hang_up(_request("GET", f"/attachments/{ATTACHMENT}?download=true"))

        def events() -> None:
            if self._last_job is not None:
                self._hang_up(_request("GET", f"/jobs/{self._last_job}/events"))

        def index() -> None:
            self._hang_up(_request("POST", "/index", b"{}"))

        often = [search, misspelled, related, note, chunk] * 4
        return [*often, large_note, half_a_body, half_a_head, download, events, index]

    def _hang_up(self, sent: bytes) -> None:
        """Send this, wait for a moment and close; every other time with a reset."""
        self.requests += 1
        self.cancelled += 1
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=30) as client:
            client.sendall(sent)
            time.sleep(self._chance.choice((0, 0.001, 0.005, 0.02)))
            if self.cancelled % 2:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def _request(method: str, path: str, body: bytes = b"", *, close: bool = False) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost"]
    if body:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    if close:
        lines.append("Connection: close")
    return "\r\n".join([*lines, "", ""]).encode() + body


def _chunk_path(chunk: str) -> str:
    note, _, index = chunk.partition(":")
    return f"/chunks/{note}/{index}"


def verdict(weights: Sequence[Weight]) -> tuple[bool, str]:
    """Return whether the server kept nothing, and the line that says so.

    A run takes memory while it works. So the least of the first five weights is compared with the
    least of the last five.
    """
    start, end = weights[0], weights[-1]
    grown = [
        f"{after - before} more {name} ({before} → {after})"
        for name, before, after in (
            ("descriptors", start.descriptors, end.descriptors),
            ("threads", start.threads, end.threads),
            ("processes", start.processes, end.processes),
        )
        if after > before
    ]
    least = [min(weight.rss for weight in some) for some in (weights[:5], weights[-5:])]
    change = least[1] - least[0]
    if change > SPARE_BYTES:
        grown.append(f"{change / 1e6:.1f} MB more memory")
    if grown:
        return False, f"FAILED: {', '.join(grown)}."
    return True, f"PASSED: nothing was kept; memory changed by {change / 1e6:+.1f} MB."


def soak(minutes: float, notes: int) -> bool:
    """Run for so many minutes after a warm-up; return the verdict."""
    with tempfile.TemporaryDirectory(prefix="vault-agent-soak-") as folder:
        root = Path(folder) / "vault"
        root.mkdir()
        plan = Vault(notes, SEED)
        plan.write(root)
        (root / LARGE_NOTE).write_text("# Large\n\n" + "filler text of a large note\n" * 200_000)
        (root / ATTACHMENT).write_bytes(bytes(range(256)) * 20_000)
        home = Path(folder) / "home"
        home.mkdir()
        with Server(root, home) as server:
            while server.running_job() is not None:
                time.sleep(0.2)
            server.run("index")
            work = Work(server, root, plan)
            for _ in range(WARM_UP_TURNS):
                work.turn()
                time.sleep(TURN_SECONDS / 4)
            work.settle()
            start = weigh(server.process.pid)
            print(start.line("start", work), flush=True)
            weights = [start]
            began = time.monotonic()
            minute = 1
            while (elapsed := time.monotonic() - began) < minutes * 60:
                turn_began = time.monotonic()
                work.turn()
                if elapsed >= minute * 60:
                    weights.append(weigh(server.process.pid))
                    print(weights[-1].line(f"{minute} min", work), flush=True)
                    minute += 1
                time.sleep(max(0.0, TURN_SECONDS - (time.monotonic() - turn_began)))
            work.settle()
            weights.append(weigh(server.process.pid))
            print(weights[-1].line("end", work), flush=True)
    passed, line = verdict(weights)
    if work.failures:
        passed, line = False, f"{line} {work.failures} replies were server errors."
    print(line)
    return passed


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--notes", type=int, default=1_000)
    arguments = parser.parse_args()
    sys.exit(0 if soak(arguments.minutes, arguments.notes) else 1)


if __name__ == "__main__":
    main()
