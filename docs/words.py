"""Checks the English of the documentation, and names of the source: `python -m docs.words`.

A sentence has at most 30 words and does not begin with "What", "Those" or "Of". Help texts,
settings and summaries of routes are checked too, because the pages of the reference are made from
them. A variable is not called `found` or `each`: a name is a noun that says what it holds. The name
of a class stands once in the source. Each line that is wrong is named.
"""

from __future__ import annotations

import ast
import re
import sys
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
PAGES = (*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md")
PACKAGE = ROOT / "src" / "vault_agent"
APP = PACKAGE / "web" / "app"
MOST_WORDS = 30
NAMES = ("each", "found", "given", "known", "asked", "sent", "shown", "there", "written")
_ANY_NAME = f"({'|'.join(NAMES)})"
# In JavaScript: declared, in a list of parameters or in a pattern, or before an arrow.
_BOUND = re.compile(
    rf"\b(?:const|let|function)\s+{_ANY_NAME}\b"
    rf"|[(\[{{,]\s*{_ANY_NAME}\s*[,)\]}}=]|\b{_ANY_NAME}\s*=>"
)
_OPENING = re.compile(r"^[\W_]*(What|Those|Of) ")
_END = re.compile(r"(?<=[.?!])[\"')*]*\s+(?=[\W_]*[A-Z0-9])")
_BLOCK = re.compile(r"^\s*(?:[-*+]|\d+\.|>|#+)\s")
_HIDDEN = (
    (re.compile(r"`[^`]*`"), "Code"),
    (re.compile(r"!?\[([^\]]*)\]\([^)]*\)"), r"\1"),
    (re.compile(r"<!--.*?-->"), ""),
    (re.compile(r"\be\.g\.|\bi\.e\.|\betc\."), "such"),
)


def passages(page: str) -> Iterator[tuple[int, str]]:
    """Yield each paragraph, list item and cell of a page with its first line, without code."""
    lines: list[str] = []
    start, is_code = 0, False
    every = [*_without_frontmatter(page).split("\n"), ""]
    for number, (line, after) in enumerate(pairwise([*every, ""]), 1):
        is_fence = line.lstrip().startswith("```")
        is_table = line.lstrip().startswith("|")
        if lines and (is_fence or is_table or not line.strip() or _BLOCK.match(line)):
            yield start, " ".join(lines)
            lines = []
        if is_fence:
            is_code = not is_code
        elif is_table and not is_code and after.startswith("|---"):
            pass  # the head has no sentences
        elif is_table and not is_code:
            yield from ((number, cell) for cell in re.split(r"(?<!\\)\|", line))
        elif line.strip() and not is_code and not line.startswith(("#", "    ")):
            start = start if lines else number
            lines.append(_BLOCK.sub("", line).strip())


def faults(passage: str) -> Iterator[str]:
    """Yield what is wrong with the sentences of a passage."""
    for pattern, replacement in _HIDDEN:
        passage = pattern.sub(replacement, passage)
    for sentence in _END.split(passage):
        if opening := _OPENING.match(sentence):
            yield f'begins with "{opening[1]}": {sentence[:60]}…'
        count = sum(any(letter.isalnum() for letter in word) for word in sentence.split())
        if count > MOST_WORDS:
            yield f"{count} words: {sentence[:60]}…"


def _without_frontmatter(page: str) -> str:
    """Return a page with its frontmatter emptied, so that lines keep their numbers."""
    if not page.startswith("---\n"):
        return page
    end = page.index("\n---\n", 3) + 5
    return "\n" * page.count("\n", 0, end) + page[end:]


def vague_names(module: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and the name of each variable and argument of NAMES that a module binds."""
    if module.suffix == ".js":
        for number, line in enumerate(module.read_text("utf-8").split("\n"), 1):
            yield from ((number, next(filter(None, names))) for names in _BOUND.findall(line))
        return
    for node in ast.walk(ast.parse(module.read_text("utf-8"))):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) if name in NAMES:
                yield node.lineno, name


def classes(module: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and the name of each public class of a module."""
    for node in ast.walk(ast.parse(module.read_text("utf-8"))):
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield node.lineno, node.name


def _faults_of_names() -> Iterator[str]:
    places: dict[str, str] = {}  # of the first class with a name
    modules = [*PACKAGE.rglob("*.py"), *(PACKAGE / "cli").glob("*.js"), *APP.rglob("*.js")]
    for module in sorted(modules):
        path = module.relative_to(ROOT).as_posix()
        for line, name in vague_names(module):
            yield f"{path}:{line}: a variable is called {name}: name what it holds"
        for line, name in classes(module) if module.suffix == ".py" else ():
            place = f"{path}:{line}"
            if name in places:
                yield f"{place}: the class {name} is in {places[name]} too"
            places.setdefault(name, place)


def report() -> list[str]:
    """Return a line for each fault."""
    pages = [
        f"{page.relative_to(ROOT).as_posix()}:{line}: {fault}"
        for page in PAGES
        for line, passage in passages(page.read_text("utf-8"))
        for fault in faults(passage)
    ]
    return [*pages, *_faults_of_names()]


def main() -> None:
    """Print all faults, and end with 1 if there is one."""
    lines = report()
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    raise SystemExit(bool(lines))


if __name__ == "__main__":
    main()
