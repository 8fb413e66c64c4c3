"""Synthetic vaults with the shapes of real ones. The same seed gives the same vault.

The shapes were measured on real vaults: the size of a note, its sections and links, and what it is
made of.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.vault import Vocabulary

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Shape:
    """What the notes of a vault are like, on average."""

    name: str
    what: str
    notes: int  # in the benchmark
    sections: float  # a note
    section_bytes: int  # of prose
    links: float  # to other notes, a note, besides that of the frontmatter
    frontmatter: float  # share of notes
    tables: float = 0.0  # share of sections
    code: float = 0.0  # share of sections
    long_pages: float = 0.0  # share of notes that are ten times as long
    web: float = 0.0  # links to the web, a note
    comments: bool = False  # HTML and `%%` comments, as templates leave them
    languages: int = 1


MANUAL = Shape(
    "manual", "manual pages in 35 languages",
    notes=38_000, sections=1, section_bytes=0, links=0, frontmatter=0, languages=35,
)  # fmt: skip
PAGES = Shape(
    "pages", "plugin and theme pages from templates",
    notes=6_500, sections=2.8, section_bytes=460, links=2.5, frontmatter=0.9,
    code=0.05, web=5, comments=True,
)  # fmt: skip
GUIDE = Shape(
    "guide", "guides, some of them long",
    notes=5_000, sections=6.8, section_bytes=440, links=2.2, frontmatter=0.9,
    tables=0.15, code=0.2, long_pages=0.03, web=2, languages=8,
)  # fmt: skip
REFERENCE = Shape(
    "reference", "an API reference of small sections",
    notes=9_000, sections=10.4, section_bytes=265, links=9, frontmatter=0.9,
    tables=0.1, code=0.2, long_pages=0.01,
)  # fmt: skip
SHAPES = {shape.name: shape for shape in (MANUAL, PAGES, GUIDE, REFERENCE)}

# The letters of 35 languages, roughly.
_LATIN = "abcdefghijklmnoprstuvwz"
ALPHABETS = (
    *(_LATIN + marks for marks in ("", "äöüß", "éèàç", "ñáéí", "ãõçâ", "àèìò", "åäö", "æøå")),
    *(_LATIN + marks for marks in ("ąćęłż", "čďěřž", "őűáé", "şğıç", "ăâîț", "āēīū", "ėįų")),
    *(_LATIN + marks for marks in ("čćđ", "ë", "ơưđạ", "ŵŷ", "þðö", "ẹọṣ", "q", "xk", "jy")),
    "абвгдежзиклмнопрстуфхцчшыя",
    "абвгґдеєжзиіїйклмнопрст",
    "αβγδεζηθικλμνξοπρστυφχψω",
    "אבגדהוזחטיכלמנסעפצקרשת",
    "ابتثجحخدذرزسشصضطعغفقكلمنهوي",
    "कखगघचछजझटठडढतथदधनपफबभमयरलवसह",
    "กขคงจชซดตถทนบปพฟมยรลวสหอ",
    "아이우에오가나다라마바사자차카타파하고노도로모보소",
    "あいうえおかきくけこさしすせそたちつてとなにぬねの",
    "的一是不了人我在有他这为之大来以个中上们",
    "აბგდევზთიკლმნოპრსტუფქღყშჩ",
)
_UNSPACED = "กあ的"


class Language:
    """Words of made-up letters sequences, drawn by Zipf's law."""

    def __init__(self, number: int) -> None:
        chance = random.Random(number)
        letters = ALPHABETS[number % len(ALPHABETS)]
        longest = 3 if letters[0] in _UNSPACED else 9
        self.words = [
            "".join(chance.choices(letters, k=chance.randint(1 if longest == 3 else 2, longest)))
            for _ in range(4_000)
        ]
        self._weights = np.cumsum(1 / np.arange(1, len(self.words) + 1))
        self.space = "" if letters[0] in _UNSPACED else " "

    def draw(self, rng: np.random.Generator, count: int) -> list[str]:
        """Return `count` words, each drawn by its frequency."""
        picked = np.searchsorted(self._weights, rng.random(count) * self._weights[-1])
        return [self.words[index] for index in picked]


class ShapedVault:
    """The plan of a vault of one shape: its titles and folders, then the text of each note."""

    def __init__(self, shape: Shape, notes: int, seed: int = 1) -> None:
        self.shape = shape
        self.notes = notes
        self.vocabulary = Vocabulary(seed)
        self._rng = np.random.default_rng(seed)
        self._chance = random.Random(seed)
        self._languages = [Language(number) for number in range(1, shape.languages)]
        words, chance = self.vocabulary.words, self._chance
        self._names = [
            first + second.capitalize()
            for first, second in pairwise(chance.choices(words[:3_000], k=5_000))
        ]
        self.titles = [self._title(index) for index in range(notes)]
        folders = [words[600 + index].capitalize() for index in range(max(4, round(notes**0.5)))]
        self._folders = [chance.choice(folders) for _ in range(notes)]
        self._tags = [words[300 + index] for index in range(100)]

    def _title(self, index: int) -> str:
        words, chance = self.vocabulary.words, self._chance
        if self.shape is REFERENCE:
            return f"{self._name().capitalize()}{index}"
        return f"{' '.join(chance.choices(words[200:], k=2)).capitalize()} {index}"

    def _name(self) -> str:
        """Return a name in camelCase. Some occur far more often than others."""
        return self._names[int(len(self._names) * self._chance.random() ** 3)]

    def path(self, index: int) -> str:
        """Return the vault-relative path of a note."""
        return f"{self._folders[index]}/{self.titles[index]}.md"

    def write(self, root: Path) -> int:
        """Write every note beneath `root`; return the bytes written."""
        total = 0
        for folder in sorted(set(self._folders)):
            (root / folder).mkdir(parents=True, exist_ok=True)
        for index in range(self.notes):
            data = self.text(index).encode()
            (root / self.path(index)).write_bytes(data)
            total += len(data)
        return total

    def text(self, index: int) -> str:
        """Return the Markdown of one note."""
        shape, chance = self.shape, self._chance
        language = chance.randint(0, shape.languages - 1)
        draw = self._languages[language - 1] if language else self.vocabulary
        space = self._languages[language - 1].space if language else " "
        parts = []
        if chance.random() < shape.frontmatter:
            parts.append(self._frontmatter(index))
        parts.append(f"# {self.titles[index]}\n")
        if shape is MANUAL:
            parts += self._manual(draw, space)
            return "\n".join(parts)
        sections = max(1, round(self._rng.gamma(3, shape.sections / 3)))
        if chance.random() < shape.long_pages:
            sections *= 10
        for number in range(sections):
            if number:
                parts.append(f"{'#' * chance.choice((2, 2, 3))} {self._heading(draw, space)}\n")
            parts += self._section(draw, space)
        if shape.comments:
            parts.append(self._footer(index))
        return "\n".join(parts)

    def _frontmatter(self, index: int) -> str:
        chance = self._chance
        tags = "\n".join(f"- {tag}" for tag in chance.sample(self._tags, chance.randint(1, 3)))
        day = f"20{chance.randint(15, 25)}-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}"
        return (
            f"---\naliases:\n- {self.titles[index]} alias\ntags:\n{tags}\n"
            f'created: {day}\ntype: "[[{chance.choice(self._tags)}]]"\npublish: true\n---\n'
        )

    def _heading(self, draw: Vocabulary | Language, space: str) -> str:
        if self.shape is REFERENCE and self._chance.random() < 0.5:
            return f"`{self._name()}()`"
        return space.join(draw.draw(self._rng, self._chance.randint(1, 4))).capitalize()

    def _section(self, draw: Vocabulary | Language, space: str) -> list[str]:
        shape, chance = self.shape, self._chance
        text = space.join(draw.draw(self._rng, max(4, shape.section_bytes // 8)))
        words = self._with_links(text.split(" "))
        block = " ".join(words)
        if chance.random() < 0.25:
            third = max(1, len(words) // 3)
            rows = [words[start : start + third] for start in range(0, len(words), third)]
            block = "\n".join(f"- {' '.join(row)}" for row in rows)
        parts = [block + "\n"]
        if shape.comments and chance.random() < 0.5:
            parts.append(chance.choice(("%% Add links here %%\n", "<!-- - Website: `@` -->\n")))
        if chance.random() < shape.tables:
            parts.append(self._table(draw, space))
        if chance.random() < shape.code:
            parts.append(self._code())
        return parts

    def _with_links(self, words: list[str]) -> list[str]:
        chance = self._chance
        for mean, make in ((self.shape.links, self._link), (self.shape.web, self._web)):
            for _ in range(int(self._rng.poisson(mean / self.shape.sections))):
                words.insert(chance.randrange(len(words) + 1), make())
        return words

    def _link(self) -> str:
        chance = self._chance
        target = int(self.notes * chance.random() ** 2)
        title = self.titles[target]
        if self.shape is REFERENCE:
            return f"[`{title}`](../{self.path(target).replace(' ', '%20')})"
        return chance.choice((f"[[{title}]]", f"[[{title}|this one]]"))

    def _web(self) -> str:
        one, another = self._chance.choices(self.vocabulary.words[:2_000], k=2)
        return f"[{one}](https://{one}.example/{another}_{one}?q=1)"

    def _table(self, draw: Vocabulary | Language, space: str) -> str:
        rows = ["| Name | Meaning |", "| --- | --- |"]
        rows += [
            f"| `{self._name()}` | {space.join(draw.draw(self._rng, 6))} |"
            for _ in range(self._chance.randint(2, 6))
        ]
        return "\n".join(rows) + "\n"

    def _code(self) -> str:
        names = [self._name() for _ in range(self._chance.randint(3, 9))]
        lines = "\n".join(f"  {name}({name[:3]}, {len(name)});" for name in names)
        return f"```js\nfunction {names[0]}() {{\n{lines}\n}}\n```\n"

    def _manual(self, draw: Vocabulary | Language, space: str) -> list[str]:
        command = self._chance.choice(self.vocabulary.words[:3_000])
        more = f"> More: <https://{command}.example/manual>.\n"
        parts = [f"> {space.join(draw.draw(self._rng, 7))}.\n{more}"]
        for _ in range(self._chance.randint(2, 5)):
            what = space.join(draw.draw(self._rng, 6))
            parts += [f"- {what}:\n", f"`{command} --{self._name()} {{{{path/to/file}}}}`\n"]
        return parts

    def _footer(self, index: int) -> str:
        address = f"https://code.example/blob/main/{self.path(index).replace(' ', '%20')}"
        return (
            "%% Do not edit below this line %%\n\n# This note\n\n"
            f'<span class="footer">[Edit]({address} "edit") | [Copy]({address}?raw "copy")</span>\n'
        )
