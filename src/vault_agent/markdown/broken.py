"""Which links lead nowhere. Pure, over the anchors of a note and the folders of a vault."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING

from vault_agent.markdown.anchors import anchor_key
from vault_agent.markdown.resolve import joined
from vault_agent.model.notes import LinkKind
from vault_agent.text.names import fold, is_note

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from vault_agent.markdown.resolve import Resolution


class Fault(StrEnum):
    """What is wrong with a link."""

    NOTE = "note"  # no such note
    HEADING = "heading"  # the note has no such heading
    BLOCK = "block"  # the note has no such block
    ATTACHMENT = "attachment"  # no such file
    AMBIGUOUS = "ambiguous"  # several files match equally well


_BY_ADDRESS = frozenset((LinkKind.MARKDOWN, LinkKind.IMAGE))
"""Links whose fragment may be written as renderers write anchors: `#late-frost`."""

_SUFFIX = re.compile(r"\.[A-Za-z0-9]{1,5}\Z")
_KNOWN_SUFFIX = re.compile(
    r"\.(?:avif|base|bmp|canvas|css|csv|docx?|epub|excalidraw|gif|html?|jpe?g|js|json|m4a|mkv|mov"
    r"|mp3|mp4|odt|ogg|ogv|pdf|png|pptx?|py|svg|toml|tsv|txt|wav|webm|webp|xlsx?|xml|ya?ml|zip)\Z"
)
_NOT_SLUG = re.compile(r"[^\w]+|_")
_REPEATED = re.compile(r"-\d{1,4}\Z")


class Anchors:
    """The headings and blocks of a note, to look up fragments."""

    def __init__(self, anchors: Iterable[tuple[int, str]]) -> None:
        """Take anchors as (level, name): level 0 is a block."""
        self._headings: set[str] = set()
        self._blocks: set[str] = set()
        for level, name in anchors:
            (self._headings if level else self._blocks).add(name)
        self._slugs: set[str] | None = None

    def fault(self, kind: LinkKind, fragment: str) -> Fault | None:
        """Return what is wrong with a link to a fragment of this note, or None.

        The last part of a nested fragment (`A#B`) counts. A Markdown link may also name a heading
        as renderers do: in lower case, with hyphens and without punctuation.
        """
        last = fragment.rpartition("#")[2].strip()
        if last.startswith("^"):
            return None if anchor_key(last) in self._blocks else Fault.BLOCK
        key = anchor_key(last)
        if not key or key in self._headings:
            return None
        if kind in _BY_ADDRESS and self._has_slug(last):
            return None
        return Fault.HEADING

    def _has_slug(self, fragment: str) -> bool:
        if self._slugs is None:
            self._slugs = {_NOT_SLUG.sub("", name) for name in self._headings}
        wanted = fold(fragment)
        # Renderers number repeated headings: `#frost`, `#frost-1`.
        forms = (wanted, _REPEATED.sub("", wanted))
        return any(_NOT_SLUG.sub("", form) in self._slugs for form in forms)


def missing(kind: LinkKind, target: str) -> Fault:
    """Return whether an unresolved link names a note or another file."""
    name = fold(target.strip()).rpartition("/")[2]
    if is_note(name):
        return Fault.NOTE
    if kind is LinkKind.IMAGE or _KNOWN_SUFFIX.search(name):
        return Fault.ATTACHMENT
    if kind is LinkKind.MARKDOWN and _SUFFIX.search(name):
        return Fault.ATTACHMENT
    return Fault.NOTE


def names_folder(source_path: str, kind: LinkKind, target: str, folders: Collection[str]) -> bool:
    """Whether a Markdown link leads to a folder, which file browsers and websites show.

    `folders` are the folders of the vault, folded.
    """
    if kind is not LinkKind.MARKDOWN:
        return False
    path = fold(target.strip())
    folder = "" if path.startswith("/") else fold(source_path).rpartition("/")[0]
    named = joined(folder, path)
    return not named or named in folders


def faults(
    kind: LinkKind, target: str, fragment: str | None, found: Resolution, anchors: Anchors | None
) -> list[Fault]:
    """Return what is wrong with a link, given its resolution; usually nothing or one fault.

    `anchors` are those of the note that it leads to, or None if they are not known.
    """
    if found.path is None:
        return [missing(kind, target)]
    wrong = []
    if fragment and found.is_note and anchors is not None:
        fault = anchors.fault(kind, fragment)
        if fault is not None:
            wrong.append(fault)
    if found.ambiguous:
        wrong.append(Fault.AMBIGUOUS)
    return wrong
