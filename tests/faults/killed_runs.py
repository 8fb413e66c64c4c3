"""Kill an index run at a step that is named, and say what a server would serve afterwards.

As a program (`python -m tests.faults.killed_runs FOLDER STEP`) it carries out the run of the step
over the vault in the folder, and kills itself at the step.
"""

from __future__ import annotations

import asyncio
import os
import pkgutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from tests.faults.disk import run_module
from tests.faults.embedder import MadeUp, settings
from tests.search.opened import opened
from tests.support.index_runs import Vault

from vault_agent.indexing.embed import embed
from vault_agent.model.search import Filters, SearchQuery
from vault_agent.search.search import search_in
from vault_agent.store.index import documents

WORDS = ("flour", "water", "salt", "rye", "oven", "loaf", "crust", "yeast")


class Step(NamedTuple):
    """A step of a run: the function at whose start, or end, the process is killed."""

    function: str
    call: int = 1
    """Which call of the function it is."""
    after: bool = False
    run: str = "paths"  # or "whole", "rebuild", "embed"
    publishes: bool = False
    """Whether the run has published its revision before."""


_ENGINE = "vault_agent.store.fulltext.writer"
_COMMIT, _MERGE = f"{_ENGINE}.FulltextWriter.commit", f"{_ENGINE}.FulltextWriter.merge"
_PUBLISH = "vault_agent.store.directory.IndexDirectory.make_current"
_VECTORS = "vault_agent.store.vectors.VectorStore"
_ADD = "vault_agent.store.index.writer.NoteWriter.add"
STEPS = {
    "after changed notes are removed, before they are stored": Step(_ADD),
    "after notes are stored, before links are resolved": Step(
        "vault_agent.indexing.index.resolve_links"
    ),
    "after links are resolved": Step("vault_agent.indexing.index.resolve_links", after=True),
    "before the full text is committed": Step(_COMMIT),
    "after one full-text index is committed": Step(f"{_ENGINE}._commit", after=True),
    "after the full text is committed, before SQLite is": Step(_COMMIT, after=True),
    "after SQLite is committed, before old rows are removed": Step(
        "vault_agent.indexing.index._IndexRun._tidy", publishes=True
    ),
    "before the removal of old rows is committed": Step(_COMMIT, 2, publishes=True),
    "after old rows are removed, before segments are merged": Step(_MERGE, publishes=True),
    "before the full text is written anew": Step(_COMMIT, 3, run="whole", publishes=True),
    "after the full text was written anew": Step(
        _COMMIT, 3, after=True, run="whole", publishes=True
    ),
    "while the notes of a new generation are stored": Step(_ADD, after=True, run="rebuild"),
    "before a new generation becomes current": Step(_PUBLISH, run="rebuild"),
    "after a new generation became current": Step(
        _PUBLISH, after=True, run="rebuild", publishes=True
    ),
    "while vectors are saved": Step(f"{_VECTORS}.save", 2, run="embed"),
    "before vectors are published": Step(f"{_VECTORS}.tidy", run="embed"),
    "after vectors are published": Step(f"{_VECTORS}.tidy", after=True, run="embed"),
}


async def published(vault: Vault) -> dict[str, Any]:
    """Return what a server that opens the index serves."""
    async with opened(vault) as snapshot:
        held: dict[str, Any] = {}
        for word in WORDS:
            hits = (await search_in(snapshot, SearchQuery(word, limit=50))).results
            held[word] = sorted((hit.path, hit.snippet) for hit in hits)
        notes = snapshot.query(documents.notes_and_documents, snapshot.fulltext.admitted(Filters()))
        held["notes"] = sorted(note.path for note in notes.values())
        return held


def kill_at(folder: Path, step: str) -> None:
    """Run in a separate process, which kills itself."""
    run_module("killed_runs", folder, step, code=-signal.SIGKILL)


async def run(vault: Vault, kind: str) -> None:
    """Carry out the run of a step."""
    if kind == "embed":
        await embed(str(vault.directory.path), MadeUp(), settings(), vault.heard)
    else:
        paths = ("notes", "new") if kind == "paths" else None
        await vault.run(rebuild=kind == "rebuild", paths=paths)


def _arm(step: Step) -> None:
    owner, _, name = step.function.rpartition(".")
    place = pkgutil.resolve_name(owner)
    real: Callable[..., Any] = getattr(place, name)
    calls = 0

    def last(*arguments: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        is_last = calls == step.call
        if is_last and not step.after:
            os.kill(os.getpid(), signal.SIGKILL)
        result = real(*arguments, **options)
        if is_last:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(place, name, last)


if __name__ == "__main__":
    chosen = STEPS[sys.argv[2]]
    _arm(chosen)
    asyncio.run(run(Vault(Path(sys.argv[1])), chosen.run))
