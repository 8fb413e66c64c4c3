"""Names of files and tags: which files are notes or attachments, and which names are equal.

One rule decides whether two names are equal: for links and notes, filters and folders, and tags.
Invisible characters of a name are made visible, so that it can be copied as it is.
"""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, cast

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

NOTE_SUFFIXES = (".md", ".markdown")

ID_MARK, TYPE_MARK = "\x01", "\x02"
"""The first character of a key among the stored aliases of a note: of its `id`, or of its type with
its name."""

TEMP_FOLDER: Final = ".vault-agent.tmp"
"""The folder for temporary files in a vault. Other programs ignore it, because its name begins with
a dot or because of its `.gitignore`."""
IGNORE_ALL: Final = b"*\n"
"""The content of the `.gitignore` in `TEMP_FOLDER`."""


def is_note(path: str) -> bool:
    """Whether a file is a note: its name ends in `.md` or `.markdown`, in any letter case."""
    return path.lower().endswith(NOTE_SUFFIXES)


def stem(path: str) -> str:
    """Return a file's name, without the suffix of a note. `.md` alone stays whole."""
    name = path.rpartition("/")[2]
    return (name[: name.rindex(".")] or name) if is_note(name) else name


def keys_of(path: str, kind: str | None, identifier: str | None) -> tuple[str, ...]:
    """Return the keys by which links find a note besides its names: `id`, and `{type}-{stem}`.

    The index stores them among the aliases of the note. Each begins with a mark.
    """
    keys = [ID_MARK + identifier] if identifier else []
    if kind:
        keys.append(f"{TYPE_MARK}{kind}-{stem(path)}")
    return tuple(keys)


def is_key(name: str) -> bool:
    """Whether a stored alias is a key, which is never shown."""
    return name.startswith((ID_MARK, TYPE_MARK))


def lies_in(path: str, folder: str) -> bool:
    """Whether a path is the folder or anywhere below it. The folder "" is the vault itself."""
    return not folder or path == folder or path.startswith(folder + "/")


def covers(entry: str, path: str) -> bool:
    """Whether an entry of a list of folders and notes means a path. Both are folded.

    An entry is a folder, which means all below it, or a note, whose suffix is optional.
    """
    return bool(entry) and (
        lies_in(path, entry) or any(path == entry + suffix for suffix in NOTE_SUFFIXES)
    )


def unmarked(name: str) -> str:
    """Return a stored alias as a link writes it."""
    return name[1:] if is_key(name) else name


def fold(text: str) -> str:
    """Return the form in which names are compared: NFC, lower case, plain spaces.

    Lower case, not case folding: `Maße` and `Masse` are different notes, as in Obsidian. Only the
    two small sigmas are equal, because the lower case of a capital sigma depends on its position.
    """
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFC", text.replace("\u00a0", " ").replace("\u202f", " "))
    return unicodedata.normalize("NFC", text.lower().replace("ς", "σ"))


def slug(text: str, limit: int = 80) -> str:
    """Return the text as part of a file's name, or "" if it has no letters and no digits.

    NFC, lower case, letters and digits of any script with the marks that belong to them, joined
    with `-`, at most `limit` characters.
    """
    kept = (
        character if unicodedata.category(character)[0] in "LMN" else " "
        for character in unicodedata.normalize("NFC", text).lower()
    )
    words = unicodedata.normalize("NFC", "".join(kept)).split()
    joined = "-".join(words)[:limit].rstrip("-")
    return joined if any(character.isalnum() for character in joined) else ""


def shown_name(text: str) -> str:
    """Return the name of a note if the whole text is a wikilink to it, otherwise the text.

    `[[Folder/Apps]]` and `[[Apps.md#Part|our apps]]` both give Apps.
    """
    text = text.strip()
    if not (text.startswith("[[") and text.endswith("]]")):
        return text
    target = text[2:-2].partition("|")[0].partition("#")[0].strip().removesuffix("\\")
    return stem(target) or text


AttachmentKind = Literal["pdf", "office", "epub", "html", "text", "code", "csv", "canvas", "base"]

_KIND_OF: Final = {
    suffix: cast("AttachmentKind", kind)
    for line in Path(__file__).with_name("attachments.txt").read_text("utf-8").splitlines()[1:]
    for kind, *suffixes in [line.split()]
    for suffix in suffixes
}
"""The kind of each suffix, in lower case, without a dot."""

_PAGE: Final = re.compile(r"Page ([0-9]{1,7})")


def kind_of(path: str) -> AttachmentKind | None:
    """Return the kind of an attachment by its suffix; None for notes and for all other files."""
    _, dot, suffix = path.rpartition("/")[2].rpartition(".")
    return _KIND_OF.get(suffix.lower()) if dot else None


def is_indexed(path: str, kinds: Collection[str]) -> bool:
    """Whether the text of a file is indexed: a note's always, an attachment's of one of `kinds`."""
    return is_note(path) or kind_of(path) in kinds


def page_label(number: int) -> str:
    """Return the heading of a page, which `page_of` reads."""
    return f"Page {number}"


def page_of(path: str, heading_path: Sequence[str]) -> int | None:
    """Return the page of a part of a PDF, from 1; None for a part of anything else."""
    match = _PAGE.fullmatch(heading_path[0]) if heading_path and kind_of(path) == "pdf" else None
    return int(match[1]) if match else None


# --- names with invisible characters --------------------------------------------------------------


CONTROLS = "\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff"
"""For a character class: line breaks, C0 and C1 controls, and lone surrogates."""
MOVING = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f\ufeff\ufff9-\ufffb"
"""For a character class: what reorders or covers other text. Marks and overrides of bidirectional
text (UAX #9), deprecated format controls, the BOM, and annotations."""
HIDDEN = MOVING + "\xad\u180e\u200b\u2060-\u2065\U000e0000-\U000e0fff"
"""For a character class: also what takes no room, down to the tag characters. Joiners stay out:
words and emoji need them."""

_INVISIBLE = f"[{CONTROLS}{HIDDEN}]"


def escaped(name: str) -> str:
    r"""Return a name with invisible characters as `\u{…}`. The name can still be copied back."""
    return re.sub(_INVISIBLE, as_code, name)


def unescaped(name: str) -> str:
    """Return the name that `escaped` made visible."""
    if "\\u{" not in name:
        return name
    return re.sub(r"\\u\{([0-9a-f]{1,6})\}", _character, name)


def shorten(text: str, most: int) -> str:
    """Return a text of at most `most` characters, with an ellipsis at its end if it is cut."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def as_code(match: re.Match[str]) -> str:
    r"""Return the character that was matched as `\u{…}`."""
    return f"\\u{{{ord(match[0]):x}}}"


def _character(match: re.Match[str]) -> str:
    number = int(match[1], 16)
    return chr(number) if number <= 0x10FFFF else match[0]
