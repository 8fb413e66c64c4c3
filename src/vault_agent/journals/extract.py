"""A journal without a model: what was collected, put into sections. The same bytes each time."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from vault_agent.journals.cues import (
    approves,
    choices,
    corrects,
    dead_ends,
    left_open,
    named_parts,
    sentences,
    shortened,
    without_politeness,
)
from vault_agent.journals.safe_text import code, escaped, titled
from vault_agent.text.common_words import content_words

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
_MAX_ASKED = 8
"""Later prompts of a person that are kept."""
_MAX_WISH = 400
_MAX_CHOSEN = 4
"""Sentences in which the agent tells what it chose."""
_SUBJECT = 4
"""Words of a sentence that name what was tried for nothing: "Fraction doesn't work here"."""
_MAX_PROBLEMS = 5
_MAX_ITEMS = 20
_MAX_ANSWERS = 3
"""Messages that say what came of a session without changes: the last one of each turn."""
_FEW_WORDS = 2
"""Content words of a prompt that may mean no more than to go on."""
_MIN_ANSWER = 6
"""Different content words of an answer that is worth a journal without anything else."""


class Draft(NamedTuple):
    """The text of a journal: its title, and the Markdown of its sections that have any."""

    title: str
    sections: Mapping[str, str]
    only_talk: bool = False
    """Whether the agent did nothing but answer."""

    @property
    def is_empty(self) -> bool:
        """Whether it says nothing but what was asked for, or an answer without content.

        Nobody looks for answers for which the agent did not even look into a file.
        """
        if self.only_talk and DECISIONS not in self.sections:
            return True
        if self.sections.keys() - {GOAL, OUTCOME}:
            return False
        outcome = self.sections.get(OUTCOME, "")
        return "\n- " not in f"\n{outcome}" and len(content_words(outcome)) < _MIN_ANSWER


def extract(session: Collected) -> Draft:
    """Return the journal of a session from what was collected, and nothing else."""
    goal, wishes = _asked(session)
    made = {
        GOAL: _paragraph(goal),
        APPROACH: _approach(session),
        DECISIONS: "\n".join((*map(_quoted, wishes), _items(_chosen(session)))).strip("\n"),
        PROBLEMS: _problems(session),
        OUTCOME: _outcome(session),
        FILES: files_section(session.files),
        OPEN: _items(_left(session)),
    }
    told = session.transcript
    # Without a transcript nobody knows what the agent did.
    only_talk = bool(told.lines) and not (told.worked or session.has_changes or session.lines)
    return Draft(title_of(session), {name: text for name, text in made.items() if text}, only_talk)


def title_of(session: Collected) -> str:
    """Return the title: the agent's, else the only commit's, else the start of what was asked."""
    first = sentences(_asked(session)[0])[:1]
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


def _asked(session: Collected) -> tuple[str, list[str]]:
    """Return what a session was for, and what the person corrected, refused or limited later.

    A first prompt such as "let's go on" says nothing of it. Then the next one that does counts.
    """
    prompts = session.prompts
    at = next((at for at, each in enumerate(prompts) if content_words(each)), 0)
    first = session.transcript.prompt_count - len(prompts) + 1
    wishes = [
        " ".join(each.split())
        for turn, each in enumerate(prompts[at + 1 :], first + at + 1)
        if _is_wish(each, session, turn)
    ]
    long = (each for each in wishes if len(each) > _MAX_WISH)
    parts = {each: " … ".join(filter(corrects, sentences(each))) for each in long}
    wishes = [shortened(parts.get(each, each), _MAX_WISH) for each in wishes]
    return "".join(prompts[at : at + 1]), list(dict.fromkeys(wishes))[-_MAX_ASKED:]


def _is_wish(prompt: str, session: Collected, turn: int) -> bool:
    """Whether a later prompt says more of what is wanted than to go on, or to answer a question."""
    return corrects(prompt) or (_asks_for_work(prompt) and not _did_nothing(session, turn))


def _asks_for_work(prompt: str) -> bool:
    is_question = prompt.rstrip().endswith(("?", "？"))
    return not is_question and len(content_words(prompt)) > _FEW_WORDS


def _did_nothing(session: Collected, turn: int) -> bool:
    """Whether the agent used no tool in a turn, nor later. Without a transcript nobody knows.

    A plan is talked about in turns without tools, and carried out after them.
    """
    told = session.transcript
    return bool(told.lines) and turn > max(told.worked, default=0)


def _quoted(prompt: str) -> str:
    return f"- User: “{escaped(prompt)}”"


def _approach(session: Collected) -> str:
    items = _items(each.text for each in session.transcript.todos)
    if items or not session.summaries:
        return items
    return _items(shortened(each, _MOST) for each in named_parts(session.summaries[-1]))


def _chosen(session: Collected) -> list[str]:
    """Return lines of the devlog, and what the agent chose last.

    What a person overruled at once is left out, and what the agent gave up later.
    """
    told = session.transcript
    first = told.prompt_count - len(session.prompts) + 1
    overruled = {
        first + at - 1
        for at, prompt in enumerate(session.prompts)
        if at and corrects(prompt) and not approves(prompt)
    }
    found: dict[str, str] = {}
    given_up: set[str] = set()
    for said in reversed(told.said):
        for each in reversed(choices(said.text)):
            if said.turn not in overruled and not given_up & content_words(each):
                found.setdefault(re.sub(r"\W*\d\W*", "", each.lower()), each)
        for each in dead_ends(said.text):
            given_up |= content_words(" ".join(each.split()[:_SUBJECT]))
    insights = [line.text for line in session.lines if line.kind == "insight"]
    return [*insights, *reversed([*found.values()][:_MAX_CHOSEN])]


def _problems(session: Collected) -> str:
    """Return what failed and what was tried for nothing, the latest of it."""
    found = []
    for each in session.transcript.failures[-_MAX_PROBLEMS:]:
        error = f" — {escaped(shortened(each.error, _MOST))}" if each.error else ""
        state = {True: ["resolved"], False: ["open"], None: []}[each.resolved]
        status = [] if each.status is None else [f"exit status {each.status}"]
        how = f" ({', '.join((*state, *status))})" if state or status else ""
        found.append(f"- {code(each.program)}{error}{how}")
    tried = [text for said in session.transcript.said for text in dead_ends(said.text)]
    last = session.last_message or ""
    tried = [each for each in dict.fromkeys(tried) if each not in last][-_MAX_PROBLEMS:]
    found += [f"- {escaped(each)}" for each in tried]
    found += [f"- {escaped(line.text)}" for line in session.lines if line.kind == "problem"]
    return "\n".join(dict.fromkeys(found))


def _outcome(session: Collected) -> str:
    parts = []
    answers = _last_messages(session)
    if not session.has_changes:  # what came of it is what was said
        turns = {each.turn: each.text for each in session.transcript.said}
        answers = [*list(turns.values())[:-1], session.last_message or ""][-_MAX_ANSWERS:]
    answers = [without_politeness(each) for each in answers]
    parts += [_paragraph(each) for each in answers if each]
    commits = [f"- {code(each.id)} {escaped(each.subject)}" for each in session.commits]
    done = [f"- {escaped(line.text)}" for line in session.lines if line.kind in {"impl", "verify"}]
    tests = [f"- Tests: {escaped(session.transcript.tests)}"] if session.transcript.tests else []
    items = "\n".join((*commits[-_MAX_ITEMS:], *done, *tests))
    return "\n\n".join(each for each in (*parts, items) if each)


def _last_messages(session: Collected) -> list[str]:
    """Return the last message of the turn in which the agent worked last, and that of all.

    The answer to an aside, such as "and write me a haiku", is not among them.
    """
    told, last = session.transcript, session.last_message or ""
    turn = max(told.worked, default=0)
    found = [each.text for each in told.said if each.turn == turn][-1:]
    prompt = session.prompts[-1] if session.prompts else ""
    is_aside = _asks_for_work(prompt) and not corrects(prompt)
    if not (found and is_aside and _did_nothing(session, told.prompt_count)):
        found.append(last)
    return list(dict.fromkeys(found))


def _left(session: Collected) -> list[str]:
    found = [each.text for each in session.transcript.todos if not each.done]
    last = session.last_message or ""
    messages = [each.text for each in session.transcript.said[-2:]]
    # A short last message, such as "Stopped.", leaves what was said before it.
    if len(content_words(last)) < _MIN_ANSWER and messages[1:] == [last]:
        found += left_open(messages[0])
    for each in _last_messages(session):
        found += left_open(each)
    return list(dict.fromkeys(found))[:_MAX_ITEMS]


def _paragraph(text: str) -> str:
    return escaped(shortened(" ".join(text.split()), _MOST))


def _items(texts: Iterable[str]) -> str:
    lines = [f"- {escaped(text)}" for text in texts if text.strip()]
    return "\n".join(lines[:_MAX_ITEMS])
