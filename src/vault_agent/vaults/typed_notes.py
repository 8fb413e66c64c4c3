"""New notes in the vaults of projects and in the global one: from a type and a title.

Their templates are those of the project, then of the global vault, then the built-in ones.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from vault_agent.config.vault_list import Role
from vault_agent.errors import Conflict, InvalidRequest, VaultAgentError
from vault_agent.markdown import frontmatter
from vault_agent.markdown.edit import spliced
from vault_agent.markdown.frontmatter_edit import keys_of, set_keys
from vault_agent.markdown.lines import insertable
from vault_agent.markdown.template import fill, with_known
from vault_agent.model.identifiers import GLOBAL
from vault_agent.model.note_types import FOLDER_OF, OTHERS, in_order, new_note_id, type_of_folder
from vault_agent.system.cancelling import in_thread
from vault_agent.text.names import slug, stem
from vault_agent.vault.paths import note_path
from vault_agent.writing.templates import choose_template, merge_templates, templates

if TYPE_CHECKING:
    from vault_agent.markdown.yaml_values import Json
    from vault_agent.model.writing import TemplateBody, Write, Written
    from vault_agent.vaults.open_vault import OpenVault
    from vault_agent.vaults.vaults import Vaults
    from vault_agent.writing.templates import Template

FOLDER = "templates"
_NAMES_TRIED = 100
_TYPE = re.compile(r"^type:[ \t]*([a-z][a-z0-9-]{0,31})[ \t]*$", re.MULTILINE)


class TypedNotes:
    """Makes notes with types in vaults."""

    def __init__(self, vaults: Vaults) -> None:
        self._vaults = vaults

    async def templates(self, vault: OpenVault) -> list[Template]:
        """Return the templates for a vault. Its own ones hide those of the global vault by name."""
        own = await vault.in_folder(templates, FOLDER)
        try:
            other = await self._vaults.open(GLOBAL)
            if other.identity != vault.identity:
                theirs = await other.in_folder(templates, FOLDER)
                return merge_templates(theirs, own)
        except VaultAgentError:
            pass  # there is no global vault, or it cannot be opened now
        return merge_templates(own)

    async def create(self, vault: OpenVault, write: Write, note: TemplateBody) -> Written:
        """Create a note with `id`, `type`, `title` and dates, in the folder of its type.

        Raises:
            InvalidRequest: `INVALID_REQUEST` if it has neither a template nor a type, or neither a
                path nor a title; `INVALID_REQUEST`, `INVALID_NOTE_NAME`, `INVALID_PATH`.
            NotFound: `TEMPLATE_NOT_FOUND`.
            Conflict: `TEMPLATE_UNSUPPORTED`, and as `VaultWriter.create`.
        """
        if note.template is None and note.type is None:
            raise InvalidRequest("INVALID_REQUEST", "A new note needs a `template` or a `type`.")
        if note.path is None and note.title is None:
            raise InvalidRequest("INVALID_REQUEST", "A new note needs a `path` or a `title`.")
        template = await self._template(vault, note)
        entry = self._vaults.entry_of(vault)
        project = entry.name if entry is not None and entry.role is Role.PROJECT else ""
        if note.path is not None:
            path = note_path(note.path)
            text = await in_thread(_text, template, note, path, project)
            return await vault.writer.create(path, write, text)
        text = await in_thread(_text, template, note, "", project)
        kind = str(keys_of(text.decode())["type"])
        name = f"{FOLDER_OF.get(kind, OTHERS)}/{slug(note.title or '') or kind}"
        for number in range(1, _NAMES_TRIED):
            path = note_path(name if number == 1 else f"{name}-{number}")
            try:
                return await vault.writer.create(path, write, text)
            except Conflict as error:
                if error.code not in ("NOTE_EXISTS", "NAME_COLLISION"):
                    raise
        raise Conflict("NAME_COLLISION", "The folder has too many notes of this name.")

    async def _template(self, vault: OpenVault, note: TemplateBody) -> str:
        stored = await self.templates(vault)
        if note.template is not None:
            return choose_template(stored, note.template).text
        same = (template.text for template in stored if template.name.lower() == note.type)
        return next(same, "# {{title}}\n")


def _text(template: str, note: TemplateBody, path: str, project: str) -> bytes:
    """Return the text of a new note, with the properties that each note with a type has."""
    now = datetime.now().astimezone()
    utc = now.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    title = note.title or stem(path)
    kind = note.type or _type_in(template) or type_of_folder(path)
    identifier = new_note_id(kind, utc[:10])
    defaults = {"id": identifier, "project": project, "session": "", "agent": ""}
    variables = {**defaults, **note.variables}
    text = fill(with_known(template), title=title, now=now, values=variables)
    if note.content is not None:
        insertable(note.content)
        text = text[: frontmatter.bounds(text).end] + note.content
    own = {**keys_of(text), **(note.frontmatter or {})}
    values: dict[str, Json] = {
        "id": identifier,
        "type": kind,
        "title": title,
        "created": utc,
        "updated": utc,
        **({"project": project} if project else {}),
        **{name: variables[name] for name in ("session", "agent") if variables[name]},
    }
    missing = {name: value for name, value in values.items() if own.get(name) in (None, "")}
    missing |= {"type": kind} if note.type else {}
    head = text[: (end := frontmatter.bounds(text).end)]
    if "#" in head and not note.frontmatter:  # comments of the template's author stay
        return spliced(text.encode(), set_keys(text.encode(), missing))
    ordered = in_order({**own, **missing})
    kept = {name: value for name, value in ordered.items() if value != "" or name not in defaults}
    return spliced(b"", set_keys(b"", kept)) + text[end:].encode()


def _type_in(template: str) -> str | None:
    match = _TYPE.search(template[: frontmatter.bounds(template).end])
    return match[1] if match is not None else None
