"""Tasks, templates, the devlog and decision records of one open vault."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from vault_agent.search.tasks import open_tasks_of
from vault_agent.system.cancelling import in_thread
from vault_agent.writing.devlog import add_entry, last_entries
from vault_agent.writing.records import Records
from vault_agent.writing.tasks import add_task, set_task
from vault_agent.writing.templates import create_from_template, templates

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from vault_agent.config.sections import WriteSettings
    from vault_agent.markdown.task_edit import Status, Wanted
    from vault_agent.markdown.task_line import NewTask
    from vault_agent.model.authoring import DecisionRecord, DevlogEntry, DevlogKind
    from vault_agent.model.scope import Scope
    from vault_agent.model.writing import Write, Written
    from vault_agent.vault.root import VaultRoot
    from vault_agent.vaults.shared import Read
    from vault_agent.writing.templates import Template
    from vault_agent.writing.write import Writing


class Authoring:
    """Writes notes by conventions: the folders and formats of the settings.

    The folders are those of the caller's part of the vault. Times are local.

    Args:
        writing: returns what writes, if that is on.
        read: reads the index.
        open_root: opens the vault.
        settings: `[write]` of the configuration.
    """

    def __init__(
        self,
        writing: Callable[[], Writing],
        read: Read,
        open_root: Callable[[], VaultRoot],
        settings: WriteSettings,
    ) -> None:
        self._writing = writing
        self._read = read
        self._open_root = open_root
        self._settings = settings
        self._records = Records(open_root)

    async def add_task(
        self,
        path: str,
        write: Write,
        task: NewTask,
        *,
        section: tuple[str, ...] | None,
        allow_repeat: bool,
    ) -> Written:
        """Add a task to a note. Raises as `vault_agent.writing.tasks.add_task`."""
        return await add_task(
            self._writing(),
            path,
            write,
            task,
            section=section,
            form=self._settings.tasks_format,
            allow_repeat=allow_repeat,
        )

    async def set_task(
        self, path: str, write: Write, wanted: Wanted, status: Status, scope: Scope
    ) -> Written:
        """Complete, cancel or open a task. Raises as `vault_agent.writing.tasks.set_task`."""

        async def open_tasks(ids: Sequence[str]) -> Sequence[str]:
            found: list[str] = await self._read(lambda now: open_tasks_of(now, ids, scope))
            return found

        return await set_task(
            self._writing(),
            path,
            write,
            wanted,
            status,
            today=_now().date(),
            form=self._settings.tasks_format,
            open_tasks=open_tasks,
        )

    async def templates(self, scope: Scope, folder: str | None = None) -> list[Template]:
        """Return the templates that a caller may use, in the order of their names.

        They are in a folder, by default that of the settings.
        """
        place = scope.outer(folder or self._settings.template_folder)

        def look() -> list[Template]:
            with self._open_root() as root:
                return templates(root, place, scope)

        return await in_thread(look)

    async def create_from_template(
        self, path: str, write: Write, template: str, values: Mapping[str, str], scope: Scope
    ) -> Written:
        """Create a note from a template.

        Raises as `vault_agent.writing.templates.create_from_template`.
        """
        return await create_from_template(
            self._writing(),
            self._open_root,
            write,
            path,
            template=template,
            folder=scope.outer(self._settings.template_folder),
            scope=scope,
            values=values,
            now=_now(),
        )

    async def add_entry(
        self,
        write: Write,
        kind: DevlogKind,
        topic: str,
        text: str,
        scope: Scope,
        *,
        allow_repeat: bool,
    ) -> Written:
        """Add a line to the devlog. Raises as `vault_agent.writing.devlog.add_entry`."""
        return await add_entry(
            self._writing(),
            write,
            scope.outer(self._settings.devlog_folder),
            kind=kind,
            topic=topic,
            text=text,
            today=_now().date(),
            allow_repeat=allow_repeat,
        )

    async def entries(self, scope: Scope, *, topic: str | None, limit: int) -> list[DevlogEntry]:
        """Return the last lines of the devlog.

        Raises:
            InvalidRequest: `INVALID_REQUEST`, `INVALID_NOTE_NAME` if the topic is no name.
        """

        def look() -> list[DevlogEntry]:
            folder = scope.outer(self._settings.devlog_folder)
            with self._open_root() as root:
                return last_entries(root, folder, scope, topic=topic, limit=limit)

        return await in_thread(look)

    async def create_record(
        self, write: Write, title: str, content: str | None, scope: Scope
    ) -> Written:
        """Create a decision record. Raises as `Records.create`."""
        return await self._records.create(
            self._writing(),
            write,
            scope.outer(self._settings.adr_folder),
            title=title,
            content=content,
            today=_now().date(),
        )

    async def records(self, scope: Scope) -> list[DecisionRecord]:
        """Return the decision records in the order of their numbers."""
        return await self._records.in_folder(scope.outer(self._settings.adr_folder), scope)


def _now() -> datetime:
    return datetime.now().astimezone()
