"""The sessions of a data folder, read from their files, each again when it has changed."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Any

from vault_agent.memory.events import (
    FOLDER,
    append_line,
    name_of,
    read_lines,
    remove_files,
    remove_old,
    session_paths,
    to_line,
)
from vault_agent.memory.session import Session, fold, has_event
from vault_agent.store.failures import disk_failed, system_failure
from vault_agent.system.cancelling import in_thread

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from vault_agent.model.sessions import SessionEvent


class SessionStore:
    """Reads and appends lines of sessions. Every method may raise `DISK_FULL`, `INDEX_IO_ERROR`."""

    def __init__(self, data: Path) -> None:
        """Take the folder of the user's data."""
        self._data = data
        self._read: dict[Path, tuple[tuple[int, int], Session | None]] = {}

    async def sessions(self, vault: str | None = None) -> tuple[Session, ...]:
        """Return the sessions, of one vault or of all, the one with the latest event first."""
        sessions = await in_thread(self._all)
        return tuple(session for session in sessions if vault in {None, session.vault})

    async def get(self, session_id: str) -> Session | None:
        """Return one session, or None."""
        return next(
            (session for session in await in_thread(self._all) if session.session_id == session_id),
            None,
        )

    async def take(self, event: SessionEvent) -> Session:
        """Return the session of an event.

        The hook has appended it already. The events of others are appended now.
        """
        return await in_thread(self._take, event)

    async def append(self, session: Session, line: Mapping[str, Any]) -> Session:
        """Append a line to a session, and return the session after it."""
        return await in_thread(self._append, session, line)

    async def forget(self, sessions: Iterable[Session]) -> int:
        """Remove the files of sessions, and return how many there were."""
        paths = [self._path(session.agent, session.session_id) for session in sessions]
        return await in_thread(remove_files, paths)

    async def forget_older(self, days: float) -> None:
        """Remove the files to which nothing was added for so many days."""
        await in_thread(remove_old, self._data, days)

    def quiet_since(self, session: Session) -> float:
        """Return when a session was last seen at work, by its events and its transcript."""
        return max(session.last_event_at, _changed_at(session.transcript_path))

    def _take(self, event: SessionEvent) -> Session:
        path = self._path(event.agent, event.session_id)
        session = self._session(path)
        if session is None or not has_event(session, event):
            self._write(event.agent, event.session_id, to_line(event))
            session = self._session(path)
        assert session is not None  # noqa: S101 - it has this event
        return session

    def _append(self, session: Session, line: Mapping[str, Any]) -> Session:
        self._write(session.agent, session.session_id, line)
        return self._session(self._path(session.agent, session.session_id)) or session

    def _write(self, agent: str, session_id: str, line: Mapping[str, Any]) -> None:
        try:
            append_line(self._data, agent, session_id, line)
        except OSError as error:
            raise (system_failure(error.errno) or disk_failed(str(error.strerror))) from None

    def _all(self) -> list[Session]:
        paths = session_paths(self._data)
        for gone in self._read.keys() - set(paths):
            del self._read[gone]
        sessions = [session for path in paths if (session := self._session(path)) is not None]
        return sorted(
            sessions, key=lambda session: (session.last_event_at, session.session_id), reverse=True
        )

    def _session(self, path: Path) -> Session | None:
        try:
            state = path.stat()
            version = (state.st_mtime_ns, state.st_size)
            kept = self._read.get(path)
            if kept is None or kept[0] != version:
                kept = version, fold(read_lines(path))
                self._read[path] = kept
        except OSError:
            return None
        return kept[1]

    def _path(self, agent: str, session_id: str) -> Path:
        return self._data / FOLDER / name_of(agent, session_id)


def _changed_at(path: str | None) -> float:
    """Return when a transcript changed, or 0. It is not opened."""
    if path is None or "\0" in path:
        return 0.0
    try:
        state = os.lstat(path)
    except OSError:
        return 0.0
    return state.st_mtime if stat.S_ISREG(state.st_mode) else 0.0
