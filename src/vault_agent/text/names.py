"""Names of files and tags: which are notes, and which two are one.

There is one rule for what counts as the same name, whoever asks: a link for its note, a filter for
its folder or tag, a note for its tags.
"""

from __future__ import annotations

import unicodedata

NOTE_SUFFIXES = (".md", ".markdown")


def is_note(path: str) -> bool:
    """Whether the name is a note's: `.md` or `.markdown` in any letter case."""
    return path.lower().endswith(NOTE_SUFFIXES)


def stem(path: str) -> str:
    """Return a file's name, a note's without its suffix; a name that is all suffix stays whole."""
    name = path.rpartition("/")[2]
    return (name[: name.rindex(".")] or name) if is_note(name) else name


def fold(text: str) -> str:
    """Return the form in which names are compared: NFC, lower case, plain spaces.

    Lower case, not case folding: `Maße` and `Masse` are two notes, as they are for Obsidian. Only
    the two small sigmas are one, since which of them a capital becomes depends on what follows it.
    """
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFC", text.replace("\u00a0", " ").replace("\u202f", " "))
    return unicodedata.normalize("NFC", text.lower().replace("ς", "σ"))


def shown_name(text: str) -> str:
    """Return the name that a text shows: of one whole wikilink, that of its note.

    `[[Folder/Apps]]` and `[[Apps.md#Part|our apps]]` are both Apps; any other text is itself.
    """
    text = text.strip()
    if not (text.startswith("[[") and text.endswith("]]")):
        return text
    target = text[2:-2].partition("|")[0].partition("#")[0].strip().removesuffix("\\")
    return stem(target) or text
