"""Measure the server's half of the web page in CPU time: rendering, suggestions, numbers, layout.

Prints a Markdown table. The parts without an index need no vault, and take half a minute. With
`--vault` or `--indexed NOTES` the calls over an index are measured too.

    python benchmarks/page.py
    python benchmarks/page.py --indexed 38000
    python benchmarks/page.py --vault FOLDER
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lists import opened
from vault import Vault
from vault_agent.graph.layout import Edges, lay_out
from vault_agent.markdown.render import Vault as Files
from vault_agent.markdown.render import render
from vault_agent.markdown.tree import build
from vault_agent.model.identifiers import identify
from vault_agent.model.lists import ListQuery, Sort
from vault_agent.model.pages import LinkedFile
from vault_agent.model.search import Filters
from vault_agent.model.suggestions import SuggestQuery
from vault_agent.ranking.names import NameIndex
from vault_agent.search.complete import names, stats_of, suggest
from vault_agent.search.html import Look, html_of_note
from vault_agent.search.lists import list_notes
from vault_agent.vault.exclude import Exclusions
from vault_agent.vault.root import VaultRoot

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

KIB = 1024
SIZES = (5, 50, 200)
NODES = (5_000, 20_000, 38_000)
NAMES = 38_000
ROUNDS = 9


def milliseconds(work: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Return the median CPU time of some work."""
    times = []
    for _ in range(rounds):
        began = time.process_time()
        work()
        times.append(1000 * (time.process_time() - began))
    return statistics.median(times)


def percentile(times: list[float], share: float) -> float:
    return sorted(times)[min(len(times) - 1, int(share * len(times)))]


def rendering(notes: Vault) -> None:
    """Measure the HTML of notes, links resolved beforehand."""
    text = "\n\n".join(notes.text(index, 20 * KIB) for index in range(12))
    for size in SIZES:
        note = text.encode()[: size * KIB].decode("utf-8", "ignore")
        tree = build(note)
        links = {
            ("a.md", each.target, each.kind): LinkedFile("b.md", "0" * 32) for each in tree.links
        }
        vault = Files(links, {}, lambda path: f"/ui/files/{path}?k=1")
        parsed = milliseconds(lambda note=note: build(note))
        whole = milliseconds(
            lambda note=note, vault=vault: render(build(note), "a.md", vault, depth=3)
        )
        print(f"| render {size} KiB | {whole:.1f} ms | of it the tree {parsed:.1f} ms |")


def naming(notes: Vault) -> None:
    """Measure the search of names."""
    every = [f"{Path(notes.path(index % 2_000)).stem} {index}" for index in range(NAMES)]
    built = milliseconds(lambda: NameIndex(every), 3)
    index = NameIndex(every)
    typed = sorted({name[:length].lower() for name in every[::400] for length in (1, 2, 3, 5, 9)})
    typed += [f"{name.split()[0][1:]} {number}" for number, name in enumerate(every[::900])]
    times = [milliseconds(lambda part=part: index.find(part), 1) for part in typed]
    print(f"| names: {len(every):,}, read once | {built:.0f} ms | |")
    print(
        f"| names: a search, {len(typed)} queries | p50 {percentile(times, 0.5):.1f} ms"
        f" | p95 {percentile(times, 0.95):.1f} ms |"
    )


def layout_of(size: int) -> tuple[float, float, float]:
    """Return the CPU seconds of a first and of a later layout, and the MiB at the peak."""
    random = np.random.default_rng(1)
    groups = np.sort(random.integers(0, 60, size))
    sources = random.integers(0, size, 2 * size)
    near = np.clip(sources + random.integers(-99, 100, 2 * size), 0, size - 1)
    targets = np.where(random.random(2 * size) < 0.1, random.integers(0, size, 2 * size), near)
    edges = Edges(sources, targets, np.ones(2 * size, np.float32))
    began = time.process_time()
    places = lay_out(size, edges, groups)
    first = time.process_time() - began
    known = places.copy()
    known[::50] = np.nan
    began = time.process_time()
    lay_out(size, edges, groups, known)
    later = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / KIB
    return first, later, peak if sys.platform != "darwin" else peak / KIB


def drawing() -> None:
    """Measure the layout, each size in a process of its own."""
    for size in NODES:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            first, later, peak = pool.apply(layout_of, (size,))
        print(
            f"| layout of {size:,} notes | {first:.1f} s | 2 % new: {later:.1f} s;"
            f" process {peak:.0f} MiB |"
        )


async def over_an_index(root: Path, directory: Path) -> None:
    """Measure the calls that read an index."""

    async def measured(what: str, work: Callable[[], Awaitable[object]], rounds: int) -> None:
        times, cpu = [], []
        for _ in range(rounds):
            began, began_cpu = time.perf_counter(), time.process_time()
            await work()
            times.append(1000 * (time.perf_counter() - began))
            cpu.append(1000 * (time.process_time() - began_cpu))
        print(
            f"| {what} | {statistics.median(cpu):.1f} ms"
            f" | time p50 {statistics.median(times):.1f}, p95 {percentile(times, 0.95):.1f} ms |"
        )

    current = await opened(root, directory)
    async with current.snapshot() as now:
        began = time.process_time()
        known = await names(now)
        read = 1000 * (time.process_time() - began)
        print(f"| suggestions: all names of {len(known.notes):,} notes, once | {read:.0f} ms | |")
        paths = [each.path for each in known.notes]
        typed = [Path(path).stem[:4] for path in paths[:: max(1, len(paths) // 100)]]
        place = iter(typed * 2)
        await measured(
            "suggestions",
            lambda: suggest(now, known, SuggestQuery(next(place), ("note",), None, 20), open_root),
            len(typed),
        )
        await measured("numbers, once for a revision", lambda: stats_of(now), 5)
        newest = ListQuery(Filters(), sort=Sort.UPDATED, limit=100)
        await measured("the newest 100 notes", lambda: list_notes(now, newest), 20)
        notes = iter(paths[:100] * 2)
        with open_root() as opened_root:
            look = Look(3, lambda path: f"/ui/files/{path}?k=1", 1)
            await measured(
                "a note as HTML, with its embeds",
                lambda: html_of_note(now, opened_root, identify(next(notes)), look),
                min(100, len(paths)),
            )
    await current.close()


def open_root() -> VaultRoot:
    """Open the vault that is measured."""
    return VaultRoot.open(str(ROOT[0]), Exclusions(()))


ROOT: list[Path] = []


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--vault", type=Path)
    parser.add_argument("--indexed", type=int)
    arguments = parser.parse_args()
    notes = Vault(2_000)
    print("| what | CPU | |\n|---|---:|---|")
    if arguments.vault is None and arguments.indexed is None:
        rendering(notes)
        naming(notes)
        drawing()
        return
    with tempfile.TemporaryDirectory() as work:
        root = arguments.vault
        if root is None:
            root = Path(work) / "vault"
            Vault(arguments.indexed).write(root)
        ROOT.append(root)
        asyncio.run(over_an_index(root, Path(work) / "data"))


if __name__ == "__main__":
    main()
