"""Forms of secrets as vendors document them, and as commands, settings and messages have them.

A form is a template of `fixtures/redaction`. `made` fills it with random characters, so that no
value stands in a file. `<KIND:N>` is a secret of N characters, and `@` begins the name of the
public page that documents the form. `w`, `p` and `s` are a password of words, one with digits and
signs, and a phrase. `harmless` makes texts that look as random and are no secrets: hashes,
identifiers, names, code, notes.
"""

from __future__ import annotations

import random
import re
import string
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_FOLDER = Path(__file__).parents[2] / "fixtures/redaction"
_ALPHABETS = {
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "an": string.ascii_letters + string.digits,
    "low": string.ascii_lowercase + string.digits,
    "up": string.ascii_uppercase + string.digits,
    "b64": string.ascii_letters + string.digits + "+/",
    "url": string.ascii_letters + string.digits + "_-",
    "dig": string.digits,
    "b32": string.ascii_uppercase + "234567",
    "bech": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "crock": "0123456789ABCDEFGHJKMNPQRSTVWXYZ",
}
_WORDS = ("correct", "horse", "battery", "staple", "copper", "window", "garden", "violet")
_NAMES = ("parser", "cache", "router", "ledger", "queue", "token", "password", "secret", "key")
_HOLE = re.compile(
    r"<(hex|HEX|an|low|up|b64|url|dig|b32|bech|crock|uuid|name|Name|w|p|s)(?::(\d+))?>"
)


class Form(NamedTuple):
    """A form of secrets: the page that documents it, and the text with its holes."""

    source: str
    template: str


class Planted(NamedTuple):
    """A text that was made of a form, and the parts of it that nobody may read."""

    text: str
    secrets: tuple[str, ...]


def made(form: Form, seed: int) -> Planted:
    """Return a text of a form. The same seed gives the same text."""
    chance = random.Random(f"{form.template} {seed}")
    secrets: list[str] = []

    def fill(match: re.Match[str]) -> str:
        secrets.append(_filled(match[1], int(match[2] or 0), chance))
        return secrets[-1]

    return Planted(_HOLE.sub(fill, form.template), tuple(secrets))


def _filled(kind: str, count: int, chance: random.Random) -> str:
    if kind == "uuid":
        return "-".join(_some("hex", each, chance) for each in (8, 4, 4, 4, 12))
    if kind.lower() == "name":
        name = chance.choice(_NAMES)
        return name if kind == "name" else name.title()
    if kind == "w":
        return "".join(chance.sample(_WORDS, 2))
    if kind == "s":
        return " ".join(chance.sample(_WORDS, 4))
    if kind == "p":
        word = chance.choice(_WORDS).title()
        return f"{word[:5]}{_some('dig', 2, chance)}{chance.choice('!%+#')}{_some('an', 4, chance)}"
    while True:  # no digits alone, and some letters, as nearly every real one has
        found = _some(kind, count, chance)
        if kind == "dig" or count < 12 or (re.search(r"\d", found) and re.search(r"\D", found)):
            return found


def _some(kind: str, count: int, chance: random.Random) -> str:
    return "".join(chance.choices(_ALPHABETS[kind], k=count))


def _read(name: str) -> tuple[Form, ...]:
    forms = []
    source = ""
    for line in (_FOLDER / f"{name}.txt").read_text("utf-8").split("\n"):
        if line.startswith("@"):
            source = line[1:].strip()
        elif line.strip():
            forms.append(Form(source, line.replace("⏎", "\n").replace("␣", " ")))
    return tuple(forms)


VENDORS = _read("vendors")
CONTEXTS = _read("contexts")

HIDDEN = (
    Form("a zero-width space in a token", "ghp_<an:18>\u200b<an:18>"),
    Form("a soft hyphen in a token", "glpat-<url:10>\u00ad<url:10>"),
    Form("a token that a terminal has wrapped", "sk-ant-api03-<an:50>7\n<an:42>7AA"),
    Form("a token that a mail has wrapped and quoted", "> ghp_<an:17>7\n> <an:17>7"),
    Form("a token wrapped by the shell", "TOKEN=ghp_<an:17>7\\\n<an:17>7"),
    Form("an escaped token", "dop\\u005fv1\\u005f<hex:64>"),
    Form("a percent-encoded token", "https%3A%2F%2Fann%3A<an:12>%40db.example%2F"),
    Form("an HTML-escaped setting", "&quot;password&quot;:&quot;<p>&quot;"),
    Form("escaped slashes", "postgres:\\/\\/app:<an:12>@db.example\\/shop"),
    Form("bold in Markdown", "**Password:** <p>"),
    Form("code in Markdown", "Password: `<w>`"),
    Form("a cell of a table", "| password | <p> |"),
)

FORMS = (*VENDORS, *CONTEXTS, *HIDDEN)


def harmless(count: int, seed: int = 0) -> Iterator[str]:
    """Yield so many texts without secrets. The same seed gives the same texts."""
    forms = _read("harmless")
    for number in range(count):
        yield made(forms[number % len(forms)], seed * count + number).text
