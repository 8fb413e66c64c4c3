"""A folder of the vault that is swapped for a link to outside, again and again, while we write.

As a program (`python -m tests.faults.swapped FOLDER TRIES SEED SECONDS`) it ends after so many
tries or seconds. It prints one line of JSON: how many writes were tried and done, how often the
folder was swapped, and what changed outside.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Awaitable
from contextlib import suppress
from pathlib import Path

from tests.writing.opened import Vault, lingering

from vault_agent.errors import VaultAgentError
from vault_agent.vault.folder import exchange

AT_ONCE = 8


class Swapper(threading.Thread):
    """Exchanges a folder and a link to outside, until it is stopped."""

    def __init__(self, folder: Path, outside: Path) -> None:
        super().__init__(daemon=True)
        self._folder = folder
        self._link = folder.with_name("link")
        self._link.symlink_to(outside)
        self.swaps = 0
        self.stopped = threading.Event()

    def run(self) -> None:
        """Swap at random moments."""
        chance = random.Random(3)
        while not self.stopped.is_set():
            for _ in ("a link", "a folder"):
                exchange(None, str(self._folder), None, str(self._link))
                time.sleep(chance.uniform(0, 0.002))
            self.swaps += 1


async def write_meanwhile(
    vault: Vault, inside: int, tries: int, seed: int, seconds: int
) -> Counter[str]:
    """Create, append to, remove and restore notes in the folder that is swapped.

    `inside` is that folder, in which a person puts the notes back.
    """
    end = time.monotonic() + seconds
    chance = random.Random(seed)
    counts: Counter[str] = Counter()

    async def one(work: Awaitable[object]) -> None:
        counts["tries"] += 1
        try:
            await work
            counts["done"] += 1
        except VaultAgentError as error:
            counts[error.code] += 1
            if error.code == "SERVER_BUSY":
                await asyncio.sleep(0.05)

    async with vault.opened():
        while counts["tries"] < tries and time.monotonic() < end:
            work = []
            for number in range(AT_ONCE):
                name = f"deep/folder/{number % 3}.md"
                work.append(
                    chance.choice(
                        [
                            lambda name=name: vault.append(name, "ours\n"),
                            lambda name=name: vault.overwrite(name, "ours\n"),
                            lambda: vault.create(f"deep/folder/{chance.random()}.md", "ours\n"),
                            lambda: vault.create(f"deep/folder/{chance.random()}/A.md", "ours\n"),
                            lambda name=name: vault.remove(name),
                            lambda name=name: vault.remove(name, permanent=True),
                            vault.undo,
                        ]
                    )()
                )
            await asyncio.gather(*map(one, work))
            for number in range(3):
                with suppress(OSError):
                    os.close(os.open(f"{number}.md", os.O_CREAT, 0o644, dir_fd=inside))
    return counts


def _state(folder: Path) -> dict[str, tuple[bytes, int, int, int]]:
    return {
        path.name: (path.read_bytes(), *(path.stat()[index] for index in (0, 1, 8)))
        for path in folder.iterdir()
    }


def main(arguments: list[str]) -> None:
    """Swap and write, and print the account."""
    folder, (tries, seed, seconds) = Path(arguments[0]), map(int, arguments[1:])
    outside = folder / "outside"
    outside.mkdir()
    for name in ("0.md", "1.md"):
        (outside / name).write_text("outside\n")
    before = _state(outside)
    vault = Vault(folder, lingering(0.05))
    vault.put("deep/folder/0.md", "inside\n")
    inside = os.open(vault.root / "deep/folder", os.O_RDONLY)
    swapper = Swapper(vault.root / "deep/folder", outside)
    swapper.start()
    try:
        counts = asyncio.run(write_meanwhile(vault, inside, tries, seed, seconds))
    finally:
        swapper.stopped.set()
        swapper.join()
    after = _state(outside)
    changed = [name for name in before.keys() | after.keys() if before.get(name) != after.get(name)]
    print(json.dumps({**counts, "swaps": swapper.swaps, "outside": changed}))


if __name__ == "__main__":
    main(sys.argv[1:])
