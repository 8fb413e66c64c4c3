"""Tags: inline `#tags` by Obsidian's rules, and the frontmatter's `tags` and `tag`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vault_agent.markdown.frontmatter import texts_of
from vault_agent.text.names import fold

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from vault_agent.markdown.yaml_values import Value

# A tag consists of letters, digits, "_", "-", "/" and all other characters, such as emoji, that are
# not punctuation. Spaces and the punctuation of Latin, general and CJK blocks end a tag. The two
# joiners in emoji and Persian words do not.
_END = (
    r"\s!-,.:-@\[-^`{-~\u00a1\u00a7\u00ab\u00b6\u00b7\u00bb\u00bf"
    r"\u2000-\u200b\u200e-\u206f\u2e00-\u2e7f\u3000-\u3004\u3008-\u3020\u3030"
    r"\ufe30-\ufe4f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff3e\uff40\uff5b-\uff65\ufffd\0"
)
# The pattern begins with "#", so that the regex engine can skip to the next one.
TAG = re.compile(rf"#(?<![^\s(]#)([^{_END}]++)")
_SEPARATORS = re.compile(r"[,\s]+")
MAX_TAG_CHARS = 200


def tag_spans(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the `#tags` of a text in which code and links are masked, with their places.

    A tag is at the start of a word and contains at least one character that is not a digit. Its
    place includes the `#`.
    """
    for match in TAG.finditer(text):
        tag = match[1].rstrip("/")[:MAX_TAG_CHARS]
        if tag and not tag.isdecimal():
            yield tag, match.start(), match.start(1) + len(tag)


def frontmatter_tags(values: Mapping[str, Value]) -> Iterator[str]:
    """Yield the tags of the frontmatter: a list, or one string split at commas and spaces."""
    for key in ("tags", "tag"):
        value = values.get(key)
        if isinstance(value, str):
            yield from filter(None, map(bare, _SEPARATORS.split(value)))
        else:
            yield from filter(None, map(bare, texts_of(value)))


def distinct(tags: Iterable[str]) -> tuple[str, ...]:
    """Keep the first spelling of each tag."""
    seen: dict[str, str] = {}
    for tag in tags:
        seen.setdefault(fold(tag), tag)
    return tuple(seen.values())


def bare(tag: str) -> str:
    """Return a tag of the frontmatter, or as a user writes it, without `#`."""
    return tag.strip().lstrip("#").strip().rstrip("/")[:MAX_TAG_CHARS]
