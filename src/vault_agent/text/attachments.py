"""Which attachments can be indexed: their kinds, by file name, and the names of their parts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal

from vault_agent.text.names import is_note

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

AttachmentKind = Literal["pdf", "office", "epub", "html", "text", "code", "csv", "canvas", "base"]

SUFFIXES: Final[dict[AttachmentKind, tuple[str, ...]]] = {
    "pdf": ("pdf",),
    "office": ("docx", "docm", "pptx", "pptm", "xlsx", "xlsm", "odt", "odp", "ods"),
    "epub": ("epub",),
    "html": ("html", "htm", "xhtml"),
    "text": ("txt", "text", "log", "rst", "org", "adoc", "tex", "bib", "srt", "vtt", "ics", "vcf"),
    "code": (
        *("bash", "bat", "c", "cc", "clj", "cpp", "cs", "css", "dart", "el", "erl", "ex", "exs"),
        *("fish", "go", "gradle", "h", "hpp", "hs", "ini", "java", "jl", "js", "json", "jsx"),
        *("kt", "less", "lua", "m", "mjs", "ml", "nix", "php", "pl", "ps1", "py", "r", "rb"),
        *("rs", "scala", "scss", "sh", "sql", "svelte", "swift", "toml", "ts", "tsx", "vue"),
        *("xml", "yaml", "yml", "zig", "zsh"),
    ),
    "csv": ("csv", "tsv"),
    "canvas": ("canvas",),
    "base": ("base",),
}
"""The suffixes of each kind, in lower case, without a dot."""

_KIND_OF: Final = {suffix: kind for kind, suffixes in SUFFIXES.items() for suffix in suffixes}
_PAGE: Final = re.compile(r"Page ([0-9]{1,7})")


def kind_of(path: str) -> AttachmentKind | None:
    """Return the kind of an attachment by its suffix; None for notes and for all other files."""
    _, dot, suffix = path.rpartition("/")[2].rpartition(".")
    return _KIND_OF.get(suffix.lower()) if dot else None


def is_indexed(path: str, kinds: Collection[str]) -> bool:
    """Whether the text of a file is indexed: a note's always, an attachment's if so chosen."""
    return is_note(path) or kind_of(path) in kinds


def page_label(number: int) -> str:
    """Return the heading of a page, which `page_of` reads."""
    return f"Page {number}"


def page_of(path: str, heading_path: Sequence[str]) -> int | None:
    """Return the page of a part of a PDF, from 1; None for a part of anything else."""
    match = _PAGE.fullmatch(heading_path[0]) if heading_path and kind_of(path) == "pdf" else None
    return int(match[1]) if match else None
