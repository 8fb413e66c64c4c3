"""The texts of a session that its journal needs, until that is written: a file for each event.

They are the first prompt, what the agent said last in each turn, and its own summaries, all without
secrets. Each session has a folder of its own, named by a hash.
"""

from __future__ import annotations

import hashlib
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from vault_agent.journals.events import from_json, to_json
from vault_agent.journals.session_rules import digest_of
from vault_agent.model.sessions import PROMPT
from vault_agent.system.files import make_private_folder, replace_file

if TYPE_CHECKING:
    from pathlib import Path

    from vault_agent.model.sessions import Session, SessionEvent

MAX_TEXTS: Final = 200
"""Texts of one session. The first prompt and the latest are kept."""
_MAX_BYTES = 1 << 20


def keep_text(folder: Path, session: Session, event: SessionEvent) -> None:
    """Store an event with its text. The same event again changes nothing.

    Raises:
        OSError: if it cannot be written.
    """
    place = folder_of(folder, session)
    names = _names(place)
    name = f"{round(event.at * 1000):015d}-{event.event}-{digest_of(event).hex()[:8]}.json"
    prompts = [each for each in names if f"-{PROMPT}-" in each]
    if name in names or (event.event == PROMPT and prompts and prompts[0] < name):
        return
    make_private_folder(place)
    replace_file(place / name, to_json(event), durable=False)
    first = prompts[:1] if prompts else [name] if event.event == PROMPT else []
    for each in [each for each in sorted([*names, name]) if each not in first][: -MAX_TEXTS + 1]:
        (place / each).unlink(missing_ok=True)


def kept_texts(folder: Path, session: Session) -> list[SessionEvent]:
    """Return the events of a session whose texts are stored, the oldest first."""
    place = folder_of(folder, session)
    found = []
    for name in _names(place):
        with suppress(OSError), (place / name).open("rb") as file:
            event = from_json(file.read(_MAX_BYTES))
            if event is not None:
                found.append(event)
    return found


def forget_texts(folder: Path, session: Session) -> None:
    """Remove the texts of a session."""
    shutil.rmtree(folder_of(folder, session), ignore_errors=True)


def forget_texts_before(folder: Path, moment: float) -> None:
    """Remove the texts of sessions that got none since a moment."""
    with suppress(FileNotFoundError):
        for place in folder.iterdir():
            with suppress(OSError):
                if place.stat().st_mtime < moment:
                    shutil.rmtree(place, ignore_errors=True)


def folder_of(folder: Path, session: Session) -> Path:
    """Return the folder of a session's texts."""
    name = f"{session.agent}\n{session.session_id}".encode()
    return folder / hashlib.sha256(name).hexdigest()[:32]


def _names(place: Path) -> list[str]:
    try:
        return sorted(each.name for each in place.iterdir() if each.suffix == ".json")
    except (FileNotFoundError, NotADirectoryError):
        return []
