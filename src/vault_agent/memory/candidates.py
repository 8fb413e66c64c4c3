"""Candidates for a task among the notes of a vault, and the part of a note that matters."""

from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING, Final

from vault_agent.memory.score import Candidate, Frequencies, file_key
from vault_agent.model.identifiers import identify
from vault_agent.model.note_types import type_of_folder
from vault_agent.text.names import is_note
from vault_agent.text.words import fold_words
from vault_agent.writing.templates import is_unfilled

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from vault_agent.store.index.facts import NoteFacts
    from vault_agent.store.index.notes import StoredChunk

NEWEST: Final = 20
MAX_BY_FILE: Final = 200
MAX_FILES: Final = 20
"""Files that a task is compared by."""
_SAME_NAME = 5
"""So many files with one name are not told apart by it, such as `__init__.py`."""

_PROBLEMS: Final = "problems encountered"
_OPEN_PROBLEM = re.compile(r"\(open\b")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_NEVER_TYPES = frozenset({"template"})
_SECTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "journal": ("key decisions", "open questions", _PROBLEMS, "outcome"),
    "decision": ("decision",),
    "module": ("purpose", "known issues"),
    "bug": ("root cause", "fix"),
}
_GOALS: Final = frozenset({"goal", "related"})
"""Sections of a journal that say nothing of what came of the session."""
_TESTS = re.compile(r"^- Tests: [^\n]*\n?", re.MULTILINE)
_HEADING = re.compile(r"\A(?:\s*#{1,6}[ \t][^\n]*(?:\n|\Z))+")
KINDS: Final[Mapping[str, str]] = {"journal": "Session"}
"""What a preamble calls notes of a type, if not by the type itself."""


class FactIndex:
    """The notes of one revision of a vault, found by their files and tags."""

    def __init__(self, notes: Iterable[NoteFacts]) -> None:
        """Take notes of the revision."""
        self.notes = {note.rowid: note for note in notes}
        self.ids = {identify(note.path): note.rowid for note in self.notes.values()}
        self.files: dict[str, list[int]] = {}
        self.tags: dict[str, list[int]] = {}
        self._names: dict[str, list[int]] = {}
        self.named: dict[str, list[str]] = {}
        newest = sorted(self.notes.values(), key=lambda note: (note.updated, note.path))[::-1]
        for note in newest:  # so that each list has the newest first
            for file in dict.fromkeys(map(file_key, note.files)):
                name = file.rpartition("/")[2]
                if file not in self.files:
                    self.named.setdefault(name, []).append(file)
                self.files.setdefault(file, []).append(note.rowid)
                self._names.setdefault(name, []).append(note.rowid)
            for tag in dict.fromkeys(map(fold_words, note.tags)):
                self.tags.setdefault(tag, []).append(note.rowid)
        # An attachment counts for its words alone.
        written = [note.rowid for note in newest if is_note(note.path)]
        self.newest = written[:NEWEST]
        self.size = len(written)
        self.identifiers = {note.identifier for note in self.notes.values() if note.identifier}

    def near(self, files: Iterable[str], tags: Iterable[str]) -> set[int]:
        """Return the notes with one of the files, or one of its name, or with one of the tags."""
        groups: list[Sequence[int]] = []
        for file in map(file_key, files):
            name = file.rpartition("/")[2]
            groups += [self.files.get(file, ()), self._names.get(name, ())]
        found: dict[int, None] = {}
        for group in sorted(groups, key=len):  # what few notes have says most
            found |= dict.fromkeys(group)
        near = set(list(found)[:MAX_BY_FILE])
        for tag in map(fold_words, tags):
            near.update(self.tags.get(tag, ())[:MAX_BY_FILE])
        return near

    def has(self, note_id: str) -> bool:
        """Whether a note with this ID may be recalled."""
        return note_id in self.ids

    def candidate(
        self, note_id: str, *, vault: str, found: float | None, from_global: bool
    ) -> Candidate:
        """Return a note as it is scored."""
        note = self.notes[self.ids[note_id]]
        return Candidate(
            vault=vault,
            note_id=note_id,
            path=note.path,
            title=note.title,
            type=type_of(note),
            tags=note.tags,
            files=note.files,
            updated=_day(note.updated),
            found=found,
            from_global=from_global,
        )


def frequencies(indexes: Sequence[FactIndex], candidates: Sequence[Candidate]) -> Frequencies:
    """Return how often the files and tags of the candidates occur in several vaults together."""
    files = {file_key(file) for each in candidates for file in each.files}
    tags = {fold_words(tag) for each in candidates for tag in each.tags}
    return Frequencies(
        sum(index.size for index in indexes),
        {name: sum(len(index.files.get(name, ())) for index in indexes) for name in files},
        {name: sum(len(index.tags.get(name, ())) for index in indexes) for name in tags},
    )


def type_of(note: NoteFacts) -> str:
    """Return the type of a note: as it says, else by its folder, else `note`."""
    return note.type.lower() if note.type else type_of_folder(note.path)


def named_files(prompt: str, known: Iterable[FactIndex]) -> tuple[str, ...]:
    """Return the files of notes that a prompt names by their path or by their name."""
    words = dict.fromkeys(file_key(word.strip(".,;:!?()[]{}'\"`")) for word in prompt.split())
    found: dict[str, None] = {}
    for index in known:
        for word in words:
            if word in index.files:
                found[word] = None
            elif "." in word and len(index.named.get(word, ())) <= _SAME_NAME:
                found |= dict.fromkeys(index.named.get(word, ()))
    return tuple(found)


def named_tags(prompt: str, known: Iterable[FactIndex]) -> tuple[str, ...]:
    """Return the tags of notes that are words of a prompt."""
    words = set(re.findall(r"[^\s.,;:!?()\[\]{}'\"`#]+", fold_words(prompt)))
    return tuple(sorted({tag for index in known for tag in words & index.tags.keys()}))


def part_that_matters(kind: str, chunks: Sequence[StoredChunk], best: int | None) -> str:
    """Return what a preamble shows of a note.

    That is the sections which say what came of a journal, decision, module or bug, the ones of most
    use first: what does not fit is cut at the end. Else it is the chunk at the place `best`, or the
    first one. Lines of a template that nobody has filled in are no text, and neither is the goal of
    a session of which nothing else is known.
    """
    wanted = _SECTIONS.get(kind, ())
    parts = []
    for section in wanted:
        for chunk in chunks:
            if section not in _headings(chunk) or not (text := _text(chunk)):
                continue
            if section == _PROBLEMS:
                text = "\n".join(filter(_OPEN_PROBLEM.search, text.split("\n")))
            if text:
                if section == wanted[0] and kind != "journal":
                    parts.append(text)
                else:
                    between = "\n" if text.startswith("- ") else " "
                    parts.append(f"{section.capitalize()}:{between}{text}")
    if parts:
        return "\n".join(parts)
    ordered = sorted(chunks, key=lambda chunk: chunk.key)
    if kind == "journal":
        ordered = [each for each in ordered if not _GOALS & _headings(each)]
    shown = next((each for each in ordered if best is not None and each.key == best), None)
    for chunk in [shown, *ordered] if shown is not None else ordered:
        if text := _text(chunk):
            return text
    return ""


def is_open(text: str) -> bool:
    """Whether the part of a journal that is shown has something open."""
    return "\nOpen questions:" in f"\n{text}" or _OPEN_PROBLEM.search(text) is not None


def says_something(title: str, text: str) -> bool:
    """Whether the part of a note that is shown says more than its title."""
    words = fold_words(text).split()
    return bool(words) and words != fold_words(title).split()


def _headings(chunk: StoredChunk) -> set[str]:
    return {fold_words(heading).strip(" :") for heading in chunk.heading_path}


def _text(chunk: StoredChunk) -> str:
    """Return the text of a chunk without its headings, unfilled lines and results of tests.

    It is no Markdown for an agent, but plain text: without backslashes.
    """
    text = _ESCAPED.sub(r"\1", _TESTS.sub("", _HEADING.sub("", chunk.text)))
    return "\n".join(line for line in text.split("\n") if not is_unfilled(line)).strip()


def may_be_remembered(note: NoteFacts) -> bool:
    """Whether a note is no template, not superseded, and not excluded by its owner."""
    folders = note.path.lower().split("/")[:-1]
    return not (
        "templates" in folders
        or (note.type or "").lower() in _NEVER_TYPES
        or (note.status or "").lower() == "superseded"
        or (note.memory or "").lower() == "never"
    )


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        return None
