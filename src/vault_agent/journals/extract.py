"""A journal without a model: what was collected, put into sections. The same bytes each time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from vault_agent.journals.cues import decisions, left_open, sentences, shortened
from vault_agent.journals.safe_text import code, escaped, titled

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from vault_agent.journals.collected import Changed, Collected

GOAL: Final = "Goal"
APPROACH: Final = "Approach"
DECISIONS: Final = "Key Decisions"
PROBLEMS: Final = "Problems Encountered"
OUTCOME: Final = "Outcome"
FILES: Final = "Files Changed"
OPEN: Final = "Open Questions"
SECTIONS: Final = (GOAL, APPROACH, DECISIONS, PROBLEMS, OUTCOME, FILES, OPEN)

_MOST = 600
"""Characters of the goal, and of the last message."""
_MAX_DECISIONS = 5
_MAX_ITEMS = 20


class Draft(NamedTuple):
    """The text of a journal: its title, and the Markdown of its sections that have any."""

    title: str
    sections: Mapping[str, str]

    @property
    def is_empty(self) -> bool:
        """Whether it says nothing but what was asked for."""
        return not self.sections.keys() - {GOAL}


def extract(session: Collected) -> Draft:
    """Return the journal of a session from what was collected, and nothing else."""
    made = {
        GOAL: _paragraph(session.prompts[0]) if session.prompts else "",
        APPROACH: _approach(session),
        DECISIONS: _items(_decided(session)),
        PROBLEMS: _problems(session),
        OUTCOME: _outcome(session),
        FILES: files_section(session.files),
        OPEN: _items(_left(session)),
    }
    return Draft(title_of(session), {name: text for name, text in made.items() if text})


def title_of(session: Collected) -> str:
    """Return the title: the agent's, else the only commit's, else the start of the first prompt."""
    first = sentences(session.prompts[0])[:1] if session.prompts else []
    only = [session.commits[0].subject] if len(session.commits) == 1 else []
    given = [session.title] if session.title else []
    for text in (*given, *only, *first):
        title = titled(text)
        if title:
            return title
    return f"Session of {session.agent}"


def files_section(files: Iterable[Changed]) -> str:
    """Return the list of changed files."""
    lines = []
    for each in files:
        counts = "" if each.added is None else f" +{each.added} −{each.removed}"
        lines.append(f"- {code(each.path)}{counts}")
    return "\n".join(lines)


def _approach(session: Collected) -> str:
    items = _items(each.text for each in session.transcript.todos)
    if items or not session.summaries:
        return items
    return _paragraph(session.summaries[-1])


def _decided(session: Collected) -> list[str]:
    """Return what was decided: lines of the devlog first, then sentences of the agent."""
    said = list(session.transcript.said)
    if session.last_message and session.last_message not in said:
        said.append(session.last_message)
    found = [line.text for line in session.lines if line.kind == "insight"]
    for text in (*said, *session.summaries):
        found += decisions(text)
    return list(dict.fromkeys(found))[:_MAX_DECISIONS]


def _problems(session: Collected) -> str:
    found = []
    for each in session.transcript.failures[-_MAX_ITEMS:]:
        error = f" — {escaped(shortened(each.error, _MOST))}" if each.error else ""
        state = "resolved" if each.resolved else "open"
        status = "" if each.status is None else f", exit status {each.status}"
        found.append(f"- {code(each.program)}{error} ({state}{status})")
    found += [f"- {escaped(line.text)}" for line in session.lines if line.kind == "problem"]
    return "\n".join(dict.fromkeys(found))


def _outcome(session: Collected) -> str:
    parts = []
    if session.last_message:
        parts.append(_paragraph(session.last_message))
    commits = [f"- {code(each.id)} {escaped(each.subject)}" for each in session.commits]
    done = [f"- {escaped(line.text)}" for line in session.lines if line.kind in {"impl", "verify"}]
    tests = [f"- Tests: {escaped(session.transcript.tests)}"] if session.transcript.tests else []
    items = "\n".join((*commits[-_MAX_ITEMS:], *done, *tests))
    return "\n\n".join(each for each in (*parts, items) if each)


def _left(session: Collected) -> list[str]:
    found = [each.text for each in session.transcript.todos if not each.done]
    if session.last_message:
        found += left_open(session.last_message)
    return list(dict.fromkeys(found))[:_MAX_ITEMS]


def _paragraph(text: str) -> str:
    return escaped(shortened(" ".join(text.split()), _MOST))


def _items(texts: Iterable[str]) -> str:
    lines = [f"- {escaped(text)}" for text in texts if text.strip()]
    return "\n".join(lines[:_MAX_ITEMS])
