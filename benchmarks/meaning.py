"""The whole program with embeddings on: the cost of a run and its effect on searches.

    python benchmarks/meaning.py [--notes 3000] [--dimension 768] [--latency 0.05]

A vault is indexed without embeddings first. Then the server starts with the endpoint of
`endpoint.py`. Over HTTP this measures:

- the throughput of a run with an endpoint of known capacity, compared with a bare load generator;
- bookkeeping: a run with an endpoint that answers at once, compared with the same generator;
- searches in each mode, on an idle server and during a run, and the time to embed one query;
- how long a new vector waits before it is searchable, and the longest pause of the server;
- the private memory of the server and of the indexing process.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from server import FINAL, JSON, Server, descendants
from vault import Vault, queries

if TYPE_CHECKING:
    from collections.abc import Iterator

ENDPOINT = Path(__file__).with_name("endpoint.py")
BATCH, IN_FLIGHT = 8, 2


class Endpoint:
    """The endpoint's process."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.url = f"http://127.0.0.1:{port}/v1/embeddings"

    def ask(self, connection: http.client.HTTPConnection, texts: list[str]) -> float:
        """Send one request; return its seconds."""
        body = json.dumps({"model": "m", "input": texts}).encode()
        started = time.perf_counter()
        connection.request("POST", "/v1/embeddings", body, JSON)
        connection.getresponse().read()
        return time.perf_counter() - started

    def connect(self) -> http.client.HTTPConnection:
        """Return a new connection."""
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def answered(self) -> list[tuple[float, int]]:
        """Return when how many texts were answered since the last call."""
        connection = self.connect()
        connection.request("GET", "/answered")
        return [(at, count) for at, count in json.loads(connection.getresponse().read())]


@contextmanager
def endpoint(dimension: int, latency: float = 0.0) -> Iterator[Endpoint]:
    """Run an endpoint that serves `IN_FLIGHT` requests at once."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, str(ENDPOINT), "--port", str(port), "--dimension", str(dimension)]
    command += ["--latency", str(latency), "--at-once", str(IN_FLIGHT)]
    with subprocess.Popen(command) as process:
        found = Endpoint(port)
        while True:
            try:
                found.answered()
                break
            except OSError:
                time.sleep(0.05)
        try:
            yield found
        finally:
            process.terminate()


def bare(target: Endpoint, texts: list[str]) -> float:
    """Send all texts and ignore the replies; return the seconds."""
    batches = iter([texts[start : start + BATCH] for start in range(0, len(texts), BATCH)])
    lock = threading.Lock()

    def send() -> None:
        connection = target.connect()
        while True:
            with lock:
                batch = next(batches, None)
            if batch is None:
                return
            target.ask(connection, batch)

    threads = [threading.Thread(target=send) for _ in range(IN_FLIGHT)]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - started


def settings(target: Endpoint) -> dict[str, str]:
    """Return the settings that turn embeddings on."""
    return {
        "VAULT_AGENT_EMBEDDING_ENABLED": "true",
        "VAULT_AGENT_EMBEDDING_ENDPOINT": target.url,
        "VAULT_AGENT_EMBEDDING_MODEL": "m",
    }


def percentiles(values: list[float]) -> str:
    """Return the median, the 99th percentile and the maximum as text, in milliseconds."""
    ordered = sorted(values)
    p50, p99 = ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.99)]
    return f"p50 {p50 * 1e3:.1f}, p99 {p99 * 1e3:.1f}, longest {ordered[-1] * 1e3:.1f} ms"


def private(pid: int) -> float:
    """Return a process's private resident memory in MB, without mapped files."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    sizes = dict(line.split(":") for line in lines if line.endswith("kB"))
    return int(sizes["Anonymous"].split()[0]) / 1024


class Bench:
    """One vault and its measurements."""

    def __init__(self, work: Path, arguments: argparse.Namespace) -> None:
        self.root = arguments.vault or work / "vault"
        self.home = work / "home"
        self.home.mkdir(exist_ok=True)
        self.dimension, self.latency = arguments.dimension, arguments.latency
        plan = Vault(10 if arguments.vault else arguments.notes, 1)
        if not arguments.vault:
            plan.write(self.root)
        self.searches = arguments.searches
        # No query occurs twice, because the server caches the vectors of recent queries.
        self.queries = iter(dict.fromkeys(queries(plan.vocabulary, 20 * arguments.searches)))
        self.chunks = 0

    def words(self) -> None:
        """Index without embeddings."""
        with Server(self.root, self.home) as server:
            if job := server.running_job():
                server.finish(job)
            time.sleep(2.0)
            self.chunks = server.call("GET", "/health")["index"]["chunks"]
            print(f"{self.chunks:,} chunks, load {os.getloadavg()[0]:.1f}")
            self.search(server, "lexical")
            print(
                f"server's private memory without embeddings: {private(server.process.pid):.0f} MB"
            )

    def search(self, server: Server, mode: str) -> list[float]:
        """Search with new queries; return the seconds of each."""
        wanted = islice(self.queries, self.searches)
        return [server.search(query, mode=mode) for query in wanted]

    def bookkeeping(self) -> None:
        """Run with an endpoint that answers at once."""
        texts = [f"{number} " + "some words of text " * 60 for number in range(self.chunks)]
        with endpoint(self.dimension) as target:
            least = bare(target, texts)
            target.answered()
            with Server(self.root, self.home, **settings(target)) as server:
                before = server.run("index") if server.running_job() else 0.0
                took, peak = self.run(server)
                answered = target.answered()
                sent = answered[-1][0] - answered[0][0]
                print(
                    f"run with an endpoint that answers at once: {took - before:.1f} s, of which"
                    f" {sent:.1f} s from the first reply to the last; bare generator {least:.1f} s;"
                    f" indexing process {peak:.0f} MB private",
                    flush=True,
                )
                self.idle(server, target)
        self.forget()

    def run(self, server: Server) -> tuple[float, float]:
        """Run an index job; return its seconds and the indexing process's private memory."""
        started = time.perf_counter()
        job, peak = server.submit("index"), 0.0
        while server.job(job)["state"] not in FINAL:
            for pid in descendants(server.process.pid):
                try:
                    peak = max(peak, private(pid))
                except (OSError, KeyError):
                    continue
            time.sleep(0.05)
        summary = server.job(job)["summary"]
        assert summary["embedded"] + summary["reused"] == summary["chunks"], summary
        return time.perf_counter() - started, peak

    def throughput(self) -> None:
        """Run with an endpoint of known capacity, without and with searches."""
        with endpoint(self.dimension, self.latency) as target:
            with Server(self.root, self.home, **settings(target)) as server:
                self.quiet_run(server, target)
            self.forget()
            with Server(self.root, self.home, **settings(target)) as server:
                self.searched_run(server, target)

    def forget(self) -> None:
        """Remove all vectors."""
        for path in (self.home / "index").rglob("vectors*"):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()

    def quiet_run(self, server: Server, target: Endpoint) -> None:
        """Measure the throughput of a run without searches."""
        texts = [f"{number} " + "some words of text " * 60 for number in range(800)]
        plain = len(texts) / bare(target, texts)
        target.answered()
        job = server.submit("index")
        ends = time.monotonic() + min(30.0, self.chunks / plain / 2) + 3.0
        while time.monotonic() < ends:
            server.job(job)
            time.sleep(0.2)
        answered = target.answered()[20:]
        ours = sum(count for _, count in answered[1:]) / (answered[-1][0] - answered[0][0])
        print(
            f"throughput: {ours:.1f} texts/s, bare generator {plain:.1f}: {ours / plain:.1%}",
            flush=True,
        )
        server.call("DELETE", f"/jobs/{job}")

    def searched_run(self, server: Server, target: Endpoint) -> None:
        """Measure searches during a run, the delay of new vectors, and pauses."""
        target.answered()
        stop = threading.Event()
        pauses: list[float] = []
        shares: list[tuple[float, float]] = []
        watcher = threading.Thread(target=self.watch, args=(server, stop, shares, pauses))
        job = server.submit("index")
        watcher.start()
        while server.job(job)["phase"] != "embed":
            time.sleep(0.05)
        for mode in ("lexical", "hybrid", "embedding"):
            time.sleep(1.0 if mode == "lexical" else 0.0)
            print(f"{mode} during a run: {percentiles(self.search(server, mode))}", flush=True)
        server.call("DELETE", f"/jobs/{job}")
        stop.set()
        watcher.join()
        print(f"GET /health during it: {percentiles(pauses)}")
        ages = self.ages(target.answered(), shares)
        print(f"age of the oldest vector that is not searchable: at most {max(ages):.2f} s")

    def watch(
        self,
        server: Server,
        stop: threading.Event,
        shares: list[tuple[float, float]],
        pauses: list[float],
    ) -> None:
        """Request `/health` a hundred times a second on a separate connection."""
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        while not stop.wait(0.01):
            started = time.perf_counter()
            connection.request("GET", "/health")
            reply = json.loads(connection.getresponse().read())["data"]
            pauses.append(time.perf_counter() - started)
            shares.append((time.monotonic(), reply["embeddings"]["share"]))

    def ages(
        self, answered: list[tuple[float, int]], shares: list[tuple[float, float]]
    ) -> list[float]:
        """Return, for each sample, the age of the oldest vector that is not searchable yet."""
        batches = [(at, count) for at, count in answered if count > 3]  # no probes and no queries
        ages: list[float] = []
        place = counted = 0
        first = batches[0][0]
        for at, share in shares:
            if at < first:
                continue
            while place < len(batches) and counted + batches[place][1] <= share * self.chunks:
                counted += batches[place][1]
                place += 1
            if place < len(batches):
                ages.append(at - batches[place][0])
        return ages

    def idle(self, server: Server, target: Endpoint) -> None:
        """Measure searches on an idle server, and the memory after them."""
        for mode in ("lexical", "hybrid", "embedding"):
            print(f"{mode}, idle: {percentiles(self.search(server, mode))}", flush=True)
        connection = target.connect()
        asked = [target.ask(connection, ["a query"]) for _ in range(self.searches)]
        print(f"the endpoint for one query: {percentiles(asked)}")
        print(f"server's private memory with embeddings: {private(server.process.pid):.0f} MB")


def main() -> None:
    """Parse the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--notes", type=int, default=3_000)
    parser.add_argument("--vault", type=Path, help="an existing vault from vault.py")
    parser.add_argument("--dimension", type=int, default=768)
    parser.add_argument("--latency", type=float, default=0.05, help="seconds per request")
    parser.add_argument("--searches", type=int, default=300)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(Path(name), arguments)
        bench.words()
        bench.bookkeeping()
        bench.throughput()


if __name__ == "__main__":
    main()
