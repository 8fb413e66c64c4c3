"""Which links lead nowhere. Pure, over the anchors of a note and the folders of a vault."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING

from vault_agent.markdown.headings import Headings, KnownHeading, anchor_key
from vault_agent.markdown.relink import ADDRESSES
from vault_agent.model.link_resolver import joined
from vault_agent.model.notes import LinkKind
from vault_agent.text.names import fold, is_note

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from vault_agent.model.link_resolver import Resolution
    from vault_agent.model.notes import Anchor


class Fault(StrEnum):
    """What is wrong with a link."""

    NOTE = "note"  # no such note
    HEADING = "heading"  # the note has no such heading
    BLOCK = "block"  # the note has no such block
    ATTACHMENT = "attachment"  # no such file
    AMBIGUOUS = "ambiguous"  # several files match equally well


_SUFFIX = re.compile(r"\.[A-Za-z0-9]{1,5}\Z")
_KNOWN_SUFFIX = re.compile(
    r"\.(?:avif|base|bmp|canvas|css|csv|docx?|epub|excalidraw|gif|html?|jpe?g|js|json|m4a|mkv|mov"
    r"|mp3|mp4|odt|ogg|ogv|pdf|png|pptx?|py|svg|toml|tsv|txt|wav|webm|webp|xlsx?|xml|ya?ml|zip)\Z"
)


class Anchors:
    """The headings and blocks of a note, to look up fragments."""

    def __init__(self, anchors: Iterable[Anchor]) -> None:
        """Take anchors in order."""
        headings: list[KnownHeading] = []
        self._blocks: set[str] = set()
        for level, name, _ in anchors:
            if level:
                headings.append(KnownHeading(level, name))
            else:
                self._blocks.add(name)
        self._headings = Headings(headings)

    def fault(self, kind: LinkKind, fragment: str) -> Fault | None:
        """Return what is wrong with a link to a fragment of this note, or None.

        A Markdown link may also name a heading as renderers do: in lower case, with hyphens and
        without punctuation.
        """
        parts = fragment.split("#")
        last = parts[-1].strip()
        if last.startswith("^"):
            return None if anchor_key(last) in self._blocks else Fault.BLOCK
        keys = [anchor_key(part) for part in parts]
        if not keys[-1] or self._headings.walk(keys):
            return None
        if kind in ADDRESSES and self._headings.find_slug(last):
            return None
        return Fault.HEADING


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
    kind: LinkKind,
    target: str,
    fragment: str | None,
    resolution: Resolution,
    anchors: Anchors | None,
) -> list[Fault]:
    """Return what is wrong with a link, given its resolution; usually nothing or one fault.

    `anchors` are those of the note that it leads to, or None if they are not known.
    """
    if resolution.path is None:
        return [missing(kind, target)]
    wrong = []
    if fragment and resolution.is_note and anchors is not None:
        fault = anchors.fault(kind, fragment)
        if fault is not None:
            wrong.append(fault)
    if resolution.ambiguous:
        wrong.append(Fault.AMBIGUOUS)
    return wrong
