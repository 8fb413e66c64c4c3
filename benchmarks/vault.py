"""Write a synthetic vault of any size. The same seed gives the same vault.

The vault resembles real vaults where that affects indexing and search. Fifty thousand made-up words
follow Zipf's law. Sizes have a long tail: a median of 2.5 KB, a mean of 4 KB, and a few notes of
hundreds of KB. Every eighth note is in Japanese script. Links prefer popular notes. Notes have
frontmatter, nested tags, code and lists.
"""

from __future__ import annotations

import random
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

WORDS = 50_000
MEAN_BYTES = 4_096
SIGMA = 1.0  # of the sizes' log-normal distribution
LARGEST_BYTES = 512 * 1024
SECTION_BYTES = 1_400
LINKS_PER_NOTE = 8
CJK_SHARE = 0.12
CODE_SHARE = 0.15
UNRESOLVED_SHARE = 0.02

_ONSETS = "b bl br c ch cl d dr f fl g gl gr h j k l m n p pl pr r s sh sl st t tr v w z"
ONSETS = tuple(_ONSETS.split())
VOWELS = ("a", "e", "i", "o", "u", "ai", "ea", "ou", "io")
CODAS = ("", "", "", "n", "r", "s", "t", "l", "nd", "st", "ck", "m")
KANJI = [chr(point) for point in range(0x4E00, 0x4E00 + 1_200)]
PARTICLES = ("は", "が", "を", "に", "の", "で", "と", "も", "から", "まで")
ENDINGS = ("する", "した", "である", "になる", "がある")


class Vocabulary:
    """Words in order of frequency, drawn by Zipf's law."""

    def __init__(self, seed: int, size: int = WORDS) -> None:
        chance = random.Random(seed)
        self.words = self._words(chance, size)
        self.cjk = ["".join(chance.choices(KANJI, k=2)) for _ in range(size // 10)]
        self._cdf = self._zipf(size)
        self._cjk_cdf = self._zipf(len(self.cjk))

    @staticmethod
    def _words(chance: random.Random, size: int) -> list[str]:
        words: dict[str, None] = {}
        while len(words) < size:
            # Frequent words are short, as in every language.
            shortest = 1 if len(words) < 150 else 2
            syllables = shortest + (len(words) > 5_000) * chance.randint(0, 2)
            words["".join(_syllable(chance) for _ in range(syllables))] = None
        return list(words)

    @staticmethod
    def _zipf(size: int) -> np.ndarray:
        weights = 1 / np.arange(1, size + 1, dtype=np.float64)
        return np.cumsum(weights) / weights.sum()

    def draw(self, rng: np.random.Generator, count: int) -> list[str]:
        """Return `count` words, each drawn by its frequency."""
        words = self.words
        return [words[i] for i in np.searchsorted(self._cdf, rng.random(count))]

    def draw_cjk(self, rng: np.random.Generator, count: int) -> list[str]:
        """Return `count` two-character words, each drawn by its frequency."""
        words = self.cjk
        return [words[i] for i in np.searchsorted(self._cjk_cdf, rng.random(count))]


def _syllable(chance: random.Random) -> str:
    return chance.choice(ONSETS) + chance.choice(VOWELS) + chance.choice(CODAS)


class Vault:
    """The plan of a vault: the titles, folders and tags, then the text of each note."""

    def __init__(self, notes: int, seed: int = 1) -> None:
        self.notes = notes
        self.seed = seed
        self.vocabulary = Vocabulary(seed)
        self._rng = np.random.default_rng(seed)
        self._chance = random.Random(seed + 1)
        self.titles = self._titles()
        self.folders = self._folders()
        self.tags = [
            "/".join(self.vocabulary.words[200 + i : 201 + i + depth])
            for i, depth in enumerate(self._chance.choices((0, 0, 1, 2), k=200))
        ]

    def _titles(self) -> list[str]:
        """Return a distinct title for each note: one to four less common words, or CJK words."""
        titles: dict[str, None] = {}
        words, cjk = self.vocabulary.words, self.vocabulary.cjk
        while len(titles) < self.notes:
            if self._chance.random() < CJK_SHARE:
                title = "の".join(self._chance.choices(cjk, k=self._chance.randint(1, 2)))
            else:
                picked = self._chance.choices(words[300:], k=self._chance.randint(1, 4))
                title = " ".join(picked).capitalize()
            titles[title if title not in titles else f"{title} {len(titles)}"] = None
        return list(titles)

    def _folders(self) -> list[str]:
        """Return a folder for each note. Their number is the square root of the notes'."""
        count = max(4, round(self.notes**0.5))
        words = self.vocabulary.words[500 : 500 + count]
        tree = [""]
        for word in words:
            parent = self._chance.choice(tree[: 1 + len(tree) // 2])
            tree.append(f"{parent}{word.capitalize()}/")
        return self._chance.choices(tree, k=self.notes)

    def path(self, index: int) -> str:
        """Return the vault-relative path of a note."""
        return f"{self.folders[index]}{self.titles[index]}.md"

    def alias(self, index: int) -> str:
        """Return the alias of a note. Every fifth note has it in its frontmatter."""
        return f"{self.titles[index]} alias"

    def write(self, root: Path) -> int:
        """Write every note beneath `root`; return the bytes written."""
        for folder in sorted(set(self.folders)):
            (root / folder).mkdir(parents=True, exist_ok=True)
        sizes = self._rng.lognormal(np.log(MEAN_BYTES) - SIGMA**2 / 2, SIGMA, self.notes)
        total = 0
        for index, size in enumerate(np.minimum(sizes, LARGEST_BYTES)):
            data = self.text(index, int(size)).encode()
            (root / self.path(index)).write_bytes(data)
            total += len(data)
        return total

    def text(self, index: int, size: int) -> str:
        """Return about `size` bytes of Markdown for one note."""
        chance = self._chance
        cjk = self.titles[index][0] >= "\u3000"
        parts = [self._frontmatter(index), f"# {self.titles[index]}\n"]
        links = chance.randint(0, 2 * LINKS_PER_NOTE)
        # The last section exceeds the size by half a section on average.
        left = size - sum(map(len, parts)) - SECTION_BYTES // 2
        while left > 0:
            level = "#" * chance.choice((2, 2, 2, 3, 3, 4))
            heading = " ".join(self.vocabulary.draw(self._rng, chance.randint(1, 4)))
            section = [f"{level} {heading.capitalize()}\n"]
            for _ in range(chance.randint(1, 4)):
                words = self._prose(cjk, chance.randint(30, 110))
                here = min(links, chance.randint(0, 3))
                links -= here
                for _ in range(here):
                    words.insert(chance.randrange(len(words)), self._link())
                if chance.random() < 0.1:
                    words.append(f"#{chance.choice(self.tags)}")
                section.append(self._block(words))
            if chance.random() < CODE_SHARE / 2:
                section.append(self._code())
            parts += section
            # A CJK character is three bytes.
            left -= sum(map(len, section)) * (3 if cjk else 1)
        return "\n".join(parts)

    def _frontmatter(self, index: int) -> str:
        chance = self._chance
        if index % 5 and chance.random() < 0.4:
            return ""
        day = f"20{chance.randint(15, 25)}-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}"
        tags = ", ".join(chance.sample(self.tags, chance.randint(0, 3)))
        aliases = "" if index % 5 else f'aliases: ["{self.alias(index)}"]\n'
        return f"---\ncreated: {day}\ntags: [{tags}]\n{aliases}---"

    def _prose(self, cjk: bool, count: int) -> list[str]:
        if not cjk:
            words = self.vocabulary.draw(self._rng, count)
            words[0] = words[0].capitalize()
            words[-1] += "."
            return words
        chance = self._chance
        drawn = self.vocabulary.draw_cjk(self._rng, count)
        words = [word + chance.choice(PARTICLES) for word in drawn]
        words[-1] += chance.choice(ENDINGS) + "。"
        return ["".join(words[i : i + 6]) for i in range(0, len(words), 6)]

    def _block(self, words: list[str]) -> str:
        """Format words as a paragraph, or sometimes as a list or a quote."""
        lines = [" ".join(words[i : i + 14]) for i in range(0, len(words), 14)]
        mark = self._chance.choices(("", "- ", "> ", "- [ ] "), (16, 3, 1, 1))[0]
        return "".join(f"{mark}{line}\n" for line in lines)

    def _link(self) -> str:
        """Return a link to a note; popular notes are far more likely."""
        chance = self._chance
        if chance.random() < UNRESOLVED_SHARE:
            return f"[[{chance.choice(self.vocabulary.words)} unwritten]]"
        target = int(self.notes * chance.random() ** 3)
        title, path = self.titles[target], self.path(target)
        if target % 5 == 0 and chance.random() < 0.5:
            return f"[[{self.alias(target)}]]"
        return chance.choices(
            (f"[[{title}]]", f"[[{title}|so called]]", f"[[{path[:-3]}]]", f"![[{title}]]",
             f"[so called](</{path}>)"),
            (10, 4, 2, 1, 2),
        )[0]  # fmt: skip

    def _code(self) -> str:
        names = self.vocabulary.draw(self._rng, 12)
        body = "\n".join(f"    {a}_{b} = {b}({a!r})" for a, b in pairwise(names))
        return f"```python\n# {names[0]}\ndef {names[1]}():\n{body}\n```\n"


def queries(vocabulary: Vocabulary, count: int, seed: int = 7) -> list[str]:
    """Return queries of one to twelve words, drawn by frequency; every tenth is a CJK word."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 13, count)
    return [
        vocabulary.draw_cjk(rng, 1)[0] if i % 10 == 9 else " ".join(vocabulary.draw(rng, int(n)))
        for i, n in enumerate(lengths)
    ]
