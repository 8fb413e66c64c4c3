"""A journal as a note: its name, its frontmatter and its body."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from vault_agent.memory.dialogue import SECTIONS
from vault_agent.memory.related import related_section
from vault_agent.memory.safe_text import escaped

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from vault_agent.markdown.yaml.values import Json
    from vault_agent.memory.collected import Collected
    from vault_agent.memory.dialogue import Draft
    from vault_agent.memory.related import Related

FOLDER: Final = "journals"
COMPLETE: Final = "complete"
INCOMPLETE: Final = "incomplete"
_MAX_LIST: Final = 16 << 10
"""Characters of one list of the frontmatter, all of which may have 64 KiB."""
_ID = re.compile(r"[0-9a-z]")


class Named(NamedTuple):
    """The name of a journal: its path, its frontmatter `id`, and its day."""

    path: str
    id: str
    day: str


@dataclass(frozen=True, slots=True)
class JournalFacts:
    """What the frontmatter of a journal says besides what was collected."""

    generator: str
    incomplete: str | None = None  # why, or None if it is complete
    tags: Sequence[str] = ()
    related: Sequence[Related] = ()


def named(session_id: str, started_at: float) -> Named:
    """Return the name of the journal of a session: by its day, and eight characters of its ID."""
    day = day_of(started_at)
    short = "".join(_ID.findall(session_id.lower()))[-8:] if _is_time_ordered(session_id) else ""
    short = short or "".join(_ID.findall(session_id.lower()))[:8]
    short = short.ljust(8, "0")
    return Named(f"{FOLDER}/{day}-session-{short}.md", f"journal-{day}-{short}", day)


def another(name: Named, session_id: str) -> Named:
    """Return another name, for a session whose first eight characters are another's too."""
    short = hashlib.sha256(session_id.encode()).hexdigest()[:8]
    return Named(f"{FOLDER}/{name.day}-session-{short}.md", f"journal-{name.day}-{short}", name.day)


def properties(
    session: Collected, draft: Draft, name: Named, facts: JournalFacts
) -> dict[str, Json]:
    """Return the frontmatter, in the order of its fields."""
    made: dict[str, Json] = {
        "id": name.id,
        "type": "journal",
        "title": draft.title,
        "created": stamp(session.started_at),
        "updated": stamp(session.ended_at),
        "tags": list(facts.tags),
        "links": [each.target for each in facts.related],
        "files": _bounded(each.path for each in session.files),
        "project": session.project,
        "session": session.session_id,
        "agent": session.agent,
        "promoted": False,
        "status": COMPLETE if facts.incomplete is None else INCOMPLETE,
    }
    told = session.transcript
    optional: dict[str, Json] = {
        "model": ", ".join(session.models) or None,
        "duration_minutes": session.minutes,
        "cost_usd": round(told.cost_usd, 4) if told.cost_usd is not None else None,
        "commits": _bounded(each.id for each in session.commits),
        "tokens_in": told.tokens_in,
        "tokens_out": told.tokens_out,
        "generator": facts.generator,
        "incomplete_reason": facts.incomplete,
    }
    return made | {name: value for name, value in optional.items() if value not in (None, [])}


def body(draft: Draft, linked: Sequence[Related]) -> str:
    """Return the Markdown of a journal after its frontmatter."""
    parts = [f"# {escaped(draft.title)}"]
    for section in SECTIONS:
        text = draft.sections.get(section, "").strip("\n")
        if text.strip():
            parts.append(f"## {section}\n{text}")
    if linked:
        parts.append(f"## Related\n{related_section(linked)}")
    return "\n\n".join(parts) + "\n"


def stamp(seconds: float) -> str:
    """Return a time in UTC as frontmatter has it. A time that cannot be is the first or last."""
    return _when(seconds).isoformat(timespec="seconds").replace("+00:00", "Z")


def day_of(seconds: float) -> str:
    """Return the day of a time in UTC."""
    return _when(seconds).date().isoformat()


def _when(seconds: float) -> datetime:
    return datetime.fromtimestamp(min(max(seconds, 0.0), 253_402_300_799.0), UTC)


def _is_time_ordered(session_id: str) -> bool:
    """Whether an ID is a UUID of version 7, which begins with a time that sessions share."""
    return re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-.{17}", session_id) is not None


def _bounded(values: Iterable[str]) -> list[Json]:
    found: list[Json] = []
    size = 0
    for value in values:
        size += len(value) + 4
        if size > _MAX_LIST:
            break
        found.append(value)
    return found
