"""A person who saves notes while we write them, in all the ways in which editors save.

As a program (`python -m tests.faults.saves FOLDER ROUNDS SECONDS SEED HELD`) it plays rounds on
many notes at once: we append to a note while a person saves it, once. In the end the person's text
must be in the note, or beside it. It prints one line of JSON. `HELD` is the longest time, in
seconds, for which an editor has the note open before it saves.

A displaced file stays for a limited time. On a busy machine an editor may have its file open for
longer than that, without wanting to. Such a save is counted as late, and its text is not looked
for.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from tests.support.waiting import eventually_async
from tests.writing.opened import Vault, lingering, save_by_rename

from vault_agent.errors import VaultAgentError

AT_ONCE = 60


def truncating(file: Path, text: bytes, pause: float) -> None:
    """Save as Obsidian does: the file is emptied, then written in two parts."""
    del pause
    with file.open("wb", buffering=0) as opened:
        half = len(text) // 2
        opened.write(text[:half])
        opened.write(text[half:])


def in_place(file: Path, text: bytes, pause: float) -> None:
    """Write over the old bytes, then cut what is left."""
    with file.open("r+b", buffering=0) as opened:
        if pause < 0.001:
            time.sleep(pause)
        opened.write(text)
        opened.truncate()


def held(file: Path, text: bytes, pause: float) -> None:
    """Have the file open for a while before the text is written."""
    with file.open("r+b", buffering=0) as opened:
        time.sleep(pause)
        opened.write(text)
        opened.truncate()


def by_rename(file: Path, text: bytes, pause: float) -> None:
    """Write a new file and rename it over the old one."""
    del pause
    save_by_rename(file, text)


WAYS: tuple[Callable[[Path, bytes, float], None], ...] = (truncating, in_place, held, by_rename)


class Rounds:
    """Rounds of one writer and one person."""

    def __init__(
        self, folder: Path, seed: int, longest: float, *, linger: float | None = None
    ) -> None:
        self._linger = max(0.3, 2 * longest) if linger is None else linger
        self._vault = Vault(folder, lingering(self._linger))
        self._chance = random.Random(seed)
        self._longest = longest
        self._to_check: list[tuple[str, bytes, str]] = []
        self.counts: Counter[str] = Counter()
        self.lost: list[str] = []

    async def run(self, rounds: int, seconds: float) -> None:
        """Play so many rounds, or for so long."""
        end = time.monotonic() + seconds
        async with self._vault.opened():
            number = 0
            while number < rounds and time.monotonic() < end:
                some = min(AT_ONCE, rounds - number)
                await asyncio.gather(*(self._round(number + each) for each in range(some)))
                number += some
                await self._settle()
                self._check()

    async def _settle(self) -> None:
        """Wait until all displaced files have been looked at."""
        await eventually_async(self._vault.temporaries, lambda left: not left)

    async def _round(self, number: int) -> None:
        path = f"{number % 97}/{number}.md"
        base = f"note {number}\n" + "text that is there\n" * self._chance.randrange(60)
        file = self._vault.put(path, base)
        chosen = self._chance.choice(WAYS)
        text = f"saved {number}\n".encode() + base.encode()
        delays = self._chance.uniform(0, 0.03), self._chance.uniform(0, 0.03)
        pause = self._chance.uniform(0, self._longest)
        save = asyncio.to_thread(self._save, file, text, chosen, delays[0], pause)
        _, seconds = await asyncio.gather(self._write(path, delays[1]), save)
        self.counts["rounds"] += 1
        self.counts[chosen.__name__] += 1
        if chosen is not by_rename and seconds >= self._linger:
            self.counts["late"] += 1
        else:
            self._to_check.append((path, text, chosen.__name__))

    def _save(
        self,
        file: Path,
        text: bytes,
        chosen: Callable[[Path, bytes, float], None],
        delay: float,
        pause: float,
    ) -> float:
        """Save a text. Return for how many seconds the file was open at most."""
        time.sleep(delay)
        started = time.monotonic()
        chosen(file, text, pause)
        return time.monotonic() - started

    async def _write(self, path: str, delay: float) -> None:
        await asyncio.sleep(delay)
        try:
            for _ in range(self._chance.choice((1, 1, 2))):
                await self._vault.append(path, "ours\n")
                self.counts["written"] += 1
        except VaultAgentError as error:
            self.counts[error.code] += 1

    def _check(self) -> None:
        """Look at the notes of the last rounds, and remove them."""
        for path, text, chosen in self._to_check:
            file = self._vault.root / path
            line = text.splitlines()[0]
            beside = list(file.parent.glob(f"{file.stem} (conflict*).md"))
            texts = [file.read_bytes()] if file.exists() else []
            there = [data for data in texts if data.startswith(line)]
            kept = [each for each in beside if each.read_bytes().startswith(line)]
            self.counts["beside"] += bool(beside)
            self.counts["ours in the note"] += any(b"ours\n" in data for data in there)
            if not there and not kept:
                self.lost.append(f"{path}: a text saved {chosen} is gone")
            # Where both are kept, the note may have a half that an editor had written.
            whole = any(each.read_bytes() == text for each in kept)
            told = [data.removesuffix(b"ours\n").removesuffix(b"ours\n") for data in there]
            if not whole and any(data != text for data in told):
                self.lost.append(f"{path}: a text saved {chosen} is not as it was")
            for each in (file, *beside):
                each.unlink(missing_ok=True)
        self._to_check.clear()


def main(arguments: list[str]) -> None:
    """Play rounds, and print the account."""
    folder, rounds, seconds, seed, longest = arguments
    played = Rounds(Path(folder), int(seed), float(longest))
    asyncio.run(played.run(int(rounds), float(seconds)))
    print(json.dumps({**played.counts, "lost": played.lost[:10]}))


if __name__ == "__main__":
    main(sys.argv[1:])
