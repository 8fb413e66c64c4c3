"""New notes from templates: those that are built in, and the notes of a folder of the vault.

The built-in ones are in `text.placeholders`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from vault_agent.errors import NotFound
from vault_agent.markdown.template import fill, variables, with_known
from vault_agent.model.note_types import PLAIN, TYPES, new_note_id, type_of_folder
from vault_agent.system.cancelling import in_thread
from vault_agent.text.names import fold, lies_in, stem
from vault_agent.text.placeholders import BUILT_IN
from vault_agent.vault.paths import note_path
from vault_agent.vault.read import Skipped, decode, read_bytes
from vault_agent.vault.scan import scan

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from vault_agent.model.writing import Write, Written
    from vault_agent.vault.root import VaultRoot
    from vault_agent.writing.vault_writer import VaultWriter

MAX_TEMPLATES = 500
MAX_BYTES = 1 << 20
"""Of one template. A larger note is no template."""


@dataclass(frozen=True, slots=True)
class Template:
    """A template. `path` is None if it is built in. Its name is its path below the folder."""

    name: str
    path: str | None
    text: str

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables that it needs, in order."""
        return variables(self.text)


def templates(root: VaultRoot, folder: str) -> list[Template]:
    """Return the templates in the order of their names.

    A note of the folder hides a built-in template of its name. Only the first 500 notes count.
    """
    built_in = [Template(name, None, text) for name, text in BUILT_IN.items()]
    own = [
        Template(_name(folder, note.path), note.path, text)
        for note in scan(root, paths=(folder,)).notes[:MAX_TEMPLATES]
        if (text := _text(root, note.path)) is not None
    ]
    return merge_templates(built_in, own)


def merge_templates(*layers: Sequence[Template]) -> list[Template]:
    """Return the templates of several vaults, in the order of their names.

    Of templates with one name, that of the latest vault counts, and a built-in one only if no vault
    has one.
    """
    by_name: dict[str, Template] = {}
    for template in chain.from_iterable(layers):
        if template.path is not None or fold(template.name) not in by_name:
            by_name[fold(template.name)] = template
    return sorted(by_name.values(), key=lambda template: fold(template.name))


def choose_template(templates: Sequence[Template], name: str) -> Template:
    """Return the template with a name, in any letter case, or the one whose name ends with it.

    Raises:
        NotFound: `TEMPLATE_NOT_FOUND` with the names of all templates.
    """
    wanted = fold(_bare(name))
    ends = [template for template in templates if fold(template.name).rpartition("/")[2] == wanted]
    for template in templates:
        if fold(template.name) == wanted:
            return template
    if len(ends) == 1:
        return ends[0]
    names = [template.name for template in templates]
    raise NotFound(
        "TEMPLATE_NOT_FOUND",
        f"There is no such template. These are there: {', '.join(names[:20])}.",
        {"templates": names[:100]},
    )


def find_template(root: VaultRoot, folder: str, name: str) -> Template:
    """Return the template with a name, in any letter case, with or without `.md` or the folder.

    The last part of a name is enough if only one template ends with it.

    Raises:
        NotFound: `TEMPLATE_NOT_FOUND` with the names of all templates.
    """
    inside = lies_in(fold(name), fold(folder))
    return choose_template(templates(root, folder), _name(folder, name) if inside else name)


async def create_from_template(
    writer: VaultWriter,
    open_root: Callable[[], VaultRoot],
    write: Write,
    path: str,
    *,
    template: str,
    folder: str,
    values: Mapping[str, str],
    now: datetime,
) -> Written:
    """Create a note from a template. Its title is the note's name.

    Args:
        writer: of the vault.
        open_root: opens the vault.
        write: who asks for the note, and how.
        path: of the note; `.md` is added if it is missing.
        template: the template's name.
        folder: the folder of the templates.
        values: the variables, by name.
        now: the local time.

    Raises:
        NotFound: `TEMPLATE_NOT_FOUND`.
        InvalidRequest: `INVALID_REQUEST`, `INVALID_NOTE_NAME`, `INVALID_PATH`.
        Conflict: `TEMPLATE_UNSUPPORTED`, and as `VaultWriter.create`.
    """

    def filled() -> bytes:
        with open_root() as root:
            source = find_template(root, folder, template)
        text, variables = source.text, values
        if source.path is None:  # only the vault of a project has values for its variables
            text = with_known(text)
            kind = type_of_folder(place)
            variables = {
                "id": new_note_id(kind if kind in TYPES else PLAIN, f"{now:%Y-%m-%d}"),
                "project": "",
                "session": "",
                "agent": "",
                **values,
            }
        return fill(text, title=stem(place), now=now, values=variables).encode()

    place = note_path(path)
    return await writer.create(place, write, await in_thread(filled))


def _text(root: VaultRoot, path: str) -> str | None:
    """Return a template's text, or None if it cannot be read as a note."""
    try:
        content = read_bytes(root, path, MAX_BYTES)
        text, warnings = decode(content.data, path)
    except Skipped:
        return None
    return text if content.complete and not warnings else None


def _name(folder: str, path: str) -> str:
    """Return a template's name: its path below the folder, without the extension."""
    return _bare(path[len(folder) + 1 :])


def _bare(path: str) -> str:
    above, slash, _ = path.rpartition("/")
    return f"{above}{slash}{stem(path)}"
