"""A generated Obsidian vault with a known target for every link.

Names are words made of syllables of 35 languages, with spaces, emoji, dots, brackets and whatever
else file systems take; notes link to one another in every spelling. Where a link leads is decided
by `Resolver`, which implements Obsidian's rules by brute force, without code of the product.
"""

from __future__ import annotations

import json
import posixpath
import random
import unicodedata
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import quote

from tests.support.vault_links import Resolver

SYLLABLES = {
    "Arabic": "كتا مدر سلا بيت نور قمر شمس",
    "Armenian": "բար տուն գիր լույս ծառ",
    "Bengali": "বাং লা নদী ফুল আকা শের",
    "Bulgarian": "къ ща бог ден вят ър",
    "Chinese": "山 水 書 风 雨 學 龙 記",
    "Croatian": "šu mar čo vjek dž ep ž",
    "Czech": "ří čka žlu ťou ků ň ěl",
    "Danish": "sø blå bær går død æ",
    "Dutch": "huis ij zee tje boek",
    "English": "read ing note work list",
    "Finnish": "hyv ää yö pöy tä suo",
    "French": "été çon où cœur naï ve",
    "Georgian": "სახ ლი წიგ ნი მზე",
    "German": "Über maß Größ en süß Ä",
    "Greek": "λόγ ος φύ ση ήλι ΑΣ",
    "Gujarati": "ગુજ રાત ફૂલ આકાશ",
    "Hebrew": "ספר בית אור שלום",
    "Hindi": "हिन् दी पुस्त क ज़मी न",
    "Hungarian": "ő ű rög hét kö nyv",
    "Icelandic": "þór ður æv in týri ð",
    "Indonesian": "buku rumah me nulis an",
    "Italian": "per ché cit tà più",
    "Japanese": "日 本 ノー ト メ モ が ぎ",
    "Khmer": "ភា សា ខ្មែរ ផ្ទះ",
    "Korean": "한 국 어 노 트 책 빛",
    "Lithuanian": "žo dis ąžuo las ė ų",
    "Polish": "łó dź źreb ię ćma ż",
    "Portuguese": "ção não avó mãe",
    "Romanian": "ță ran și îm păr at",
    "Russian": "йо лка книг а ёж щи",
    "Spanish": "año niñ ez ¿qué pin güi",
    "Swedish": "å ängs mo ö gård",
    "Tamil": "தமி ழ் நூ ல் மழை",
    "Thai": "น้ำ ภา ษา ไทย บ้าน",
    "Turkish": "ış ık İst an ğ Iğ dır",
    "Ukrainian": "їж ак ґан ок є ї",
    "Vietnamese": "tiế ng Việ t nướ c ố",
}
SIGNS = (
    "🔥", "📚", "👩\u200d💻", "❤️", "🇯🇵", "&", "'", "100%", "v1.2", "(b)", "[c]", "C++", "e.g.", "@",
    "_x_", "$5", "~", "=", "ＡＢ", "…", "–", "!", "{x}", "٣", "½", "Ⅳ", "﷽", "2024", "№ 7", "a, b",
)  # fmt: skip
REPEATED = ("README", "Index", "2024-01-05", "目次", "Übersicht")
ATTACHED = ("png", "pdf", "canvas", "base", "jpg", "mp3")
DECOYS = (  # what stands in these is no link
    "`{}`",
    "```\n{}\n```",
    "text <!-- {} -->",
    "%% {} %%",
    "\\{}",
    "text\n\n    {}",
    "<div>\n{}\n</div>",
    "~~~ {}\n{}\n~~~",
)
PLACES = (
    "{}",
    "# {}",
    "see **{}**, and",
    "- [ ] {}",
    "1. a\n\t- {}\n\t\t- {}",
    "> [!note] {}\n> {}",
    "> - {}\n>   - {}",
    "word[^1]\n\n[^1]: {}",
    "Setext {}\n---",
    "a line\nand {} <b>{}</b>",
    "==~~{}~~== ({})",
    "key:: {} #tag",
    "<span>{}</span> text",
    "| a | b |\n|---|---|\n| {} | {} |",
)
MAX_NAME_BYTES = 180


class Expected(NamedTuple):
    """A link as it must be reported."""

    kind: str
    fragment: str | None
    path: str | None


@dataclass
class ObsidianVault:
    """Files by path, as on disk, and for each note the links that it holds, in order."""

    files: dict[str, str] = field(default_factory=dict)
    links: dict[str, list[Expected]] = field(default_factory=dict)

    @property
    def notes(self) -> list[str]:
        return [path for path in self.files if path.endswith(".md")]


def made_up(*, notes: int, links_a_note: int, seed: int = 0) -> ObsidianVault:
    """Return a vault of `notes` notes. The same seed gives the same vault."""
    return _Maker(random.Random(seed), notes, links_a_note).vault


def _key(path: str) -> str:
    return unicodedata.normalize("NFC", path).lower()


def _bare(path: str) -> str:
    return path.removesuffix(".md")


class _Maker:
    def __init__(self, chance: random.Random, notes: int, links_a_note: int) -> None:
        self.vault = ObsidianVault()
        self._chance = chance
        self._taken: set[str] = set()
        self._aliases: dict[str, str] = {}
        self._folders = [""]
        for _ in range(max(6, notes // 40)):
            parent = chance.choice(self._folders)
            if parent.count("/") < 3:
                self._folders.append(posixpath.join(parent, self._new_name(parent)))
        for _ in range(notes):
            self._add_note()
        for number in range(notes // 10):
            self._add_attachment(twice=number % 7 == 0)
        self._paths = list(self.vault.files)
        self._resolver = Resolver(self._paths, {})
        for path in self.vault.notes:
            self._write(path, chance.randint(1, 2 * links_a_note))

    def _add_note(self) -> None:
        folder = self._chance.choice(self._folders)
        repeated = posixpath.join(folder, self._chance.choice(REPEATED) + ".md")
        if self._chance.random() < 0.05 and _key(repeated) not in self._taken:
            self._taken.add(_key(repeated))
            path = repeated
        else:
            path = posixpath.join(folder, self._new_name(folder) + ".md")
        if self._chance.random() < 0.1:  # as older Macs wrote them
            path = unicodedata.normalize("NFD", path)
        self.vault.files[path] = ""
        if self._chance.random() < 0.3:
            self._aliases[path] = f"Alias {len(self.vault.files)} é"

    def _add_attachment(self, *, twice: bool) -> None:
        folder, other = self._chance.choices(self._folders, k=2)
        name = f"{self._new_name(folder)}.{self._chance.choice(ATTACHED)}"
        self.vault.files[posixpath.join(folder, name)] = "x"
        if twice:  # one of the same name elsewhere, and a note named after it
            self.vault.files[posixpath.join(other, name)] = "x"
            self.vault.files[posixpath.join(other, name) + ".md"] = ""

    def _new_name(self, folder: str) -> str:
        """Return a name that no file of the folder has, by the rules of any system."""
        while True:
            words = self._words()
            if self._chance.random() < 0.3:
                words.insert(self._chance.randint(0, len(words)), self._chance.choice(SIGNS))
            name = " ".join(words).strip(".")
            size = len(unicodedata.normalize("NFD", name).encode())
            taken = {_key(posixpath.join(folder, name)), _key(posixpath.join(folder, name) + ".md")}
            if size <= MAX_NAME_BYTES and not taken & self._taken:
                self._taken |= taken
                return name

    def _words(self, most: int = 3) -> list[str]:
        syllables = SYLLABLES[self._chance.choice(list(SYLLABLES))].split()
        return [
            "".join(self._chance.choices(syllables, k=self._chance.randint(1, 4)))
            for _ in range(self._chance.randint(1, most))
        ]

    def _write(self, source: str, wanted: int) -> None:
        links = self.vault.links[source] = []
        blocks = [self._properties(source), " ".join(self._words(30))]
        while len(links) < wanted:
            if self._chance.random() < 0.1:
                decoy = self._chance.choice(DECOYS)
                blocks.append(decoy.replace("{}", f"[[{_bare(self._chance.choice(self._paths))}]]"))
            block = self._chance.choice(PLACES).replace("[^1]", f"[^{len(blocks)}]")
            while "{}" in block:
                written, link = self._link(source)
                if block.startswith("|"):
                    written = written.replace("|", "\\|")
                block = block.replace("{}", written, 1)
                links.append(link)
            blocks.append(block)
        self.vault.files[source] = "\n\n".join(filter(None, blocks)) + "\n"

    def _properties(self, source: str) -> str:
        lines = []
        if source in self._aliases:
            lines.append(f"aliases: [{self._aliases[source]}]")
        for form in ("up: {}", "related:\n  - {}\n  - {}", "nested:\n  deep: {}", "links: [{}]"):
            if self._chance.random() < 0.1:
                lines.append(form)
                while "{}" in lines[-1]:
                    written, link = self._wikilink(source)
                    quoted = json.dumps(written, ensure_ascii=False)
                    lines[-1] = lines[-1].replace("{}", quoted, 1)
                    self.vault.links[source].append(link._replace(kind="frontmatter"))
        return "\n".join(["---", *lines, "---"]) if lines else ""

    def _link(self, source: str) -> tuple[str, Expected]:
        choice = self._chance.random()
        if choice < 0.1:
            return self._markdown_link(source)
        if choice < 0.12:
            return "[[#Part one]]", Expected("wikilink", "Part one", source)
        if choice < 0.14 and self._aliases:
            path, alias = self._chance.choice(list(self._aliases.items()))
            return f"[[{alias.upper()}]]", Expected("wikilink", None, path)
        if choice < 0.16:
            return "[[No such note|x]]s", Expected("wikilink", None, None)
        return self._wikilink(source)

    def _wikilink(self, source: str) -> tuple[str, Expected]:
        """Return a link to some file in one of the spellings, and where it leads."""
        target = self._spelling(source, self._chance.choice(self._paths))
        fragment = self._chance.choice((None, None, None, "Part one", "A#B", "^a1-b2", "page=3"))
        shown = self._chance.choice((None, None, None, "shown", "x [y]", "300", "300x200", ""))
        embed = self._chance.random() < 0.2
        written = target + (f"#{fragment}" if fragment else "")
        written += "" if shown is None else f"|{shown}"
        return (
            f"{'!' * embed}[[{written}]]",
            Expected(
                "embed" if embed else "wikilink",
                fragment,
                self._resolver.resolve(source, target.strip()),
            ),
        )

    def _spelling(self, source: str, path: str) -> str:
        bare = _bare(path)
        name = posixpath.basename(bare)
        spellings = [*[name] * 8, posixpath.basename(path), bare, path, "/" + bare, f" {name} "]
        spellings += [
            "/".join(bare.split("/")[-2:]),
            _relative(bare, source),
            "../" * 9 + path,
            unicodedata.normalize("NFD", name),
            unicodedata.normalize("NFC", name),
            name.replace(" ", "\u00a0"),
        ]
        if not set(name) & set("ςσΣ"):  # which of them it is depends on what follows
            spellings += [name.upper(), name.lower()]
        return self._chance.choice(spellings)

    def _markdown_link(self, source: str) -> tuple[str, Expected]:
        path = self._chance.choice(self._paths)
        target = self._chance.choice(
            (path, _bare(path), posixpath.basename(path), "/" + path, _relative(path, source))
        )
        image = self._chance.random() < 0.2
        written = self._chance.choice(
            (
                f"<{target}>",
                quote(target),
                quote(target) + "#Part%20one",
                target.replace(" ", "%20"),
            )
        )
        fragment = "Part one" if written.endswith("#Part%20one") else None
        kind = "image" if image else "markdown"
        found = self._resolver.resolve(source, target)
        return f"{'!' * image}[shown]({written})", Expected(kind, fragment, found)


def _relative(path: str, source: str) -> str:
    relative = posixpath.relpath(path, posixpath.dirname(source) or ".")
    return relative if relative.startswith("../") else "./" + relative
