"""Lines that many notes have, such as footers: found in a sample when a generation is made."""

from __future__ import annotations

from collections import Counter
from contextlib import aclosing
from typing import TYPE_CHECKING

from vault_agent.indexing.batches import parsed
from vault_agent.indexing.parse import FileTask

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vault_agent.indexing.batches import Parse
    from vault_agent.model.notes import FileEntry

SAMPLED_FROM = 400
"""The least number of notes of a vault in which such lines are looked for."""
SAMPLED_EACH, MAX_SAMPLE = 20, 200
"""One in twenty notes is in the sample, at most so many."""
REPEATED_SHARE = 0.25


async def find_repeated(notes: Sequence[FileEntry], parse: Parse, parallel: int) -> frozenset[str]:
    """Return the lines that at least a quarter of a sample of the notes have."""
    if len(notes) < SAMPLED_FROM:
        return frozenset()
    step = max(SAMPLED_EACH, -(-len(notes) // MAX_SAMPLE))
    tasks = [FileTask(entry, None, 0) for entry in notes[::step]]
    counts: Counter[str] = Counter()
    async with aclosing(parsed(tasks, parse, parallel, None)) as batches:
        async for batch in batches:
            for file in batch:
                counts.update(file.lines)
    return frozenset(line for line, count in counts.items() if count >= REPEATED_SHARE * len(tasks))
