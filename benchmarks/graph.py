"""Measure links, mentions and the graph over HTTP, and a check of links against a full parse.

Prints a Markdown table. The vault is synthetic: notes of about 600 bytes that link to ten others,
mostly in their own group. With `--vault` a real one is measured instead.

    python benchmarks/graph.py                         9,089 notes
    python benchmarks/graph.py --notes 38430
    python benchmarks/graph.py --vault ~/Notes

Communities are compared with those of networkx, which the development packages contain.
"""

from __future__ import annotations

import argparse
import gzip
import http.client
import json
import random
import statistics
import tempfile
import time
from pathlib import Path

import networkx

from server import Server
from vault import Vocabulary
from vault_agent.indexing.check_links import check_links
from vault_agent.markdown.parse import parse_note
from vault_agent.vault.exclude import Exclusions
from vault_agent.vault.read import decode, read_bytes
from vault_agent.vault.root import VaultRoot
from vault_agent.vault.scan import scan

LINKS_PER_NOTE = 10
GROUP = 40  # notes
INSIDE = 0.7  # share of links in the own group
REPEATS = 200
MAX_NOTE_BYTES = 1 << 20


def write_vault(root: Path, notes: int, seed: int = 1) -> None:
    """Write notes with two-word titles, links and some names of other notes in plain text."""
    chance = random.Random(seed)
    words = Vocabulary(seed, 4_000).words
    titles = []
    while len(titles) < notes:
        titles.append(f"{chance.choice(words)} {chance.choice(words)} {len(titles) % 97}")
    for number, title in enumerate(titles):
        folder = root / f"{number % 50}"
        folder.mkdir(parents=True, exist_ok=True)
        group = number - number % GROUP
        linked = [
            chance.randrange(group, min(group + GROUP, notes))
            if chance.random() < INSIDE
            else int(notes * chance.random() ** 2)
            for _ in range(LINKS_PER_NOTE)
        ]
        prose = [" ".join(chance.choices(words, k=6)) for _ in linked]
        lines = [f"{text} [[{titles[each]}]]." for text, each in zip(prose, linked, strict=True)]
        lines.append(f"Also {titles[chance.randrange(notes)]} {chance.choice(words)}.")
        (folder / f"{title}.md").write_text(f"# {title}\n\n" + "\n".join(lines) + "\n")


class Asked:
    """Sends requests on one connection and keeps their times."""

    def __init__(self, server: Server) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=600)

    def once(self, path: str, **headers: str) -> tuple[float, bytes, dict[str, str]]:
        """Return seconds, body and headers of one reply."""
        started = time.perf_counter()
        self._connection.request("GET", path, headers=headers)
        reply = self._connection.getresponse()
        body = reply.read()
        seconds = time.perf_counter() - started
        if reply.status >= 400:
            raise SystemExit(f"{path}: {reply.status} {body[:300]!r}")
        return seconds, body, dict(reply.headers)

    def data(self, path: str) -> dict:
        """Return the data of one reply."""
        return json.loads(self.once(path)[1])["data"]

    def many(self, what: str, paths: list[str]) -> None:
        """Print the median and the 95th percentile of some requests."""
        times = sorted(self.once(path)[0] for path in paths)
        show(what, statistics.median(times), f"p95 {times[int(0.95 * len(times))] * 1e3:.1f} ms")


def show(what: str, seconds: float, remark: str = "") -> None:
    print(f"| {what} | {seconds * 1e3:,.1f} ms | {remark} |", flush=True)


def measure(server: Server) -> None:
    asked = Asked(server)
    seconds, body, headers = asked.once("/graph", **{"Accept-Encoding": "gzip"})
    graph = json.loads(gzip.decompress(body))["data"]
    counts = graph["counts"]
    show("`/graph`, first", seconds, f"{counts['notes']:,} notes, {counts['edges']:,} edges")
    show(
        "`/graph`, again", asked.once("/graph", **{"Accept-Encoding": "gzip"})[0],
        f"{len(body) / 1e6:.2f} MB compressed",
    )  # fmt: skip
    known = {"Accept-Encoding": "gzip", "If-None-Match": headers["ETag"]}
    times = [asked.once("/graph", **known)[0] for _ in range(50)]
    show("`/graph`, 304", statistics.median(times))
    ids = random.Random(2).sample(graph["nodes"]["id"], min(REPEATS, counts["notes"]))
    asked.many("links of a note", [f"/notes/{each}/links" for each in ids])
    asked.many("backlinks of a note", [f"/notes/{each}/backlinks" for each in ids])
    asked.many("local graph, depth 2", [f"/notes/{each}/graph?depth=2" for each in ids])
    asked.many("mentions", [f"/notes/{each}/mentions" for each in ids])
    most = max(range(counts["notes"]), key=lambda each: graph["nodes"]["in"][each])
    hub = graph["nodes"]["id"][most]
    asked.many(
        f"backlinks of the most linked note ({graph['nodes']['in'][most]:,})",
        [f"/notes/{hub}/backlinks"] * 20,
    )
    asked.once("/graph/central")  # imports numpy
    asked.many("central, by PageRank", ["/graph/central"] * 20)
    seconds, body, _ = asked.once("/graph/communities")
    show("communities, first", seconds, f"modularity {modularity(graph, body)}")
    asked = Asked(server)  # the server closes a connection that is idle so long
    asked.many("broken links, first page", ["/links/broken"] * 20)
    asked.many("tags", ["/tags"] * 5)


def modularity(graph: dict, body: bytes) -> str:
    """Return our modularity against that of networkx."""
    pairs = zip(graph["edges"][::2], graph["edges"][1::2], strict=True)
    reference = networkx.Graph()
    reference.add_nodes_from(range(graph["counts"]["notes"]))
    reference.add_edges_from(pairs)
    started = time.process_time()
    best = networkx.community.louvain_communities(reference, seed=1)
    took = time.process_time() - started
    theirs = networkx.community.modularity(reference, best)
    ours = json.loads(body)["data"]["modularity"]
    return f"{ours:.4f}, networkx {theirs:.4f} in {took:.1f} s"


def check(vault: Path) -> None:
    """Compare a check of links with a parse of all notes, in turns."""
    parsing, checking = [], []
    for _ in range(2):
        with VaultRoot.open(str(vault), Exclusions(())) as root:
            started = time.process_time()
            for entry in scan(root).notes:
                content = read_bytes(root, entry.path, MAX_NOTE_BYTES)
                parse_note(decode(content.data, entry.path)[0], path=entry.path)
            parsing.append(time.process_time() - started)
            started = time.process_time()
            found = check_links(root, MAX_NOTE_BYTES)
            checking.append(time.process_time() - started)
    ratio = min(checking) / min(parsing)
    show(
        "`links check --vault-root`, processor time", min(checking),
        f"{ratio:.2f} × a parse of {len(found.notes):,} notes; {len(found.findings):,} findings",
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--notes", type=int, default=9_089)
    parser.add_argument("--vault", type=Path, help="a vault to read instead of a synthetic one")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        vault = chosen.vault
        if vault is None:
            vault = Path(folder, "vault")
            write_vault(vault, chosen.notes)
        home = Path(folder, "home")
        home.mkdir()
        print("| what | measured | |\n|---|---:|---|")
        with Server(vault, home) as server:
            if job := server.running_job():
                server.finish(job)
            measure(server)
        check(vault)


if __name__ == "__main__":
    main()
