"""Takes over what earlier versions kept of sessions: two databases and a spool, once.

What they held of sessions becomes lines of their files. The old files are then set aside in
`sessions-before`, so that nothing that was kept is lost.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import orjson

from vault_agent.memory.session_files import FOLDER, append_line, name_of
from vault_agent.store.old_sessions import read_old_sessions
from vault_agent.system.cancelling import in_thread

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

ASIDE: Final = "sessions-before"
_OLD: Final = ("sessions.db*", "session-texts.*", "sessions.damaged*", "spool")
_WRITTEN: Final = frozenset({"complete", "incomplete"})


async def take_over(data: Path) -> None:
    """Make the files of sessions of what an earlier version kept, if there is any."""
    await in_thread(_take_over, data)


def _take_over(data: Path) -> None:
    old = [path for pattern in _OLD for path in data.glob(pattern)]
    if not old:
        return
    with suppress(OSError):
        for agent, session_id, lines in _sessions(data):
            if (data / FOLDER / name_of(agent, session_id)).exists():
                continue  # taken over before a crash
            for line in lines:
                append_line(data, agent, session_id, line)
        for path in sorted((data / "spool").rglob("*")):
            with suppress(ValueError, KeyError, OSError):
                line = orjson.loads(path.read_bytes()) if path.is_file() else {}
                append_line(data, line["agent"], line["sessionId"], line)
        aside = data / ASIDE
        aside.mkdir(mode=0o700, exist_ok=True)
        for path in old:
            path.replace(aside / path.name)


def _sessions(data: Path) -> Iterator[tuple[str, str, list[Mapping[str, Any]]]]:
    for old in read_old_sessions(data / "sessions.db", data / "session-texts.db"):
        session, journal = old.session, old.journal
        about = {
            "version": 1,
            "agent": session["agent"],
            "sessionId": session["id"],
            "cwd": session["cwd"],
            "vault": session["vault"],
        }
        start = {
            **about,
            "event": "start",
            "name": "start",
            "at": session["started_at"],
            "transcriptPath": session["transcript_path"],
            "model": session["model"],
            "title": session["title"],
            "commit": session["start_commit"],
        }
        lines: list[Mapping[str, Any]] = [{k: v for k, v in start.items() if v is not None}]
        for text in old.events:
            with suppress(ValueError):
                lines.append(orjson.loads(text))
        if session["ended_at"] is not None:
            end = {"event": "end", "name": "end", "at": session["ended_at"], "reason": "other"}
            lines.append({**about, **end})
        for at, text in old.sections:
            with suppress(ValueError, KeyError):
                given = orjson.loads(text)
                lines.append({"event": "sections", "at": at, **given})
        if journal is not None and journal["state"] in {*_WRITTEN, "skipped"}:
            hashes = [each for each in (journal["hash"], journal["hash_next"]) if each]
            lines.append(
                {
                    "event": "journal",
                    "at": journal["since"],
                    "state": journal["state"],
                    "reason": journal["reason"] if journal["reason"] == "edited" else None,
                    "title": journal["title"],
                    "path": journal["path"],
                    "hashes": hashes,
                    "generator": journal["generator"],
                    "through": session["last_event_at"],
                }
            )
        yield session["agent"], session["id"], lines
