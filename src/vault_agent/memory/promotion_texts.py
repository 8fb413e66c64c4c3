"""The texts of a promotion: the copy for the global vault, and the marks of the original. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from vault_agent.markdown import frontmatter
from vault_agent.markdown.address import PartAddress, find_section
from vault_agent.markdown.document import Document
from vault_agent.markdown.edit import editable, spliced
from vault_agent.markdown.frontmatter_edit import keys_of, read_keys, set_keys
from vault_agent.markdown.parse import parse_note
from vault_agent.model.note_types import FIELDS, FOLDER_OF, OTHERS, type_of_folder
from vault_agent.text.names import slug, stem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TypeAlias

    from vault_agent.markdown.edit import Splice
    from vault_agent.markdown.yaml_values import Json

    Properties: TypeAlias = dict[str, Json]

GLOBAL: Final = "global:"
"""What the path of a note in the global vault begins with, in links and in `promoted_to`."""
PROMOTED, PROMOTED_TO, LINKS = "promoted", "promoted_to", "links"
"""What an original has besides, once it is promoted."""
STATUS, SUPERSEDED = "status", "superseded"
FROM = "promoted_from"
"""What a copy has besides."""

_OF_JOURNALS = (
    "model", "duration_minutes", "commits", "tokens_in", "tokens_out", "generator",
    "incomplete_reason", "status",
)  # fmt: skip
_NOT_COPIED = (PROMOTED, PROMOTED_TO, LINKS, FROM, "files", "source_files")


@dataclass(frozen=True, slots=True)
class Original:
    """A note to promote, or a section of it: then `section` is its heading as a name."""

    path: str
    text: str
    values: Mapping[str, Json]
    body: str
    type: str
    title: str
    line_end: str
    section: str = ""

    @property
    def promoted_path(self) -> str | None:
        """The path of its copy in the global vault, if it names one."""
        value = None if self.section else self.values.get(PROMOTED_TO)
        return value.removeprefix(GLOBAL) if isinstance(value, str) and _is_global(value) else None

    def names_copy(self, path: str) -> bool:
        """Whether it has the marks of a copy at this path."""
        if self.section:
            return GLOBAL + path in _items(self.values.get(LINKS))
        return self.promoted_path == path


class Copied(NamedTuple):
    """What a copy says about its original."""

    key: str  # the vault and the note that it was made of
    id: str | None


class Origin(NamedTuple):
    """Where an original is: the `uid` of its vault, its project, and the ID of the note."""

    uid: str
    project: str
    note_id: str


def read_original(note: bytes, path: str) -> Original:
    """Return a note to promote.

    Raises:
        Conflict: `ENCODING_NOT_WRITABLE`, `FRONTMATTER_INVALID`, so that it can be marked later.
    """
    text = editable(note)
    values = keys_of(text.text)
    parsed = parse_note(text.text, path=path)
    kind = parsed.types[0].lower() if parsed.types else type_of_folder(path)
    body = text.text[frontmatter.bounds(text.text).end :]
    return Original(path, text.text, values, body, kind, parsed.title, text.line_end() or "\n")


def part_of(original: Original, heading: str) -> Original:
    """Return a section of a note as what is promoted. Its lines stay at their places in `text`.

    Raises:
        Conflict: `HEADING_AMBIGUOUS`.
        NotFound: `HEADING_NOT_FOUND`.
    """
    section = find_section(Document.of_body(original.body), PartAddress(heading=(heading,)))
    body = original.body[section.start : section.end]
    head = original.text[: len(original.text) - len(original.body)]
    before = "\n" * original.body.count("\n", 0, section.start)
    return replace(
        original,
        text=head + before + body,
        body=body,
        title=f"{original.title}: {section.text}",
        section=slug(section.text) or "section",
    )


def key_of(original: Original, origin: Origin) -> str:
    """Return what a copy says about its original: `{uid}:{id}`, with the note ID if it has none.

    The name of a section follows after `#`.
    """
    value = original.values.get("id")
    key = f"{origin.uid}:{value if isinstance(value, str) and value else origin.note_id}"
    return f"{key}#{original.section}" if original.section else key


def type_of_copy(original: Original) -> str:
    """Return the type of a copy. What is worth keeping of a session is a pattern."""
    return "pattern" if original.type == "journal" else original.type


def place_of_copy(original: Original, folder: str | None) -> str:
    """Return the path of a copy without `.md`: in a folder, by default that of its type."""
    kind = type_of_copy(original)
    chosen = (folder or "").strip("/") or FOLDER_OF.get(kind, OTHERS)
    return f"{chosen}/{slug(original.title) or slug(stem(original.path)) or kind}"


def copy_of(
    original: Original,
    origin: Origin,
    *,
    identifier: str,
    now: str,
) -> bytes:
    """Return the bytes of a copy for the global vault.

    The text stays as it is. The notes that the original's frontmatter links to are not there. Its
    files become `source_files`, which no task in another project is compared with.

    Args:
        original: the note.
        origin: where it is.
        identifier: the `id` of the copy.
        now: the time as ISO 8601 in UTC, where the note has none.
    """
    dropped = (*_NOT_COPIED, *(_OF_JOURNALS if original.type == "journal" else ()))
    dropped += ("aliases",) if original.section else ()
    values: Properties = {
        name: value for name, value in original.values.items() if name not in dropped
    }
    values |= {
        "id": identifier,
        "type": type_of_copy(original),
        "title": original.title,
        "created": values.get("created") or values.get("updated") or now,
        "updated": values.get("updated") or values.get("created") or now,
        "tags": _tags(values.get("tags"), origin.project),
        "project": values.get("project") or origin.project,
        FROM: key_of(original, origin),
    }
    if files := _items(original.values.get("files")):
        values["source_files"] = files
    head = spliced(b"", set_keys(b"", _in_order(values))).decode()
    return (head.replace("\n", original.line_end) + original.body).encode()


def copied(note: bytes) -> Copied | None:
    """Return what a note of the global vault says about its original, or None if it is no copy."""
    values = keys_of(editable(note).text)
    key, identifier = values.get(FROM), values.get("id")
    if not isinstance(key, str):
        return None
    return Copied(key, identifier if isinstance(identifier, str) else None)


def marked(note: bytes, path: str, *, whole: bool = True) -> tuple[Splice, ...]:
    """Mark an original as promoted to a path of the global vault. Its body stays as it is.

    Where a section was promoted, the note links to the copy but does not say that it is there.

    Raises as `set_keys`.
    """
    values = read_keys(note)
    old, place = values.get(PROMOTED_TO) if whole else None, GLOBAL + path
    kept = [link for link in _items(values.get(LINKS)) if link not in (old, place)]
    named: Properties = {PROMOTED_TO: place} if whole else {}
    return set_keys(note, {PROMOTED: True, **named, LINKS: [*kept, place]})


def unmarked(note: bytes, section_path: str | None = None) -> tuple[Splice, ...]:
    """Remove the marks of an original, or of a section whose copy is at a path.

    What is promoted besides keeps its marks. Raises as `set_keys`.
    """
    values = read_keys(note)
    place = values.get(PROMOTED_TO) if section_path is None else GLOBAL + section_path
    linked = _items(values.get(LINKS))
    kept = [link for link in linked if link != place]
    others = [link for link in kept if _is_global(link)]
    marks = [PROMOTED_TO] if section_path is None else []
    if not others and (section_path is None or values.get(PROMOTED_TO) is None):
        marks.insert(0, PROMOTED)
    gone = [name for name in marks if values.get(name) not in (None, False)]
    if len(kept) == len(linked):
        return set_keys(note, {}, gone)
    return set_keys(note, {LINKS: kept} if kept else {}, gone if kept else [*gone, LINKS])


def is_marked(note: bytes) -> bool:
    """Whether a note says that it is promoted."""
    return read_keys(note).get(PROMOTED_TO) is not None


def is_superseded(note: bytes) -> bool:
    """Whether a note says that another one has taken its place."""
    return str(read_keys(note).get(STATUS) or "").lower() == SUPERSEDED


def with_status(note: bytes, *, superseded: bool) -> tuple[Splice, ...]:
    """Give a note the status of a superseded one, or none. Raises as `set_keys`."""
    return set_keys(note, {STATUS: SUPERSEDED}) if superseded else set_keys(note, {}, [STATUS])


def _tags(value: Json, project: str) -> list[Json]:
    tags = value.replace(",", " ").split() if isinstance(value, str) else _items(value)
    tag = f"project/{slug(project) or 'other'}"
    return [*tags, *([] if tag in tags else [tag])]


def _items(value: Json) -> list[Json]:
    """Return a list of the frontmatter without what is empty. One value is a list of one."""
    values: Sequence[Json] = value if isinstance(value, list) else (value,)
    return [entry for entry in values if entry not in (None, "")]


def _is_global(value: Json) -> bool:
    return isinstance(value, str) and value.startswith(GLOBAL)


def _in_order(values: Properties) -> Properties:
    order = {name: place for place, name in enumerate(FIELDS)}
    return dict(sorted(values.items(), key=lambda pair: order.get(pair[0], len(order))))
