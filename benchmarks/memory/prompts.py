"""Measure what agents are given for prompts that were written by hand, half of them unrelated.

    python -m benchmarks memory.prompts [--repository FOLDER] [--vault FOLDER …] [--show]

`fixtures/prompts-other.txt` has a prompt a line, about other things than any vault here. A line of
`fixtures/prompts-own.txt` has the commit of this repository that it is about, too. The vaults are
the last 40, the last 200 and all commits of the repository, each as a journal, and the Markdown of
each folder. Every other prompt was kept aside while the rules were made; its figures are the second
ones. Printed are

- how many of the other prompts get nothing, and of the notes and tokens of what the others get
- how many of the own ones get nothing, and how many get their commit

The prompts are without files, so that their words alone count. The server runs in this process.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.memory.followups import _index
from benchmarks.memory.history import read_history
from vault_agent.app import open_app
from vault_agent.config.settings import Config
from vault_agent.memory.deliveries import MAX_NOTES
from vault_agent.model.memory import RecallQuery
from vault_agent.server.log import EventLog, Level
from vault_agent.server.serve import listening

if TYPE_CHECKING:
    from vault_agent.model.memory import Recalled
    from vault_agent.server.serve import Listening

ROOT = Path(__file__).parents[2]
SIZES = (40, 200, None)
Own = list[tuple[str, str]]


def main() -> None:
    """Parse the command line and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repository", type=Path, default=ROOT)
    parser.add_argument("--vault", type=Path, nargs="*", default=[])
    parser.add_argument("--show", action="store_true", help="print what the first half gets")
    arguments = parser.parse_args()
    other = (ROOT / "fixtures" / "prompts-other.txt").read_text("utf-8").splitlines()
    lines = (ROOT / "fixtures" / "prompts-own.txt").read_text("utf-8").splitlines()
    own: Own = [(line.split(" ", 1)[0], line.split(" ", 1)[1]) for line in lines]
    commits = read_history(arguments.repository)
    print("| vault | notes | others: nothing | notes, tokens | own: lost | own: found |")
    print("|---|---:|---:|---:|---:|---:|")
    for size in SIZES:
        chosen = commits[-size:] if size else commits
        notes = {each.path: each.note for each in chosen}
        here = [(h, text) for h, text in own if any(each.id.startswith(h) for each in chosen)]
        asyncio.run(_measure("history", notes, other, here, show=arguments.show))
    for folder in arguments.vault:
        paths = sorted(folder.rglob("*.md"))
        notes = {p.relative_to(folder).as_posix(): p.read_text("utf-8", "replace") for p in paths}
        asyncio.run(_measure(folder.name, notes, other, [], show=arguments.show))


async def _measure(
    name: str, notes: dict[str, str], other: list[str], own: Own, *, show: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        vault = Path(folder) / "vault"
        for path, text in notes.items():
            (vault / path).parent.mkdir(parents=True, exist_ok=True)
            (vault / path).write_text(text, "utf-8")
        config = Config(
            vault={"root": vault},
            index={"dir": Path(folder) / "index"},
            memory={"enabled": True},
        )
        log = EventLog(Level.ERROR, sys.stderr)
        async with listening(config, open_app=open_app, log=log, port=0) as server:
            await _index(server)
            given = [await _given(server, prompt) for prompt in other]
            mine = [(commit, prompt, await _given(server, prompt)) for commit, prompt in own]
    if show:
        for prompt, found in zip(other[::2], given[::2], strict=True):
            if found.notes:
                print(f"\n? {prompt}\n{found.text}")
        for commit, prompt, found in mine[::2]:
            print(f"\n{commit} {'LOST' if not found.notes else ''} ? {prompt}\n{found.text}")
    cells = [name, f"{len(notes)}", _halves([not each.notes for each in given])]
    some = [each for each in given if each.notes]
    notes_, tokens = ([len(e.notes) for e in some], [e.tokens for e in some])
    cells.append(f"{median(notes_):.0f}, {median(tokens):.0f}" if some else "")
    cells.append(_halves([not found.notes for _, _, found in mine]))
    cells.append(
        _halves([any(Path(n.path).stem.endswith(c) for n in found.notes) for c, _, found in mine])
    )
    print(f"| {' | '.join(cells)} |", flush=True)


async def _given(server: Listening, prompt: str) -> Recalled:
    """Return what a prompt brings to an agent that has not asked."""
    query = RecallQuery(prompt=prompt, max_notes=MAX_NOTES, bar=1.0)
    return await server.app.memory.recall(server.app.vaults.default, query)


def _halves(values: list[bool]) -> str:
    halves = (values[::2], values[1::2])
    return ", ".join(f"{sum(each) / len(each):.0%}" for each in halves if each)


if __name__ == "__main__":
    main()
