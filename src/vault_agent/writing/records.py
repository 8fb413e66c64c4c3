"""Records of decisions: `ADR-{number}-{title}.md`, with numbers that are never used again."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import anyio

from vault_agent.errors import Conflict, InvalidRequest
from vault_agent.markdown.edit import insertable
from vault_agent.markdown.frontmatter import read as read_frontmatter
from vault_agent.markdown.frontmatter import text_of
from vault_agent.markdown.parse import parse_note
from vault_agent.markdown.yaml.write import written as as_yaml
from vault_agent.model.authoring import DecisionRecord
from vault_agent.model.identifiers import identify
from vault_agent.system.cancelling import in_thread
from vault_agent.text.names import fold, slug
from vault_agent.vault.naming import note_path
from vault_agent.vault.opening import CannotOpen
from vault_agent.vault.read import decode, read_bytes
from vault_agent.vault.scan import scan
from vault_agent.vault.skipped import Skipped
from vault_agent.writing.permission import TRASH
from vault_agent.writing.templates import RECORD

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date

    from vault_agent.model.scope import Scope
    from vault_agent.model.writing import Write, Written
    from vault_agent.vault.root import VaultRoot
    from vault_agent.writing.write import Writing

_ATTEMPTS = 20
_NAME = re.compile(r"adr-(\d{1,9})(?=[-. ]|\Z)")
_MAX_SLUG = 60
_MAX_RECORDS = 2_000
_MAX_BYTES = 1 << 20


class Records:
    """The decision records of one vault."""

    def __init__(self, open_root: Callable[[], VaultRoot]) -> None:
        self._open_root = open_root
        self._numbering = anyio.Lock()  # two at once get two numbers

    async def create(
        self,
        writing: Writing,
        write: Write,
        folder: str,
        *,
        title: str,
        content: str | None,
        today: date,
    ) -> Written:
        """Create a record with the number after the highest that was ever used.

        `content` is the text below the title; by default the headings of a record.

        Raises:
            InvalidRequest: `INVALID_REQUEST` if the title is not one line with letters or digits.
            VaultAgentError: as `Writing.create`.
        """
        title = title.strip()
        name = slug(title, _MAX_SLUG)
        if not name or title.splitlines() != [title]:
            raise InvalidRequest("INVALID_REQUEST", "A title is one line with letters or digits.")
        insertable(title + (content or ""))
        async with self._numbering:
            names = await in_thread(self._names, folder)
            for below in (folder, f"{TRASH}/{folder}"):
                names += [path.rpartition("/")[2] for path in await writing.paths_ever(below)]
            number = max(filter(None, map(_number, names)), default=0) + 1
            for attempt in range(_ATTEMPTS):
                path = note_path(f"{folder}/ADR-{number + attempt:03}-{name}.md")
                text = _text(f"ADR-{number + attempt:03}: {title}", content, today)
                try:
                    return await writing.create(path, write, text.encode())
                except Conflict as error:
                    # Somebody has made the file meanwhile.
                    if error.code not in ("NOTE_EXISTS", "NAME_COLLISION"):
                        raise
        raise Conflict("WRITE_CONFLICT", "Other records were made at the same time.")

    async def in_folder(self, folder: str, scope: Scope) -> list[DecisionRecord]:
        """Return the records in a folder in the order of their numbers, at most 2,000."""
        return await in_thread(self._list, folder, scope)

    def _names(self, folder: str) -> list[str]:
        with self._open_root() as root:
            return [*_names(root, folder), *_names(root, f"{TRASH}/{folder}")]

    def _list(self, folder: str, scope: Scope) -> list[DecisionRecord]:
        found: list[DecisionRecord] = []
        with self._open_root() as root:
            for entry in scan(root, paths=(folder,)).notes:
                number = _number(entry.path.rpartition("/")[2])
                if number is None or not scope.contains(entry.path):
                    continue
                if len(found) == _MAX_RECORDS:
                    break
                text = _read(root, entry.path)
                title = parse_note(text, path=entry.path).title
                status = text_of(read_frontmatter(text).values, "status")
                found.append(
                    DecisionRecord(number, identify(entry.path), entry.path, title, status)
                )
        return sorted(found, key=lambda each: (each.number, each.path))


def _names(root: VaultRoot, folder: str) -> list[str]:
    try:
        with root.listing(folder) as entries:
            return [entry.name for entry in entries]
    except CannotOpen:
        return []  # there is no such folder yet


def _number(name: str) -> int | None:
    match = _NAME.match(fold(name))
    return int(match[1]) if match else None


def _read(root: VaultRoot, path: str) -> str:
    try:
        return decode(read_bytes(root, path, _MAX_BYTES).data, path)[0]
    except Skipped:
        return ""


def _text(title: str, content: str | None, today: date) -> str:
    head = f"---\ntype: decision\ntitle: {as_yaml(title)}\ntags: []\nstatus: proposed\n"
    body = RECORD if content is None else content
    end = "" if not body or body.endswith("\n") else "\n"
    return f"{head}date: {today}\n---\n\n# {title}\n\n{body}{end}"
