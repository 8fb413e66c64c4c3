"""Adds and removes tags: in the frontmatter item by item, in the text where they are written."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, TypeAlias

from vault_agent.errors import Conflict, InvalidRequest
from vault_agent.markdown import tags
from vault_agent.markdown.document import Document
from vault_agent.markdown.edit import TextChange, before, editable
from vault_agent.markdown.frontmatter_edit import Head, changed_keys
from vault_agent.markdown.lines import insertable
from vault_agent.text.names import fold

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from vault_agent.markdown.document import Tag
    from vault_agent.markdown.edit import Splice, Text
    from vault_agent.markdown.yaml_values import Json

Where: TypeAlias = Literal["frontmatter", "inline", "both"]

_KEYS = ("tags", "tag")
_SEPARATORS = re.compile(r"([,\s]+)")
_REST_OF_LINE = re.compile(r"[ \t]*(?:\r\n|\r|\n|\Z)")
_MAX_INDENTATION = 200
_TAG_LINE = re.compile(r"[ \t]*#\S+(?:[ \t]+#\S+)*[ \t]*\Z")


def edit_tags(
    note: bytes, add: Sequence[str], remove: Sequence[str], where: Where = "frontmatter"
) -> tuple[Splice, ...]:
    """Add and remove tags, with or without `#`. Letter case does not matter.

    In the frontmatter the key `tags` is used, or `tag` if only that is there. In the text a tag is
    added on the last line, if that has only tags, else on a line of its own at the end.

    Raises:
        Conflict: `ENCODING_NOT_WRITABLE`, `FRONTMATTER_INVALID`.
        Failed: `EDIT_NOT_PROVEN`, also if the end of the text is in code or in an open comment.
        InvalidRequest: `INVALID_REQUEST` if a tag to add is none by Obsidian's rules, or is also to
            be removed.
    """
    wanted, unwanted = _by_name(add), _by_name(remove)
    for tag in wanted.values():
        insertable(tag)
        if [name for name, *_ in tags.tag_spans(f"#{tag}")] != [tag]:
            raise InvalidRequest(
                "INVALID_REQUEST",
                "A tag consists of letters, digits, _, - and /, and is not only a number.",
            )
    if wanted.keys() & unwanted.keys():
        raise InvalidRequest("INVALID_REQUEST", "A tag is to be added and to be removed.")
    text = editable(note)
    in_text = _in_text(text, wanted, unwanted) if where != "frontmatter" else ()
    in_keys = _in_keys(text, wanted, unwanted) if where != "inline" else ()
    return (*in_keys, *in_text)


def _by_name(names: Iterable[str]) -> dict[str, str]:
    """Return tags by their folded names, without `#`."""
    tags_by_name: dict[str, str] = {}
    for name in names:
        tag = tags.bare(name)
        if not tag:
            raise InvalidRequest("INVALID_REQUEST", "A tag is empty.")
        tags_by_name.setdefault(fold(tag), tag)
    return tags_by_name


# --- frontmatter ----------------------------------------------------------------------------------


def _in_keys(text: Text, wanted: dict[str, str], unwanted: dict[str, str]) -> tuple[Splice, ...]:
    head = Head(text.text, text.line_end() or "\n")
    values: dict[str, Json] = {}
    for entry in head.entries:
        key = (entry.name or "").lower()
        if key in values:
            raise Conflict("FRONTMATTER_INVALID", "The frontmatter has a key for tags twice.")
        if key in _KEYS:
            values[key] = entry.json
    present = [key for key in _KEYS if key in values]
    held = {fold(tag) for key in present for tag in _tags_of(values[key])}
    missing = [tag for name, tag in wanted.items() if name not in held]
    changed = {key: _without(values[key], unwanted) for key in present}
    if missing:
        key = present[0] if present else "tags"
        changed[key] = _with(changed.get(key), missing)
    return changed_keys(text, head, changed)


def tags_in(text: str, values: Mapping[str, Json]) -> tuple[str, ...]:
    """Return the tags of a note: of its frontmatter, whose values these are, then of its text."""
    own = (tag for key in _KEYS for tag in _tags_of(values.get(key)))
    inline = (tag.name for tag in Document(text).tags)
    return tags.distinct([*filter(None, own), *inline])


def _tags_of(value: Json) -> list[str]:
    if isinstance(value, list):
        return [_tag(entry) for entry in value]
    if not isinstance(value, str):
        return []
    return [tags.bare(name) for name in _SEPARATORS.split(value)[::2]]


def _tag(item: Json) -> str:
    """Return the tag of an item of a list: text, or a number."""
    return "" if isinstance(item, (bool, list, dict)) or item is None else tags.bare(str(item))


def _without(value: Json, unwanted: Container[str]) -> Json:
    if isinstance(value, list):
        return [entry for entry in value if fold(_tag(entry)) not in unwanted]
    if not isinstance(value, str):
        return value
    parts = _SEPARATORS.split(value)  # tags and separators in turn
    places = range(0, len(parts), 2)
    kept = [index for index in places if fold(tags.bare(parts[index])) not in unwanted]
    if len(kept) == len(places):
        return value
    pieces: list[str] = []
    for index in kept:
        pieces += [parts[index - 1]] * bool(pieces)
        pieces.append(parts[index])
    return "".join(pieces) or None


def _with(value: Json, missing: list[str]) -> Json:
    if isinstance(value, str) and value.strip():
        spaced = "," not in value and len(value.split()) > 1
        return (" " if spaced else ", ").join([value, *missing])
    if isinstance(value, list):
        hashes = bool(value) and all(isinstance(entry, str) and entry[:1] == "#" for entry in value)
        return [*value, *(f"#{tag}" if hashes else tag for tag in missing)]
    if value in (None, ""):
        return [*missing]
    return [value, *missing]


# --- text -----------------------------------------------------------------------------------------


def _in_text(text: Text, wanted: dict[str, str], unwanted: dict[str, str]) -> tuple[Splice, ...]:
    body, own_tags = text.document.body, text.document.tags
    held = {fold(tag) for tag, _, _ in own_tags}
    unwanted_tags = [tag for tag in own_tags if fold(tag.name) in unwanted]
    changes = _removals(text.text, body, unwanted_tags)
    missing = [tag for name, tag in wanted.items() if name not in held]
    expected = [tag for tag, _, _ in own_tags if fold(tag) not in unwanted] + missing
    if missing:
        changes.append(_at_the_end(text, body, missing, own_tags, changes))

    def names(after: Text) -> list[str]:
        return [tag.name for tag in after.document.tags]

    return text.edited(changes).proven(names, expected, "Other tags of the text would change.")


def _removals(text: str, body: int, unwanted: Iterable[Tag]) -> list[TextChange]:
    """Return the changes that remove tags, each with the space before it, or with its whole line.

    At the start of its line a tag goes with the space after it: that would indent what is left.
    """
    changes: list[TextChange] = []
    done, starts_line = body, True
    for tag in unwanted:
        start, end = tag.start, tag.end
        floor = max(done, start - _MAX_INDENTATION)
        prefix = text[floor:start].rstrip(" \t")
        starts_line = prefix[-1] in "\r\n" if prefix else starts_line and floor == done
        rest = _REST_OF_LINE.match(text, end)
        if starts_line and rest is not None:
            start, end = floor + len(prefix), rest.end()
        elif starts_line or start == floor or text[start - 1] not in " \t":
            end += text[end : end + 1] in (" ", "\t")
        else:
            start -= 1
        changes.append(TextChange(start, end, ""))
        done = end
    return changes


def _at_the_end(
    text: Text,
    body: int,
    missing: list[str],
    held: list[Tag],
    removed: list[TextChange],
) -> TextChange:
    """Return the change that adds tags at the end of a text."""
    whole = text.text
    ending = text.line_end() or "\n"
    content = " ".join(f"#{tag}" for tag in missing)
    last = body + len(whole[body:].rstrip())
    line = max(whole.rfind("\n", body, last), whole.rfind("\r", body, last)) + 1 or body
    stays = bool(held) and held[-1].end == last and not (removed and removed[-1].end >= last)
    if stays and _TAG_LINE.match(whole[line:last]):
        return TextChange(last, last, f" {content}")
    between = before(whole[body:], ending, blank_line=True)
    if last == body:  # there is no text
        between = before(whole, ending, blank_line=False)
    is_open = bool(whole) and not whole.endswith(("\r", "\n"))
    return TextChange(len(whole), len(whole), f"{between}{content}{'' if is_open else ending}")
