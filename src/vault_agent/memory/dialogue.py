"""The journal of a session: what the person said, and what the agent had said before. Pure.

Nothing is judged here. Each later word of the person is kept with what it answers to, so that
"(a) now, (b) later" can be read, and a proposal stands beside its refusal. Whether the agent had
changed anything by then says if it proposed or reported.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from vault_agent.memory.patterns import LISTS, any_of
from vault_agent.memory.safe_text import code, escaped, markdown, plain, titled
from vault_agent.text.words import content_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from vault_agent.memory.collected import Collected
    from vault_agent.memory.session_file import Sections
    from vault_agent.memory.transcripts.recorder import Exchange
    from vault_agent.system.git import FileChange

GOAL: Final = "Goal"
APPROACH: Final = "Approach"
DECISIONS: Final = "Key Decisions"
PROBLEMS: Final = "Problems Encountered"
OUTCOME: Final = "Outcome"
FILES: Final = "Files Changed"
OPEN: Final = "Open Questions"
AFTERWARDS: Final = "Afterwards"
SECTIONS: Final = (GOAL, APPROACH, DECISIONS, PROBLEMS, OUTCOME, AFTERWARDS, FILES, OPEN)
WRITTEN: Final = (GOAL, APPROACH, DECISIONS, PROBLEMS, OUTCOME, OPEN)
"""The sections that an agent or a command writes. The others are known."""

_MAX_GOAL: Final = 900
_MAX_WORDS: Final = 700
_MAX_BEFORE: Final = 300
_MAX_FIRST: Final = 110
"""Characters of the first sentence of what the agent said, where only its end fits beside it."""
_MAX_LAST: Final = 1_200
_MAX_SECTION: Final = 6_000
_MAX_DIALOGUE: Final = 14_000
_MAX_ITEMS: Final = 20
_MAX_GREETING: Final = 12
"""Characters of a prompt that may say nothing: "hi", "thanks!"."""
_FEW_WORDS: Final = 2
"""Content words of a prompt that says what it is about."""

_LOG_LINE = any_of("log_lines")
_FENCE = re.compile(r"^\s{0,3}(?:```|~~~)[\s\S]*?(?:^\s{0,3}(?:```|~~~)\s*$|\Z)", re.MULTILINE)
_QUESTIONS: Final = ("?", "？", "か。")
_SENTENCE = re.compile(r"(?<=[.!?:])\s+|(?<=[。！？])|\n+")


class Draft(NamedTuple):
    """The text of a journal: its title, and the Markdown of its sections that have any."""

    title: str
    sections: Mapping[str, str]


def is_worth_it(session: Collected) -> bool:
    """Whether a session is worth a journal: the person decided something, or work was done.

    A word after the goal decides if it says something, or if it answers a question.
    """
    told = session.transcript
    place, goal = _goal(told.exchanges)
    decides = len(content_words(goal)) >= _FEW_WORDS and any(
        content_words(exchange.words) or exchange.before.rstrip().endswith(_QUESTIONS)
        for exchange in told.exchanges[place + 1 :]
    )
    return bool(told.exchanges) and (session.has_changes or told.worked or decides)


def dialogue(session: Collected) -> Draft:
    """Return the journal of a session from what was said and done in it."""
    told = session.transcript
    place, goal = _goal(told.exchanges)
    others = [exchange for exchange in told.exchanges[place + 1 :] if not _greets(exchange)]
    made = {
        GOAL: escaped(shortened(goal, _MAX_GOAL)),
        APPROACH: _items(todo.text for todo in told.todos if todo.done),
        DECISIONS: spoken(others),
        OUTCOME: _joined(last_message(session), _done(session)),
        FILES: files_section(session.files),
        OPEN: _joined(
            _items(todo.text for todo in told.todos if not todo.done), _unanswered(session)
        ),
    }
    title = title_of(session, goal)
    return Draft(title, {name: text for name, text in made.items() if text})


def written(
    sections: Sections, session: Collected, *, is_known: Callable[[str], bool] = lambda _: False
) -> Draft:
    """Return the journal of what an agent or a command has written, and of what came afterwards.

    Names that no section has go to the outcome, under their own name.
    """
    named: dict[str, str] = {}
    for name, text in sections.sections.items():
        section = _NAMES.get(name.strip().strip("#: ").lower())
        passage = text if section is not None else f"**{titled(name)}**\n\n{text}"
        place = section or OUTCOME
        named[place] = f"{named[place]}\n\n{passage}" if place in named else passage
    made = {
        name: markdown(shortened(named[name], _MAX_SECTION), is_known)
        for name in WRITTEN
        if named.get(name, "").strip() and not _NOTHING.match(named[name])
    }
    made[OUTCOME] = _joined(made.get(OUTCOME, ""), _done(session))
    told = session.transcript
    later = [
        exchange
        for exchange in told.exchanges
        if exchange.at is not None and exchange.at > sections.at
    ]
    if later:
        said = told.last_at is not None and told.last_at > sections.at
        made[AFTERWARDS] = _joined(spoken(later), last_message(session) if said else "")
    made[FILES] = files_section(session.files)
    title = titled(sections.title or "") or title_of(session)
    return Draft(title, {name: text for name, text in made.items() if text.strip()})


def title_of(session: Collected, goal: str | None = None) -> str:
    """Return the title: the agent's, else the only commit's, else the start of the goal."""
    if goal is None:
        _, goal = _goal(session.transcript.exchanges)
    first = next(
        (sentence for sentence in _SENTENCE.split(goal.strip()) if len(sentence.strip()) > 2), ""
    )
    only = [session.commits[0].subject] if len(session.commits) == 1 else []
    for text in (session.title or "", *only, first):
        title = titled(text)
        if title:
            return title
    return f"Session of {session.agent}"


def spoken(exchanges: Iterable[Exchange]) -> str:
    """Return the later words of the person, each with what the agent said before it."""
    items = []
    last = ""
    for exchange in exchanges:
        words = shortened(without_logs(exchange.words), _MAX_WORDS)
        if not words.strip():
            continue
        before = around(exchange.before, _MAX_BEFORE)
        head = f"Agent {exchange.manner}: "
        lines = [f"{head}{escaped(before)}"] if before and before != last else []
        last = before
        items.append("- " + "\n  ".join([*lines, f"**User:** {escaped(words)}"]))
    left = len(items)
    while sum(map(len, items)) > _MAX_DIALOGUE and len(items) > 2:
        del items[len(items) // 4]  # the first words and the last ones say most
    if left > len(items):
        items.append(f"- … and {left - len(items)} more")
    return "\n".join(items)


def last_message(session: Collected) -> str:
    """Return the agent's last message, as Markdown, unless it stands before the last words."""
    told = session.transcript
    stands_there = told.unanswered and len(told.exchanges) > 1 and len(told.last) <= _MAX_BEFORE
    if stands_there and not _greets(told.exchanges[-1]):
        return ""
    return markdown(shortened(told.last, _MAX_LAST))


def files_section(files: Iterable[FileChange]) -> str:
    """Return the list of changed files."""
    lines = []
    for file in files:
        numbers = "" if file.added is None else f" — +{file.added} −{file.removed}"
        lines.append(f"- {code(file.path)}{numbers}")
    return "\n".join(lines)


def shortened(text: str, most: int) -> str:
    """Return at most so many characters of the start of a text, to the end of a word."""
    text = plain(text).strip()
    if len(text) <= most:
        return text
    kept = text[: most - 1]
    border = max(kept.rfind(" "), kept.rfind("\n"))
    return f"{kept[: border if border > most // 2 else most - 1].rstrip()}…"


def around(text: str, most: int) -> str:
    """Return the first sentence of a message and its end, which most often asks or concludes."""
    line = " ".join(plain(text).split())
    if len(line) <= most:
        return line
    first = next(iter(_SENTENCE.split(line)), "")
    first = first if len(first) <= _MAX_FIRST else ""
    room = most - len(first) - 3
    end = line[-room:]
    border = end.find(" ")
    end = end[border + 1 :] if 0 <= border < room // 2 else end
    return f"{first} … {end}" if first else f"… {end}"


def without_logs(text: str) -> str:
    """Return the words of a person without the code, logs and output that they pasted."""
    bare = _FENCE.sub("", plain(text))
    lines = [line for line in bare.splitlines() if not _LOG_LINE.match(line.lstrip())]
    return "\n".join(lines).strip() or shortened(text, _MAX_BEFORE)


def _goal(exchanges: Sequence[Exchange]) -> tuple[int, str]:
    """Return the first words that say what they are about, and their place."""
    texts = [without_logs(exchange.words) for exchange in exchanges]
    places = (place for place, text in enumerate(texts) if len(content_words(text)) >= _FEW_WORDS)
    place = next(places, 0)
    return place, texts[place] if texts else ""


def _greets(exchange: Exchange) -> bool:
    return len(exchange.words) <= _MAX_GREETING and not content_words(exchange.words)


def _done(session: Collected) -> str:
    commits = [f"- Commit {commit.id}: {escaped(commit.subject)}" for commit in session.commits]
    tests = session.transcript.tests
    return "\n".join([*commits, *([f"- Tests: {escaped(tests)}"] if tests else [])])


def _unanswered(session: Collected) -> str:
    told = session.transcript
    if session.has_ended or not told.unanswered or not told.exchanges:
        return ""
    words = shortened(without_logs(told.exchanges[-1].words), _MAX_WORDS)
    return f"- Without an answer: {escaped(words)}"


def _items(texts: Iterable[str]) -> str:
    kept = [f"- {escaped(shortened(text, _MAX_BEFORE))}" for text in texts if text.strip()]
    return "\n".join(kept[:_MAX_ITEMS])


def _joined(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)


_NAMES: Final = {name.lower(): name for name in WRITTEN} | {
    "decisions": DECISIONS,
    "problems": PROBLEMS,
}
_NOTHING = re.compile(r"^\s*(?:[-*]\s*)?(?:none|n/?a|nothing)\.?\s*$", re.IGNORECASE)


# --- by a command ---------------------------------------------------------------------------------

INSTRUCTIONS: Final = LISTS["instructions"].format(
    headings=", ".join(f"## {name}" for name in WRITTEN)
)
_HEADING = re.compile(r"^ {0,3}(#{1,3})\s+(.*?)\s*#*\s*$")
_THOUGHTS = re.compile(r"\A\s*<think(?:ing)?>[\s\S]*?</think(?:ing)?>")
_WHOLE_FENCE = re.compile(r"\A\s*```(?:markdown|md)?\s*\n([\s\S]*?)\n```\s*\Z")


def answered(reply: str) -> tuple[str, dict[str, str]] | None:
    """Return the title and the sections of a command's reply, or None if it cannot be a journal."""
    text = _THOUGHTS.sub("", plain(reply))
    whole = _WHOLE_FENCE.match(text)
    title = ""
    sections: dict[str, list[str]] = {}
    lines: list[str] | None = None
    for line in (whole[1] if whole else text).splitlines():
        heading = _HEADING.match(line)
        name = _NAMES.get(heading[2].strip("*: ").lower()) if heading else None
        if name is not None:
            lines = sections.setdefault(name, [])
        elif heading and len(heading[1]) == 1 and not title and lines is None:
            title = heading[2]
        elif lines is not None:
            lines.append(line)
    made = {name: "\n".join(body).strip("\n") for name, body in sections.items()}
    if not made.get(GOAL, "").strip() or not made.get(OUTCOME, "").strip():
        return None
    return title, made
