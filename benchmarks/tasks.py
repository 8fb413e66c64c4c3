"""Measures whether an agent's tools lead to the right note: questions made from the vault itself.

    python -m benchmarks.tasks --vault FOLDER [--questions N]

A question is made from a note by rule, so that no list of questions is needed: in turn a heading,
an alias, the text of a link to the note, and the first words of a sentence. It is a text of one
note only, which is not the note's name, and each note is asked for once. The answer is the note.
It is asked as an agent would: `vault_search`, then `vault_read` of the best places, at most three
calls. Takes tokens as characters / 4.4.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
import tempfile
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from benchmarks.agents import CHARACTERS_A_TOKEN, HANDSHAKE, Relay, show, wait
from benchmarks.server import Server

CALLS = 3
_HEADING = re.compile(r"^#{2,4}\s+(.+?)\s*#*$", re.MULTILINE)
_ALIASES = re.compile(r"^aliases:\s*(?:\[(.+?)\]|\n((?:\s*-\s*.+\n)+))", re.MULTILINE)
_LINK = re.compile(r"\[\[([^\]|#^]+)(?:#[^\]|]*)?\|([^\]]+)\]\]")
_SENTENCE = re.compile(r"(?:^|[.!?]\s+)([A-Z][^.!?\n|\[\]<>`*#]{40,160})[.!?]", re.MULTILINE)
_WORD = re.compile(r"[^\W\d_]{3,}")


class Question(NamedTuple):
    """Words to search for, and the path of the note that answers."""

    kind: str
    words: str
    path: str


def questions(vault: Path, count: int) -> list[Question]:
    """Return questions of all kinds, always the same for the same vault.

    Each is a text that only one note has, so that there is one answer.
    """
    texts = {
        file.relative_to(vault).as_posix(): file.read_text("utf-8", "replace")
        for file in sorted(vault.rglob("*.md"))
        if not any(part.startswith(".") for part in file.relative_to(vault).parts)
    }
    stems: dict[str, list[str]] = {}
    for path in texts:
        stems.setdefault(Path(path).stem.casefold(), []).append(path)
    made: dict[str, dict[str, set[str]]] = {"heading": {}, "alias": {}, "link": {}, "sentence": {}}
    for path, text in texts.items():
        for heading in _HEADING.findall(text):
            made["heading"].setdefault(heading, set()).add(path)
        for listed, lines in _ALIASES.findall(text):
            for alias in re.split(r",|\n", listed or lines):
                made["alias"].setdefault(alias.strip(" -\"'\r"), set()).add(path)
        for target, shown in _LINK.findall(text):
            found = stems.get(Path(target.strip()).name.removesuffix(".md").casefold(), ())
            made["link"].setdefault(shown.strip(), set()).update(found)
        for sentence in _SENTENCE.findall(text):
            made["sentence"].setdefault(" ".join(sentence.split()[:9]), set()).add(path)
    chosen = random.Random(12)
    kinds: list[list[Question]] = []
    for kind, found in made.items():
        asked = [
            Question(kind, words, next(iter(paths)))
            for words, paths in sorted(found.items())
            if len(paths) == 1 and _is_question(words, next(iter(paths)))
        ]
        chosen.shuffle(asked)
        kinds.append(asked)
    taken: dict[str, Question] = {}  # by path
    for turn in zip_longest(*kinds):
        for each in turn:
            if each is not None and len(taken) < count:
                taken.setdefault(each.path, each)
    return list(taken.values())


def _is_question(words: str, path: str) -> bool:
    """Whether a text has words enough, and is not just the note's name."""
    if len(_WORD.findall(words)) < 2 or len(words) > 160:
        return False
    return not {each.casefold() for each in _WORD.findall(words)} <= {
        each.casefold() for each in _WORD.findall(Path(path).stem)
    }


def places(text: str) -> list[tuple[str, str]]:
    """Return the paths and lines of a reply's places, best first."""
    found = re.findall(r"^(\S.*?\.md):(\d+-\d+)", text, re.MULTILINE)
    return list(dict.fromkeys(found))


def answered(relay: Relay, question: Question) -> tuple[int | None, int, int]:
    """Return the number of the call that showed the right note first, the calls, and characters.

    The first call counts if the right note is the best place, a later one if it reads that note.
    """
    text, _ = relay.tool("vault_search", query=question.words)
    size = len(text)
    read: list[str] = []
    for path, lines in places(text):
        if path in read:
            continue
        if len(read) == CALLS - 1:
            break
        text, _ = relay.tool("vault_read", path=path, lines=lines)
        read.append(path)
        size += len(text)
        if path == question.path:
            return (1 if len(read) == 1 else len(read) + 1), len(read) + 1, size
    return None, len(read) + 1, size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vault", type=Path, required=True)
    parser.add_argument("--questions", type=int, default=50)
    given = parser.parse_args()
    asked = questions(given.vault, given.questions)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        with Server(given.vault, home, VAULT_AGENT_MCP_ENABLED="true") as server:
            environment = {**server.environment, "VAULT_AGENT_VAULT_ROOT": str(given.vault)}
            wait(environment)
            relay = Relay(environment)
            relay.ask("initialize", HANDSHAKE)
            rows = [(question, *answered(relay, question)) for question in asked]
            relay.end()
    for kind in ("heading", "alias", "link", "sentence"):
        found = [first for question, first, _, _ in rows if question.kind == kind]
        show(f"questions by {kind}", f"{len(found)}", f"first {sum(each == 1 for each in found)}",
             f"within {CALLS} calls {sum(each is not None for each in found)}")  # fmt: skip
    best = sum(first == 1 for _, first, _, _ in rows) / len(rows)
    right = sum(first is not None for _, first, _, _ in rows) / len(rows)
    tokens = [size / CHARACTERS_A_TOKEN for *_, size in rows]
    show(f"{len(rows)} questions", f"right note first {best:.0%}",
         f"read within {CALLS} calls {right:.0%}")  # fmt: skip
    show("calls a question", f"mean {statistics.mean(calls for _, _, calls, _ in rows):.2f}")
    show("tokens a question", f"median {statistics.median(tokens):.0f}",
         f"worst {max(tokens):.0f}")  # fmt: skip


if __name__ == "__main__":
    main()
